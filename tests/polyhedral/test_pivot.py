"""Copies of pivot rows and columns: what the step makes of a program, that it means the same, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import weft
from backends.equivalence import equivalence
from dse.space.tables.pivoted import pivoted
from dsl import interp
from dsl.errors.errors import ScheduleError
from dsl.expressions import typing
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Binary, BinaryOp, Compare, CompareOp, Expr, Load, Select
from dsl.programs.pretty import pretty
from dsl.programs.program import Loop, Program, Stmt, map_statements
from dsl.schedules.recurrence_steps import Pivot
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from mlir_passes.pipeline import compile_design
from polyhedral.dependences.direct import dependences
from polyhedral.equivalence.rewritings import check_rewriting, rewritings
from polyhedral.schedule import apply
from polyhedral.scop.scheduled import original
from polyhedral.scop.scop import build_scop
from tests.support.levels import Case, check_levels
from weft import f32, i16, u1, u8, u32


@weft.kernel
def distances(d: i16[6, 6]):
    for k in range(6):
        for i in range(6):
            for j in range(6):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])


@weft.kernel
def backwards(w: f32[5, 5]):
    for k in range(4, -1, -1):
        for j in range(4, -1, -1):
            for i in range(5):
                w[i, j] = w[i, j] - w[i, k] * w[k, j]


@weft.kernel
def paths(d: i16[5, 5], via: u8[5, 5]):
    for k in range(5):
        for i in range(5):
            if i != k:
                first: i16 = d[i, k]
                for j in range(5):
                    if first + d[k, j] < d[i, j]:
                        d[i, j] = first + d[k, j]
                        via[i, j] = via[i, k]


@weft.kernel
def closures(r: u1[2, 5, 5]):
    for b in range(2):
        for k in range(5):
            for i in range(5):
                for j in range(5):
                    if r[b, i, k] == 1 and r[b, k, j] == 1:
                        r[b, i, j] = 1


@weft.kernel
def words(rows: u32[6]):
    for k in range(6):
        for i in range(6):
            if (rows[i] >> k) & 1 == 1:
                rows[i] = rows[i] + rows[k]


@weft.kernel
def blocks(d: i16[6, 6], w: i16[6]):
    for b in range(3):
        for k in range(2):
            for i in range(6):
                for j in range(6):
                    d[i, j] = max(d[i, j], d[i, 2 * b + k] - d[2 * b + k, j] + w[i] * j)


@weft.kernel
def elsewhere(d: i16[6, 6]):
    for k in range(5):
        for i in range(6):
            for j in range(6):
                d[i, j] = min(d[i, j], d[i, k] + d[k + 1, k])


@weft.kernel
def neighbours(d: i16[6, 6]):
    for k in range(6):
        for i in range(1, 6):
            for j in range(6):
                d[i, j] = min(d[i - 1, j], d[i, k])


@weft.kernel
def now_and_then(d: i16[6, 6]):
    for k in range(6):
        for i in range(6):
            for j in range(3):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])


@weft.kernel
def twice(d: i16[6, 6]):
    for k in range(6):
        for i in range(6):
            for j in range(6):
                d[i, j] = min(d[i, j], d[i, k])
                d[i, j] = max(d[i, j], d[k, j])


@weft.kernel
def looked_up(d: i16[6, 6], at: u8[6]):
    for k in range(6):
        for i in range(6):
            for j in range(6):
                d[i, at[j] % 6] = d[i, k]


@weft.kernel
def summed(d: i16[6, 6]):
    for k in range(6):
        for i in range(6):
            for j in range(6):
                d[i, 0] = d[i, 0] + d[k, 0] * j


@weft.kernel
def two_pivots(d: i16[6, 6]):
    for k in range(5):
        for i in range(6):
            for j in range(6):
                d[i, j] = min(d[k, j], d[k + 1, j])


@weft.kernel
def carried(d: i16[6, 6]):
    for k in range(6):
        for i in range(6):
            for j in range(6):
                through: i16 = d[i, k] + d[k, j]
                d[i, j] = min(d[i, j], through)


@weft.kernel
def apart(d: i16[6, 6]):
    for k in range(6):
        for i in range(k + 1, 6):
            for j in range(k + 1, 6):
                d[i, j] -= d[i, k] * d[k, j]


@weft.kernel
def widest(c: u8[6, 6]):
    for k in range(6):
        for i in range(6):
            for j in range(6):
                c[i, j] = max(c[i, j], min(c[i, k], c[k, j]))


@weft.kernel
def lengths(c: u8[6, 6]):
    for k in range(6):
        for i in range(6):
            for j in range(6):
                c[i, j] = min(c[i, j], c[i, k] + c[k, j])


PATHS = """\
    for k in range(5):
        d_at_j: i16[5]
        d_at_i: i16[5]
        via_at_j: u8[5]
        for j in range(5):
            with weft.stmt("copy_d_at_i"):
                d_at_i[j] = d[k, j]
        for i in range(5):
            with weft.stmt("copy_d_at_j"):
                d_at_j[i] = d[i, k]
        for i in range(5):
            with weft.stmt("copy_via_at_j"):
                via_at_j[i] = via[i, k]
        for i in range(5):
            first: i16
            if i != k:
                with weft.stmt("S0"):
                    first = d_at_j[i]
                for j in range(5):
                    with weft.stmt("S1"):
                        cond: u1 = first + d_at_i[j] < d[i, j]
                    with weft.stmt("S2"):
                        d[i, j] = min(d[i, j], first + d_at_i[j])
                    with weft.stmt("S3"):
                        via[i, j] = via_at_j[i] if cond else via[i, j]"""

KERNELS = [distances, backwards, paths, closures, words, blocks, elsewhere]


def steps() -> ScheduleBuilder:
    return ScheduleBuilder().pivot("k")


def after(kernel: weft.Kernel) -> Program:
    return apply(kernel.program, steps().build()).scop.program


def test_what_the_program_is_then() -> None:
    # The nest assigns no row k, and in column k what 'via' has there already: one copy of each is enough.
    assert pretty(after(paths)).split("u8[5, 5]):\n")[1].rstrip() == PATHS


@pytest.mark.parametrize("kernel", [distances, paths, words])
def test_no_iteration_waits_for_another_one_at_its_pivot(kernel: weft.Kernel) -> None:
    own = {s.name for s in kernel.program.statements()}
    scop = build_scop(after(kernel))
    for flow in dependences(scop):
        if flow.sink.name in own and flow.source.name in own:
            pivot = next(k for k, loop in enumerate(flow.sink.loops) if loop.var == "k")
            is_local = scop.program.array(flow.array).scope_depth > pivot + 1
            outer, inner = flow.distance[: pivot + 1], flow.distance[pivot + 1 :]
            assert is_local or any(outer) or inner == (0,) * len(inner)


def added(kernel: weft.Kernel) -> set[str]:
    known = {s.name for s in kernel.program.statements()}
    return {s.name for s in after(kernel).statements() if s.name not in known}


def test_what_the_update_is_known_to_keep_is_not_computed_again() -> None:
    assert added(closures) == {"copy_r_at_i", "copy_r_at_j"}
    assert added(widest) == {"copy_c_at_i", "copy_c_at_j"}
    assert added(lengths) == {"copy_c_at_i", "copy_c_at_j"}
    assert len(added(distances)) == 6  # below zero they may be


def test_every_level_computes_the_same() -> None:
    cases = [Case(n, k.program, steps().build()) for n, k in enumerate((paths, words, elsewhere))]
    failures = check_levels(cases, cxx=False)
    assert not failures, failures[0].detail


def test_negative_cycles_and_what_is_no_number() -> None:
    rng = np.random.default_rng(1)
    w = rng.normal(size=(5, 5)).astype(np.float32)
    w[2, 2], w[0, 3] = -3, np.nan
    d = rng.integers(-99, 9, (6, 6))
    r = rng.integers(0, 2, (2, 5, 5)).astype(np.uint8)
    x = rng.integers(0, 99, 6).astype(np.int16)
    cases: list[tuple[weft.Kernel, dict[str, np.ndarray]]] = [
        (backwards, {"w": w}),
        (distances, {"d": d.astype(np.int16)}),
        (closures, {"r": r}),
        (blocks, {"d": d.astype(np.int16), "w": x}),
    ]
    for kernel, inputs in cases:
        want, got = interp.run(kernel.program, inputs), interp.run(after(kernel), inputs)
        assert all(want[name].tobytes() == got[name].tobytes() for name in inputs)


@pytest.mark.parametrize(
    ("kernel", "schedule", "text"),
    [
        (neighbours, steps(), "d[i - 1, j] is no element of a row or column at one pivot"),
        (now_and_then, steps(), "S0 assigns d[i, k] in some of its iterations only"),
        (twice, steps(), "'d' is assigned in several places"),
        (looked_up, steps(), "which element S0 assigns is data"),
        (summed, steps(), "S0 does not assign an element for each iteration"),
        (two_pivots, steps(), "is at another pivot of 'i' than k"),
        (distances, ScheduleBuilder().pivot("i"), "no nest in 'i' reads a row or column"),
        (distances, ScheduleBuilder().pipeline("i").pivot("k"), "comes after steps that ask"),
    ],
)
def test_what_cannot_be_is_said(kernel: weft.Kernel, schedule: ScheduleBuilder, text: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        apply(kernel.program, schedule.build())
    assert caught.value.code == "W247"
    assert text in caught.value.render()


def with_value(change: Callable[[Stmt], Stmt]) -> Callable[[Program], Program]:
    def new(program: Program) -> Program:
        body = tuple(map_statements(node, change) for node in program.body)
        return replace(program, body=body)

    return new


def old_alone(stmt: Stmt) -> Stmt:
    """Where it chooses, what there was before the nest."""
    return replace(stmt, value=chosen(stmt.value, lambda s: s.orelse))


def turned(stmt: Stmt) -> Stmt:
    return replace(
        stmt, value=chosen(stmt.value, lambda s: replace(s, then=s.orelse, orelse=s.then))
    )


def a_step_early(stmt: Stmt) -> Stmt:
    def at_pivot(select: Select) -> Select:
        assert isinstance(select.cond, Compare)
        return replace(select, cond=replace(select.cond, op=CompareOp.LE))

    return replace(stmt, value=chosen(stmt.value, at_pivot))


def with_data(stmt: Stmt) -> Stmt:
    def by_sign(select: Select) -> Select:
        return replace(select, cond=typing.compare(CompareOp.LT, select.orelse, 0))

    return replace(stmt, value=chosen(stmt.value, by_sign))


def other_sum(stmt: Stmt) -> Stmt:
    """What computes again adds 0."""
    again = stmt.name.startswith("S0_at")
    return replace(stmt, value=typing.binary(BinaryOp.ADD, stmt.value, 0)) if again else stmt


def other_row(stmt: Stmt) -> Stmt:
    if stmt.name != "copy_d_at_i":
        return stmt
    assert isinstance(stmt.value, Load)
    access = replace(stmt.value.access, indices=(Affine.of("j"), Affine.of("j")))
    return replace(stmt, value=replace(stmt.value, access=access))


def chosen(value: Expr, change: Callable[[Select], Expr]) -> Expr:
    """The value with each of its choices as something else."""
    match value:
        case Select():
            return change(value)
        case Binary(lhs=lhs, rhs=rhs):
            return replace(value, lhs=chosen(lhs, change), rhs=chosen(rhs, change))
        case _:
            return value


def in_front(program: Program) -> Program:
    """The copy of the column behind the nest."""
    (loop,) = program.body
    assert isinstance(loop, Loop)
    return replace(program, body=(replace(loop, body=(*loop.body[1:], loop.body[0])),))


@pytest.mark.parametrize(
    "change",
    [in_front, *map(with_value, (old_alone, turned, with_data, other_sum, other_row))],
)
def test_other_programs_are_refuted(change: Callable[[Program], Program]) -> None:
    right = rewritings(distances.program, steps().build())[-1]
    assert check_rewriting(right) is None
    found = check_rewriting(replace(right, after=change(right.after)))
    assert found is not None
    assert found.code == "W339"


def test_at_the_pivot_both_are_right_where_nothing_else_decides() -> None:
    # An element in row k is updated with the corner as it was before the nest, and so is what is computed again.
    right = rewritings(distances.program, steps().build())[-1]
    found = check_rewriting(replace(right, after=with_value(a_step_early)(right.after)))
    assert found is not None


def test_it_is_proven_and_searches_do_it() -> None:
    state = original(build_scop(distances.program))
    _, found = pivoted(state, ())
    assert found == (Pivot("S0.k"),)
    assert equivalence(compile_design(distances.program, Schedule(found))).verdict == "proven"
    # Also where a scalar stands between the read and the update; not where nothing waits.
    assert [step.kind for step in pivoted(original(build_scop(carried.program)), ())[1]] == [
        "pivot"
    ]
    for kernel in (twice, apart):
        assert pivoted(original(build_scop(kernel.program)), ())[1] == ()
