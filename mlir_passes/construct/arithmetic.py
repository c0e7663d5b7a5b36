"""From a statement's expression to the operations of level 3 (docs/level3.md, "Arithmetic"), whatever
they are written to: MLIR, or what ranks designs without it.

The value of an expression of type ``t`` is an integer of the exact width, a fixed-point number's
raw, or a float.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Generic, TypeVar, assert_never

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
    Gather,
    Index,
    Load,
    Scatter,
    Select,
    Unary,
    UnaryOp,
)
from dsl.expressions.numeric import Exact, bounds, frac_of, signed_of, width_of
from dsl.expressions.result_types import common_type
from dsl.expressions.types import DType, FixedType, FloatType, IndexType, IntType, boolean

V = TypeVar("V")

SUBSCRIPT = IntType(32)
"""The type of a subscript that is data."""

_FLOAT_BINARY = {
    BinaryOp.ADD: "arith.addf",
    BinaryOp.SUB: "arith.subf",
    BinaryOp.MUL: "arith.mulf",
    BinaryOp.DIV: "arith.divf",
}
_FLOAT_UNARY = {
    UnaryOp.NEG: "arith.negf",
    UnaryOp.ABS: "math.absf",
    UnaryOp.SQRT: "math.sqrt",
    UnaryOp.EXP: "math.exp",
    UnaryOp.LOG: "math.log",
    UnaryOp.TANH: "math.tanh",
    UnaryOp.SIN: "math.sin",
    UnaryOp.COS: "math.cos",
}
_INT_BINARY = {
    BinaryOp.ADD: "arith.addi",
    BinaryOp.SUB: "arith.subi",
    BinaryOp.MUL: "arith.muli",
    BinaryOp.AND: "arith.andi",
    BinaryOp.OR: "arith.ori",
    BinaryOp.XOR: "arith.xori",
}
# Predicates of arith.cmpf (ordered, but for !=) and arith.cmpi (signed; +4 is unsigned).
_CMPF = {
    CompareOp.EQ: 1,
    CompareOp.GT: 2,
    CompareOp.GE: 3,
    CompareOp.LT: 4,
    CompareOp.LE: 5,
    CompareOp.NE: 13,
}
_CMPI = {
    CompareOp.EQ: 0,
    CompareOp.NE: 1,
    CompareOp.LT: 2,
    CompareOp.LE: 3,
    CompareOp.GT: 4,
    CompareOp.GE: 5,
}


@dataclass(slots=True)
class Arithmetic(ABC, Generic[V]):
    """The operations of one statement instance, in the order in which they are computed.

    ``bindings`` gives the statement's own variables as expressions of the loop variables around. A
    subclass says what a value is, and writes operations down.
    """

    bindings: Mapping[str, Affine]
    _seen: dict[int, V] = field(default_factory=dict)

    # --------------------------------------------------------------------- where they go to

    @abstractmethod
    def _op(
        self,
        name: str,
        operands: Sequence[V],
        dtype: DType,
        types: Mapping[str, DType] | None = None,
    ) -> V:
        """An op of MLIR; ``types`` are those that it names in its attributes."""

    @abstractmethod
    def _test(self, name: str, predicate: int, x: V, y: V) -> V:
        """A comparison."""

    @abstractmethod
    def _number(self, value: float | Fraction, dtype: DType) -> V:
        """A float, an integer, or the raw of a fixed-point number."""

    @abstractmethod
    def _load(self, access: Access, dtype: DType) -> V:
        """An element of an array, or a scalar."""

    @abstractmethod
    def _gather(self, access: Access, data: Sequence[V], dtype: DType) -> V:
        """An element of an array at subscripts that are values of the type `SUBSCRIPT`."""

    @abstractmethod
    def _index(self, affine: Affine) -> V:
        """An expression of loop variables, as an integer of 32 bits."""

    # -------------------------------------------------------------------------------- nodes

    def value(self, expr: Expr) -> V:
        """The expression's value. One object that occurs twice is computed once (``x ** 3``)."""
        found = self._seen.get(id(expr))
        if found is None:
            found = self._seen[id(expr)] = self._build(expr)
        return found

    def as_type(self, expr: Expr, dtype: DType) -> V:
        """The expression's value converted as an assignment to ``dtype`` does it."""
        return self._convert(self.value(expr), expr.dtype, dtype)

    def data(self, subscripts: Sequence[Expr]) -> list[V]:
        """Subscripts that are values. Each is inside of an array, so that 32 bits hold it whatever its
        type is.
        """
        return [self.as_type(x, SUBSCRIPT) for x in subscripts]

    def placed(self, exprs: Sequence[Affine]) -> tuple[Affine, ...]:
        """Expressions of the statement's variables over the loop variables around."""
        return tuple(e.substitute(self.bindings) for e in exprs)

    def _build(self, expr: Expr) -> V:
        match expr:
            case Const(value, dtype):
                return self._constant(value, dtype)
            case Load(access, dtype):
                return self._load(Access(access.array, self.placed(access.indices)), dtype)
            case Gather(access, data, dtype):
                placed = Access(access.array, self.placed(access.indices))
                return self._gather(placed, self.data(data), dtype)
            case Scatter():
                raise TypeError(f"{expr} is no operand")
            case Index(affine):
                return self._index(affine.substitute(self.bindings))
            case Unary(op, x, dtype):
                if isinstance(dtype, FloatType):
                    return self._op(_FLOAT_UNARY[op], [self.as_type(x, dtype)], dtype)
                return self._exact_unary(op, x, exact(dtype))
            case Binary(op, a, b, dtype):
                if isinstance(dtype, FloatType):
                    return self._float_binary(op, a, b, dtype)
                return self._exact_binary(op, a, b, exact(dtype))
            case Compare(op, a, b):
                return self._compare(op, a, b)
            case Select(c, a, b, dtype):
                parts = [self.value(c), self._aligned(a, dtype), self._aligned(b, dtype)]
                return self._op("arith.select", parts, dtype)
            case Cast(x, dtype):
                return self.as_type(x, dtype)
            case _:
                assert_never(expr)

    def _constant(self, value: float | Fraction, dtype: DType) -> V:
        """The constant of that value, a fixed-point number's raw computed."""
        return self._number(_raw_of(value, dtype) if isinstance(dtype, FixedType) else value, dtype)

    def _float_binary(self, op: BinaryOp, a: Expr, b: Expr, dtype: FloatType) -> V:
        x, y = self.as_type(a, dtype), self.as_type(b, dtype)
        if op in (BinaryOp.MIN, BinaryOp.MAX):
            less = _CMPF[CompareOp.LT if op is BinaryOp.MIN else CompareOp.GT]
            return self._op("arith.select", [self._test("arith.cmpf", less, y, x), y, x], dtype)
        return self._op(_FLOAT_BINARY[op], [x, y], dtype)

    def _compare(self, op: CompareOp, a: Expr, b: Expr) -> V:
        dtype = common_type(a.dtype, b.dtype, None)
        if isinstance(dtype, FloatType):
            return self._test(
                "arith.cmpf", _CMPF[op], self.as_type(a, dtype), self.as_type(b, dtype)
            )
        return self._int_test(op, self._aligned(a, dtype), self._aligned(b, dtype), dtype)

    def _int_test(self, op: CompareOp, x: V, y: V, dtype: Exact) -> V:
        unsigned = not signed_of(dtype) and op not in (CompareOp.EQ, CompareOp.NE)
        return self._test("arith.cmpi", _CMPI[op] + 4 * unsigned, x, y)

    # ------------------------------------------------------------- integers and fixed point

    def _exact_unary(self, op: UnaryOp, x: Expr, dtype: Exact) -> V:
        match op:
            case UnaryOp.NOT:
                one = self._constant(1, boolean)
                return self._op("arith.xori", [self.value(x), one], boolean)
            case UnaryOp.INVERT:
                ones = self._number(-1, dtype)
                return self._op("arith.xori", [self.value(x), ones], dtype)
            case UnaryOp.NEG:
                zero = self._number(0, dtype)
                return self._op("arith.subi", [zero, self._widened(x, dtype)], dtype)
            case UnaryOp.ABS:
                return self._absolute(x, dtype)
            case (
                UnaryOp.SQRT | UnaryOp.EXP | UnaryOp.LOG | UnaryOp.TANH | UnaryOp.SIN | UnaryOp.COS
            ):
                raise TypeError(f"{op.value} of {dtype}")
            case _:
                assert_never(op)

    def _absolute(self, x: Expr, dtype: Exact) -> V:
        value = self.value(x)
        source = exact(x.dtype)
        if not signed_of(source):
            return value
        zero = self._number(0, source)
        negative = self._int_test(CompareOp.LT, value, zero, source)
        # The same width: of the smallest number the negation wraps to what is right unsigned.
        negated = self._op("arith.subi", [zero, value], dtype)
        return self._op("arith.select", [negative, negated, value], dtype)

    def _exact_binary(self, op: BinaryOp, a: Expr, b: Expr, dtype: Exact) -> V:
        match op:
            case BinaryOp.ADD | BinaryOp.SUB | BinaryOp.AND | BinaryOp.OR | BinaryOp.XOR:
                operands = [self._aligned(a, dtype), self._aligned(b, dtype)]
                return self._op(_INT_BINARY[op], operands, dtype)
            case BinaryOp.MUL:
                operands = [self._widened(a, dtype), self._widened(b, dtype)]
                return self._op("arith.muli", operands, dtype)
            case BinaryOp.MIN | BinaryOp.MAX:
                x, y = self._aligned(a, dtype), self._aligned(b, dtype)
                less = CompareOp.LT if op is BinaryOp.MIN else CompareOp.GT
                return self._op("arith.select", [self._int_test(less, y, x, dtype), y, x], dtype)
            case BinaryOp.DIV:
                attributes = {
                    "lhs_type": a.dtype,
                    "rhs_type": b.dtype,
                    "dst": dtype,
                }
                return self._op("hls.fixed_div", [self.value(a), self.value(b)], dtype, attributes)
            case BinaryOp.FLOORDIV:
                return self._floor_divide(a, b, dtype)
            case BinaryOp.MOD:
                return self._modulo(a, b, dtype)
            case BinaryOp.SHL | BinaryOp.SHR:
                return self._shift(op, a, b, dtype)
            case _:
                assert_never(op)

    def _division_type(self, a: Expr, b: Expr, dtype: Exact) -> IntType:
        """An integer type for both operands and the quotient: one bit more where a divisor may be
        −1, since the smallest number over −1 does not fit (and processors trap on it).
        """
        common = exact(common_type(a.dtype, b.dtype))
        spare = exact(b.dtype).signed and not isinstance(b, Const)
        spare = spare or (isinstance(b, Const) and b.value == -1)
        return IntType(max(common.width + spare, width_of(dtype)), common.signed)

    def _floor_divide(self, a: Expr, b: Expr, dtype: Exact) -> V:
        work = self._division_type(a, b, dtype)
        name = "arith.floordivsi" if work.signed else "arith.divui"
        quotient = self._op(name, [self.as_type(a, work), self.as_type(b, work)], work)
        return self._convert(quotient, work, dtype)

    def _modulo(self, a: Expr, b: Expr, dtype: Exact) -> V:
        work = self._division_type(a, b, dtype)
        x, y = self.as_type(a, work), self.as_type(b, work)
        if not work.signed:
            return self._convert(self._op("arith.remui", [x, y], work), work, dtype)
        rest = self._op("arith.remsi", [x, y], work)
        zero = self._constant(0, work)
        wrong = self._int_test(CompareOp.LT, rest, zero, work)
        if not (isinstance(b, Const) and b.value > 0) and exact(b.dtype).signed:
            differs = self._op(
                "arith.xori", [wrong, self._int_test(CompareOp.LT, y, zero, work)], boolean
            )
            nonzero = self._int_test(CompareOp.NE, rest, zero, work)
            wrong = self._op("arith.andi", [differs, nonzero], boolean)
        moved = self._op("arith.addi", [rest, y], work)
        return self._convert(self._op("arith.select", [wrong, moved, rest], work), work, dtype)

    def _shift(self, op: BinaryOp, a: Expr, b: Expr, dtype: Exact) -> V:
        """Amounts are never negative; one of the width or more shifts all bits out."""
        width, signed = width_of(dtype), signed_of(dtype)
        keeps_sign = op is BinaryOp.SHR and signed
        name = "arith.shli" if op is BinaryOp.SHL else "arith.shrsi" if signed else "arith.shrui"
        x, last = self.value(a), width - 1
        if isinstance(b, Const):
            if b.value >= width and not keeps_sign:
                return self._constant(0, dtype)
            return self._op(name, [x, self._constant(min(b.value, last), dtype)], dtype)
        amount_type = exact(b.dtype)
        if bounds(amount_type)[1] < width:
            return self._op(name, [x, self._convert(self.value(b), amount_type, dtype)], dtype)
        work = IntType(max(width_of(amount_type), width.bit_length()), False)
        amount = self._convert(self.value(b), IntType(width_of(amount_type), False), work)
        inside = self._int_test(CompareOp.LE, amount, self._constant(last, work), work)
        clamped = self._op("arith.select", [inside, amount, self._constant(last, work)], work)
        shifted = self._op(name, [x, self._convert(clamped, work, dtype)], dtype)
        if keeps_sign:
            return shifted
        return self._op("arith.select", [inside, shifted, self._constant(0, dtype)], dtype)

    # ------------------------------------------------------------------------- conversions

    def _aligned(self, expr: Expr, dtype: DType) -> V:
        """The same value as a ``dtype`` that can hold it (which is not checked here)."""
        if isinstance(expr, Const) and isinstance(dtype, FixedType):
            return self._constant(expr.value, dtype)
        return self.as_type(expr, dtype)

    def _widened(self, expr: Expr, dtype: Exact) -> V:
        """The raw of an operand, its fraction kept, in the width of ``dtype``."""
        source = exact(expr.dtype)
        if not isinstance(dtype, FixedType):
            return self.as_type(expr, dtype)
        width, frac = width_of(dtype), frac_of(source)
        wide = FixedType(width, width - frac, signed_of(source))
        if isinstance(expr, Const):
            return self._constant(expr.value, wide)
        if width_of(source) == width:
            return self.value(expr)
        name = "arith.extsi" if signed_of(source) else "arith.extui"
        return self._op(name, [self.value(expr)], wide)

    def _convert(self, value: V, source: DType, target: DType) -> V:
        source, target = plain(source), plain(target)
        if source == target:
            return value
        match source, target:
            case FloatType(), FloatType():
                return self._convert_float(value, source, target)
            case FloatType(), _:
                return self._op("hls.fixed_from_float", [value], target, {"dst": target})
            case IntType(), FloatType():
                name = "arith.sitofp" if source.signed else "arith.uitofp"
                return self._op(name, [value], target)
            case _, FloatType():
                return self._op("hls.fixed_to_float", [value], target, {"src": source})
            case IntType(width, signed), IntType(new_width):
                if width == new_width:
                    return value
                widen = "arith.extsi" if signed else "arith.extui"
                return self._op(widen if new_width > width else "arith.trunci", [value], target)
            case _:
                attributes = {"src": source, "dst": target}
                return self._op("hls.fixed_cast", [value], target, attributes)

    def _convert_float(self, value: V, source: FloatType, target: FloatType) -> V:
        if source.width == target.width:  # f16 and bf16: neither holds the other, f32 holds both
            single = FloatType("f32")
            return self._op("arith.truncf", [self._op("arith.extf", [value], single)], target)
        return self._op(
            "arith.extf" if target.width > source.width else "arith.truncf", [value], target
        )


def _raw_of(value: float | Fraction, dtype: FixedType) -> int:
    """The raw of an exact constant: an int or a Fraction."""
    scaled = value * (1 << dtype.frac) if dtype.frac >= 0 else value / (1 << -dtype.frac)
    return int(scaled)


def plain(dtype: DType) -> IntType | FixedType | FloatType:
    """The type that a value has as data: an index counts as ``i32``."""
    return IntType(32) if isinstance(dtype, IndexType) else dtype


def exact(dtype: DType) -> IntType | FixedType:
    """`plain` of a type that is known to be no float."""
    found = plain(dtype)
    if isinstance(found, FloatType):
        raise TypeError(f"{found} is no integer or fixed-point type")
    return found
