"""Types of expressions, and the smart constructors that frontend and builder make them with.

Rules: integers and fixed point are ``ap_int`` and ``ap_fixed`` of Vitis HLS (the ``RType`` tables
of ``ap_int_base.h`` and ``ap_fixed_base.h``): operators widen, so that nothing is lost; ``//`` and
``%`` are Python's. Floats stay in the wider of their types.

Operands are typed expressions or Python literals. A literal is weak: it takes its type from the
other operand, and two literals fold to a literal. The constructors convert what must be: a float
operator or comparison that they return has operands of one float type (a `Cast` is inserted,
a `Const` is made of the final type), so later stages never see mixed floats. Integer and fixed
operands keep their own types; whoever evaluates the node aligns them. A literal that comes out of
a constructor has not met a type yet: `assigned` gives it one.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal, overload

from dsl.errors import LanguageError, Span
from dsl.expr import Binary, BinaryOp, Cast, Compare, CompareOp, Const, Expr, Select, Unary, UnaryOp
from dsl.literals import Number, Operand, const, fold_binary, fold_unary, literal_type, typed
from dsl.numeric import compared, frac_of, is_exact, to_float
from dsl.result_types import binary_type, common_float, common_type, require_truth, unary_type
from dsl.types import DType, FixedType, FloatType, IndexType, IntType, boolean

__all__ = [
    "Number",
    "Operand",
    "assignable",
    "assigned",
    "binary",
    "binary_type",
    "cast",
    "common_type",
    "compare",
    "const",
    "literal_type",
    "logical",
    "power",
    "promoted",
    "require_truth",
    "select",
    "typed",
    "unary",
    "unary_type",
]

MAX_EXPONENT = 64


@overload
def binary(op: BinaryOp, lhs: Number, rhs: Number, span: Span | None = None) -> Number: ...
@overload
def binary(op: BinaryOp, lhs: Expr, rhs: Operand, span: Span | None = None) -> Expr: ...
@overload
def binary(op: BinaryOp, lhs: Operand, rhs: Expr, span: Span | None = None) -> Expr: ...
@overload
def binary(op: BinaryOp, lhs: Operand, rhs: Operand, span: Span | None = None) -> Operand: ...
def binary(op: BinaryOp, lhs: Operand, rhs: Operand, span: Span | None = None) -> Operand:
    """``lhs op rhs``; two literals fold to a literal.

    Raises:
        LanguageError: W120, W121 operator not for these types; W122, W123, W124 a literal that
            does not fit; W127 literals that cannot be folded; W128 too many bits.
    """
    if isinstance(lhs, int | float) and isinstance(rhs, int | float):
        return fold_binary(op, lhs, rhs, span)
    a, b = _paired(lhs, rhs, span)
    dtype = binary_type(op, a.dtype, b.dtype, span)
    if isinstance(dtype, FloatType):
        a, b = promoted(a, dtype, span), promoted(b, dtype, span)
    return Binary(op, a, b, dtype, span)


def _paired(lhs: Operand, rhs: Operand, span: Span | None) -> tuple[Expr, Expr]:
    """Both operands with a type, a literal next to the other one's."""
    a = typed(lhs, None if isinstance(rhs, int | float) else rhs.dtype, span)
    b = typed(rhs, None if isinstance(lhs, int | float) else lhs.dtype, span)
    return a, b


def promoted(x: Expr, dtype: FloatType, span: Span | None = None) -> Expr:
    """An operand as that float type; a constant is converted at once."""
    if x.dtype == dtype:
        return x
    if not isinstance(x, Const):
        return Cast(x, dtype, span)
    if isinstance(x.value, Fraction):
        assert isinstance(x.dtype, FixedType)
        raw = x.value * Fraction(2) ** frac_of(x.dtype)
        return Const(to_float(int(raw), frac_of(x.dtype), dtype), dtype)
    return const(x.value, dtype, span)


@overload
def unary(op: UnaryOp, x: Number, span: Span | None = None) -> Number: ...
@overload
def unary(op: UnaryOp, x: Expr, span: Span | None = None) -> Expr: ...
def unary(op: UnaryOp, x: Operand, span: Span | None = None) -> Operand:
    """``op x``; a literal folds to a literal.

    Raises:
        LanguageError: W120, W125, W126 operator not for this type; W127 a literal that cannot be
            folded; W128 too many bits.
    """
    if isinstance(x, int | float):
        return fold_unary(op, x, span)
    return Unary(op, x, unary_type(op, x.dtype, span), span)


