"""Values of sweeps in place in shift registers: cells that are loops inside of the one that carries."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

import weft
from backends.equivalence import equivalence
from dsl.builder.program import ProgramBuilder
from dsl.errors.errors import ScheduleError
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access
from dsl.programs.expanded import with_accesses
from dsl.programs.program import If, Loop, Node, Program, Stmt
from dsl.schedules.schedule import ScheduleBuilder
from mlir_passes.pipeline import compile_design
from polyhedral.equivalence.rewritings import check_rewriting, rewritings
from polyhedral.schedule import apply
from tests.polyhedral.show import nest
from tests.support.levels import Case, check_levels
from tests.support.values import same_values
from weft import i16


@weft.kernel
def diffused(A: i16[9]):
    for t in range(3):
        for i in range(1, 8):
            A[i] = A[i - 1] + 2 * A[i] - A[i + 1]


@weft.kernel
def plane(A: i16[6, 7]):
    for t in range(3):
        for i in range(1, 5):
            for j in range(1, 6):
                A[i, j] = A[i - 1, j] + A[i, j - 1] - A[i + 1, j] + A[i, j + 1] + A[i, j]


@weft.kernel
def runs(x: i16[3, 9], y: i16[3, 9], last: i16[3]):
    A: i16[9] = 1
    for q in range(3):
        for i in range(9):
            A[i] += x[q, i]
        for t in range(4):
            for i in range(1, 9):
                A[i] = A[i] - A[i - 1] + x[q, i]
        for i in range(9):
            y[q, i] = A[i]
        last[q] = A[4]


@weft.kernel
def mixed(A: i16[12], y: i16[4, 12]):
    for t in range(4):
        for i in range(2, 11):
            A[i] = A[i - 2] + A[i] - A[i + 1]
            y[t, i] = A[i] + A[11 - i]


def steps() -> ScheduleBuilder:
    return ScheduleBuilder()


def wave(stmt: str, factor: int, count: int) -> ScheduleBuilder:
    t, i = f"{stmt}.t", f"{stmt}.i"
    made = steps().skew(t, i, factor).reorder([i, t]).carry("A", i)
    return made.split(t, count, tail="guard").pipeline(i)


SCHEDULES = [
    (diffused, wave("S0", 2, 3)),
    (diffused, steps().skew("t", "i", 3).reorder(["i", "t"]).carry("A", "i")),
    (plane, steps().skew("t", "i", 2).reorder(["i", "t"]).carry("A", "i").pipeline("j")),
    (plane, steps().skew("t", "j", 2).reorder(["j", "t", "i"]).carry("A", "j")),
    (runs, wave("S2", 1, 4)),
    (mixed, steps().skew("t", "i", 10).reorder(["i", "t"]).carry("A", "i")),
]


def test_a_wavefront_reads_and_writes_an_element_of_memory() -> None:
    schedule = steps().skew("t", "i", 2).reorder(["i", "t"]).carry("A", "i")
    program = apply(diffused.program, schedule.build()).scop.program
    assert [a.shape for a in program.arrays] == [(9,), (4, 3), (2,)]
    text = nest(diffused.program, schedule)
    assert text.endswith("  if i - 5 >= 0\n    keep_A(i, 2)")  # of the last sweep alone
    assert "load_A_3(i, 0)" in text  # for the first sweep; what is at the border are two elements


@pytest.mark.parametrize(("kernel", "schedule"), SCHEDULES)
def test_values_stay(kernel: weft.Kernel, schedule: ScheduleBuilder) -> None:
    after = apply(kernel.program, schedule.build()).scop.program
    assert any(a.name == "A_carry" for a in after.arrays)
    assert same_values(kernel.program, after, seeds=3)
    assert equivalence(compile_design(kernel.program, schedule.build())).verdict == "proven"


def test_all_levels_agree() -> None:
    cases = [Case(n, k.program, s.build()) for n, (k, s) in enumerate(SCHEDULES[2:5])]
    assert check_levels(cases, cxx=False) + check_levels(cases[:1], jit=False) == []


def sweep(seed: int) -> tuple[Program, int]:
    """A sweep in place that reads some neighbours, and how far a sweep is behind the one before."""
    rng = random.Random(seed)
    reach, size = rng.randint(1, 2), rng.randint(7, 11)
    p = ProgramBuilder(f"sweep{seed}")
    a, b = p.placeholder("A", i16, (size,)), p.placeholder("B", i16, (size,))
    t, i = p.loops(t=rng.randint(2, 4), i=range(reach, size - reach))
    value = b[i] + 1
    for d in rng.sample(range(-reach, reach + 1), rng.randint(2, 2 * reach + 1)):
        value = value + a[i + d] * rng.choice([-2, -1, 1, 3])
    p.compute("S0", (t, i), a[i], value)
    return p.build(), rng.randint(1, 4)


def test_random_sweeps() -> None:
    kept = 0
    for seed in range(12):
        program, factor = sweep(seed)
        schedule = steps().skew("t", "i", factor).reorder(["i", "t"]).carry("A", "i").build()
        try:
            after = apply(program, schedule).scop.program
        except ScheduleError:
            continue
        kept += 1
        assert same_values(program, after, seeds=3)
    assert kept >= 4


def first_sweep(stmt: Stmt) -> Stmt:
    """What a register gets in front of the first sweep, an element further on."""

    def own(access: Access) -> Access:
        further = tuple(index + 1 for index in access.indices)
        return replace(access, indices=further) if access.array == "A" else access

    is_load = stmt.name.startswith("load_A") and any(not i.is_const for i in _read(stmt))
    return with_accesses(stmt, own) if is_load else stmt


def _read(stmt: Stmt) -> tuple[Affine, ...]:
    found: list[Affine] = []

    def own(access: Access) -> Access:
        found.extend(access.indices if access.array == "A" else ())
        return access

    with_accesses(stmt, own)
    return tuple(found)


def not_stored(node: Node) -> Node:
    """Without what the last sweep stores."""
    match node:
        case If(then=(Stmt(name=name),)) if name.startswith("keep_A"):
            return replace(node, then=(replace(node.then[0], target=_first(node.then[0])),))
        case If():
            return replace(node, then=tuple(not_stored(n) for n in node.then))
        case Loop():
            return replace(node, body=tuple(not_stored(n) for n in node.body))
    return node


def _first(node: Node) -> Access:
    assert isinstance(node, Stmt)
    return replace(node.target, indices=(Affine(),))


def over(node: Node, change: Callable[[Stmt], Stmt]) -> Node:
    match node:
        case Stmt():
            return change(node)
        case If():
            return replace(node, then=tuple(over(n, change) for n in node.then))
        case Loop():
            return replace(node, body=tuple(over(n, change) for n in node.body))


@pytest.mark.parametrize("change", [not_stored, lambda node: over(node, first_sweep)])
def test_other_programs_are_refuted(change: Callable[[Node], Node]) -> None:
    made = steps().skew("t", "i", 2).reorder(["i", "t"]).carry("A", "i")
    right = rewritings(diffused.program, made.build())[-1]
    assert check_rewriting(right) is None
    other = replace(right.after, body=tuple(change(node) for node in right.after.body))
    assert other != right.after
    found = check_rewriting(replace(right, after=other))
    assert found is not None
    assert found.code == "W339"
