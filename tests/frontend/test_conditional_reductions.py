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


def test_choices_that_are_written_as_expressions_are_the_same(kernel: Load) -> None:
    k = kernel(
        """@weft.kernel
def k(x: f32[N], y: i32[N], top: f32[1], least: i32[1], at: i32[1], other: f32[1], n: i32[1]):
    seen: weft.u1 = 0
    ordered: weft.u1 = 1
    for i in range(N):
        at[0] = i if x[i] > top[0] else at[0]
        top[0] = x[i] if x[i] > top[0] else top[0]
        least[0] = least[0] if least[0] < y[i] else y[i]
        other[0] = other[0] if other[0] < x[i] else x[i]
        seen = 1 if y[i] == 3 else seen
        ordered = ordered if x[i] <= 2.0 else 0
        n[0] = n[0] - y[i] if n[0] >= y[i] else n[0]
    at[0] += 10 * seen + 20 * ordered
"""
    )
    ops = [s.value.op if isinstance(s.value, Binary) else None for s in k.program.statements()]
    assert ops[3:8] == [BinaryOp.MAX, BinaryOp.MIN, None, BinaryOp.OR, BinaryOp.AND]
    assert ops[2] is ops[8] is None
    top, least, at = np.full(1, -1, np.float32), np.full(1, 9, np.int32), np.zeros(1, np.int32)
    other, n = np.full(1, 0.0, np.float32), np.full(1, 11, np.int32)
    x, y = np.array([0.5, 2, np.nan, -0.0], np.float32), np.array([4, 3, 8, 5], np.int32)
    k(x, y, top, least, at, other, n)
    assert (top[0], least[0], at[0], n[0]) == (2, 3, 11, 4)
    assert str(other[0]) == "-0.0"  # of equal zeros the new one


def test_limits_that_are_written_with_if_are_limits(kernel: Load) -> None:
    """In the type of the element, whatever that of the number that it is compared with."""
    k = kernel(
        """@weft.kernel
def k(x: weft.i16[N], z: weft.u8[N], y: i32[N]):
    level: i32 = 0
    most: weft.u16 = 0
    for i in range(N):
        level += x[i]
        if level > 1000:
            level = 1000
        elif level < -900:
            level = -900
        if z[i] >= most:
            most = z[i]
        total: i32 = level + x[i]
        if total > 32767:
            total = 32767
        if -5 > total:
            total = -5
        y[i] = total + most
"""
    )
    ops = [s.value.op for s in k.program.statements() if isinstance(s.value, Binary)]
    wanted = [BinaryOp.ADD, BinaryOp.MIN, BinaryOp.MAX, BinaryOp.ADD, BinaryOp.MIN, BinaryOp.MAX]
    assert ops == [*wanted, BinaryOp.ADD]
    assert not any(isinstance(s.value, Select) for s in k.program.statements())
    rng = np.random.default_rng(5)
    x = rng.integers(-700, 700, 4).astype(np.int16)
    for _ in range(20):
        z, y = rng.integers(0, 256, 4).astype(np.uint8), np.zeros(4, np.int32)
        k(x, z, y)
        level = most = 0
        for i in range(4):
            level = max(-900, min(1000, level + int(x[i])))
            most = max(most, int(z[i]))
            assert y[i] == max(-5, min(32767, level + int(x[i]))) + most
        x = rng.integers(-32768, 32767, 4).astype(np.int16)


def test_choices_that_are_no_limits_stay_choices(kernel: Load) -> None:
    program = kernel(
        """@weft.kernel
def k(x: i32[N], y: i32[N], z: i32[N]):
    w: i32 = 0
    for i in range(N):
        w += x[i]
        if w > 10:
            w = 0
        y[i] = w
        z[i] = 5 if x[i] > 5 else (7 if x[i] < 7 else x[i])
"""
    ).program
    assert sum(isinstance(s.value, Select) for s in program.statements()) == 2
