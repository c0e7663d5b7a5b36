"""A statement's expression as the operations that level 3 would have for it.

It follows `mlir_passes.construct.expressions` operator by operator, so that a design read from its loop tree
and one read from its module are the same. What costs nothing (sign extension, truncation) is left
out in both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import assert_never

from dsl.expressions import expr as dx
from dsl.expressions.affine import Affine
from dsl.expressions.expr import BinaryOp, Expr, UnaryOp
from dsl.expressions.numeric import bounds, frac_of, signed_of, width_of
from dsl.expressions.result_types import common_type
from dsl.expressions.types import DType, FixedType, FloatType, IndexType, IntType
from qor_gnn.design.region import Access, Op

_KINDS = {
    BinaryOp.ADD: "add",
    BinaryOp.SUB: "sub",
    BinaryOp.MUL: "mul",
    BinaryOp.DIV: "div",
    BinaryOp.FLOORDIV: "div",
    BinaryOp.AND: "and",
    BinaryOp.OR: "or",
    BinaryOp.XOR: "xor",
    BinaryOp.SHL: "shl",
    BinaryOp.SHR: "shr",
}


def type_of(dtype: DType) -> tuple[str, int]:
    """Type class and width in bits, as `Op` has them."""
    match dtype:
        case FloatType(name):
            return name, dtype.width
        case IndexType():
            return "int", 32
        case IntType(width=width) | FixedType(width=width):
            return "int", width
    assert_never(dtype)


def constant_text(value: float | Fraction, type_: str, width: int) -> str:
    """What tells constants apart: of an integer its low bits, whatever they mean."""
    return str(int(value) % (1 << min(width, 64))) if type_ == "int" else repr(float(value))


def _exact(dtype: DType) -> IntType | FixedType:
    if isinstance(dtype, IndexType):
        return IntType(32)
    assert not isinstance(dtype, FloatType)
    return dtype


@dataclass(slots=True)
class Lowering:
    """Collects the operations of one statement instance.

    ``bindings`` gives the statement's variables as expressions of the loop variables around;
    ``scalars`` are the scalar arguments.
    """

    bindings: Mapping[str, Affine]
    scalars: frozenset[str]
    ops: list[Op] = field(default_factory=list)
    _seen: dict[int, int] = field(default_factory=dict)

    def convert(self, expr: Expr, dtype: DType) -> int:
        """The position of the expression's value as a ``dtype``."""
        return self._convert(self.value(expr), expr.dtype, dtype)

    def access(self, access: dx.Access) -> Access:
        """The access over loop variables."""
        return Access(access.array, tuple(e.substitute(self.bindings) for e in access.indices))

    def value(self, expr: Expr) -> int:
        """The position of the expression's value; one object is computed once."""
        found = self._seen.get(id(expr))
        if found is None:
            found = self._seen[id(expr)] = self._build(expr)
        return found

    def _op(self, kind: str, dtype: DType, *operands: int) -> int:
        name, width = type_of(dtype)
        return self._add(Op(kind, name, width, operands))

    def _add(self, op: Op) -> int:
        self.ops.append(op)
        return len(self.ops) - 1

    def _const(self, value: float | Fraction, dtype: DType) -> int:
        """The constant of that value (of its raw, if it is fixed point)."""
        name, width = type_of(dtype)
        if isinstance(dtype, FixedType):
            value = Fraction(value) * Fraction(2) ** dtype.frac
        return self._add(Op("const", name, width, value=constant_text(value, name, width)))

    def _raw(self, value: int, dtype: DType) -> int:
        """The integer constant of that value, as wide as ``dtype``."""
        return self._const(value, IntType(type_of(dtype)[1]))

    def _build(self, expr: Expr) -> int:
        match expr:
            case dx.Const(value, dtype):
                return self._const(value, dtype)
            case dx.Load(access, dtype):
                kind = "input" if access.array in self.scalars else "load"
                name, width = type_of(dtype)
                return self._add(Op(kind, name, width, access=self.access(access)))
            case dx.Index(affine):
                where = Access("", (affine.substitute(self.bindings),))
                return self._add(Op("index", "int", 32, access=where))
            case dx.Unary(op, x, dtype):
                return self._unary(op, x, dtype)
            case dx.Binary(op, a, b, dtype):
                if isinstance(dtype, FloatType):
                    return self._select_or(
                        op, self.convert(a, dtype), self.convert(b, dtype), dtype
                    )
                return self._exact_binary(op, a, b, _exact(dtype))
            case dx.Compare(_, a, b):
                return self._compare(a, b)
            case dx.Select(c, a, b, dtype):
                parts = (self.value(c), self._aligned(a, dtype), self._aligned(b, dtype))
                return self._op("select", dtype, *parts)
            case dx.Cast(x, dtype):
                return self.convert(x, dtype)
        assert_never(expr)

    def _unary(self, op: UnaryOp, x: Expr, dtype: DType) -> int:
        if isinstance(dtype, FloatType):
            return self._op("neg" if op is UnaryOp.NEG else op.value, dtype, self.convert(x, dtype))
        match op:
            case UnaryOp.NOT:
                one = self._const(1, IntType(1, False))
                return self._op("xor", IntType(1, False), self.value(x), one)
            case UnaryOp.INVERT:
                ones = self._raw(-1, dtype)
                return self._op("xor", dtype, self.value(x), ones)
            case UnaryOp.NEG:
                zero = self._const(0, dtype)
                return self._op("sub", dtype, zero, self._widened(x, _exact(dtype)))
            case _:
                value, source = self.value(x), _exact(x.dtype)
                if not signed_of(source):
                    return value
                zero = self._const(0, source)
                negative = self._test(value, zero, source)
                negated = self._op("sub", dtype, zero, value)
                return self._op("select", dtype, negative, negated, value)

    def _select_or(self, op: BinaryOp, x: int, y: int, dtype: DType) -> int:
        if op in (BinaryOp.MIN, BinaryOp.MAX):
            return self._op("select", dtype, self._test(y, x, dtype), y, x)
        return self._op(_KINDS[op], dtype, x, y)

    def _test(self, x: int, y: int, dtype: DType) -> int:
        """A comparison: its width and type are those of what is compared."""
        return self._op("cmp", dtype, x, y)

    def _compare(self, a: Expr, b: Expr) -> int:
        dtype = common_type(a.dtype, b.dtype, None)
        if isinstance(dtype, FloatType):
            return self._test(self.convert(a, dtype), self.convert(b, dtype), dtype)
        return self._test(self._aligned(a, dtype), self._aligned(b, dtype), dtype)

    def _exact_binary(self, op: BinaryOp, a: Expr, b: Expr, dtype: IntType | FixedType) -> int:
        match op:
            case BinaryOp.MUL:
                return self._op("mul", dtype, self._widened(a, dtype), self._widened(b, dtype))
            case BinaryOp.DIV:
                return self._op("div", dtype, self.value(a), self.value(b))
            case BinaryOp.FLOORDIV:
                return self._op("div", self._division(a, b, dtype), self.value(a), self.value(b))
            case BinaryOp.MOD:
                return self._modulo(a, b, dtype)
            case BinaryOp.SHL | BinaryOp.SHR:
                return self._shift(op, a, b, dtype)
            case _:
                return self._select_or(op, self._aligned(a, dtype), self._aligned(b, dtype), dtype)

    def _division(self, a: Expr, b: Expr, dtype: IntType | FixedType) -> IntType:
        common = _exact(common_type(a.dtype, b.dtype))
        spare = _exact(b.dtype).signed and not isinstance(b, dx.Const)
        spare = spare or (isinstance(b, dx.Const) and b.value == -1)
        return IntType(max(common.width + spare, width_of(dtype)), common.signed)

    def _modulo(self, a: Expr, b: Expr, dtype: IntType | FixedType) -> int:
        work = self._division(a, b, dtype)
        x, y = self.value(a), self.value(b)
        rest = self._op("mod", work, x, y)
        if not work.signed:
            return rest
        zero = self._const(0, work)
        wrong = self._test(rest, zero, work)
        one = IntType(1, False)
        if not (isinstance(b, dx.Const) and b.value > 0) and _exact(b.dtype).signed:
            differs = self._op("xor", one, wrong, self._test(y, zero, work))
            wrong = self._op("and", one, differs, self._test(rest, zero, work))
        return self._op("select", work, wrong, self._op("add", work, rest, y), rest)

    def _shift(self, op: BinaryOp, a: Expr, b: Expr, dtype: IntType | FixedType) -> int:
        width = width_of(dtype)
        keeps_sign = op is BinaryOp.SHR and signed_of(dtype)
        kind, x, last = _KINDS[op], self.value(a), width - 1
        if isinstance(b, dx.Const):
            if b.value >= width and not keeps_sign:
                return self._const(0, dtype)
            return self._op(kind, dtype, x, self._const(min(int(b.value), last), dtype))
        amount_type = _exact(b.dtype)
        if bounds(amount_type)[1] < width:
            return self._op(kind, dtype, x, self.value(b))
        work = IntType(max(width_of(amount_type), width.bit_length()), False)
        amount = self.value(b)
        inside = self._test(amount, self._const(last, work), work)
        clamped = self._op("select", work, inside, amount, self._const(last, work))
        shifted = self._op(kind, dtype, x, clamped)
        if keeps_sign:
            return shifted
        return self._op("select", dtype, inside, shifted, self._const(0, dtype))

    def _aligned(self, expr: Expr, dtype: DType) -> int:
        if isinstance(expr, dx.Const) and isinstance(dtype, FixedType):
            return self._const(expr.value, dtype)
        return self.convert(expr, dtype)

    def _widened(self, expr: Expr, dtype: IntType | FixedType) -> int:
        """An operand whose fraction is kept: only a constant is made in the width of ``dtype``."""
        if isinstance(expr, dx.Const) and isinstance(dtype, FixedType):
            frac = frac_of(_exact(expr.dtype))
            return self._const(expr.value, FixedType(dtype.width, dtype.width - frac))
        return self.value(expr)

    def _convert(self, value: int, source: DType, target: DType) -> int:
        match source, target:
            case FloatType(), FloatType():
                if source == target:
                    return value
                if source.width == target.width:  # f16 and bf16: through f32
                    value = self._op("cast", FloatType("f32"), value)
                return self._op("cast", target, value)
            case FloatType(), _:
                return self._op("to_int", source, value)
            case _, FloatType():
                return self._op("from_int", target, value)
            case FixedType(), _:
                return value if source == target else self._op("cast", target, value)
            case _, FixedType():
                return self._op("cast", target, value)
            case _:
                return value
