"""Random typed expressions that no implementation may get wrong.

What is left out is what C++ leaves undefined: division by zero, floats out of an integer's range
(NaN included) converted to integers, square roots and logarithms of negative numbers.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from enum import Enum
from fractions import Fraction

from dsl.expressions import typing as t
from dsl.expressions.affine import Affine
from dsl.expressions.expr import BinaryOp, CompareOp, Const, Expr, Index, UnaryOp
from dsl.expressions.types import DType, FixedType, FloatType, IndexType, IntType, f32
from tests.support.random_arrays import random_dtype

WIDEST = 160
"""Operands are cut to a few bits before a result gets wider than this."""


LARGE = (65535, 2**31 - 1, 2**31, -(2**31), 2**32, 2**63 - 1, 2**63, -(2**63), 2**64, 2**69 + 1)
"""Integers around the limits of C++'s own types."""


class Family(Enum):
    """Kinds of numbers."""

    INT = "int"
    FIXED = "fixed"
    FLOAT = "float"


def family_of(dtype: DType) -> Family:
    """Which kind of number a type holds."""
    match dtype:
        case IntType() | IndexType():
            return Family.INT
        case FixedType():
            return Family.FIXED
        case FloatType():
            return Family.FLOAT


LeafMaker = Callable[[Family], Expr | None]


