"""Eliminations in place in blocks of rows: found, legal, exact, and each copy a part of its array."""

from __future__ import annotations

import pytest

import weft
from backends.deploy import rooms
from backends.deploy.boards import board
from backends.deploy.outside import outside
from dsl.schedules.range_steps import Peel
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Buffer
from polyhedral.codegen.generate import loop_tree
from polyhedral.looptree.counts import instance_counts
from polyhedral.schedule import apply, begun
from weft import f32

N = 12


@weft.kernel
def by_rows(A: f32[N, N]):
    """An LU decomposition, each row finished at once."""
    for i in range(N):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[k, j]
            A[i, j] /= A[j, j]
        for j in range(i, N):
            for k in range(i):
                A[i, j] -= A[i, k] * A[k, j]


@weft.kernel
def by_steps(A: f32[N, N]):
    """The same with the step of elimination outermost."""
    for k in range(N):
        for i in range(k + 1, N):
            A[i, k] /= A[k, k]
            for j in range(k + 1, N):
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
def with_right_sides(A: f32[N, N], B: f32[N, 12]):
    """Forward elimination of a system of equations."""
    for k in range(N):
        for i in range(k + 1, N):
            f: f32 = A[i, k] / A[k, k]
            for j in range(k + 1, N):
                A[i, j] -= f * A[k, j]
            for c in range(12):
                B[i, c] -= f * B[k, c]


def blocked(kernel: weft.Kernel, monkeypatch: pytest.MonkeyPatch, share: float) -> Schedule:
    monkeypatch.setattr(rooms, "_ROOM", share)
    return outside(kernel.program, Schedule(), board("pynq-z2"))


@pytest.mark.parametrize(
    ("kernel", "share"),
    [(by_rows, 0.0006), (by_steps, 0.0006), (cholesky, 0.0006), (with_right_sides, 0.0012)],
)
def test_a_block_of_rows_stays_while_finished_rows_pass(kernel, share, monkeypatch):
    schedule = blocked(kernel, monkeypatch, share)
    assert any(isinstance(s, Peel) for s in schedule)
    state = apply(kernel.program, schedule)
    arrays = {a.name: a for a in state.scop.program.arrays}
    copies = [s for s in schedule if isinstance(s, Buffer)]
    assert {s.array for s in copies} == {a.name for a in kernel.program.arguments}
    for copy in copies:
        assert arrays[copy.name].shape[0] <= N // 2
    assert weft.equivalence(kernel, schedule).verdict == "proven"
    # Conditions directly inside of a loop are counted as bounds of it.
    runs = instance_counts(loop_tree(state))
    for name, times in instance_counts(loop_tree(begun(kernel.program, ()))).items():
        assert runs[name] + runs.get(f"{name}_2", 0) == times


def test_blocks_of_rows_compute_the_same(monkeypatch):
    schedule = blocked(with_right_sides, monkeypatch, 0.0012)
    assert weft.verify(with_right_sides, schedule).ok
