"""A second array for some reads: what the step makes of a program, that it means the same, and what it refuses."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

import weft
from backends.equivalence import equivalence
from dse.space.space import space_of
from dsl.builder.program import ProgramBuilder
from dsl.errors.errors import ScheduleError
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access
from dsl.programs.expanded import with_accesses
from dsl.programs.program import Program, Stmt, map_statements
from dsl.schedules.port_steps import Mirror
from dsl.schedules.schedule import ScheduleBuilder
from mlir_passes.pipeline import compile_design
from polyhedral.equivalence.rewritings import check_rewriting, rewritings
from polyhedral.schedule import apply
from qor_gnn.tools.personality import personality
from tests.polyhedral.show import nest
from tests.support.levels import Case, check_levels
from tests.support.values import same_values
from weft import i16, i32, u4, u8

TOOL = personality("vitis-2022.1-zu9eg-10ns")


@weft.kernel
def intervals(p: u8[8], cost: i32[7, 7]):
    for i in range(7):
        cost[i, i] = 0
    for length in range(1, 7):
        for i in range(7 - length):
            cost[i, i + length] = 1000000
            for k in range(length):
                cost[i, i + length] = min(
                    cost[i, i + length],
                    cost[i, i + k] + cost[i + k + 1, i + length] + p[i] * p[i + k + 1],
                )


@weft.kernel
def square(A: i16[6, 6], B: i32[6, 6]):
    for i in range(6):
        for j in range(6):
            total: i32 = 0
            for k in range(6):
                total += A[i, k] * A[k, j]
            B[i, j] = total


@weft.kernel
def again(x: i16[2, 8], y: i16[2, 8]):
    for q in range(2):
        t: i16[8]
        for i in range(8):
            t[i] = x[q, i]
        for s in range(3):
            for i in range(1, 7):
                t[i] = t[i - 1] + t[7 - i] - t[i + 1]
        for i in range(8):
            y[q, i] = t[i] + t[7 - i]


@weft.kernel
def closed(x: i16[8], p: u4[8], y: i16[8], s: i16):
    t: i16[16]
    for i in range(16):
        t[i] = 0
    for i in range(8):
        t[p[i]] += x[i]
    for i in range(8):
        y[i] = t[i] + t[p[i]] + s


def steps() -> ScheduleBuilder:
    return ScheduleBuilder()


COLUMN = "cost[i + k + 1, i + length]"
SCHEDULES = [
    (intervals, steps().mirror("cost", COLUMN)),
    (intervals, steps().mirror("cost", "cost[i, i + length]", "own").mirror("cost", COLUMN)),
    (intervals, steps().mirror("cost", COLUMN).skew("S2.i", "S2.k", 1).split("S2.k", 4)),
    (square, steps().mirror("A", "A[k][j]").split("j", 4).mirror("A", "A[i, k]").pipeline("S1.k")),
    (again, steps().mirror("t", "t[7 - i]")),
    (again, steps().mirror("t", "t[i - 1]").mirror("t", "t[i + 1]").pipeline("S1.i")),
]


def test_what_is_read_so_is_stored_once_more() -> None:
    assert nest(intervals.program, steps().mirror("cost", COLUMN)) == (
        "i: 0 .. 7\n  S0(i)\n  if i - 1 >= 0\n    mirror_cost(i)\n"
        "length: 1 .. 7\n  i.2: 0 .. -length + 7\n    S1(length, i.2)\n"
        "    k: 0 .. length\n      S2(length, i.2, k)\n"
        "    if i.2 - 1 >= 0\n      mirror_cost_2(length, i.2, length - 1)"
    )


@pytest.mark.parametrize(("kernel", "schedule"), SCHEDULES)
def test_values_stay(kernel: weft.Kernel, schedule: ScheduleBuilder) -> None:
    assert same_values(kernel.program, apply(kernel.program, schedule.build()).scop.program)
    assert equivalence(compile_design(kernel.program, schedule.build())).verdict == "proven"


def test_all_levels_agree() -> None:
    cases = [Case(n, k.program, s.build()) for n, (k, s) in enumerate(SCHEDULES[2:4])]
    assert check_levels(cases, cxx=False) + check_levels(cases[:1], jit=False) == []


def update(seed: int) -> tuple[Program, str]:
    """A matrix that is updated in place from some of its other elements, and one of the reads."""
    rng = random.Random(seed)
    p = ProgramBuilder(f"update{seed}")
    a = p.placeholder("A", i16, (6, 6))
    t, i, j = p.loops(t=rng.randint(1, 3), i=range(1, 5), j=range(1, 5))
    reads = [
        rng.choice([(i + x, j + y), (j + x, i + y), (x + 1, j), (t + 1, i + y)])
        for _ in range(3)
        for x, y in [(rng.randint(-1, 1), rng.randint(-1, 1))]
    ]
    value = a[reads[0]] + 2 * a[reads[1]] - a[reads[2]]
    p.compute("S0", (t, i, j), a[i, j] if rng.random() < 0.7 else a[j, i], value)
    program = p.build()
    return program, str(
        rng.choice([access for s in program.statements() for access in reads_of(s)])
    )


def reads_of(stmt: Stmt) -> list[Access]:
    found: list[Access] = []

    def own(access: Access) -> Access:
        found.append(access)
        return access

    with_accesses(stmt, own)
    return found[1:]


def test_random_updates() -> None:
    for seed in range(10):
        program, access = update(seed)
        schedule = steps().mirror("A", access).build()
        assert same_values(program, apply(program, schedule).scop.program)
        if seed % 3 == 0:
            assert equivalence(compile_design(program, schedule)).verdict == "proven"


@pytest.mark.parametrize(
    ("array", "access", "said"),
    [
        ("s", "s", "'s' is a scalar"),
        ("t", "t[i + 1]", "nothing reads 't[i + 1]'"),
        ("t", "t[?]", "is data"),
        ("t", "t[i]", "which element S1 assigns is data"),
    ],
)
def test_what_has_no_mirror_is_refused(array: str, access: str, said: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        apply(closed.program, steps().mirror(array, access).build())
    assert caught.value.code == "W238"
    assert said in caught.value.render()


def not_stored(stmt: Stmt) -> Stmt:
    """What is stored goes to another element."""
    if stmt.name != "mirror_cost_2":
        return stmt
    zero = tuple(Affine() for _ in stmt.target.indices)
    return replace(stmt, target=replace(stmt.target, indices=zero))


def other_element(stmt: Stmt) -> Stmt:
    """Another element of the mirror is read."""

    def own(access: Access) -> Access:
        if access.array != "cost_mirror":
            return access
        return replace(access, indices=(access.indices[0] - 1, access.indices[1]))

    return with_accesses(stmt, own) if stmt.name == "S2" else stmt


@pytest.mark.parametrize("change", [not_stored, other_element])
def test_other_programs_are_refuted(change: Callable[[Stmt], Stmt]) -> None:
    right = rewritings(intervals.program, steps().mirror("cost", COLUMN).build())[-1]
    assert check_rewriting(right) is None
    body = tuple(map_statements(node, change) for node in right.after.body)
    found = check_rewriting(replace(right, after=replace(right.after, body=body)))
    assert found is not None
    assert found.code == "W339"


def test_tables_that_are_read_by_rows_and_columns_have_structures_with_mirrors() -> None:
    space = space_of(intervals.program, TOOL)
    found = {s.access for v in space.variants for s in v.steps if isinstance(s, Mirror)}
    assert found == {"cost[k + 1, i + length]"}  # along the skewed loop
    space = space_of(again.program, TOOL)
    assert not any(isinstance(s, Mirror) for v in space.variants for s in v.steps)
