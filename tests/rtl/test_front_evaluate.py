"""The reference semantics of the graph's operations."""

import random
import struct

import numpy as np
import pytest

from backends.rtl.front.evaluate import OutOfBoundsError, evaluate
from backends.rtl.front.values.operate import operate
from backends.rtl.graph import (
    Array,
    Block,
    Counter,
    Graph,
    Kind,
    Memory,
    Op,
    Pipeline,
    Place,
    Use,
)
from dsl.expressions.affine import Affine, Constraint
from polyhedral.banks.splits import Split

_SPECIAL = (0, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x3F800000, 0x00800000, 0x7F7FFFFF)


def _words(count: int) -> list[int]:
    rng = random.Random(7)
    near = [rng.randrange(0x3E000000, 0x42000000) ^ (rng.getrandbits(1) << 31) for _ in range(99)]
    return [*_SPECIAL, *near, *(rng.getrandbits(32) for _ in range(count))]


def _numpy(bits: int) -> np.float32:
    if not bits & 0x7F800000:
        bits &= 0x80000000
    return np.array([bits], dtype=np.uint32).view(np.float32)[0]


def _raw(value: np.float32) -> int:
    if np.isnan(value):
        return 0x7FC00000
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    return bits if bits & 0x7F800000 else bits & 0x80000000


@pytest.mark.parametrize(
    ("kind", "function"),
    [
        (Kind.FADD, np.add),
        (Kind.FSUB, np.subtract),
        (Kind.FMUL, np.multiply),
        (Kind.FDIV, np.divide),
    ],
)
def test_float_operators_are_those_of_numpy_without_subnormals(kind, function):
    words = _words(300)
    op = Op(0, kind, 32)
    with np.errstate(all="ignore"):
        for a, b in zip(words, reversed(words), strict=True):
            assert operate(op, [a, b], True) == _raw(function(_numpy(a), _numpy(b)))


def test_square_roots_are_those_of_numpy():
    op = Op(0, Kind.FSQRT, 32)
    with np.errstate(all="ignore"):
        for a in _words(300):
            assert operate(op, [a], True) == _raw(np.sqrt(_numpy(a)))


def test_comparisons_with_a_nan_are_false_but_for_not_equal():
    nan, one = 0x7FC00000, 0x3F800000
    for kind in (Kind.FEQ, Kind.FLT, Kind.FLE):
        assert not operate(Op(0, kind, 1), [nan, one], True)
    assert operate(Op(0, Kind.FNE, 1), [nan, nan], True)


def test_divisions_round_as_they_say():
    for a in range(-9, 10):
        for b in (-4, -3, -1, 1, 3, 4):
            assert operate(Op(0, Kind.FLOORDIV, 8), [a, b], True) == a // b
            assert operate(Op(0, Kind.DIV, 8), [a, b], True) == int(a / b)
            assert operate(Op(0, Kind.REM, 8), [a, b], True) == a - b * int(a / b)


def _shift(guard: tuple[Constraint, ...]) -> Graph:
    """``for i in range(6): x[i + 1] = x[i]`` over two banks."""
    x = Array("x", 8, (6,), (Split("cyclic", 2),), Memory.BRAM, True)
    i = Affine.of("i")
    ops = tuple(
        Op(n, kind, 8, (Use(0),) if n else (), place=Place("x", a // 2, None, a % 2), guard=guard)
        for n, (kind, a) in enumerate(((Kind.LOAD, i), (Kind.STORE, i + 1)))
    )
    counter = Counter("i", (Affine(),), (Affine.of(6),))
    return Graph("shift", (x,), (), (Pipeline((counter,), Block(ops)),))


def test_iterations_run_in_order_over_banks():
    guard = (Constraint(Affine.of("i") * -1 + 4),)
    assert evaluate(_shift(guard), {"x": [9, 1, 2, 3, 4, 5]}, {})["x"] == [9] * 6


def test_a_store_outside_of_its_bank_is_found():
    with pytest.raises(OutOfBoundsError):
        evaluate(_shift(()), {"x": [9, 1, 2, 3, 4, 5]}, {})
