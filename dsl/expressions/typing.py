"""Types of expressions, and the smart constructors that frontend and builder make them with.

Rules: integers and fixed point are ``ap_int`` and ``ap_fixed`` of Vitis HLS (the ``RType`` tables
of ``ap_int_base.h`` and ``ap_fixed_base.h``): operators widen, so that nothing is lost; ``//`` and
``%`` are Python's. Shifts to the left widen as well (see `dsl.expressions.shifts`), and a literal that is
shifted is an ``i32`` at least. A shift of fixed point multiplies by a power of two. A literal over
fixed point has as many bits right of the point as the divisor, and so has the quotient. Floats stay
in the wider of their types.

Operands are typed expressions or Python literals. A literal is weak: it takes its type from the
other operand, and two literals fold to a literal. The constructors convert what must be: a float
operator or comparison that they return has operands of one float type (a `Cast` is inserted,
a `Const` is made of the final type), so later stages never see mixed floats. Integer and fixed
operands keep their own types; whoever evaluates the node aligns them. A literal that comes out of
a constructor has not met a type yet: `assigned` gives it one. So has a choice between literals with a
float among them (`dsl.expressions.open_choices`).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal, overload

from dsl.errors.errors import LanguageError, Span
from dsl.expressions.expr import (
    Binary,
    BinaryOp,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    Index,
    Select,
    Unary,
    UnaryOp,
)
from dsl.expressions.fixed_shifts import moved, scaled
from dsl.expressions.literals import (
    Number,
    Operand,
    const,
    fold_binary,
    fold_unary,
    is_within,
    literal_type,
    typed_literal,
)
from dsl.expressions.numeric import compared, frac_of, is_exact, to_float, width_of
from dsl.expressions.open_choices import choices, chosen, folded, is_open, open_choice
from dsl.expressions.result_types import (
    binary_type,
    common_float,
    common_type,
    require_convertible,
    require_truth,
    unary_type,
)
from dsl.expressions.shifts import (
    MAX_VARIABLE,
    is_pending,
    largest,
    literal_operand,
    low_bits,
    pending_binary,
    pending_select,
    pending_unary,
    settled,
    shifted,
)
from dsl.expressions.types import (
    MAX_WIDTH,
    DType,
    FixedType,
    FloatType,
    IndexType,
    IntType,
    boolean,
)

__all__ = [
    "MAX_VARIABLE",
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
    "choices",
    "is_open",
    "literal_type",
    "logical",
    "power",
    "promoted",
    "require_truth",
    "select",
    "settled",
    "shift",
    "typed",
    "unary",
    "unary_type",
]

MAX_EXPONENT = 64


def typed(x: Operand, other: DType | None = None, span: Span | None = None) -> Expr:
    """A literal, or a choice between literals, as it is next to an operand of type ``other``.

    Raises:
        LanguageError: W122, W123 a literal that does not fit; W124 one that nothing gives a type.
    """
    if is_open(x):
        x = chosen(x, lambda v: typed_literal(v, other, span), select)
    return typed_literal(x, other, span)


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
            does not fit; W127 literals that cannot be folded; W128 too many bits; W139 a shift by
            a variable whose number of bits matters and is not known.
    """
    if (literal := folded(lambda x, y: fold_binary(op, x, y, span), select, lhs, rhs)) is not None:
        return literal
    if op in (BinaryOp.SHL, BinaryOp.SHR):
        return shift(op, lhs, rhs, None, span)
    a, b = _paired(lhs, rhs, span)
    if op is BinaryOp.DIV:
        a = _dividend(lhs, a, b.dtype, span)
    if is_pending(a) or is_pending(b):
        found = pending_binary(op, a, b, span)
        if found is not None:
            return found
        a, b = settled(a, span), settled(b, span)
    dtype = binary_type(op, a.dtype, b.dtype, span)
    if isinstance(dtype, FloatType):
        a, b = promoted(a, dtype, span), promoted(b, dtype, span)
    return Binary(op, a, b, dtype, span)


def _paired(lhs: Operand, rhs: Operand, span: Span | None) -> tuple[Expr, Expr]:
    """Both operands with a type, a literal next to the other one's."""
    a, b = (
        typed(x, None if isinstance(y, int | float) or is_open(y) else y.dtype, span)
        for x, y in ((lhs, rhs), (rhs, lhs))
    )
    return a, b


def _dividend(literal: Operand, x: Expr, divisor: DType, span: Span | None) -> Expr:
    """A literal over fixed point, with the divisor's bits right of the point."""
    if not isinstance(literal, int | float) or not isinstance(divisor, FixedType):
        return x
    assert isinstance(x.dtype, IntType | FixedType)
    more = max(0, divisor.frac - frac_of(x.dtype))
    width = width_of(x.dtype) + more
    if more == 0 or width > MAX_WIDTH:
        return x
    whole = width_of(x.dtype) - frac_of(x.dtype)
    return const(literal, FixedType(width, whole, x.dtype.signed), span)


