"""Exact arithmetic: every result fits its type, and is what fractions say it is."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsl.expressions.expr import BinaryOp, UnaryOp
from dsl.expressions.numeric import (
    Fault,
    bounds,
    convert,
    exact_binary,
    exact_unary,
    frac_of,
    from_float,
    round_float,
    to_float,
)
from dsl.expressions.types import FixedType, FloatType, IntType, Overflow, Quant
from dsl.expressions.typing import binary_type, unary_type
from tests.interp.strategies import exact_types, raws

INT_OPS = tuple(op for op in BinaryOp if op is not BinaryOp.DIV)
FIXED_OPS = (BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL, BinaryOp.DIV, BinaryOp.MIN, BinaryOp.MAX)


def value(raw, dtype) -> Fraction:
    return Fraction(raw) / Fraction(2) ** frac_of(dtype)


@given(st.data())
def test_results_fit_their_types_and_are_exact(data):
    a, b = data.draw(exact_types()), data.draw(exact_types())
    fixed = isinstance(a, FixedType) or isinstance(b, FixedType)
    op = data.draw(st.sampled_from(FIXED_OPS if fixed else INT_OPS))
    x, y = data.draw(raws(a)), data.draw(raws(b))
    shift = op in (BinaryOp.SHL, BinaryOp.SHR)
    if (y == 0 and op in (BinaryOp.DIV, BinaryOp.FLOORDIV, BinaryOp.MOD)) or (shift and y < 0):
        with pytest.raises(Fault):
            exact_binary(op, x, a, y, b, binary_type(op, a, b))
        return
    result = binary_type(op, a, b)
    found = exact_binary(op, x, a, y, b, result)
    low, high = bounds(result)
    assert low <= found <= high
    p, q = value(x, a), value(y, b)
    match op:
        case BinaryOp.ADD:
            assert value(found, result) == p + q
        case BinaryOp.SUB:
            assert value(found, result) == p - q
        case BinaryOp.MUL:
            assert value(found, result) == p * q
        case BinaryOp.MIN:
            assert value(found, result) == min(p, q)
        case BinaryOp.MAX:
            assert value(found, result) == max(p, q)
        case BinaryOp.FLOORDIV:
            assert found == math.floor(p / q)
        case BinaryOp.MOD:
            assert found == p - q * math.floor(p / q)
        case BinaryOp.SHR:
            assert found == math.floor(p / 2 ** min(y, 5000))
        case BinaryOp.DIV if not (x == bounds(a)[0] and y == -1):
            assert found == math.trunc(p / q * Fraction(2) ** frac_of(result))
        case _:
            pass


@given(st.data())
def test_unary_results_fit_their_types(data):
    a = data.draw(exact_types())
    x = data.draw(raws(a))
    for op in (UnaryOp.NEG, UnaryOp.ABS):
        result = unary_type(op, a)
        found = exact_unary(op, x, result)
        low, high = bounds(result)
        assert low <= found <= high
        assert found == (-x if op is UnaryOp.NEG else abs(x))


def rounded(x: Fraction, mode: Quant) -> int:
    """The definition of the modes in UG1399, over fractions."""
    floor = math.floor(x)
    half = x - floor == Fraction(1, 2)
    nearest = floor + (x - floor > Fraction(1, 2))
    match mode:
        case Quant.TRN:
            return floor
        case Quant.TRN_ZERO:
            return math.trunc(x)
        case Quant.RND:
            return math.floor(x + Fraction(1, 2))
        case Quant.RND_MIN_INF:
            return math.ceil(x - Fraction(1, 2))
        case Quant.RND_CONV:
            return round(x)
        case Quant.RND_ZERO:
            return math.trunc(x) if half else nearest
        case Quant.RND_INF:
            return (math.ceil(x) if x > 0 else floor) if half else nearest


@given(st.data(), st.sampled_from(Quant), st.sampled_from(Overflow))
def test_quantisation_and_overflow_are_those_of_the_manual(data, quant, overflow):
    source = data.draw(exact_types())
    width = data.draw(st.integers(2, 80))
    signed = data.draw(st.booleans())
    target = FixedType(width, data.draw(st.integers(-5, width + 5)), signed, quant, overflow)
    x = data.draw(raws(source))
    whole = rounded(value(x, source) * Fraction(2) ** target.frac, quant)
    low, high = bounds(target)
    if overflow is Overflow.SAT_SYM and signed:
        low = -high
    match overflow:
        case Overflow.WRAP:
            wanted = (whole - low) % (1 << width) + low
        case Overflow.SAT_ZERO:
            wanted = whole if low <= whole <= high else 0
        case _:
            wanted = min(max(whole, low), high)
    assert convert(x, frac_of(source), target) == wanted


@given(st.data())
def test_conversion_to_an_integer_cuts_towards_zero(data):
    source = data.draw(exact_types())
    target = IntType(data.draw(st.integers(1, 80)), data.draw(st.booleans()))
    x = data.draw(raws(source))
    low, _ = bounds(target)
    wanted = (math.trunc(value(x, source)) - low) % (1 << target.width) + low
    assert convert(x, frac_of(source), target) == wanted


FLOATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
doubles = st.floats(allow_nan=False)


@pytest.mark.parametrize("name", FLOATS)
@given(x=doubles)
def test_doubles_are_rounded_as_numpy_does(name, x):
    with np.errstate(over="ignore"):
        assert round_float(x, FloatType(name)) == float(FLOATS[name](x))


@given(n=st.integers(-(1 << 70), 1 << 70), shift=st.integers(-200, 200))
def test_exact_values_become_the_nearest_double(n, shift):
    exact = Fraction(n) / Fraction(2) ** shift
    assert to_float(n, shift, FloatType("f64")) == float(exact)
    for name in ("f16", "bf16", "f32"):
        near = Fraction(to_float(n, shift, FloatType(name))) if abs(exact) < 60000 else None
        if near is not None and abs(exact) > Fraction(1, 1000):
            digits = {"f16": 11, "bf16": 8, "f32": 24}[name]
            assert abs(near - exact) <= abs(exact) / (1 << digits)


@given(n=st.integers(1, (1 << 24) - 1), shift=st.integers(120, 160))
def test_small_bf16_are_denormal(n, shift):
    exact = Fraction(n) / Fraction(2) ** shift
    step = max(Fraction(2) ** -133, Fraction(2) ** (math.frexp(float(exact))[1] - 8))
    assert to_float(n, shift, FloatType("bf16")) == float(round(exact / step) * step)


@given(x=st.floats(-1e6, 1e6), width=st.integers(1, 40), frac=st.integers(-3, 30))
def test_floats_become_the_fixed_point_below_them(x, width, frac):
    target = FixedType(width, width - frac)
    low = bounds(target)[0]
    wanted = (math.floor(Fraction(x) * Fraction(2) ** frac) - low) % (1 << width) + low
    assert from_float(x, target) == wanted


def test_what_is_not_finite_has_no_exact_value():
    for x in (math.inf, -math.inf, math.nan):
        with pytest.raises(Fault):
            from_float(x, IntType(8))
