"""Terms of sums of floats in the order in which they are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import weft
from backends.equivalence import equivalence
from backends.tolerance import tolerances
from dse.space.loops.regrouped import critical_last
from dsl import interp
from dsl.arrays.inputs import random_inputs
from dsl.errors.errors import ScheduleError
from dsl.expressions.expr import loads
from dsl.expressions.float_sums import summed, terms_of
from dsl.programs.program import Loop
from dsl.programs.updates_in_line import line_of
from dsl.schedules.recurrence_steps import CriticalLast
from dsl.schedules.schedule import ScheduleBuilder
from mlir_passes.pipeline import compile_design
from polyhedral.equivalence.refutation import Refutation
from polyhedral.equivalence.rewritings import check_rewriting, rewritings
from polyhedral.schedule import apply
from polyhedral.scop.scheduled import build
from polyhedral.transforms.recurrences.critical_last import with_value
from tests.support.levels import Case, check_levels
from weft import f32, f64, i32


@weft.kernel
def biquad(b: f32[3], a: f32[2], x: f32[16], y: f32[16]):
    x1: f32 = 0.0
    x2: f32 = 0.0
    y1: f32 = 0.0
    y2: f32 = 0.0
    for n in range(16):
        out = b[0] * x[n] - a[0] * y1 + b[1] * x1 + b[2] * x2 - a[1] * y2
        x2 = x1
        x1 = x[n]
        y2 = y1
        y1 = out
        y[n] = out


@weft.kernel
def history(x: f32[3, 16], y: f32[3, 16]):
    for r in range(3):
        for n in range(3, 16):
            y[r, n] = y[r, n - 1] * 0.5 - (y[r, n - 3] - (x[r, n] + y[r, n - 2] * 0.25))


@weft.kernel
def borders(b: f32[3], a: f32[3], x: f32[16], y: f32[16]):
    for n in range(16):
        acc: f32 = b[0] * x[n]
        if n >= 1:
            acc += b[1] * x[n - 1] - a[0] * y[n - 1]
        if n >= 3:
            acc -= a[2] * y[n - 3]
        if n >= 2:
            acc += b[2] * x[n - 2] - a[1] * y[n - 2]
        y[n] = acc


@weft.kernel
def between(a: f32[2], x: f32[16], y: f32[16], z: f32[16]):
    for n in range(2, 16):
        acc: f32 = x[n]
        acc += a[0] * y[n - 1]
        z[n] = acc
        acc += a[1] * y[n - 2]
        y[n] = acc
    for n in range(2, 16):
        z[n] += z[n - 1]
        z[n] += z[n] * x[n]
    for n in range(2, 16):
        x[n] += x[n - 1]
        x[n] += x[n - 2]


@weft.kernel
def closed(x: f32[8], y: f32[8], z: i32[8], w: f64[8]):
    for i in range(1, 8):
        y[i] = x[i] + x[i - 1] - 2.0
    for i in range(1, 8):
        z[i] = z[i - 1] + z[i] + 1
    for i in range(1, 8):
        y[i] = x[i] * y[i - 1]
    for i in range(1, 8):
        w[i] = x[i] - w[i - 1]
    for i in range(2, 8):
        y[i] = -y[i - 1] - y[i - 2]


def steps() -> ScheduleBuilder:
    return ScheduleBuilder()


SCHEDULES = [
    (biquad, steps().critical_last("S4").pipeline("n")),
    (history, steps().critical_last("S0").carry("y", "n").pipeline("n")),
    (borders, steps().critical_last("S1").pipeline("n")),
]


def test_the_nearest_iteration_comes_last() -> None:
    orders = []
    for (kernel, schedule), name in zip(SCHEDULES, ("S4", "S0", "S1"), strict=True):
        stmt = apply(kernel.program, schedule.build()).scop.statement(name).stmt
        orders.append([str(list(loads(term))[-1]) for _, term in terms_of(stmt.value)])
    assert orders == [
        ["x[n]", "x1", "x2", "y2", "y1"],
        ["x[r, n]", "y_carry[3]", "y_carry[2]", "y_carry[1]"],
        ["x[n - 1]", "acc", "y[n - 1]"],
    ]


def test_an_update_comes_behind_those_that_add_what_is_older() -> None:
    program = apply(borders.program, steps().critical_last("S1").build()).scop.program
    assert [s.name for s in program.statements()] == ["S0", "S2", "S3", "S1", "S4"]
    program = apply(program, steps().critical_last("S3").build()).scop.program
    assert [s.name for s in program.statements()] == ["S0", "S2", "S3", "S1", "S4"]
    _, found = critical_last(build(borders.program), floats=True)
    assert [step.stmt for step in found if isinstance(step, CriticalLast)] == ["S1", "S3"]
    # What is read in between stays: of `between` no update follows another one of the same element.
    assert line_of(between.program, "S1") == ()
    assert line_of(between.program, "S5") == ()
    assert line_of(between.program, "S7") == ("S8",)


@pytest.mark.parametrize(("kernel", "schedule"), SCHEDULES)
def test_values_are_the_same_but_for_roundings(
    kernel: weft.Kernel, schedule: ScheduleBuilder
) -> None:
    built = schedule.build()
    after = apply(kernel.program, built).scop.program
    assert tolerances(kernel.program, built)["y"] >= 64
    inputs = random_inputs(kernel.program, 1)
    want, got = interp.run(kernel.program, inputs), interp.run(after, inputs)
    assert np.allclose(want["y"], got["y"], 1e-4, 1e-4)
    assert equivalence(compile_design(kernel.program, built)).verdict == "proven"


def test_all_levels_agree() -> None:
    cases = [Case(n, k.program, s.build()) for n, (k, s) in enumerate(SCHEDULES)]
    assert check_levels(cases, cxx=False) + check_levels(cases[:1], jit=False) == []


def test_a_recurrence_waits_for_one_term() -> None:
    before, after = (
        weft.estimate(biquad, schedule.build()).loops[0].ii
        for schedule in (steps().pipeline("n"), SCHEDULES[0][1])
    )
    assert after < before


@pytest.mark.parametrize(
    ("stmt", "said"),
    [
        ("S0", "no term of S0 comes from a nearer iteration"),
        ("S1", "S1 is no sum of floats"),
        ("S2", "S2 is no sum of floats"),
        ("S3", "no term of S3 comes from a nearer iteration"),
        ("S4", "no term of S4 comes from a nearer iteration"),
    ],
)
def test_other_statements_are_refused(stmt: str, said: str) -> None:
    with pytest.raises(ScheduleError, match=said) as caught:
        apply(closed.program, steps().critical_last(stmt).build())
    assert caught.value.code == "W237"


def test_other_places_are_refuted() -> None:
    (right,) = rewritings(borders.program, steps().critical_last("S1").build())
    assert check_rewriting(right) is None
    (loop,) = right.after.body
    assert isinstance(loop, Loop)
    nodes = loop.body
    for other in ((*nodes[1:-1], nodes[0], nodes[-1]), (*nodes[:-2], nodes[-1], nodes[-2])):
        after = replace(right.after, body=(replace(loop, body=other),))
        assert isinstance(check_rewriting(replace(right, after=after)), Refutation)


def test_other_terms_are_refuted() -> None:
    (right,) = rewritings(biquad.program, steps().critical_last("S4").build())
    assert check_rewriting(right) is None
    stmt = next(s for s in right.after.statements() if s.name == "S4")
    (first, *others) = terms_of(stmt.value)
    wrong = [
        (first, *others[1:]),
        (first, *others, others[0]),
        (first, *((not p, t) for p, t in others)),
    ]
    for terms in wrong:
        value = summed(terms, stmt.value)
        after = with_value(right.after, replace(stmt, value=value))
        assert isinstance(check_rewriting(replace(right, after=after)), Refutation)
    assert isinstance(check_rewriting(replace(right, after=history.program)), Refutation)
