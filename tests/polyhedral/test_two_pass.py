"""Rescaled sums in two passes: what the step makes of a program, that it comes to the same, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import weft
from dse.bounds.two_passes import two_passes
from dsl import interp
from dsl.errors.errors import ScheduleError
from dsl.expressions.expr import Const
from dsl.programs.program import Program, map_statements
from dsl.schedules.recurrence_steps import TwoPass
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from polyhedral.equivalence.two_passes import check_two_passes
from polyhedral.schedule import apply
from polyhedral.scop.scheduled import build
from tests.support.levels import Case, check_levels
from weft import f32, f64


@weft.kernel
def softmax(x: f32[3, 9], y: f32[3, 9]):
    for r in range(3):
        top: f32 = x[r, 0]
        total: f32 = 1.0
        for i in range(1, 9):
            higher: f32 = max(top, x[r, i])
            total = total * weft.exp(top - higher) + weft.exp(x[r, i] - higher)
            top = higher
        for i in range(9):
            y[r, i] = weft.exp(x[r, i] - top) / total


@weft.kernel
def branches(x: f64[12], out: f64[2]):
    low: f64 = x[0]
    s: f64 = 1.0
    for i in range(1, 12):
        if x[i] < low:
            s = 1.0 + s * weft.exp(2.0 * x[i] - 2.0 * low)
            low = x[i]
        else:
            s += weft.exp(2.0 * (low - x[i]))
    out[0] = s
    out[1] = low


@weft.kernel
def attention(Q: f32[2, 3], K: f32[5, 3], V: f32[5, 3], out: f32[2, 3]):
    for q in range(2):
        top: f32 = -10000.0
        total: f32 = 0.0
        acc: f32[3] = 0.0
        for j in range(5):
            score: f32 = 0.0
            for d in range(3):
                score += Q[q, d] * K[j, d]
            new: f32 = max(top, score * 0.25)
            scale: f32 = weft.exp(top - new)
            p: f32 = weft.exp(score * 0.25 - new)
            total = total * scale + p
            for d in range(3):
                acc[d] = acc[d] * scale + p * V[j, d]
            top = new
        for d in range(3):
            out[q, d] = acc[d] / total


@weft.kernel
def columns(x: f32[8, 4], w: f32[8], beta: f32, m: f32[4], s: f32[4], u: f32[4, 2]):
    for i in range(8):
        for c in range(4):
            before: f32 = m[c]
            m[c] = max(before, x[i, c])
            s[c] *= weft.exp(beta * (before - m[c]))
            s[c] -= w[i] * weft.exp(beta * x[i, c] - m[c] * beta) - weft.exp(
                beta * (x[i, c] - m[c])
            )
            for k in range(2):
                u[c, k] = u[c, k] * weft.exp((before - m[c]) * beta) + weft.exp(
                    beta * (w[k] - m[c])
                )


@weft.kernel
def masked(x: f32[3, 9], keep: f32[9], out: f32[3, 2]):
    for r in range(3):
        top: f32 = -1e30
        total: f32 = 0.0
        count: f32 = 0.0
        for i in range(9):
            if keep[i] > 0.0:
                higher: f32 = max(top, x[r, i])
                total = total * weft.exp(top - higher) + weft.exp(x[r, i] - higher)
                count += 1.0
                top = higher
        out[r, 0] = total
        out[r, 1] = top + count


FORMS = [softmax, branches, attention, masked, columns]


def passes(program: Program) -> tuple[Program, Schedule]:
    """A program with two passes wherever there may be, and the steps."""
    state, steps = two_passes(build(program), (), floats=True)
    return state.scop.program, Schedule(steps)


def test_what_becomes_of_a_loop() -> None:
    after, schedule = passes(softmax.program)
    assert schedule.steps == (TwoPass(("S3",), "S3.i"),)
    assert [s.name for s in after.statements()] == [
        "S0", "S1", "top_start", "S4", "top_factor", "S3_start", "S3", "S5",
    ]  # fmt: skip
    after, schedule = passes(attention.program)
    kinds = [step.kind for step in schedule]
    # Sums that begin with 0 are not rescaled in front of the loop; products of rows are kept.
    assert kinds == ["expand", "two_pass"]
    assert "scale" not in {a.name for a in after.arrays}


@pytest.mark.parametrize("form", FORMS, ids=lambda k: k.name)
def test_it_comes_to_the_same(form: weft.Kernel) -> None:
    program = form.program
    after, schedule = passes(program)
    assert any(isinstance(step, TwoPass) for step in schedule)
    rng = np.random.default_rng(1)
    for _ in range(3):
        dtype = np.float64 if form is branches else np.float32
        given = {a.name: rng.normal(0, 3, a.shape).astype(dtype) for a in program.arguments}
        before, behind = interp.run(program, given), interp.run(after, given)
        for name, values in before.items():
            np.testing.assert_allclose(values, behind[name], 1e-5, 1e-6)


def test_all_levels_agree() -> None:
    cases = [Case(n, k.program, passes(k.program)[1]) for n, k in enumerate(FORMS[:4])]
    found = check_levels(cases, cxx=False)
    assert not found, found[0].report()


def test_a_proof_finds_what_else_has_changed() -> None:
    after, _ = passes(softmax.program)
    assert check_two_passes(softmax.program, after, ["S3"], 1) is None
    body = tuple(
        map_statements(
            node, lambda s: replace(s, value=Const(2.0, s.value.dtype)) if s.name == "S1" else s
        )
        for node in after.body
    )
    assert check_two_passes(softmax.program, replace(after, body=body), ["S3"], 1) is not None


@weft.kernel
def closed(x: f32[9], g: f32[9], v: f32[9, 3], out: f32[9], a: f32[3]):
    m: f32 = x[0]
    s: f32 = 1.0
    t: f32 = 1.0
    for i in range(9):
        used: f32 = max(m, x[i])
        with weft.stmt("used"):
            s = s * weft.exp(m - used) + weft.exp(x[i] - used)
        out[i] = s
        m = used
    for i in range(9):
        other: f32 = max(m, x[i])
        with weft.stmt("other"):
            t = t * weft.exp(m - other) + weft.exp(x[i] - m)
        m = other
    for i in range(9):
        moving: f32 = max(m, x[i])
        with weft.stmt("moving"):
            t = t * weft.exp(g[i] * (m - moving)) + weft.exp(g[i] * (x[i] - moving))
        m = moving
    for i in range(9):
        some: f32 = max(m, x[i])
        if i > 2:
            with weft.stmt("some"):
                t = t * weft.exp(m - some) + weft.exp(x[i] - some)
        m = some
    for i in range(9):
        twice: f32 = max(m, x[i])
        with weft.stmt("twice"):
            t = t * weft.exp(2.0 * (m - twice)) + weft.exp(x[i] - twice)
        m = twice
    for i in range(9):
        part: f32 = max(m, x[i])
        for k in range(min(i, 3)):
            with weft.stmt("part"):
                a[k] = a[k] * weft.exp(m - part) + v[i, k] * weft.exp(x[i] - part)
        m = part
    for i in range(9):
        late: f32 = max(m, x[i])
        with weft.stmt("late"):
            t = (t + weft.exp(x[i] - m)) * weft.exp(m - late)
        m = late
    for i in range(9):
        alone: f32 = max(m, x[i])
        with weft.stmt("first"):
            t = t * weft.exp(m - alone) + weft.exp(x[i] - alone)
        with weft.stmt("second"):
            s = s * weft.exp(m - alone) + weft.exp(x[i] - alone)
        m = alone
    out[0] = s + t + m


@weft.kernel
def at_times(x: f32[9], v: f32[9], out: f32[2]):
    m: f32 = x[0]
    t: f32 = 1.0
    for i in range(9):
        always: f32 = max(m, x[i])
        if v[i] > 0.0:
            with weft.stmt("always"):
                t = t * weft.exp(m - always) + weft.exp(x[i] - always)
        m = always
    for i in range(9):
        near: f32 = max(m, x[i])
        if m < x[i] + 1.0:
            with weft.stmt("near"):
                t = t * weft.exp(m - near) + weft.exp(x[i] - near)
            m = near
    for i in range(9):
        counted: f32 = max(m, x[i])
        if v[i] > 0.0:
            with weft.stmt("counted"):
                t = t * weft.exp(m - counted) + weft.exp(x[i] - counted)
            m = counted
    out[0] = t + m


@weft.kernel
def feeds(x: f32[9], y: f32[9], out: f32[2]):
    m: f32 = x[0]
    s: f32 = 0.0
    for i in range(1, 9):
        y[i] = x[i - 1] * 2.0
        n: f32 = max(m, y[i - 1])
        with weft.stmt("sum"):
            s = s * weft.exp(m - n) + weft.exp(y[i] - n)
        with weft.stmt("next"):
            y[i] = y[i] + 1.0
        m = n
    out[0] = s


@pytest.mark.parametrize(
    ("kernel", "stmts", "text"),
    [
        (closed, ("used",), "reads 's' in between"),
        (closed, ("other",), "t is not rescaled as an extremum changes"),
        (closed, ("twice",), "t is not rescaled as an extremum changes"),
        (closed, ("late",), "t is not rescaled as an extremum changes"),
        (closed, ("moving",), "what 'i' rescales by is not the same each time"),
        (closed, ("some",), "t is not rescaled in each iteration in which m changes"),
        (closed, ("part",), "a[k] is not rescaled in each iteration"),
        (at_times, ("always",), "is not under the condition of always"),
        (at_times, ("near",), "nothing in 'i' is a running extremum"),
        (at_times, ("counted",), "no iteration may count, and a sum is not 0 in front"),
        (closed, ("first",), "second uses m as it is in between"),
        (closed, ("first", "used"), "used does not run in 'i'"),
        (closed, (), "names no statement"),
        (feeds, ("sum",), "sum reads y[i], which is assigned later or elsewhere, too"),
    ],
)
def test_refusals(kernel: weft.Kernel, stmts: tuple[str, ...], text: str) -> None:
    step = TwoPass(stmts, f"{stmts[0] if stmts else 'used'}.i")
    with pytest.raises(ScheduleError) as caught:
        apply(kernel.program, Schedule((step,)))
    assert caught.value.code == "W248"
    assert text in caught.value.render()


def test_it_comes_first() -> None:
    steps = ScheduleBuilder().pipeline("S3.i").two_pass(["S3"], "S3.i").build()
    with pytest.raises(ScheduleError, match="comes after steps that ask something of loops"):
        apply(softmax.program, steps)
