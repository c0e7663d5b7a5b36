"""Partial sums are proven to add up to what the kernel accumulates; broken ones are refuted."""

from __future__ import annotations

from dataclasses import replace

import pytest

import weft
from backends.equivalence import equivalence
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Binary, BinaryOp, Const
from dsl.programs.program import Array, Loop, Node, Program, Stmt
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from mlir_passes.pipeline import compile_design
from polyhedral.equivalence.refutation import Refutation
from polyhedral.equivalence.rewritings import Rewriting, check_rewriting, rewritings
from weft import f32, fixed, i32


@weft.kernel
def rows(A: f32[6, 10], y: f32[6], z: f32[6]):
    for i in range(6):
        y[i] = 1.0
        for k in range(2, 10):
            y[i] += A[i, k]
        z[i] = y[i]


@weft.kernel
def least(A: i32[6, 10], y: i32[10]):
    for i in range(6):
        for k in range(9, -1, -3):
            if k > i:
                y[k] = min(y[k], A[i, k])


@weft.kernel
def product(A: fixed[16, 16][8], w: i32[3]):
    for i in range(3):
        for n in range(8):
            w[i] -= i32(A[n] * A[n])


@weft.kernel
def both(A: f32[6, 10], y: f32[4]):
    for i in range(4):
        for k in range(6):
            for n in range(10):
                y[i] += A[k, n]


def steps() -> ScheduleBuilder:
    return ScheduleBuilder()


@pytest.mark.parametrize(
    ("kernel", "schedule"),
    [
        (rows, steps().partial_sums("S1", "k", 4).split("k", 4).pipeline("k_0")),
        (rows, steps().partial_sums("S1", "k", 3, block=2)),
        (rows, steps().partial_sums("S1", "k", 2).distribute(["S0"]).distribute(["S2"])),
        (rows, steps().partial_sums("S1", "k", 4).reverse("S1_sum.part")),
        (least, steps().partial_sums("S0", "i", 4).interchange("S0.i", "S0.k")),
        (product, steps().partial_sums("S0", "n", 5).unroll("n")),
    ],
)
def test_partial_sums_are_proven(kernel: weft.Kernel, schedule: ScheduleBuilder) -> None:
    found = equivalence(compile_design(kernel.program, schedule.build()))
    assert found.verdict == "proven", found.detail


def spread(kernel: weft.Kernel = rows, schedule: ScheduleBuilder | None = None) -> Rewriting:
    made = schedule or steps().partial_sums("S1", "k", 4)
    (found,) = rewritings(kernel.program, made.build())
    assert check_rewriting(found) is None
    return found


def edited(node: Node, name: str, **changes: object) -> Node:
    """The node with fields of the statement of that name changed."""
    if isinstance(node, Stmt):
        return replace(node, **changes) if node.name == name else node  # type: ignore[arg-type]
    assert isinstance(node, Loop)
    return replace(node, body=tuple(edited(n, name, **changes) for n in node.body))


def body_of(program: Program) -> tuple[Loop, list[Node]]:
    """The loop of `rows` and what is in it: S0, the start, the accumulation, the sum, S2."""
    (loop,) = program.body
    assert isinstance(loop, Loop)
    return loop, list(loop.body)


def broken(change: str) -> Rewriting:
    """The partial sums of `rows` with one fault."""
    right = spread()
    loop, (s0, start, sums, end, s2) = body_of(right.after)
    assert isinstance(start, Loop)
    assert isinstance(end, Loop)
    names = {s.name: s for s in right.after.statements()}
    first, total = names["S1_init"], names["S1_sum"]
    i = Affine.of("i")
    three = (Affine.of(3),)
    bodies: dict[str, tuple[Node, ...]] = {
        "not started": (s0, replace(start, uppers=three), sums, end, s2),
        "started late": (s0, sums, start, end, s2),
        "not added": (s0, start, sums, replace(end, uppers=three), s2),
        "added twice": (s0, start, sums, replace(end, var="q", body=(end,)), s2),
        "added late": (s0, start, sums, s2, end),
        "added early": (start, s0, end, sums, s2),
        "started over": (s0, start, end, sums, s2),
        "another element": (
            s0, start, sums,
            edited(end, "S1_sum", target=replace(total.target, indices=(5 - i,)),
                   value=replace(total.value, lhs=replace(total.value.lhs, access=replace(
                       total.target, indices=(5 - i,))))), s2,
        ),
        "not neutral": (s0, edited(start, "S1_init", value=Const(1.0, first.value.dtype)), sums, end, s2),
        "subtracted": (
            s0, start, sums,
            edited(end, "S1_sum", value=replace(total.value, op=BinaryOp.SUB)), s2,
        ),
        "another term": (s0, start, edited(sums, "S1", value=doubled(names["S1"])), end, s2),
        "left out": (s0, start, sums, s2),
        "another statement": (edited(s0, "S0", value=Const(2.0, first.value.dtype)), start, sums, end, s2),
        "fewer iterations": (s0, start, replace(sums, uppers=(Affine.of(9),)), end, s2),
    }  # fmt: skip
    program = replace(right.after, body=(replace(loop, body=bodies[change]),))
    return replace(right, after=program)