class ExprMaker:
    """Grows expressions over the loads that ``load`` gives and the loop variables ``names``."""

    def __init__(self, rng: random.Random, names: list[str], load: LeafMaker) -> None:
        self._rng = rng
        self._names = names
        self._load = load

    def value(self, family: Family, depth: int) -> Expr:
        """A random expression of a kind of number."""
        rng = self._rng
        if depth == 0 or rng.random() < 0.15:
            return self._leaf(family)
        roll = rng.random()
        if roll < 0.1:
            return self._select(family, depth)
        if roll < 0.2:
            return self._cast(family, depth)
        match family:
            case Family.INT:
                return self._int(depth)
            case Family.FIXED:
                return self._fixed(depth)
            case Family.FLOAT:
                return self._float(depth)

    def _any(self, depth: int) -> Expr:
        return self.value(self._rng.choice(list(Family)), depth)

    def _leaf(self, family: Family) -> Expr:
        rng = self._rng
        if rng.random() < 0.75 and (load := self._load(family)) is not None:
            return load
        if family is Family.INT and self._names and rng.random() < 0.5:
            return self._index()
        return random_const(rng, family)

    def _index(self) -> Expr:
        rng = self._rng
        v, other = (Affine.of(rng.choice(self._names)) for _ in range(2))
        affine = rng.choice((v, v, v + 1, v - other, v * 3 + other, v // 2, v % 3 + other))
        return integer(affine.const) if affine.is_const else Index(affine)

    def _select(self, family: Family, depth: int) -> Expr:
        then, orelse = self.value(family, depth - 1), self.value(family, depth - 1)
        return t.select(self.condition(depth - 1), then, orelse)

    def condition(self, depth: int) -> Expr:
        """A random ``u1``."""
        rng = self._rng
        roll = rng.random()
        if depth and roll < 0.15:
            op = rng.choice((BinaryOp.AND, BinaryOp.OR, BinaryOp.XOR))
            return binary(op, self.condition(depth - 1), self.condition(depth - 1))
        if depth and roll < 0.25:
            return unary(UnaryOp.NOT, self.condition(depth - 1))
        family = rng.choice(list(Family))
        lhs, depth = self.value(family, max(0, depth - 1)), max(0, depth - 1)
        rhs = self.value(family, depth) if rng.random() < 0.8 else self._any(depth)
        if Family.FLOAT in (family_of(lhs.dtype), family_of(rhs.dtype)):
            lhs, rhs = self._as_float(lhs), self._as_float(rhs)
        return t.compare(rng.choice(list(CompareOp)), lhs, rhs)

    def _as_float(self, x: Expr) -> Expr:
        if isinstance(x.dtype, FloatType):
            return x
        return t.cast(FloatType(self._rng.choice(("f32", "f64"))), x)

    def _cast(self, family: Family, depth: int) -> Expr:
        dtype = random_dtype(self._rng)
        while family_of(dtype) is not family:
            dtype = random_dtype(self._rng)
        return convertible(self._any(depth - 1), dtype)

    def _int(self, depth: int) -> Expr:
        rng = self._rng
        a = self.value(Family.INT, depth - 1)
        kind = rng.choices(
            ("arith", "bits", "divide", "shift", "minmax", "unary", "truth"),
            (40, 12, 12, 12, 10, 10, 4),
        )[0]
        match kind:
            case "arith":
                b = self.value(Family.INT, depth - 1)
                return self._arith(rng.choice((BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL)), a, b)
            case "bits":
                b = self.value(Family.INT, depth - 1)
                return binary(rng.choice((BinaryOp.AND, BinaryOp.OR, BinaryOp.XOR)), a, b)
            case "divide":
                op = rng.choice((BinaryOp.FLOORDIV, BinaryOp.MOD))
                return binary(op, a, self._divisor(depth))
            case "shift":
                return self._shift(narrowed(a), depth)
            case "minmax":
                b = self.value(Family.INT, depth - 1)
                return binary(rng.choice((BinaryOp.MIN, BinaryOp.MAX)), a, b)
            case "unary":
                return unary(rng.choice((UnaryOp.NEG, UnaryOp.INVERT, UnaryOp.ABS)), a)
            case _:
                return self.condition(depth - 1)

    def _divisor(self, depth: int) -> Expr:
        """An integer that is not zero."""
        rng = self._rng
        if rng.random() < 0.6:
            return integer(rng.choice((2, 3, 4, 5, 7, 8, 10, -1, -2, -3, 1)))
        x = t.cast(IntType(rng.choice((2, 5, 8, 16, 32))), self.value(Family.INT, depth - 1))
        return binary(BinaryOp.OR, x, integer(1))

    def _shift(self, a: Expr, depth: int) -> Expr:
        """Of data, of a literal, of a truth value; a wide amount where only low bits are kept."""
        rng = self._rng
        amount = self._amount(depth)
        roll = rng.random()
        if roll < 0.4:
            return binary(BinaryOp.SHR, a, amount)
        if roll < 0.5:
            return t.binary(BinaryOp.SHL, rng.choice((1, 1, 3, -1, -5, True, 2**31)), amount)
        if roll < 0.6:
            return binary(BinaryOp.SHL, self.condition(depth - 1), amount)
        if roll < 0.8:
            return binary(BinaryOp.SHL, a, amount)
        wide = t.cast(IntType(rng.choice((6, 7, 8, 9)), False), self.value(Family.INT, depth - 1))
        x: t.Operand = binary(BinaryOp.SHL, rng.choice((a, t.const(1, IntType(32)))), wide)
        if rng.random() < 0.5:
            op = rng.choice((BinaryOp.ADD, BinaryOp.SUB, BinaryOp.AND, BinaryOp.OR, BinaryOp.XOR))
            x = binary(op, x, self.value(Family.INT, depth - 1))
        if rng.random() < 0.3:
            x = unary(rng.choice((UnaryOp.NEG, UnaryOp.INVERT)), x)
        return t.cast(IntType(rng.choice((1, 7, 8, 16, 31, 32, 40, 64, 70))), x)

    def _amount(self, depth: int) -> Expr:
        """A shift amount of a few bits."""
        rng = self._rng
        if rng.random() < 0.6:
            return integer(rng.choice((0, 1, 1, 2, 3, 5, 31, 64, 100)))
        return t.cast(IntType(rng.choice((1, 2, 3)), False), self.value(Family.INT, depth - 1))

    def _arith(self, op: BinaryOp, a: Expr, b: Expr) -> Expr:
        return binary(op, narrowed(a), narrowed(b))

    def _fixed(self, depth: int) -> Expr:
        rng = self._rng
        a = self.value(Family.FIXED, depth - 1)
        b = self.value(rng.choice((Family.FIXED, Family.FIXED, Family.INT)), depth - 1)
        if rng.random() < 0.2:
            a, b = b, a
        kinds = ("arith", "divide", "minmax", "unary", "shift")
        match rng.choices(kinds, (58, 12, 12, 11, 7))[0]:
            case "arith":
                return self._arith(rng.choice((BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL)), a, b)
            case "divide":
                fixed = a if isinstance(a.dtype, FixedType) else b
                if rng.random() < 0.2:
                    dividend = rng.choice((1, -1, 3, 100, 0.5, -2.25))
                    return t.binary(BinaryOp.DIV, dividend, self._fraction())
                return binary(BinaryOp.DIV, narrowed(fixed), self._fixed_divisor())
            case "shift":
                fixed = narrowed(a if isinstance(a.dtype, FixedType) else b)
                op = rng.choice((BinaryOp.SHL, BinaryOp.SHR))
                return binary(op, fixed, integer(rng.choice((0, 1, 2, 3, 7, 20))))
            case "minmax":
                return binary(rng.choice((BinaryOp.MIN, BinaryOp.MAX)), a, b)
            case _:
                fixed = a if isinstance(a.dtype, FixedType) else b
                return unary(rng.choice((UnaryOp.NEG, UnaryOp.ABS)), fixed)

    def _fixed_divisor(self) -> Expr:
        rng = self._rng
        if rng.random() < 0.4:
            return integer(rng.choice((1, 2, 3, 5, -2, -7)))
        return self._fraction()

    def _fraction(self) -> Expr:
        """Fixed point that is not zero."""
        rng = self._rng
        dtype = FixedType(8, 4, True)
        return Const(Fraction(rng.choice((1, 3, 8, 16, 40, 127, -1, -16, -50)), 16), dtype)

    def _float(self, depth: int) -> Expr:
        rng = self._rng
        a = self.value(Family.FLOAT, depth - 1)
        families = (Family.FLOAT, Family.FLOAT, Family.FLOAT, Family.INT, Family.FIXED)
        b = self.value(rng.choice(families), depth - 1)
        if rng.random() < 0.2:
            a, b = b, a
        kind = rng.choices(("arith", "divide", "minmax", "unary", "sqrt"), (60, 10, 12, 12, 6))[0]
        match kind:
            case "arith":
                return binary(rng.choice((BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL)), a, b)
            case "divide":
                divisor = unary(UnaryOp.ABS, self.value(Family.FLOAT, depth - 1))
                if rng.random() < 0.5:
                    return binary(BinaryOp.DIV, a, binary(BinaryOp.ADD, divisor, real(1.0)))
                return binary(BinaryOp.DIV, a, real(rng.choice((2.0, 3.0, -0.75, 10.0))))
            case "minmax":
                return binary(rng.choice((BinaryOp.MIN, BinaryOp.MAX)), a, b)
            case "sqrt":
                x = a if isinstance(a.dtype, FloatType) else b
                return unary(UnaryOp.SQRT, unary(UnaryOp.ABS, x))
            case _:
                x = a if isinstance(a.dtype, FloatType) else b
                return unary(rng.choice((UnaryOp.NEG, UnaryOp.ABS)), x)

    def transcendental(self, depth: int) -> Expr:
        """A function that libraries round differently in the last place."""
        rng = self._rng
        x = t.cast(FloatType(rng.choice(("f32", "f64"))), self.value(Family.FLOAT, depth - 1))
        match rng.choice((UnaryOp.EXP, UnaryOp.LOG, UnaryOp.TANH)):
            case UnaryOp.LOG:
                positive = binary(BinaryOp.ADD, unary(UnaryOp.ABS, x), Const(0.5, x.dtype))
                return unary(UnaryOp.LOG, positive)
            case op:
                return unary(op, clamped(x, 8.0))


def data(x: Expr) -> Expr:
    """``x``, a loop variable converted: arithmetic on it alone would be an affine expression."""
    return t.cast(IntType(32), x) if isinstance(x, Index) else x


def binary(op: BinaryOp, a: Expr, b: Expr) -> Expr:
    """``a op b``."""
    a, b = _fitting(a, b), _fitting(b, a)
    if isinstance(a, Index) and isinstance(b, Index | Const):
        return t.binary(op, data(a), b)
    if isinstance(a, Const) and isinstance(b, Index):
        return t.binary(op, a, data(b))
    return t.binary(op, a, b)


def _fitting(x: Expr, other: Expr) -> Expr:
    """A large integer next to a float is cast: a literal that does not fit is an error."""
    large = isinstance(x, Const) and isinstance(x.dtype, IntType) and abs(x.value) > 60_000
    return t.cast(other.dtype, x) if large and isinstance(other.dtype, FloatType) else x


def unary(op: UnaryOp, x: Expr) -> Expr:
    """``op x``."""
    return t.unary(op, data(x))


def integer(value: int) -> Const:
    """An integer literal of its least type."""
    return t.const(value, t.literal_type(value))


def real(value: float, dtype: DType = f32) -> Const:
    """A float literal."""
    return t.const(value, dtype)


def random_const(rng: random.Random, family: Family) -> Const:
    """A literal."""
    match family:
        case Family.INT:
            if rng.random() < 0.1:
                return integer(rng.choice(LARGE))
            return integer(rng.choice((0, 1, 2, 3, 5, 7, -1, -2, 10, 100, -128, 1000, 255)))
        case Family.FIXED:
            width = rng.choice((4, 8, 12, 16))
            dtype = FixedType(width, rng.randint(1, width - 1))
            raw = rng.randrange(-(1 << (width - 1)), 1 << (width - 1))
            return Const(Fraction(raw, 1 << dtype.frac), dtype)
        case Family.FLOAT:
            value = rng.choice((0.0, 0.5, 1.0, -1.0, 1.5, 0.1, 3.0, -2.25, 100.0, -0.0, 6e-5, 1e-7))
            return real(value, FloatType(rng.choice(("f16", "f32", "f32", "bf16", "f64"))))


def narrowed(x: Expr) -> Expr:
    """``x`` cut to a width whose product with another such is not enormous."""
    match x.dtype:
        case IntType(width, signed) if 2 * width > WIDEST:
            return t.cast(IntType(40, signed), x)
        case FixedType(width, integer_bits, signed) if 2 * (width + abs(integer_bits)) > WIDEST:
            return t.cast(FixedType(24, 12, signed), x)
        case _:
            return x


def clamped(x: Expr, bound: float) -> Expr:
    """A float cut to ``[-bound, bound]``; NaN becomes a bound: min and max keep their first."""
    low = binary(BinaryOp.MAX, Const(-bound, x.dtype), x)
    return binary(BinaryOp.MIN, Const(bound, x.dtype), low)


def convertible(x: Expr, dtype: DType) -> Expr:
    """``x`` as ``dtype``; a float is clamped first where the target is not a float."""
    return t.cast(dtype, storable(x, dtype))


def storable(x: Expr, dtype: DType) -> Expr:
    """``x`` so that the store into an element of ``dtype`` is defined."""
    if isinstance(x.dtype, FloatType) and not isinstance(dtype, FloatType):
        wide = x.dtype.name != "f16" and getattr(dtype, "width", 0) % 3 == 1
        return t.cast(dtype, clamped(x, 2.0**40 if wide else 1024.0))
    return t.assigned(x, dtype)
