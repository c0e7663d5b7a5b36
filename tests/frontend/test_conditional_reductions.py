"""Minima, maxima and flags that are assigned under conditions: still reductions, of the same value."""

from __future__ import annotations

import numpy as np

from dsl.expressions.expr import Binary, BinaryOp, Select
from tests.frontend.conftest import Load


def test_reductions_under_conditions_keep_their_recurrence(kernel: Load) -> None:
    k = kernel(
        """@weft.kernel
def k(x: i32[N], f: f32[N], key: i32[1], most: i32[1], least: f32[1], at: i32[1]):
    found: weft.u1 = 0
    every: weft.u1 = 1
    for i in range(N):
        if x[i] > 0:
            if x[i] > most[0]:
                most[0] = x[i]
            every &= 1
            found |= 0
        else:
            least[0] = min(least[0], f[i])
            every = 0
    for i in range(N):
        if x[i] == key[0]:
            found = 1
            break
    at[0] = 2 * found + every
"""
    )
    value = {s.source: s.value for s in k.program.statements()}
    texts = ("most[0] = x[i]", "least[0] = min(least[0], f[i])", "every = 0", "found |= 0", "break")
    ops = [v.op if isinstance(v := value[text], Binary) else None for text in texts]
    assert ops == [BinaryOp.MAX, BinaryOp.MIN, BinaryOp.AND, None, BinaryOp.OR]
    nan, inf = float("nan"), float("inf")
    for x, f, key, wanted in (
        ([3, -1, 2, 0], [1.0, nan, 0.0, -2.0], 2, (3, -2.0, 2)),
        ([3, 1, 2, 9], [-1.0, -2.0, 0.0, nan], 4, (9, inf, 1)),
        ([0, 0, 0, 0], [-0.0, 0.0, -inf, 1.0], 0, (-5, -inf, 2)),
    ):
        most, least = np.full(1, -5, np.int32), np.full(1, inf, np.float32)
        at = np.zeros(1, np.int32)
        k(
            np.array(x, np.int32),
            np.array(f, np.float32),
            np.array([key], np.int32),
            most,
            least,
            at,
        )
        assert (most[0], least[0], at[0]) == wanted


def test_the_extremum_that_a_kept_condition_is_about_stays_one(kernel: Load) -> None:
    program = kernel(
        """@weft.kernel
def k(x: f32[N], most: f32[1], at: i32[1], again: f32[1]):
    for i in range(N):
        if x[i] > most[0]:
            most[0] = x[i]
            at[0] = i
            again[0] = most[0]
"""
    ).program
    kinds = [type(s.value) for s in program.statements()[1:]]
    assert kinds == [Binary, Select, Select]
