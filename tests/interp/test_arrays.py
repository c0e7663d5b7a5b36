"""Arithmetic on arrays is that on single values."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsl.arrays import exact, floats
from dsl.arrays.storage import storage_dtype
from dsl.expressions import numeric
from dsl.expressions.expr import BinaryOp, CompareOp, UnaryOp
from dsl.expressions.numeric import frac_of
from dsl.expressions.types import FixedType, FloatType, IntType, Overflow, Quant
from dsl.expressions.typing import binary_type, unary_type
from tests.interp.strategies import exact_types, raws

INT_OPS = tuple(op for op in BinaryOp if op is not BinaryOp.DIV)
FIXED_OPS = (BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL, BinaryOp.DIV, BinaryOp.MIN, BinaryOp.MAX)
RING = (BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL, BinaryOp.AND, BinaryOp.OR, BinaryOp.XOR)
M64 = (1 << 64) - 1


def array(values, dtype):
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return exact.settle(found, dtype)


def listed(values):
    return [int(v) for v in values.tolist()]


def _faults(op, b):
    if op in (BinaryOp.SHL, BinaryOp.SHR):
        return b < 0
    return b == 0 and op in (BinaryOp.DIV, BinaryOp.FLOORDIV, BinaryOp.MOD)


@given(st.data())
def test_binary_operators(data):
    a, b = data.draw(exact_types()), data.draw(exact_types())
    fixed = isinstance(a, FixedType) or isinstance(b, FixedType)
    op = data.draw(st.sampled_from(FIXED_OPS if fixed else INT_OPS))
    result = binary_type(op, a, b)
    pairs = data.draw(st.lists(st.tuples(raws(a), raws(b)), min_size=1, max_size=8))
    x, y = array([p[0] for p in pairs], a), array([p[1] for p in pairs], b)
    bad = [_faults(op, q) for _, q in pairs]
    if any(bad):
        with pytest.raises(exact.ArrayFault) as caught:
            exact.binary(op, x, a, y, b, result, low=False)
        assert caught.value.where.tolist() == bad
        return
    wanted = [numeric.exact_binary(op, p, a, q, b, result) for p, q in pairs]
    found = exact.binary(op, x, a, y, b, result, low=False)
    assert found.dtype == (np.int64 if exact.fits(result) else object)
    assert listed(found) == wanted
    if op in RING:
        low = exact.binary(op, exact.low_bits(x), a, exact.low_bits(y), b, result, low=True)
        assert low.dtype == np.int64
        assert [v & M64 for v in listed(low)] == [v & M64 for v in wanted]
    if op is BinaryOp.SHL:
        low = exact.binary(op, exact.low_bits(x), a, y, b, result, low=True)
        assert [v & M64 for v in listed(low)] == [v & M64 for v in wanted]


@given(st.data(), st.sampled_from(CompareOp))
def test_comparisons(data, op):
    a, b = data.draw(exact_types()), data.draw(exact_types())
    pairs = data.draw(st.lists(st.tuples(raws(a), raws(b)), min_size=1, max_size=8))
    found = exact.compare(
        op, array([p[0] for p in pairs], a), a, array([p[1] for p in pairs], b), b
    )
    assert found.dtype == np.bool_
    wanted = [numeric.exact_compare(op, p, frac_of(a), q, frac_of(b)) for p, q in pairs]
    assert found.tolist() == wanted


@given(st.data())
def test_unary_operators(data):
    a = data.draw(exact_types())
    values = data.draw(st.lists(raws(a), min_size=1, max_size=8))
    ops = [UnaryOp.NEG, UnaryOp.ABS] + [UnaryOp.INVERT] * isinstance(a, IntType)
    for op in ops:
        result = unary_type(op, a)
        wanted = [numeric.exact_unary(op, v, result) for v in values]
        x = array(values, a)
        assert listed(exact.unary(op, x, a, result, low=False)) == wanted
        if op is not UnaryOp.ABS:
            low = exact.unary(op, exact.low_bits(x), a, result, low=True)
            assert [v & M64 for v in listed(low)] == [v & M64 for v in wanted]


@st.composite
def any_target(draw):
    dtype = draw(exact_types())
    if isinstance(dtype, IntType):
        return dtype
    modes = draw(st.sampled_from(Quant)), draw(st.sampled_from(Overflow))
    return FixedType(dtype.width, dtype.integer, dtype.signed, *modes)


@given(st.data())
def test_conversions(data):
    source, target = data.draw(exact_types()), data.draw(any_target())
    values = data.draw(st.lists(raws(source), min_size=1, max_size=8))
    wanted = [numeric.convert(v, frac_of(source), target) for v in values]
    if source == target:
        wanted = values
    x = array(values, source)
    found = exact.convert(x, source, target)
    assert found.dtype == (np.int64 if exact.fits(target) else object)
    assert listed(found) == wanted
    if exact.keeps_low_bits(source, target):
        low = exact.convert_low(exact.low_bits(x), source, target)
        assert [v & M64 for v in listed(low)] == [v & M64 for v in wanted]


any_double = st.one_of(
    st.floats(-300, 300), st.floats(-1e-20, 1e-20), st.floats(allow_nan=False, allow_infinity=False)
)


@given(st.data())
def test_conversions_from_floats(data):
    target = data.draw(any_target())
    values = data.draw(st.lists(any_double, min_size=1, max_size=8))
    near = st.integers(-9, 9).map(lambda n: n * 2.0 ** -(frac_of(target) + 2))
    values += data.draw(st.lists(near, max_size=4))
    wanted = [numeric.from_float(v, target) for v in values]
    assert listed(exact.from_float(np.array(values), target)) == wanted
    for v, w in zip(values, wanted, strict=True):  # one at a time: the quick way, where it applies
        assert listed(exact.from_float(np.array([v]), target)) == [w]


@given(st.data(), st.sampled_from(["f16", "bf16", "f32", "f64"]))
def test_conversions_to_floats(data, name):
    source, target = data.draw(exact_types()), FloatType(name)
    values = data.draw(st.lists(raws(source), min_size=1, max_size=8))
    with np.errstate(over="ignore"):
        found = exact.to_float(array(values, source), source, target)
    assert found.dtype == storage_dtype(target)
    assert found.tolist() == [numeric.to_float(v, frac_of(source), target) for v in values]


@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64"])
@given(values=st.lists(st.floats(), min_size=1, max_size=8))
def test_rounding_of_floats(name, values):
    target = FloatType(name)
    with np.errstate(all="ignore"):
        found = floats.round_to(np.array(values), target)
    wanted = [numeric.round_float(v, target) for v in values]
    np.testing.assert_array_equal(found.astype(np.float64), wanted)
    assert (
        np.signbit(found).tolist() == [math.copysign(1, w) < 0 for w in wanted]
        or np.isnan(found).any()
    )


bf16_values = st.integers(0, 0xFFFF).map(
    lambda bits: float(np.array([bits << 16], np.uint32).view(np.float32)[0])
)


@given(bf16_values, bf16_values)
def test_bf16_arithmetic_is_rounded_once(x, y):
    bf16 = FloatType("bf16")
    if not (math.isfinite(x) and math.isfinite(y)):
        return
    a, b = np.array([x], np.float32), np.array([y], np.float32)
    p, q = Fraction(x), Fraction(y)
    with np.errstate(all="ignore"):
        for op, wanted in ((BinaryOp.ADD, p + q), (BinaryOp.SUB, p - q), (BinaryOp.MUL, p * q)):
            frac = wanted.denominator.bit_length() - 1
            nearest = numeric.to_float(wanted.numerator, frac, bf16)
            assert floats.binary(op, a, b, bf16)[0] == nearest
        if y:  # the quotient of two numbers of 8 digits, rounded to 53, then to 8
            nearest = numeric.round_float(x / y, bf16)
            assert floats.binary(BinaryOp.DIV, a, b, bf16)[0] == nearest


def test_functions_at_their_poles():
    f32 = FloatType("f32")
    x = np.array([0.0, -1.0, np.inf, -np.inf, np.nan, 1e30], np.float32)
    log = floats.unary(UnaryOp.LOG, x, f32)
    assert np.isneginf(log[0])
    assert np.isnan(log[[1, 3, 4]]).all()
    exp = floats.unary(UnaryOp.EXP, x, f32)
    assert exp[[0, 2, 3, 5]].tolist() == [1.0, np.inf, 0.0, np.inf]
    assert floats.unary(UnaryOp.TANH, x, f32)[[2, 3]].tolist() == [1.0, -1.0]
