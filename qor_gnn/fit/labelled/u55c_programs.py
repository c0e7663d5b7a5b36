"""Loops of the U55C accelerators (Vitis HLS 2023.2, 4 ns) under conditions, as programs: what no design of the U280 data has.

The triangles of syrk and syr2k as Allo writes them, MEDIUM: all columns of a row are unrolled, those behind the diagonal
under a condition. Constants multiply the other factor here: the flow lets the tool reorder floats, and of the two
products of each term one has moved out of the copies (241 and 482 multipliers for 240 and 480 terms). All sums are in logic
here; in the report of syr2k those of the two products are in DSP slices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from dsl.builder.program import ProgramBuilder
from dsl.builder.terms import Term
from dsl.expressions.types import f32, f64
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule, ScheduleBuilder

CLOCK_NS = 4.0
TOOL, DEVICE = "vitis-2023.2", "u55c"
_N, _M = 240, 200
_ALPHA, _BETA = 1.5, 1.2


@dataclass(frozen=True, slots=True)
class Design:
    """A loop of a report (``loops.csv``, ``bindops.csv``), and the program that it is of.

    Attributes:
        name: the design and the loop.
        program: the nest around the loop.
        schedule: its directives.
        interval: achieved, cycles.
        iteration_latency: states.
        multipliers: units, those of floats.
    """

    name: str
    program: Program
    schedule: Schedule
    interval: int
    iteration_latency: int
    multipliers: int


def designs() -> tuple[Design, ...]:
    """All of them."""
    return (
        _design("allo-syrk: l_sum", _syrk, _sums("A2"), (5, 19, 49)),
        _design("allo-syr2k: l_sum", _syr2k, _sums("A2", "B2"), (5, 26, 97)),
        _design("allo-syrk: l_update", _update, ScheduleBuilder().pipeline("i"), (1, 12, 240)),
    )


def _sums(*columns: str) -> ScheduleBuilder:
    """Sums in logic, and what the copies read of columns in registers."""
    s = ScheduleBuilder().bind_op("S0", "fadd", "fabric").pipeline("k")
    for array in columns:
        s.partition(array, 0, "complete")
    return s


def _design(
    name: str,
    write: Callable[[ProgramBuilder], None],
    s: ScheduleBuilder,
    reported: tuple[int, int, int],
) -> Design:
    p = ProgramBuilder(name.split(":")[0].replace("-", "_"))
    write(p)
    program = p.build()
    s.unroll("j")
    for array in program.arguments:
        if array.shape == (_N, _N):
            s.partition(array.name, 1, "complete")
    return Design(name, program, s.build(), *reported)


def _syrk(p: ProgramBuilder) -> None:
    a1, a2 = (p.placeholder(name, f32, (_N, _M)) for name in ("A1", "A2"))
    c = p.placeholder("C", f32, (_N, _N))
    i, k, j = p.loops(i=_N, k=_M, j=_N)
    p.compute("S0", (i, k, j), c[i, j], c[i, j] + a1[i, k] * _ALPHA * a2[j, k], where=j <= i)


def _syr2k(p: ProgramBuilder) -> None:
    a1, a2, b1, b2 = (p.placeholder(name, f32, (_N, _M)) for name in ("A1", "A2", "B1", "B2"))
    c = p.placeholder("C", f32, (_N, _N))
    i, k, j = p.loops(i=_N, k=_M, j=_N)
    terms = a2[j, k] * (_ALPHA * b1[i, k]) + b2[j, k] * (_ALPHA * a1[i, k])
    p.compute("S0", (i, k, j), c[i, j], c[i, j] + terms, where=j <= i)


def _update(p: ProgramBuilder) -> None:
    v, c = (p.placeholder(name, f32, (_N, _N)) for name in ("v", "C"))
    i, j = p.loops(i=_N, j=_N)
    doubles = cast(Term, f64(v[i, j]))
    p.compute("S0", (i, j), c[i, j], f32(doubles * _BETA), where=j <= i)
