"""Shifts and literals in kernels: nothing is lost inside of an expression, and no wider than kept."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import weft
from dsl.expressions.expr import Binary, BinaryOp, Cast, Expr, walk
from dsl.expressions.shifts import Pending
from dsl.expressions.types import IntType
from dsl.programs.pretty import pretty
from mlir_passes.pipeline import compile_design
from tests.support.expression_cases import CASES, FIXED, N, S, X, wrapped

HEADER = "@weft.kernel\ndef k(x: weft.u8[8], n: weft.u8[8], s: weft.i8[8], y: weft.{0}[8]):\n"


def run(kernel, expression: str, dtype: str):
    text = HEADER.format(dtype) + f"    for i in range(8):\n        y[i] = {expression}\n"
    found = kernel(text)
    kind = np.dtype(("int" if dtype[0] == "i" else "uint") + dtype[1:])
    y = np.zeros(8, kind)
    found(np.array(X, np.uint8), np.array(N, np.uint8), np.array(S, np.int8), y)
    return found, y


@pytest.mark.parametrize(
    ("expression", "dtype", "exact"), CASES, ids=lambda v: v if isinstance(v, str) else ""
)
def test_the_value_is_that_of_exact_arithmetic(kernel, expression, dtype, exact):
    found, y = run(kernel, expression, dtype)
    want = [wrapped(int(exact(*v, i)), dtype) for i, v in enumerate(zip(X, N, S, strict=True))]
    assert y.tolist() == want
    assert all(
        type(e.dtype) is not Pending for s in found.program.statements() for e in walk(s.value)
    )
    assert kernel(pretty(found.program)).program == found.program


def shift_of(kernel, expression: str, dtype: str) -> Binary:
    found, _ = run(kernel, expression, dtype)
    (stmt,) = found.program.statements()
    (shift,) = (e for e in walk(stmt.value) if isinstance(e, Binary) and e.op is BinaryOp.SHL)
    return shift


@pytest.mark.parametrize(
    ("expression", "dtype", "width"),
    [
        ("x[i] << 3", "u8", 8),  # no wider than what is kept
        ("x[i] << 3", "i64", 11),
        ("x[i] << n[i]", "u8", 8),
        ("x[i] << n[i]", "i32", 32),
        ("(x[i] << 3) > 5", "u8", 11),
        ("(x[i] << 3) + s[i]", "u8", 8),
        ("(x[i] << 3) + s[i]", "i32", 11),
        ("1 << n[i]", "u8", 32),
        ("1 << i", "i64", 32),
        ("1 << (n[i] & 63)", "i64", 64),
        ("x[i] & (3 << n[i])", "i64", 32),
        ("(x[i] > 3) << n[i]", "u8", 8),
    ],
)
def test_a_shift_has_the_bits_that_count(kernel, expression, dtype, width):
    shift = shift_of(kernel, expression, dtype)
    assert isinstance(shift.dtype, IntType)
    assert shift.dtype.width == width


def test_what_is_shifted_twice_is_rebuilt_once(kernel):
    """``(x << 1) ** 24`` is one shift, used 24 times: not one for each path to it."""
    found, _ = run(kernel, "((x[i] << 1) + 1) ** 24", "i64")
    (stmt,) = found.program.statements()
    shifts: set[int] = set()
    pending: list[Expr] = [stmt.value]
    while pending:
        e = pending.pop()
        match e:
            case Binary(BinaryOp.SHL):
                shifts.add(id(e))
            case Binary(lhs=a, rhs=b):
                pending += [a, b]
            case Cast(operand=x):
                pending.append(x)
            case _:
                pass
    assert len(shifts) == 1


def test_the_cpp_converts_before_it_shifts(kernel):
    found, _ = run(kernel, "x[i] << 8", "i32")
    assert "y[i] = ap_uint<16>(x[i]) << 8;" in compile_design(found.program).hls_cpp
    found, _ = run(kernel, "1 << i", "i32")
    assert "y[i] = ap_uint<32>(1) << i;" in compile_design(found.program).hls_cpp
    found, _ = run(kernel, "x[i] << 3", "u8")
    assert "y[i] = x[i] << 3;" in compile_design(found.program).hls_cpp


@pytest.mark.parametrize(
    ("expression", "exact"), FIXED, ids=lambda v: v if isinstance(v, str) else ""
)
def test_fixed_point_is_exact(kernel, expression, exact):
    text = (
        "@weft.kernel\ndef k(x: fixed[9, 5][6], y: fixed[40, 20][6]):\n"
        f"    for i in range(6):\n        y[i] = {expression}\n"
    )
    raws = [1, -1, 16, 5, -256, 255]
    y = np.zeros(6, np.int64)
    found = kernel(text)
    found(np.array(raws, np.int16), y)
    assert (y / 2**20).tolist() == [exact(r / 16) for r in raws]
    assert kernel(pretty(found.program)).program == found.program


def test_shifts_of_loop_variables_by_constants_are_affine(kernel):
    """They stand in subscripts, bounds and conditions."""
    found = kernel(
        "@weft.kernel\n"
        "def k(x: i32[9], y: i32[16]):\n"
        "    for i in range(1 << 3):\n"
        "        y[i << 1] = x[(i >> 2) + 1]\n"
        "        if i >> 1 == 2:\n"
        "            y[(i << 1) + 1] = i\n"
    )
    x, y = np.arange(9, dtype=np.int32), np.zeros(16, np.int32)
    found(x, y)
    want = np.zeros(16, np.int32)
    for i in range(8):
        want[i << 1] = x[(i >> 2) + 1]
        if i >> 1 == 2:
            want[(i << 1) + 1] = i
    assert y.tolist() == want.tolist()


def test_a_guard_says_that_an_amount_is_not_negative(kernel):
    found = kernel(
        "@weft.kernel\n"
        "def k(x: i32[8], y: weft.i64[8]):\n"
        "    for i in range(8):\n"
        "        if i >= 3:\n"
        "            y[i] = (x[i] << (i - 3)) // 3\n"
    )
    x, y = np.full(8, 2**31 - 1, np.int32), np.zeros(8, np.int64)
    found(x, y)
    assert y.tolist() == [0, 0, 0, *(((2**31 - 1) << n) // 3 for n in range(5))]
    assert "y[i]" in compile_design(found.program).hls_cpp


def test_arguments_of_a_called_kernel_keep_what_its_scalars_hold(kernel):
    text = (
        "@weft.kernel\n"
        "def add(v: weft.i16, y: i32[8]):\n"
        "    y[0] += v\n\n\n"
        "@weft.kernel\n"
        "def k(n: weft.u8[8], y: i32[8]):\n"
        "    for i in range(8):\n"
        "        add(1 << n[i], y)\n"
    )
    y = np.zeros(8, np.int32)
    kernel(text)(np.array(N, np.uint8), y)
    assert y[0] == sum(wrapped(1 << n, "i16") for n in N)


@pytest.mark.parametrize("value", ["2**1600", "-(2**4000)", "x[0] + 2**1100"])
def test_literals_beyond_every_float_are_written_and_read(kernel, value):
    text = f"@weft.kernel\ndef k(x: weft.u8[8], y: weft.i4096[8]):\n    y[0] = {value}\n"
    program = kernel(text).program
    assert kernel(pretty(program)).program == program


def test_a_program_with_shifts_by_loop_variables_is_its_text(kernel):
    """A builder does not know the loops of a term, the reader of the text does."""
    p = weft.Program("k")
    x, y = p.placeholder("x", weft.u8, (8,)), p.placeholder("y", weft.i64, (8,))
    i, j = p.loops(i=8, j=3)
    p.compute("a", (i,), into=y[i], value=(1 << i) + (x[i] << i) - (x[i] >> i + 1))
    p.compute("b", (i, j), into=y[i], value=weft.select((x[i] >> j) & 1 == 1, -(y[i] << j), i << 3))
    program = p.build()
    reloaded = kernel(pretty(program)).program
    assert reloaded == program
    assert pretty(reloaded) == pretty(program)
    found = np.zeros(8, np.int64)
    kernel(pretty(program))(np.array(X, np.uint8), found)
    want = [(1 << i) + (v << i) - (v >> i + 1) for i, v in enumerate(X)]
    for i, v in enumerate(X):
        for j in range(3):
            want[i] = -(want[i] << j) if (v >> j) & 1 else i << 3
    assert found.tolist() == want


@pytest.mark.parametrize("amount", ["i - 3", "3 - i"])
def test_negative_amounts_of_loop_variables_are_refused(kernel, amount):
    text = (
        f"@weft.kernel\ndef k(y: i32[8]):\n    for i in range(8):\n        y[i] = 5 << {amount}\n"
    )
    with pytest.raises(weft.LanguageError) as caught:
        _ = compile_design(kernel(text).program).hls_cpp
    assert caught.value.code == "W163"


def test_fixed_point_is_shifted_exactly_by_variables(kernel) -> None:
    """By data and by loop variables, both ways, also where the point is outside of the number."""
    found = kernel(
        "from weft import u3, ufixed\n\n@weft.kernel\ndef k(x: fixed[8, 3][8], u: ufixed[5, 7][8], n: u3[8], y: fixed[28, 12][8], "
        "z: ufixed[24, 14][8]):\n    for i in range(8):\n        y[i] = (x[i] >> n[i]) - (x[i] << i)\n"
        "        z[i] = (u[i] >> i) + (u[i] << n[i])\n"
    )
    x, n = (
        np.array([-128, 127, 1, -1, 85, -86, 3, 0], np.int8),
        np.arange(8, dtype=np.uint8)[::-1].copy(),
    )
    u = np.array([31, 1, 16, 0, 21, 10, 7, 30], np.uint8)
    y, z = np.zeros(8, np.int32), np.zeros(8, np.uint32)
    found(x, u, n, y, z)
    for i in range(8):
        exact = Fraction(int(x[i]), 32)
        assert y[i] == (exact / 2 ** int(n[i]) - exact * 2**i) * 2**16, i
        of = Fraction(int(u[i]) * 4)
        assert z[i] == (of / 2**i + of * 2 ** int(n[i])) * 2**10, i
