"""Inputs: what they must look like, random ones, and conversion to and from fixed point."""

from __future__ import annotations

import numpy as np
import pytest

from dsl.arrays.inputs import check_inputs, dequantize, quantize, random_inputs, storage_dtype
from dsl.errors.errors import InputError
from dsl.expressions.expr import BinaryOp, UnaryOp
from dsl.expressions.numeric import bounds
from dsl.expressions.types import (
    FixedType,
    FloatType,
    IntType,
    bf16,
    boolean,
    f16,
    f32,
    f64,
    fixed,
    index,
    ufixed,
)
from dsl.expressions.typing import binary, unary
from dsl.interp import run
from dsl.programs.program import Array
from tests.interp import kernels
from tests.interp.kernels import LOCAL, Maker, loop

EVERY = (
    *(IntType(w, s) for w in (1, 3, 8, 9, 32, 33, 64, 65, 200) for s in (True, False)),
    *(fixed[8, 4], ufixed[24, 30], fixed[70, 2, "rnd", "sat_sym"]),
    *(f16, bf16, f32, f64),
)


@pytest.mark.parametrize(
    ("dtype", "held"),
    [
        (IntType(1), "int8"),
        (boolean, "uint8"),
        (IntType(9), "int16"),
        (IntType(17, signed=False), "uint32"),
        (IntType(33), "int64"),
        (IntType(64, signed=False), "uint64"),
        (IntType(65), "object"),
        (fixed[16, 8], "int16"),
        (ufixed[5, 2], "uint8"),
        (index, "int32"),
        (f16, "float16"),
        (bf16, "float32"),
        (f32, "float32"),
        (f64, "float64"),
    ],
)
def test_storage(dtype, held):
    assert storage_dtype(dtype) == np.dtype(held)


@pytest.mark.parametrize("dtype", EVERY, ids=str)
def test_random_inputs_fit_and_reproduce(dtype):
    program = Maker(Array("a", dtype, (20, 30)), Array("s", dtype, ())).program()
    inputs = random_inputs(program, 7)
    checked = check_inputs(program, inputs)
    assert checked["a"].dtype == storage_dtype(dtype)
    again, other = random_inputs(program, 7), random_inputs(program, 8)
    assert (inputs["a"] == again["a"]).all()
    assert not (inputs["a"] == other["a"]).all()
    values = inputs["a"].ravel().tolist()
    if isinstance(dtype, FloatType):
        assert all(-2 <= v < 2 for v in values)
        assert all(v == 0 or abs(v) >= 2.0**-14 or dtype != f16 for v in values)
    else:
        low, high = bounds(dtype)
        assert min(values) < low + (high - low) / 4
        assert max(values) >= high - (high - low) / 4


@pytest.mark.parametrize("dtype", [IntType(16), IntType(100), fixed[16, 8], f32, bf16], ids=str)
def test_divisors_are_not_zero(dtype):
    m = Maker(Array("a", dtype, (400,)), Array("d", dtype, (400,)), Array("t", dtype, (), LOCAL))
    op = BinaryOp.FLOORDIV if isinstance(dtype, IntType) else BinaryOp.DIV
    quotient = m.set("a", ("i",), binary(op, m("a", "i"), m("t")))
    program = m.program(loop("i", 0, 400, m.set("t", (), m("d", "i")), quotient))
    inputs = random_inputs(program, 0)
    assert (inputs["d"] > 0).all()
    assert isinstance(dtype, FloatType) or (inputs["a"] < 0).any()
    run(program, inputs)


def test_shift_amounts_are_small_and_roots_positive():
    m = Maker(
        Array("a", IntType(8), (99,)),
        Array("n", IntType(8), (99,)),
        Array("x", f32, (99,)),
        Array("y", f32, (99,)),
    )
    shift = m.set("a", ("i",), binary(BinaryOp.SHL, m("a", "i"), m("n", "i")))
    root = m.set("y", ("i",), unary(UnaryOp.SQRT, m("x", "i")))
    inputs = random_inputs(m.program(loop("i", 0, 99, shift, root)), 0)
    assert inputs["n"].min() >= 1
    assert inputs["n"].max() <= 7
    assert (inputs["x"] > 0).all()
    assert (inputs["y"] < 0).any()


# -- quantize


def test_quantize_uses_the_modes_of_the_type():
    x = np.array([0.3, -0.3, 100.0, -100.0, 0.0625])
    assert quantize(fixed[8, 4], x).tolist() == [4, -5, 64, -64, 1]
    assert quantize(fixed[8, 4, "rnd", "sat"], x).tolist() == [5, -5, 127, -128, 1]
    assert quantize(fixed[8, 4], x).dtype == np.int8
    assert quantize(IntType(8), np.array([2.9, -2.9, 300.0])).tolist() == [2, -2, 44]
    assert quantize(fixed[100, 90], np.array([[1.5]])).tolist() == [[1536]]
    assert quantize(fixed[8, 4], np.array([1, -2])).tolist() == [16, -32]
    assert quantize(bf16, 0.1) == np.float32(0.10009765625)
    assert quantize(fixed[8, 4], 1.25).shape == ()


