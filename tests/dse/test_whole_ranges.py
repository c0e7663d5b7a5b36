"""Tiles that a program is written in, and flattened loops, are undone where dependences allow it."""

from __future__ import annotations

import pytest

import weft
from backends.devices import device
from dse.evaluators.model import personality_for
from dse.run.search.options import Searched
from dse.space.loops.whole_ranges import in_whole_ranges
from dse.space.space import space_of
from dse.space.start import start_of
from dsl.schedules.schedule import ScheduleBuilder
from dsl.schedules.steps import Tile
from polyhedral.schedule import apply, begun
from weft import f32, i32

TOOL = personality_for(device("xczu9eg"), 10.0)


@weft.kernel
def gemv(A: f32[50, 70], x: f32[70], y: f32[50]):
    for ii in range(0, 50, 16):
        for i in range(ii, min(ii + 16, 50)):
            y[i] = 0.0
        for jj in range(0, 70, 16):
            for i in range(ii, min(ii + 16, 50)):
                for j in range(jj, min(jj + 16, 70)):
                    y[i] += A[i, j] * x[j]


@weft.kernel
def flat(A: f32[12, 15], B: f32[15, 20], C: f32[12, 20]):
    for t in range(12 * 20 * 15):
        C[t // 300, (t // 15) % 20] += A[t // 300, t % 15] * B[t % 15, (t // 15) % 20]


@weft.kernel
def sweep(A: f32[66, 66]):
    for ii in range(1, 65, 16):
        for jj in range(1, 65, 16):
            for i in range(ii, ii + 16):
                for j in range(jj, jj + 16):
                    A[i, j] = A[i - 1, j + 1] + A[i, j - 1]


@weft.kernel
def plain(A: f32[20, 30], w: f32[5], y: f32[20, 26], n: i32[20]):
    for i in range(20):
        n[i] = i // 4
        for j in range(26):
            for k in range(5):
                y[i, j] += A[i, j + k] * w[k]


@weft.kernel
def turned(A: i32[24, 15], B: i32[15, 24]):
    for t in range(360):
        B[t % 15, t // 15] = A[t // 15, t % 15]


@weft.kernel
def large(A: f32[4000, 4100], x: f32[4100], y: f32[4000]):
    for ii in range(0, 4000, 64):
        for i in range(ii, min(ii + 64, 4000)):
            for j in range(4100):
                y[i] += A[i, j] * x[j]


def loops(kernel: weft.Kernel) -> list[tuple[str, ...]]:
    state, _ = in_whole_ranges(begun(kernel.program, ()))
    return [piece.names for piece in state.pieces]


def test_loops_run_over_whole_ranges() -> None:
    assert loops(gemv) == [("i",), ("i", "j")]
    assert loops(flat) == [("t_0_0", "t_0_1", "t_1")]


@pytest.mark.parametrize(("kernel", "left"), [(sweep, 4), (plain, 3)])
def test_what_dependences_forbid_or_nobody_tiled_stays(kernel: weft.Kernel, left: int) -> None:
    state, steps = in_whole_ranges(begun(kernel.program, ()))
    assert steps == ()
    assert max(len(piece.dims) for piece in state.pieces) == left


def test_a_space_has_both_ways() -> None:
    found = space_of(turned.program, TOOL)
    undone = [v for v in found.variants if v.name.endswith("whole ranges")]
    assert 0 < len(undone) < len(found.variants)
    assert any({x.extent for x in nest.orders[0].loops} == {24, 15} for nest in undone[0].nests)
    for point in (found.plain(0), found.plain(found.variants.index(undone[0]))):
        schedule = found.schedule(point)
        assert schedule is not None
        apply(turned.program, schedule)


def test_a_schedule_that_only_undoes_tiles_leaves_loops_open() -> None:
    s = ScheduleBuilder().distribute(["S0"]).join("S0.ii", "S0.i")
    assert not start_of(gemv.program, s.build()).structured
    assert start_of(gemv.program, s.split("S0.i", 5).build()).structured


def test_a_board_is_planned_with_whole_ranges() -> None:
    start = Searched(deploy="pynq-z2", device="xc7z020").start(large.program)
    tiles = [step for step in start.steps if isinstance(step, Tile)]
    assert tiles
    assert all(name.partition(".")[2] in ("i", "j") for step in tiles for name in step.loops)
