"""Structures with line buffers and windows: that they are there, what they take, and that they are right."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import weft
from backends.deploy.boards import board_of
from backends.deploy.outside import outside
from dse.estimates.estimation import ranked, setting
from dse.evaluators.base import Limits, Result, Status
from dse.space.space import Point, Space, space_of
from dse.space.start import START, Start, start_of
from dse.space.tables.windows import _Plan
from dse.space.variant import any_interval
from dse.strategies.estimates import Estimates
from dse.strategies.fabric import fabric_budget
from dse.strategies.filters import filters
from dse.strategies.search import evaluated
from dsl.kernels.kernel import Kernel
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Dataflow, PartialSums, Pipeline, Reuse, Split, Stream
from polyhedral.schedule import apply
from weft import f32, i8, i16, i32, u8, u16

WHERE = setting("vitis-2022.1", "xc7z020", 10.0)
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
START_OF_PROCESS = 40  # cycles until the second of two filters has what it begins with


@weft.kernel
def cross(A: u8[16, 31], B: u8[16, 31]):
    for y in range(1, 15):
        for x in range(1, 30):
            B[y, x] = (A[y - 1, x] + A[y, x - 1] + A[y, x + 1] + A[y + 1, x]) >> 2


@weft.kernel
def lowest(A: u8[12, 18], B: u8[12, 18]):
    for y in range(1, 11):
        for x in range(1, 17):
            m: u8 = 255
            for i in range(3):
                for j in range(3):
                    m = min(m, A[y + i - 1, x + j - 1])
            B[y, x] = m


@weft.kernel
def layer(X: i8[4, 8, 10], K: i8[4, 3, 3], Y: i32[6, 8]):
    for y in range(6):
        for x in range(8):
            s: i32 = 0
            for c in range(4):
                for i in range(3):
                    for j in range(3):
                        s += K[c, i, j] * X[c, y + i, x + j]
            Y[y, x] = s


@weft.kernel
def fir(h: i16[8], x: i16[64], y: i32[57]):
    for n in range(57):
        s: i32 = 0
        for k in range(8):
            s += h[k] * x[n + 7 - k]
        y[n] = s


@weft.kernel
def edges(A: u8[14, 20], B: u8[14, 20]):
    smooth: u8[14, 20]
    for y in range(1, 13):
        for x in range(1, 19):
            smooth[y, x] = (A[y - 1, x] + A[y, x - 1] + A[y, x + 1] + A[y + 1, x]) >> 2
    for y in range(2, 12):
        for x in range(2, 18):
            B[y, x] = abs(smooth[y + 1, x + 1] - smooth[y - 1, x - 1]) + smooth[y, x]


@weft.kernel
def sweeps(A: f32[10, 12], B: f32[10, 12]):
    for t in range(3):
        for i in range(1, 9):
            for j in range(1, 11):
                B[i, j] = 0.25 * (A[i - 1, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j])
        for i in range(1, 9):
            for j in range(1, 11):
                A[i, j] = 0.25 * (B[i - 1, j] + B[i, j - 1] + B[i, j + 1] + B[i + 1, j])


@weft.kernel
def decay(A: f32[10, 12], B: f32[10, 12]):
    for y in range(1, 9):
        for x in range(1, 11):
            B[y, x] = 0.5 * B[y, x - 1] + A[y - 1, x] + A[y, x] + A[y + 1, x]


@weft.kernel
def product(A: f32[8, 8], B: f32[8, 8], C: f32[8, 8]):
    for i, j, k in weft.grid(8, 8, 8):
        C[i, j] += A[i, k] * B[k, j]


@cache
def space(program: Program, start: Start = START) -> Space:
    return space_of(program, WHERE.tool, start=start)


def windows(found: Space) -> dict[int, Schedule]:
    """The designs with windows, by their structure."""
    numbers = [
        n for n, v in enumerate(found.variants) if any(isinstance(s, Reuse) for s in v.steps)
    ]
    designs = {n: found.schedule(found.plain(n)) for n in numbers}
    return {n: design for n, design in designs.items() if design is not None}


def lanes(design: Schedule) -> int:
    rounds = {step.loop for step in design if isinstance(step, PartialSums)}
    splits = (step for step in design if isinstance(step, Split) and step.loop not in rounds)
    return max((step.factor for step in splits), default=1)


@pytest.mark.parametrize(
    ("kernel", "points"),
    [
        (cross, {1, 2, 4, 8, 16}),
        (lowest, {1, 2, 4, 8}),  # divisors: a copy that does not run would hand its minimum on
        (layer, {1, 2, 4}),
        (fir, {1, 3, 19}),
        (edges, {1, 2, 4, 8}),
        (sweeps, {1, 2, 4, 8}),
    ],
    ids=["cross", "lowest", "layer", "fir", "edges", "sweeps"],
)
def test_structures_with_windows_are_right_and_take_what_ranking_says(
    kernel: Kernel, points: set[int]
) -> None:
    found = space(kernel.program)
    estimates = Estimates(found)
    designs = windows(found)
    assert {lanes(design) for design in designs.values()} == points
    few = [n for n, design in designs.items() if lanes(design) in (1, max(points))]
    for number in few[:2]:
        design = designs[number]
        assert any(isinstance(step, Reuse) for step in design)
        exact = ranked(apply(kernel.program, design), design, WHERE).answer.latency.average
        expected = estimates.figures(found.plain(number)).cycles
        # Processes are taken to begin at once.
        assert abs(expected - exact) <= max(START_OF_PROCESS, 0.01 * exact), design
    assert weft.verify(kernel, designs[few[-1]]).ok


def test_iterations_start_each_cycle_whatever_the_taps() -> None:
    designs = windows(space(cross.program))
    one, several = (next(d for d in designs.values() if lanes(d) == n) for n in (1, 4))
    rows = 16
    assert weft.estimate(cross, one).latency.average < rows * 31 + 40
    assert weft.estimate(cross, several).latency.average < rows * 9 + 40


def test_points_that_have_too_many_units_start_every_other_cycle() -> None:
    found = space(fir.program)
    number = next(n for n, design in windows(found).items() if lanes(design) == 3)
    estimates, plain = Estimates(found), found.plain(number)
    slower = replace(plain, choices=tuple(replace(c, ii=2) for c in plain.choices))
    design = found.schedule(slower)
    assert design is not None
    assert [step.ii for step in design if isinstance(step, Pipeline)] == [2]
    exact = ranked(apply(fir.program, design), design, WHERE).answer
    figures = estimates.figures(slower)
    assert figures.cycles == exact.latency.average
    assert figures.dsp < 0.6 * estimates.figures(plain).dsp
    # What a user asks of a pipeline stays.
    variant = found.variants[number]
    kept = any_interval(variant, variant.steps)
    assert not any(order.pipeline for nest in kept.nests for order in nest.orders)


def test_points_of_a_row_that_are_too_many_leave_room_for_fewer() -> None:
    plan = _Plan("S0", ({},), "S0.x", 35, conditional=False, most=64, sums=True)
    assert plan.lanes == (1, 7)
    assert [plan.below(n) for n in (7, 5, 1)] == [5, 0, 0]
    assert replace(plan, sums=False).below(8) == 0


def test_filters_in_line_hand_each_other_elements() -> None:
    for design in windows(space(edges.program)).values():
        assert {type(step) for step in design} >= {Dataflow, Stream}
        assert weft.estimate(edges, design).bram18 <= 4


@pytest.mark.parametrize("kernel", [product, decay], ids=["product", "decay"])
def test_there_are_none_where_nothing_is_read_again_or_an_iteration_waits(kernel: Kernel) -> None:
    assert not windows(space(kernel.program))


@pytest.mark.parametrize(("step", "taps"), [(4, 4), (5, 4), (3, 4), (1, 4)])
def test_a_row_has_a_window_where_iterations_overlap(step: int, taps: int) -> None:
    @weft.kernel
    def sums(x: i16[64], y: i32[12]):
        for n in range(12):
            s: i32 = 0
            for k in range(taps):
                s += x[step * n + k]
            y[n] = s

    assert bool(windows(space(sums.program))) == (taps > step)


@pytest.mark.parametrize("apart", [1, 15, 16, 20])
def test_reads_that_are_a_whole_loop_apart_have_none(apart: int) -> None:
    @weft.kernel
    def halves(x: i16[2, 60], y: i16[16]):
        for i in range(16):
            y[i] = x[0, i] + x[0, i + apart] + x[0, i + 2 * apart] + x[1, i]

    assert bool(windows(space(halves.program))) == (apart < 16)


def test_lanes_of_a_row_have_none() -> None:
    """Windows of it took minutes to be refused: whether all of their elements are written isl does not say soon."""

    @weft.kernel
    def histogram(x: u8[1024], h: u16[4, 16]):
        for i in range(256):
            for lane in range(4):
                for b in range(16):
                    h[lane, b] += 1 if (x[4 * i + lane] >> 4) == b else 0

    assert not windows(space(histogram.program))


def test_tiles_of_a_board_have_windows_and_are_worked_on_while_others_are_copied() -> None:
    board = board_of("pynq-z2", WHERE.device)
    large = weft.load(f"{EXAMPLES / 'outside' / 'blur_strips.py'}:blur_strips").at("large").program
    found = space(large, start_of(large, outside(large, Schedule(), board)))
    designs = windows(found)
    assert max(map(lanes, designs.values())) <= board.word // 8
    estimates = Estimates(found)
    number, design = max(designs.items(), key=lambda pair: lanes(pair[1]))
    exact = ranked(apply(large, design), design, WHERE).answer.latency.average
    assert abs(estimates.figures(found.plain(number)).cycles - exact) <= 0.01 * exact


def test_the_search_begins_with_the_fastest_that_fit() -> None:
    found = space(cross.program)
    told: list[int] = []

    def too_large_at_first(point: Point) -> Result:
        design = found.schedule(point)
        assert design is not None
        told.append(lanes(design))
        status = Status.INFEASIBLE if len(told) == 1 else Status.OK
        return Result(status, latency=1.0)

    every = sorted(map(lanes, windows(found).values()), reverse=True)
    many = fabric_budget(Estimates(found), Limits({"lut": 100_000}))
    assert len(list(evaluated(filters(found, 220, many), too_large_at_first))) == len(told) == 2
    assert told == every[:2]
    told.clear()
    few = fabric_budget(Estimates(found), Limits({"lut": 700}))
    assert list(evaluated(filters(found, 220, few), too_large_at_first))
    assert told[0] < every[0], "those that are estimated to take too much are behind the others"
    plain = space(product.program)
    free = fabric_budget(Estimates(plain), Limits({}))
    assert not list(evaluated(filters(plain, 220, free), too_large_at_first))


def test_a_row_of_one_iteration_has_one_point() -> None:
    """A tile as long as the row leaves such loops; of sums no other number of points divides it."""
    for sums in (False, True):
        assert _Plan("S0", ({},), "S0.c", 1, False, 8, sums).lanes == (1,)
