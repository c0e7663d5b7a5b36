"""Expressions of kernels: the typed trees that they are read into."""

from __future__ import annotations

import pytest

from dsl.expressions.affine import Affine
from dsl.expressions.expr import (
    Access,
    Binary,
    BinaryOp,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    Index,
    Load,
    Select,
    Unary,
    UnaryOp,
)
from dsl.expressions.types import FixedType, IntType, Overflow, Quant, boolean, f32
from tests.frontend.conftest import Load as LoadKernel

vi = Affine.of("i")


def load(name: str, *indices: Affine | int) -> Load:
    return Load(Access(name, tuple(Affine.of(i) for i in indices)), f32)


def op(which: BinaryOp, a: Expr, b: Expr) -> Binary:
    return Binary(which, a, b, f32)


I8, I32 = IntType(8), IntType(32)
POSITIVE = Compare(CompareOp.GT, load("A", vi), Const(0.0, f32), boolean)


def chosen(then: float, orelse: float) -> Select:
    """A choice between constants of type f32."""
    return Select(POSITIVE, Const(then, f32), Const(orelse, f32), f32)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("A[i] if i > 2 else 0", Select(
            Compare(CompareOp.GT, Index(vi), Const(2, IntType(2, False)), boolean),
            load("A", vi), Const(0.0, f32), f32)),
        ("weft.select(A[i] < 1, A[i], A[0])", Select(
            Compare(CompareOp.LT, load("A", vi), Const(1.0, f32), boolean),
            load("A", vi), load("A", 0), f32)),
        ("1.0 if A[i] > 0 else -0.5", chosen(1.0, -0.5)),
        ("weft.select(A[i] > 0, 1, 0.5)", chosen(1.0, 0.5)),
        ("A[0] * (2 if A[i] > 0 else 0.5)", op(BinaryOp.MUL, load("A", 0), chosen(2.0, 0.5))),
        ("A[0] - 2 * -(1.5 if A[i] > 0 else 2)", op(
            BinaryOp.SUB, load("A", 0), chosen(-3.0, -4.0))),
        ("(1.5 if A[i] > 0 else 2) ** 3 * A[0]", op(BinaryOp.MUL, chosen(3.375, 8.0), load("A", 0))),
        ("weft.f32(0.5 if A[i] > 0 else 2)", chosen(0.5, 2.0)),
        ("A[0] if A[0] < (1.0 if A[i] > 0 else 0.5) else 0.0", Select(
            Compare(CompareOp.LT, load("A", 0), chosen(1.0, 0.5), boolean),
            load("A", 0), Const(0.0, f32), f32)),
        ("min(A[i], A[0], 2)", op(
            BinaryOp.MIN, op(BinaryOp.MIN, load("A", vi), load("A", 0)), Const(2.0, f32))),
        ("weft.max(A[i], 3)", op(BinaryOp.MAX, load("A", vi), Const(3.0, f32))),
        ("abs(A[i])", Unary(UnaryOp.ABS, load("A", vi), f32)),
        ("math.sqrt(A[i])", Unary(UnaryOp.SQRT, load("A", vi), f32)),
        ("weft.exp(-A[i])", Unary(UnaryOp.EXP, Unary(UnaryOp.NEG, load("A", vi), f32), f32)),
        ("+A[i]", load("A", vi)),
        ("A[i] ** 2", op(BinaryOp.MUL, load("A", vi), load("A", vi))),
        ("A[i] / math.pi", op(BinaryOp.DIV, load("A", vi), Const(3.1415927410125732, f32))),
        ("A[i] * (N + 1) // 1 if False else A[i]", load("A", vi)),
        ("2 * i + 1", Index(vi * 2 + 1)),
        ("i * i", Binary(BinaryOp.MUL, Index(vi), Index(vi), IntType(64))),
        ("i - i", Const(0.0, f32)),
        ("f32(i)", Cast(Index(vi), f32)),
        ("i8(3)", Const(3, I8)),
        ("weft.i32(A[i])", Cast(load("A", vi), I32)),
        ("TAPS[1] * TAPS[-1]", Const(6.0, f32)),
        ('weft.fixed[8, 4, "rnd", "sat"](A[i])', Cast(
            load("A", vi), FixedType(8, 4, True, Quant.RND, Overflow.SAT))),
        ("1.0 if 0 < A[i] < 2 and not A[0] == 1 else A[i]", Select(
            Binary(
                BinaryOp.AND,
                Binary(
                    BinaryOp.AND,
                    Compare(CompareOp.LT, Const(0.0, f32), load("A", vi), boolean),
                    Compare(CompareOp.LT, load("A", vi), Const(2.0, f32), boolean),
                    boolean,
                ),
                Unary(UnaryOp.NOT, Compare(
                    CompareOp.EQ, load("A", 0), Const(1.0, f32), boolean), boolean),
                boolean,
            ),
            Const(1.0, f32), load("A", vi), f32)),
    ],
)  # fmt: skip
def test_expressions(kernel: LoadKernel, value: str, expected: Expr) -> None:
    [stmt] = kernel(
        f"@weft.kernel\ndef k(A: f32[8]):\n    for i in range(8):\n        A[i] = {value}\n"
    ).program.statements()
    assert stmt.value == expected