def doubled(stmt: Stmt) -> Binary:
    assert isinstance(stmt.value, Binary)
    return replace(stmt.value, rhs=replace(stmt.value, lhs=stmt.value.rhs))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("not started", "S1[0, 5] goes to an accumulator that is not started"),
        ("started late", "S1[0, 2] goes to an accumulator that is not started"),
        ("not added", "S1[0, 5] is not added to any element"),
        ("added twice", "S1[0, 2] is added more than once"),
        ("added late", "S2 touches y while they are added up"),
        ("added early", "S1[0, 2] goes to an accumulator that is not started"),
        ("started over", "S1[0, 2] goes to an accumulator that is not started"),
        ("another element", "S1[0, 2] is added to another element"),
        ("not neutral", "the accumulators do not start from the neutral element"),
        ("subtracted", "the accumulators are not added up"),
        ("another term", "it accumulates something else"),
        ("left out", "they do not add two statements to the program"),
        ("another statement", "S0 is another statement"),
        ("fewer iterations", "S1 has other iterations"),
    ],
)
def test_broken_partial_sums_are_refuted(change: str, said: str) -> None:
    found = check_rewriting(broken(change))
    assert isinstance(found, Refutation)
    text = found.error().render()
    span = rows.program.statements()[1].span
    assert span is not None
    where = f"test_partial_sums.py:{span.line}:{span.col}"
    assert text.startswith(f"{where}: error[W339]: partial sums of S1: {said}\n")
    assert "S1: y[i] += A[i, k]" in text


def test_a_minimum_starts_from_its_own_element() -> None:
    right = spread(least, steps().partial_sums("S0", "i", 4))
    (start, *rest) = right.after.body
    stmt = next(s for s in right.after.statements() if s.name == "S0_init")
    access = replace(stmt.value.access, indices=(9 - stmt.value.access.indices[0],))
    other = edited_anywhere(start, "S0_init", replace(stmt.value, access=access))
    found = check_rewriting(replace(right, after=replace(right.after, body=(other, *rest))))
    assert isinstance(found, Refutation)
    assert "adds what started from another element" in found.message


def edited_anywhere(node: Node, name: str, value: object) -> Node:
    match node:
        case Stmt():
            return replace(node, value=value) if node.name == name else node  # type: ignore[arg-type]
        case Loop(body=body):
            return replace(node, body=tuple(edited_anywhere(n, name, value) for n in body))
        case _:
            return replace(node, then=tuple(edited_anywhere(n, name, value) for n in node.then))


def test_accumulators_of_another_type_are_refuted() -> None:
    right = spread()
    arrays = tuple(replace(a, dtype=i32) if a.name == "y_part" else a for a in right.after.arrays)
    found = check_rewriting(replace(right, after=replace(right.after, arrays=arrays)))
    assert isinstance(found, Refutation)
    assert "the accumulators are of another type" in found.message
    more = Array("extra", i32, (4,))
    found = check_rewriting(
        replace(right, after=replace(right.after, arrays=(*right.after.arrays, more)))
    )
    assert isinstance(found, Refutation)
    assert "they do not add one array" in found.message


def test_a_schedule_without_them_rewrites_nothing() -> None:
    assert rewritings(rows.program, Schedule()) == ()
    two = steps().partial_sums("S0", "k", 4).partial_sums("S0", "n", 2).build()
    first, second = rewritings(both.program, two)
    assert first.after is second.before
    assert check_rewriting(second) is None
    assert equivalence(compile_design(both.program, two)).verdict == "proven"