@overload
def compare(op: CompareOp, lhs: Number, rhs: Number, span: Span | None = None) -> Number: ...
@overload
def compare(op: CompareOp, lhs: Expr, rhs: Operand, span: Span | None = None) -> Expr: ...
@overload
def compare(op: CompareOp, lhs: Operand, rhs: Expr, span: Span | None = None) -> Expr: ...
@overload
def compare(op: CompareOp, lhs: Operand, rhs: Operand, span: Span | None = None) -> Operand: ...
def compare(op: CompareOp, lhs: Operand, rhs: Operand, span: Span | None = None) -> Operand:
    """``lhs op rhs`` as ``u1``: exact between integers and fixed point; two literals fold to a bool.

    Next to a float both are converted to the common float type first.

    Raises:
        LanguageError: W122, W123 a literal that does not fit.
    """
    if isinstance(lhs, int | float) and isinstance(rhs, int | float):
        return compared(op, lhs, rhs)
    a, b = _paired(lhs, rhs, span)
    if isinstance(a.dtype, FloatType) or isinstance(b.dtype, FloatType):
        dtype = common_float(a.dtype, b.dtype)
        a, b = promoted(a, dtype, span), promoted(b, dtype, span)
    return Compare(op, a, b, boolean, span)


def logical(
    op: Literal["and", "or"], lhs: Operand, rhs: Operand, span: Span | None = None
) -> Operand:
    """``lhs and rhs`` or ``lhs or rhs`` on truth values; both sides are evaluated.

    Raises:
        LanguageError: W125 where an operand is not ``u1``.
    """
    for x in (lhs, rhs):
        require_truth(
            literal_type(x, span) if isinstance(x, int | float) else x.dtype, span, f"'{op}'"
        )
    return binary(BinaryOp.AND if op == "and" else BinaryOp.OR, lhs, rhs, span)


def select(cond: Operand, then: Operand, orelse: Operand, span: Span | None = None) -> Operand:
    """``then if cond else orelse``; both sides are evaluated, the type is the common one.

    Raises:
        LanguageError: W125 a condition that is not ``u1``; W122 to W124 a literal that does not
            fit or that no other operand gives a type; W128 too many bits.
    """
    truth = typed(cond, boolean, span)
    require_truth(truth.dtype, span, "the condition of a select")
    if (
        isinstance(cond, int | float)
        and isinstance(then, int | float)
        and isinstance(orelse, int | float)
    ):
        return then if cond else orelse
    a, b = _paired(then, orelse, span)
    dtype = common_type(a.dtype, b.dtype, span)
    if isinstance(dtype, FloatType):
        a, b = promoted(a, dtype, span), promoted(b, dtype, span)
    return Select(truth, a, b, dtype, span)


def cast(dtype: DType, x: Operand, span: Span | None = None) -> Expr:
    """An explicit conversion to ``dtype``; the only way from a float to an integer or fixed point.

    int to int wraps; to fixed point it quantises, then overflows, by the modes of ``dtype``; fixed
    point and floats to int cut towards zero, then wrap; to a float it rounds to nearest even.

    Raises:
        LanguageError: W123 a literal that does not fit a float type.
    """
    if isinstance(dtype, IndexType):
        dtype = IntType(32)
    if isinstance(x, int | float):
        return const(x, dtype, span)
    return x if x.dtype == dtype else Cast(x, dtype, span)


@overload
def power(x: Number, exponent: Operand, span: Span | None = None) -> Number: ...
@overload
def power(x: Expr, exponent: Operand, span: Span | None = None) -> Expr | Literal[1]: ...
def power(x: Operand, exponent: Operand, span: Span | None = None) -> Operand:
    """``x ** exponent`` for a constant exponent of 0 to 64, as a product from left to right.

    Raises:
        LanguageError: W127 for other exponents; what `binary` raises.
    """
    if not isinstance(exponent, int) or not 0 <= exponent <= MAX_EXPONENT:
        raise LanguageError(
            "W127",
            f"an exponent is a constant integer from 0 to {MAX_EXPONENT}",
            span=span,
            help="write sqrt(x) for x ** 0.5 and 1 / x ** 2 for x ** -2",
        )
    result: Operand = 1
    for n in range(exponent):
        result = x if n == 0 else binary(BinaryOp.MUL, result, x, span)
    return result


# --------------------------------------------------------------------------------- assignment


def assignable(value: DType, target: DType) -> bool:
    """Whether ``target = value`` converts by itself: all but floats to integers or fixed point."""
    return is_exact(value) or isinstance(target, FloatType)


def assigned(x: Operand, target: DType, span: Span | None = None) -> Expr:
    """The value of an assignment to an element of type ``target``; the store will convert it.

    A literal becomes a `Const`: of the target's type where that is a float, else of its own
    minimal type.

    Raises:
        LanguageError: W124 where a float would go into an integer or fixed-point element without
            a cast; W122, W123 a literal that does not fit.
    """
    if isinstance(x, float) and isinstance(target, IntType) and not x.is_integer():
        raise LanguageError(
            "W124",
            f"the literal {x!r} does not convert to {target} by itself",
            span=span,
            help=f"write {int(x)}" if math.isfinite(x) else None,
        )
    value = typed(x, target, span)
    if not assignable(value.dtype, target):
        raise LanguageError(
            "W124",
            f"a value of type {value.dtype} does not convert to {target} by itself",
            span=span,
            help=f"say that it may lose precision: {target}(...)",
        )
    return value