def shift(
    op: BinaryOp, lhs: Operand, rhs: Operand, most: int | None = None, span: Span | None = None
) -> Expr:
    """``lhs << rhs`` or ``lhs >> rhs``, of which the amount is at most ``most`` (None: what its
    type says). One operand is an expression.

    Raises:
        LanguageError: what `binary` raises.
    """
    a, b = _paired(lhs, rhs, span)
    if isinstance(a.dtype, FixedType) and isinstance(b, Const) and isinstance(b.value, int):
        return scaled(op, a, b.value, span)
    b = settled(b, span)
    if isinstance(b, Index):  # no affine amount: its text must not be read as one of known range
        b = Cast(b, IntType(32), span)
    if isinstance(a.dtype, FixedType) and isinstance(b.dtype, IntType) and not b.dtype.signed:
        highest = largest(b) if most is None else most
        if highest <= MAX_VARIABLE:
            return moved(op, a, b, highest, span)
    if op is BinaryOp.SHR:
        a = settled(a, span)
    dtype = binary_type(op, a.dtype, b.dtype, span)
    if op is BinaryOp.SHR:
        return Binary(op, a, b, dtype, span)
    if isinstance(lhs, int):
        a = literal_operand(int(lhs))
    return shifted(a, b, most, span)


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
    if (literal := folded(lambda v: fold_unary(op, v, span), select, x)) is not None:
        return literal
    assert not isinstance(x, int | float)
    if is_pending(x):
        found = pending_unary(op, x, span)
        if found is not None:
            return found
        x = settled(x, span)
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
    if (literal := folded(lambda x, y: compared(op, x, y), select, lhs, rhs)) is not None:
        return literal
    a, b = (settled(x, span) for x in _paired(lhs, rhs, span))
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
        require_truth(typed(x, boolean, span).dtype, span, f"'{op}'")
    return binary(BinaryOp.AND if op == "and" else BinaryOp.OR, lhs, rhs, span)


def select(cond: Operand, then: Operand, orelse: Operand, span: Span | None = None) -> Operand:
    """``then if cond else orelse``; both sides are evaluated, the type is the common one.

    Raises:
        LanguageError: W125 a condition that is not ``u1``; W122 to W124 a literal that does not
            fit or that no other operand gives a type; W128 too many bits.
    """
    truth = typed(cond, boolean, span)
    require_truth(truth.dtype, span, "the condition of a select")
    if all(isinstance(x, int | float) for x in (cond, then, orelse)):
        return then if cond else orelse
    if (still_open := open_choice(truth, then, orelse, span)) is not None:
        return still_open
    a, b = _paired(then, orelse, span)
    if is_pending(a) or is_pending(b):
        found = pending_select(truth, a, b, span)
        if found is not None:
            return found
        a, b = settled(a, span), settled(b, span)
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
    if is_open(x):
        x = typed(chosen(x, lambda v: const(v, dtype, span), select), dtype, span)
    x = _kept(x, dtype, span)
    return x if x.dtype == dtype else Cast(x, dtype, span)


def _kept(x: Expr, target: DType, span: Span | None) -> Expr:
    """What of an expression's shifts a conversion to ``target`` keeps."""
    return low_bits(x, target.width) if isinstance(target, IntType) else settled(x, span)


@overload
def power(x: Number, exponent: Operand, span: Span | None = None) -> Number: ...
@overload
def power(x: Expr, exponent: Operand, span: Span | None = None) -> Expr | Literal[1]: ...
def power(x: Operand, exponent: Operand, span: Span | None = None) -> Operand:
    """``x ** exponent`` as a product from left to right; W127 for exponents but constants of 0 to 64."""
    if not isinstance(exponent, int) or not 0 <= exponent <= MAX_EXPONENT:
        raise LanguageError(
            "W127",
            f"an exponent is a constant integer from 0 to {MAX_EXPONENT}",
            span=span,
            help="write sqrt(x) for x ** 0.5 and 1 / x ** 2 for x ** -2",
        )
    if is_open(x):
        return chosen(x, lambda v: power(v, exponent, span), select)
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

    A literal becomes a `Const`: of the target's type where that is a float, or fixed point and the literal is a
    fraction, which is rounded by the modes of that type; else of its own minimal type.

    Raises:
        LanguageError: W124 a float without a cast that goes into an integer or fixed point; W122, W123 a
            literal that does not fit; W139 a shift by a variable that becomes a float or fixed point.
    """
    if isinstance(x, float) and isinstance(target, IntType) and not x.is_integer():
        raise LanguageError(
            "W124",
            f"the literal {x!r} does not convert to {target} by itself",
            span=span,
            help=f"write {int(x)}" if math.isfinite(x) else None,
        )
    if is_open(x):
        x = chosen(x, lambda v: assigned(v, target, span), select)
    if isinstance(x, float) and isinstance(target, FixedType) and is_within(x, target):
        return const(x, target, span)
    value = _kept(typed(x, target, span), target, span)
    if not assignable(value.dtype, target):
        raise LanguageError(
            "W124",
            f"a value of type {value.dtype} does not convert to {target} by itself",
            span=span,
            help=f"say that it may lose precision: {target}(...)",
        )
    require_convertible(value.dtype, target, span)
    return value
