"""Choices in the place of conditions on loop variables: what is left, that it means the same, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

import weft
from backends.equivalence import equivalence
from dse.space.space import space_of
from dsl.errors.errors import ScheduleError
from dsl.expressions.expr import Binary, Const, Expr, Select
from dsl.programs.program import Program, map_statements
from dsl.schedules.range_steps import IfConvert
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from mlir_passes.pipeline import compile_design
from polyhedral.equivalence.rewritings import check_rewriting, rewritings
from polyhedral.schedule import apply
from qor_gnn.tools.personality import personality
from tests.polyhedral.show import nest
from tests.support.levels import Case, check_levels
from weft import f32, i8, i32

TOOL = personality("vitis-2022.1-zu9eg-10ns")


@weft.kernel
def eliminated(A: f32[6, 7]):
    for k in range(6):
        for i in range(6):
            if i != k:
                f: f32 = A[i, k] / A[k, k]
                for j in range(k, 7):
                    A[i, j] -= f * A[k, j]


@weft.kernel
def banded(x: i32[12], w: i8[12], y: i32[12]):
    for i in range(12):
        if i < 3 or i > 7:
            y[i] = x[i] // w[i]


@weft.kernel
def summed(x: f32[5], out: f32[5]):
    for i in range(5):
        total: f32 = 0.0
        for j in range(5):
            if j != i:
                total += x[j] * x[i]
        out[i] = total


@weft.kernel
def nested(x: i32[8, 8], lo: i32):
    for i in range(8):
        for j in range(8):
            if i != j and x[i, j] > lo:
                x[i, j] = x[i, j] + j


@weft.kernel
def outside(x: i32[8], y: i32[9]):
    for i in range(9):
        if i < 8:
            y[i] = x[i]


@weft.kernel
def either(x: i32[8]):
    for i in range(8):
        if i != 3:
            x[i] = 2 * x[i]
        else:
            x[i] = 7


@weft.kernel
def smallest(x: f32[8, 8], m: f32[8]):
    for i in range(8):
        for j in range(8):
            if i != j:
                m[i] = min(m[i], x[i, j])


@weft.kernel
def kept(x: i32[8], y: i32[8]):
    last: i32 = 0
    for i in range(8):
        if i != 3:
            last = x[i]
        y[i] = last


def converted(stmt: str) -> ScheduleBuilder:
    return ScheduleBuilder().if_convert(stmt)


SCHEDULES = [
    (eliminated, converted("S1").pipeline("S1.j")),
    (banded, converted("S0").unroll("S0.i", 5)),
    (summed, converted("S1").pipeline("S1.i")),
    (nested, converted("S0").reorder(["S0.j", "S0.i"])),
    (kept, converted("S1").pipeline("S1.i")),
]


def test_loops_are_whole() -> None:
    assert nest(eliminated.program, converted("S1")) == (
        "k: 0 .. 6\n  i: 0 .. 6\n    S0(k, i)\n    j: k .. 7\n      S1(k, i, j)"
    )
    assert nest(banded.program, converted("S0")) == "i: 0 .. 12\n  S0(i)"


def test_every_level_computes_the_same() -> None:
    cases = [Case(n, k.program, s.build()) for n, (k, s) in enumerate(SCHEDULES)]
    failures = check_levels(cases, cxx=False) + check_levels(cases[:2], jit=False)
    assert not failures, failures[0].detail


@pytest.mark.parametrize(("kernel", "schedule"), SCHEDULES, ids=lambda x: getattr(x, "name", ""))
def test_it_is_proven(kernel: weft.Kernel, schedule: ScheduleBuilder) -> None:
    assert equivalence(compile_design(kernel.program, schedule.build())).verdict == "proven"


@pytest.mark.parametrize(
    ("kernel", "schedule", "text"),
    [
        (eliminated, converted("S1").if_convert("S1"), "S1 runs in all iterations of its loops"),
        (either, converted("S0"), "the condition around S0 has an else"),
        (outside, converted("S0"), "S0 cannot run in all iterations of its loops"),
        # The smaller of what is no number and infinity is infinity.
        (smallest, converted("S0"), "S0 changes 'm' where it did not run"),
        (banded, ScheduleBuilder().pipeline("S0.i").if_convert("S0"), "comes after steps"),
        (banded, converted("S7"), "no statement is called 'S7'"),
    ],
)
def test_what_cannot_be_is_said(kernel: weft.Kernel, schedule: ScheduleBuilder, text: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        apply(kernel.program, schedule.build())
    assert caught.value.code in {"W255", "W205"}
    assert text in caught.value.render()


def changed(change: Callable[[Expr], Expr]) -> Callable[[Program], Program]:
    """A program whose values are other ones."""

    def made(program: Program) -> Program:
        def own(stmt):
            return replace(stmt, value=change(stmt.value))

        return replace(program, body=tuple(map_statements(n, own) for n in program.body))

    return made


def other_way(value: Expr) -> Expr:
    if isinstance(value, Binary):
        return replace(value, lhs=other_way(value.lhs), rhs=other_way(value.rhs))
    if isinstance(value, Select):
        return replace(value, then=value.orelse, orelse=value.then)
    return value


def positive_zero(value: Expr) -> Expr:
    match value:
        case Binary():
            return replace(value, lhs=positive_zero(value.lhs), rhs=positive_zero(value.rhs))
        case Select(orelse=Const() as zero):
            return replace(value, orelse=replace(zero, value=0.0))
        case _:
            return value


@pytest.mark.parametrize(
    ("kernel", "stmt", "change"),
    [
        (eliminated, "S1", changed(other_way)),
        (banded, "S0", changed(other_way)),
        (summed, "S1", changed(positive_zero)),  # -0.0 + 0.0 is 0.0
    ],
)
def test_other_programs_are_refuted(
    kernel: weft.Kernel, stmt: str, change: Callable[[Program], Program]
) -> None:
    (right,) = rewritings(kernel.program, converted(stmt).build())
    assert check_rewriting(right) is None
    found = check_rewriting(replace(right, after=change(right.after)))
    assert found is not None
    assert found.code == "W339"


def test_a_local_that_is_read_outside_keeps_its_value() -> None:
    """Without the choice a read would see what was assigned where the statement did not run."""
    (right,) = rewritings(kept.program, converted("S1").build())

    def always(value: Expr) -> Expr:
        return value.then if isinstance(value, Select) else value

    found = check_rewriting(replace(right, after=changed(always)(right.after)))
    assert found is not None
    assert "S2 reads what S1 assigned where it did not run" in found.message


def test_searches_convert_what_cuts_a_loop() -> None:
    found = {s for v in space_of(eliminated.program, TOOL).variants for s in v.steps}
    assert IfConvert("S0") in found
    whole = {s for v in space_of(outside.program, TOOL).variants for s in v.steps}
    assert not any(isinstance(s, IfConvert) for s in whole)
    assert Schedule.from_json(Schedule((IfConvert("S0"),)).to_json()).steps == (IfConvert("S0"),)
