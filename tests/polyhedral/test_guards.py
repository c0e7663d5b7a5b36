"""Conditions with many cases: taken apart exactly, in few parts, and in little time."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from itertools import product

import pytest

import weft
from backends.verify import verify
from dsl.expressions.affine import Affine, And, Constraint, Or, cond_holds, negate
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from mlir_passes.pipeline import compile_design
from polyhedral.codegen.coverage import runs_of
from polyhedral.codegen.generate import loop_tree
from polyhedral.legality.program import check_program
from polyhedral.schedule import apply
from polyhedral.scop.conjunctions import both, complement, conjunctions, excluded
from tests.support.md_grid import md_grid
from tests.support.random_loops import random_cond
from weft import i32

SCOPE = {"i": (-2, 3), "j": (0, 3), "k": (1, 2)}
POINTS = [
    dict(zip(SCOPE, values, strict=True))
    for values in product(*(range(low, high + 1) for low, high in SCOPE.values()))
]


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_conjunctions_exclude_each_other_and_are_the_condition(first: int) -> None:
    for seed in range(first, first + 50):
        rng = random.Random(seed)
        cond, other = random_cond(rng, SCOPE, 3), random_cond(rng, SCOPE, 2)
        parts, others = conjunctions(cond), conjunctions(other)
        joined, rest = both(parts, others), complement(parts)
        for env in POINTS:
            holds = cond_holds(cond, env)
            counts = [
                sum(all(c.holds(env) for c in part) for part in found)
                for found in (parts, joined, rest)
            ]
            assert counts == [holds, holds and cond_holds(other, env), not holds], seed
        for a, b in product(parts, others):
            if excluded(a, b):
                assert not any(all(c.holds(env) for c in (*a, *b)) for env in POINTS), seed


def unequal(n: int) -> Or:
    pairs = ((Affine.of(f"a{k}"), Affine.of(f"b{k}")) for k in range(n))
    return Or(tuple(negate(Constraint(a - b, "==")) for a, b in pairs))


def test_inequalities_grow_by_two_parts_each() -> None:
    assert [len(conjunctions(unequal(n))) for n in range(9)] == [2 * n for n in range(9)]
    assert len(conjunctions(negate(unequal(8)))) == 1
    assert len(complement(conjunctions(negate(unequal(8))))) == 16


def test_remainders_have_no_part_below_zero() -> None:
    odd = negate(Constraint(Affine.of("i") % 2, "=="))
    assert conjunctions(odd) == [(Constraint(Affine.of("i") % 2 - 1),)]
    assert conjunctions(Constraint(Affine.of("i") % 3 + 1)) == [()]
    assert conjunctions(Constraint(Affine.of("i") % 3 - 3)) == []
    assert conjunctions(And(())) == [()]


def test_molecular_dynamics_on_a_grid() -> None:
    """A condition of eight cases in eight loops, around ten statements."""
    start = time.process_time()
    design = compile_design(replace(md_grid.program), ScheduleBuilder().reverse("b0x").build())
    text = design.hls_cpp
    assert time.process_time() - start < 5
    assert text.count("for (") == 8
    assert text.count("if (") == 8


@weft.kernel
def boundaries(A: i32[6, 6, 6, 6], x: i32[1]):
    for i, j, k, m in weft.grid(6, 6, 6, 6):
        if i < 1 or i > 4 or j < 1 or j > 4 or k < 1 or k > 4 or m < 1 or m > 4:
            A[i, j, k, m] = 0
        else:
            if i == j or k == m or i + j == k + m:
                x[0] = x[0] * 3 + A[i, j, k, m]
            else:
                if i != k or j != m:
                    x[0] = x[0] * 3 + 1


@weft.kernel
def neighbours(x: i32[1], f: i32[3, 3, 4]):
    for a, b in weft.grid(3, 3):
        for c in range(max(0, a - 1), min(3, a + 2)):
            for d in range(max(0, b - 1), min(3, b + 2)):
                for p, q in weft.grid(4, 4):
                    if a != c or b != d or p != q:
                        f[a, b, p] = f[a, b, p] * 3 + f[c, d, q]
                    else:
                        x[0] = x[0] * 3 + p


@weft.kernel
def permutations(x: i32[1]):
    for a, b, c, d in weft.grid(4, 4, 4, 4):
        if a != b and a != c and a != d and b != c and b != d and c != d:
            x[0] = x[0] * 3 + 1
        else:
            x[0] = x[0] * 3 + 2


@pytest.mark.parametrize(
    "kernel", [boundaries, neighbours, permutations], ids=lambda k: k.program.name
)
def test_nested_else_of_disjunctions(kernel: weft.Kernel) -> None:
    start = time.process_time()
    state = apply(kernel.program, Schedule())
    tree = loop_tree(state)
    assert time.process_time() - start < 5
    assert len([*runs_of(tree.body)]) <= 64 * len(state.pieces)
    assert verify(kernel.program, Schedule()).ok


@weft.kernel
def declared_under_conditions(A: i32[8, 8], B: i32[8, 8]):
    for i, j in weft.grid(8, 8):
        if i != j or i % 3 == 1 or j > 5:
            t: i32 = A[i, j]
            u: i32[2]
            u[0] = t
            if i != 2:
                u[1] = t + u[0]
                B[i, j] = u[1] + t


@weft.kernel
def written_in_another_branch(A: i32[8], B: i32[8]):
    for i in range(8):
        t: i32[1]
        if i != 3:
            t[0] = A[i]
        if i != 3 or i > 1:
            B[i] = t[0]


def test_values_written_where_they_are_read_need_no_dependences() -> None:
    check_program(declared_under_conditions.program)
    with pytest.raises(
        weft.WeftError, match=r"W161.*t\[0\] is read before it is written for i = 3"
    ):
        check_program(written_in_another_branch.program)