def test_dequantize_is_the_inverse():
    raws = np.array([4, -5, 127, -128], np.int8)
    assert dequantize(fixed[8, 4], raws).tolist() == [0.25, -0.3125, 7.9375, -8.0]
    assert (quantize(fixed[8, 4], dequantize(fixed[8, 4], raws)) == raws).all()
    wide = np.array([1 << 90, -(1 << 64)], dtype=object)
    assert dequantize(IntType(100), wide).tolist() == [2.0**90, -(2.0**64)]


def test_quantize_refuses_what_is_not_finite():
    with pytest.raises(InputError, match=r"W544.*element \(1,\) is nan, not a number of fixed"):
        quantize(fixed[8, 4], np.array([1.0, np.nan]))


# -- errors


def kernel(dtype=f32):
    return kernels.gemm(2, 3, 4, dtype)


def good(dtype=f32):
    return random_inputs(kernel(dtype), 0)


def message(program, inputs):
    with pytest.raises(InputError) as caught:
        check_inputs(program, inputs)
    return caught.value.render()


def test_missing_and_unknown():
    inputs = good()
    del inputs["A"], inputs["beta"]
    assert message(kernel(), inputs) == (
        "error[W540]: no value for beta, A\nhelp: kernel takes alpha, beta, A, B, C"
    )
    assert message(kernel(), {**good(), "alhpa": 1.0}) == (
        "error[W541]: kernel has no argument 'alhpa'\nhelp: did you mean 'alpha'?"
    )


def test_wrong_shape():
    text = message(kernel(), {**good(), "A": np.zeros((4, 2), np.float32)})
    assert text.startswith("error[W542]: 'A' is f32[2, 4], but the array's shape is (4, 2)")
    text = message(kernel(), {**good(), "A": [[1.0]]})
    assert text.startswith("error[W542]: 'A' is f32[2, 4]: give a NumPy array of that shape")
    assert "W542" in message(kernel(), {**good(), "alpha": np.zeros(3, np.float32)})


def test_wrong_dtype():
    text = message(kernel(), {**good(), "A": np.zeros((2, 4))})
    assert text == (
        "error[W543]: 'A' is f32[2, 4], held as float32, but the array is float64\n"
        "help: convert it with astype(np.float32)"
    )
    text = message(kernel(fixed[16, 8]), {**good(fixed[16, 8]), "A": np.zeros((2, 4))})
    assert text == (
        "error[W543]: 'A' is fixed[16, 8][2, 4], held as int16, but the array is float64\n"
        "help: fixed point is held as raw integers: quantize(fixed[16, 8], values) makes them"
    )
    text = message(kernel(fixed[16, 8]), {**good(fixed[16, 8]), "alpha": 0.5})
    assert "quantize(fixed[16, 8], values)" in text
    text = message(kernel(IntType(80)), {**good(IntType(80)), "A": np.zeros((2, 4), np.int64)})
    assert text == (
        "error[W543]: 'A' is i80[2, 4], held as Python integers (dtype object), "
        "but the array is int64\nhelp: convert it with astype(object)"
    )
    text = message(kernel(IntType(80)), {**good(IntType(80)), "A": np.full((2, 4), 0.5, object)})
    assert text.startswith("error[W543]: 'A' is i80[2, 4]: give Python integers")


def test_out_of_range():
    text = message(kernel(IntType(5)), {**good(IntType(5)), "A": np.full((2, 4), 16, np.int8)})
    assert text.startswith("error[W544]: 'A' is i5[2, 4], but the value 16 is not in -16..15")
    text = message(kernel(IntType(5)), {**good(IntType(5)), "alpha": 99})
    assert text.startswith("error[W544]: 'alpha' is i5, but the value 99 is not in -16..15")
    text = message(kernel(ufixed[5, 2]), {**good(ufixed[5, 2]), "alpha": -1})
    assert text.startswith(
        "error[W544]: 'alpha' is ufixed[5, 2], but the raw value -1 is not in 0..31"
    )
    text = message(kernel(bf16), {**good(bf16), "A": np.full((2, 4), 0.1, np.float32)})
    assert text == (
        "error[W544]: 'A' has values that are not bf16\nhelp: quantize(bf16, A) rounds them"
    )


def test_scalars_may_be_python_numbers():
    checked = check_inputs(kernel(f16), {**good(f16), "alpha": 0.1, "beta": 3})
    assert checked["alpha"].dtype == np.float16
    assert checked["alpha"] == np.float16(0.1)
    assert checked["beta"] == 3
    checked = check_inputs(kernel(IntType(8)), {**good(IntType(8)), "alpha": -3})
    assert checked["alpha"].dtype == np.int8


def test_booleans_may_be_numpy_booleans():
    program = Maker(Array("a", boolean, (3,))).program()
    assert check_inputs(program, {"a": np.array([True, False, True])})["a"].tolist() == [1, 0, 1]


def test_every_type_is_accepted():
    for dtype in EVERY:
        program = kernels.gemm(2, 2, 2, dtype)
        assert isinstance(dtype, IntType | FixedType | FloatType)
        assert run(program, random_inputs(program, 0))["C"].dtype == storage_dtype(dtype)
