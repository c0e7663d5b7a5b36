"""Operations of eliminations in place: as many as all iterations have, and never more than the graph of values tells."""

from __future__ import annotations

from functools import cache

import pytest

import weft
from dse.bounds import work
from dse.bounds.counted import counted
from dse.bounds.distinct import facts_of
from dsl.programs.program import Program
from qor_gnn.tools.personality import personality
from weft import f32

TOOL = personality("vitis-2023.2-u280-3.33ns")
N, M = 9, 4


@weft.kernel
def lu(A: f32[N, N]):
    for i in range(N):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[k, j]
            A[i, j] /= A[j, j]
        for j in range(i, N):
            for k in range(i):
                A[i, j] -= A[i, k] * A[k, j]


@weft.kernel
def cholesky(A: f32[N, N]):
    for i in range(N):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] /= A[j, j]
        for k in range(i):
            A[i, i] -= A[i, k] * A[i, k]
        A[i, i] = weft.sqrt(A[i, i])


@weft.kernel
def solve(L: f32[N, N], B: f32[N, M], X: f32[N, M]):
    for i in range(N):
        for c in range(M):
            X[i, c] = B[i, c]
        for j in range(i):
            for c in range(M):
                X[i, c] -= L[i, j] * X[j, c]
        for c in range(M):
            X[i, c] /= L[i, i]


@weft.kernel
def commuted(x: f32[N], y: f32[N, N], A: f32[N, N]):
    """Of the products of x half are the same."""
    for i, j in weft.grid(N, N):
        y[i, j] = x[i] * x[j]
    for i, j in weft.grid(N, N):
        A[i, j] -= x[i] * y[i, j]


@weft.kernel
def copied_twice(b: f32[M], X: f32[N, M], y: f32[N, M]):
    """Rows of X begin alike, so that their values are the same."""
    for i, c in weft.grid(N, M):
        X[i, c] = b[c]
    for i, c in weft.grid(N, M):
        X[i, c] -= b[0]
    for i, c in weft.grid(N, M):
        y[i, c] = X[i, c] * b[1]


@weft.kernel
def swapped(A: f32[N], y: f32[N, N]):
    """A sum that commutes with what it is added to."""
    for i in range(1, N):
        A[i] = A[i] + A[i - 1]
    for i, j in weft.grid(N, N):
        y[i, j] = A[i] * A[j]


@cache
def proven(program: Program) -> dict[str, tuple[int, int]]:
    """By core of floats: the operations that are proven without the graph, and those of the graph."""
    facts = facts_of(program)
    counter = work._Counter(facts, TOOL, free=False)
    counter.count()
    graph = facts.graph(work.MOST)
    assert graph is not None
    exact = counted(graph, TOOL, free=False)
    return {
        core: (counter.totals.get(core, 0), exact[core].times if core in exact else 0)
        for core in counter.floats
    }


@pytest.mark.parametrize("kernel", [lu, cholesky, solve], ids=lambda k: k.name)
def test_all_operations_of_an_elimination_count(kernel) -> None:
    found = proven(kernel.program)
    assert found
    for core, (least, exact) in found.items():
        assert least == exact > 0, core


@pytest.mark.parametrize("kernel", [commuted, copied_twice, swapped], ids=lambda k: k.name)
def test_what_may_be_the_same_value_counts_once(kernel) -> None:
    found = proven(kernel.program)
    assert found
    for core, (least, exact) in found.items():
        assert 0 < least <= exact, core


@weft.kernel
def tree(x: f32[N + 8], w: f32[8], y: f32[N]):
    """Seven sums whose sides look alike: in whatever order they are read, the elements tell the iteration."""
    for i in range(N):
        y[i] = ((x[i] * w[0] + x[i + 1] * w[1]) + (x[i + 2] * w[2] + x[i + 3] * w[3])) + (
            (x[i + 4] * w[4] + x[i + 5] * w[5]) + (x[i + 6] * w[6] + x[i + 7] * w[7])
        )


def test_sums_whose_sides_look_alike_are_told_apart() -> None:
    least, exact = proven(tree.program)["fadd"]
    assert N <= least <= exact
