"""How compile time grows with a kernel: a chain of matrix-vector stages, two statements each, and
a kernel under a condition of eight cases in eight loops.

Each stage is tiled by rows, pipelined and unrolled; the time is from the program to HLS C++, in
process, after imports. `--quick` leaves out the longest chain.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import replace

from benchmarks._row import Goal, Options, Row, main, median
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, BinaryOp, Load
from dsl.expressions.literals import const
from dsl.expressions.types import f32
from dsl.expressions.typing import binary
from dsl.programs.program import Array, Loop, Node, Program, Stmt, Storage
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from mlir_passes.pipeline import compile_design
from tests.support.md_grid import md_grid

STAGES = (1, 5, 25, 100)
REPEATS = 5
GRID_REPEATS = 3
EXTENT = 64


def chain(stages: int) -> Program:
    """``v1 = M v0``, ``v2 = M v1``, …: two statements a stage."""
    arrays = [Array("M", f32, (EXTENT, EXTENT)), Array("v0", f32, (EXTENT,))]
    body: list[Node] = []
    for n in range(stages):
        last = n == stages - 1
        storage = Storage.ARGUMENT if last else Storage.LOCAL
        arrays.append(Array(f"v{n + 1}", f32, (EXTENT,), storage))
        body += _stage(n)
    arrays.sort(key=lambda a: a.storage is Storage.LOCAL)
    return Program(f"chain{stages}", tuple(arrays), tuple(body))


def _stage(n: int) -> list[Node]:
    i, j = Affine.of("i"), Affine.of("j")
    target = Access(f"v{n + 1}", (i,))
    vector = Load(Access(f"v{n}", (j,)), f32)
    product = binary(BinaryOp.MUL, Load(Access("M", (i, j)), f32), vector)
    zero = Stmt(f"Z{n}", target, const(0.0, f32))
    step = Stmt(f"S{n}", target, binary(BinaryOp.ADD, Load(target, f32), product))
    return [_loop("i", zero), _loop("j", _loop("i", step))]


def _loop(var: str, body: Node) -> Loop:
    return Loop(var, (Affine.of(0),), (Affine.of(EXTENT),), 1, (body,))


def schedule_of(stages: int) -> Schedule:
    """Rows in blocks of 8, one column a cycle."""
    s = ScheduleBuilder()
    for n in range(stages):
        s.split(f"S{n}.i", 8)
        s.reorder([f"S{n}.i_0", f"S{n}.j", f"S{n}.i_1"])
        s.pipeline(f"S{n}.j").unroll(f"S{n}.i_1")
        s.pipeline(f"Z{n}.i")
    return s.partition("M", 0, "cyclic", 8).build()


def grid_row() -> Row:
    """Checks, dependences, the legality of an interchange, loops and their proof, to HLS C++."""
    schedule = ScheduleBuilder().interchange("b0x", "b0y").build()
    samples = []
    for _ in range(GRID_REPEATS):
        program = replace(md_grid.program)  # a new one: nothing is known of it yet
        start = time.perf_counter()
        text = compile_design(program, schedule).hls_cpp
        samples.append(time.perf_counter() - start)
        assert text.count("for (") == 8
    return Row(
        benchmark="compile_scaling",
        case="md-grid",
        metric="seconds",
        value=median(samples),
        unit="s",
        goal=Goal("<=", 5),
        provenance="wall clock, program to HLS C++ after imports",
        n=len(samples),
    )


def measure(options: Options) -> Iterator[Row]:
    """One row a chain, and one of the grid."""
    for stages in STAGES[:-1] if options.quick else STAGES:
        schedule = schedule_of(stages)
        samples = []
        for _ in range(REPEATS):
            program = chain(stages)  # a new one: nothing is known of it yet
            start = time.perf_counter()
            text = compile_design(program, schedule).hls_cpp
            samples.append(time.perf_counter() - start)
            assert text.count("#pragma HLS pipeline") == 2 * stages
        yield Row(
            benchmark="compile_scaling",
            case=f"statements={2 * stages}",
            metric="seconds",
            value=median(samples),
            unit="s",
            goal=None,
            provenance="wall clock, program to HLS C++ after imports",
            n=len(samples),
        )
    yield grid_row()


if __name__ == "__main__":
    sys.exit(main(__doc__ or "", measure))
