"""A search that begins with a schedule: what it keeps, what it searches, and that what it finds is legal."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from itertools import product as pairs
from pathlib import Path

import pytest

import weft
from benchmarks.ranking import drawn
from dse.cli import run as weft_command
from dse.estimates.estimation import ranked, setting
from dse.space.space import Space, space_of
from dse.space.start import KINDS, Start, start_of
from dse.strategies.estimates import Estimates
from dsl.errors.errors import InputError, ScheduleError
from dsl.kernels.kernel import Kernel
from dsl.schedules.port_steps import Spread
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from dsl.schedules.steps import AutoPartition, Buffer, Interface, Partition, Pipeline, Unroll
from polyhedral.schedule import apply
from tests.support.amount import sample
from weft import f32

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
WHERE = setting("vitis-2022.1", "xc7z020", 10.0)
POINTS = 6
FAR = 3.0  # the ranking knows no templates of remainders of tiles, and of tasks at the same time
SEARCHED = {  # schedule: how near the ranking of its points is to the model
    "polybench/gemm.py:gemm:tiled": FAR,
    "polybench/gemm.py:gemm:pipelined": 1.01,
    "outside/gemm_tiles.py:gemm_tiles:tiled": FAR,
    "outside/blur_strips.py:blur_strips:strips": 1.15,
    "dataflow/two_products.py:two_products:streamed": FAR,
    "fixed_point/conv2d_i8.py:conv2d_i8:channels": FAR,
    "polybench/bicg.py:bicg:rows": FAR,
    "polybench/lu.py:lu:pipelined": 1.6,
    "polybench/jacobi_2d.py:jacobi_2d:tiled": FAR,
}


@pytest.mark.parametrize(("loop", "structured"), [("load_x.load_x_0", False), ("S0.i", True)])
def test_copies_through_several_ports_leave_the_loops_of_the_kernel_open(loop, structured):
    steps = (Interface("x", "m_axi", also=("gmem1",)), Buffer("x"), Spread(loop))
    assert Start(steps).structured == structured


@weft.kernel
def product(A: f32[16, 16], B: f32[16, 16], C: f32[16, 16]):
    for i in range(16):
        for j in range(16):
            C[i, j] = 0.0
            for k in range(16):
                C[i, j] += A[i, k] * B[k, j]


@product.schedule
def board(s):
    for array in ("A", "B", "C"):
        s.interface(array, "m_axi", f"port_{array}")
        s.buffer(array)
    s.pipeline("load_A_1", ii=3)
    s.unroll("k")
    s.partition("A_buf", 1, "cyclic", 4)


def sized(spec: str) -> tuple[Kernel, Schedule]:
    path, name, schedule = spec.split(":")
    kernel = weft.load(f"{EXAMPLES / path}:{name}")
    found = kernel.schedules[schedule]
    return kernel.at("mini") if "mini" in kernel.sizes else kernel, found


def space(kernel: Kernel, schedule: Schedule, fix: Sequence[str] = ()) -> Space:
    start = start_of(kernel.program, schedule, fix)
    return space_of(kernel.program, WHERE.tool, reassociate=True, start=start)


@pytest.mark.parametrize(
    ("spec", "fix"), sample([*pairs(SEARCHED, [(), ("partition",), ("pipeline",)])], 2), ids=str
)
def test_every_point_is_legal_and_keeps_what_is_said(spec: str, fix: tuple[str, ...]) -> None:
    kernel, schedule = sized(spec)
    if fix and not any(step.kind in fix for step in schedule):
        with pytest.raises(InputError, match="W509"):
            space(kernel, schedule, fix)
        return
    found = space(kernel, schedule, fix)
    kept = [s for s in schedule if s.kind not in KINDS or s.kind in fix]
    estimates = Estimates(found)
    count = 0
    points = [found.plain(v) for v in range(len(found.variants))]
    for point in (*points, *drawn(found, random.Random(spec), 20)):
        design = found.schedule(point)
        if design is None:
            continue
        assert set(kept) <= set(design)
        state = apply(kernel.program, design)
        if count < POINTS:
            exact = ranked(state, design, WHERE).answer.latency.average
            near = max(
                estimates.figures(point).cycles / exact, exact / estimates.figures(point).cycles
            )
            assert fix or near < SEARCHED[spec], point
            count += 1
    assert count


@weft.kernel
def cross(A: f32[10, 12], B: f32[10, 12]):
    for y in range(1, 9):
        for x in range(1, 11):
            B[y, x] = A[y - 1, x] + A[y, x - 1] + A[y, x + 1] + A[y + 1, x]


@cross.schedule
def windows(s):
    s.reuse("A", at="y")
    s.pipeline("x", ii=4)


def test_line_buffers_keep_their_banks_and_their_loop_is_pipelined() -> None:
    found = space(cross, cross.schedules["windows"])
    designs = [found.schedule(found.plain(v)) for v in range(len(found.variants))]
    for design in designs:
        assert design is not None
        apply(cross.program, design)
    assert Pipeline("shift_A.x") in designs[0]
    estimates = [weft.estimate(cross, design).latency.average for design in designs]
    assert min(estimates) < 10 * 12 + 30


def test_what_is_said_of_a_board_is_kept_and_the_rest_is_searched() -> None:
    found = space(product, product.schedules["board"])
    steps = found.start.steps
    assert {type(step) for step in steps} == {Interface, Buffer}
    estimates = Estimates(found)
    fastest = min(
        (p for p in drawn(found, random.Random(0), 200) if found.schedule(p) is not None),
        key=lambda p: estimates.figures(p).cycles,
    )
    design = found.schedule(fastest)
    assert design is not None
    banked = {step.array for step in design if isinstance(step, Partition)}
    assert banked
    assert not banked & {"A", "B", "C"}  # elements of memory outside come one after the other
    copied = {f"{step.loop}" for step in design if isinstance(step, Unroll)}
    assert not any(loop.rpartition(".")[2].startswith(("load", "store")) for loop in copied)


def test_a_fixed_pipeline_stays_with_all_that_is_said_of_its_nest() -> None:
    found = space(product, product.schedules["board"], ["pipeline:load_A_1"])
    design = found.schedule(found.plain())
    assert design is not None
    asked = [step.ii for step in design if isinstance(step, Pipeline) and "load_A" in step.loop]
    assert asked == [3]
    assert Unroll("k") not in design.steps


def test_a_fixed_partition_is_the_only_one_of_its_array() -> None:
    found = space(product, product.schedules["board"], ["partition:A_buf"])
    for point in drawn(found, random.Random(0), 50):
        design = found.schedule(point)
        if design is not None:
            own = [s for s in design if isinstance(s, Partition) and s.array == "A_buf"]
            assert own == [Partition("A_buf", 1, "cyclic", 4)]


def test_partitions_that_follow_from_accesses_are_searched_unless_they_are_fixed() -> None:
    steps = ScheduleBuilder().auto_partition("A").auto_partition("C").build()
    assert start_of(product.program, steps).steps == ()
    assert start_of(product.program, steps, ["auto_partition:C"]).steps == (AutoPartition("C"),)


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("partition:B_buf", "partition:A_buf"),
        ("buffer", "pipeline:load_A_1"),
        ("", "pipeline:load_A_1"),
    ],
)
def test_a_step_that_is_not_there_cannot_be_fixed(word: str, told: str) -> None:
    with pytest.raises(InputError, match="W509") as error:
        start_of(product.program, product.schedules["board"], [word])
    assert told in (error.value.help or "")


def test_a_schedule_that_is_not_legal_is_refused() -> None:
    with pytest.raises(ScheduleError, match="W201"):
        weft.space(product, schedule=Schedule((Buffer("A", "nowhere"),)))
    with pytest.raises(ScheduleError, match="W201"):  # not even where it is searched anew
        weft.space(product, schedule=Schedule((Pipeline("nowhere"),)))


def test_an_exploration_from_a_schedule_is_resumed_with_it(tmp_path, capsys) -> None:
    kernel = f"{EXAMPLES}/outside/gemm_tiles.py:gemm_tiles"
    words = [
        "explore",
        "--evaluator",
        "model",
        kernel,
        "--size",
        "mini",
        "--trials",
        "3",
        "--out",
        str(tmp_path / "run"),
    ]
    assert weft_command([*words, "--from", "tiled"]) == 0
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert {step["step"] for step in manifest["start"]} >= {"interface", "buffer", "tile"}
    best = weft.load_run(tmp_path / "run").best()
    assert any(isinstance(step, Interface) for step in best.schedule)
    assert weft_command([*words, "--from", "tiled", "--resume"]) == 0
    assert weft_command([*words, "--resume"]) == 1
    assert "W525" in capsys.readouterr().err
    assert weft_command([*words, "--fix", "partition"]) == 2
    assert "--from" in capsys.readouterr().err


def test_python_begins_with_a_schedule_too() -> None:
    run = weft.explore(product, schedule="board", fix=["partition"], trials=4, progress=False)
    assert all(
        set(run.best().schedule) >= {s} for s in product.schedules["board"] if s.kind == "buffer"
    )
    # Copies of whole arrays leave the loops of the kernel open: all its structures are there.
    names = {v.name for v in weft.space(product).space.variants}
    assert names <= {v.name for v in weft.space(product, schedule="board").space.variants}
