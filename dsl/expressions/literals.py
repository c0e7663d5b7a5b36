"""Python literals in expressions: their minimal types, their constants, and folding.

Use them through `dsl.expressions.typing`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction

from dsl.errors.errors import LanguageError, Span
from dsl.expressions.expr import BinaryOp, Const, Expr, UnaryOp
from dsl.expressions.numeric import Exact, bounds, convert, from_float, round_float, to_float
from dsl.expressions.result_types import plain
from dsl.expressions.types import MAX_WIDTH, DType, FixedType, FloatType, IntType

Number = int | float | bool
Operand = Expr | Number

_LITERAL_BITS = 64
_EXAMPLE = FixedType(16, 8)


def literal_type(value: Number, span: Span | None = None, example: FixedType = _EXAMPLE) -> Exact:
    """The minimal exact type of a literal that meets integers or fixed point.

    A bool is ``u1``; an int the narrowest ``uN`` or, if negative, ``iN``; a float the narrowest
    ``fixed`` or ``ufixed``, provided that what is written is a dyadic fraction of at most 64 bits
    (0.375 is, 0.1 is not). ``example`` is the type that the help suggests otherwise.

    Raises:
        LanguageError: W122 for a float that is not exact, W128 for an int of too many bits.
    """
    if isinstance(value, int):
        width = _bits(int(value))
        if width > MAX_WIDTH:
            raise LanguageError(
                "W128", f"this literal has {width} bits, more than {MAX_WIDTH}", span=span
            )
        return IntType(width, value < 0)
    if not math.isfinite(value) or Fraction(repr(value)) != Fraction(value):
        raise _inexact(value, span, example)
    raw, denominator = value.as_integer_ratio()
    frac = denominator.bit_length() - 1
    width = _bits(raw)
    if width > _LITERAL_BITS or frac > _LITERAL_BITS or width - frac > _LITERAL_BITS:
        raise _inexact(value, span, example)
    return FixedType(width, width - frac, raw < 0)


def _bits(value: int) -> int:
    return (~value).bit_length() + 1 if value < 0 else max(1, value.bit_length())


def _inexact(value: float, span: Span | None, example: FixedType) -> LanguageError:
    return LanguageError(
        "W122",
        f"the literal {value!r} has no exact fixed-point type here",
        span=span,
        help=f"say which type it has: f32({value!r}) makes floats, {example}({value!r}) fixed point",
    )


def const(value: Number, dtype: DType, span: Span | None = None) -> Const:
    """A literal converted to a type, as a cast does it.

    Floats round to nearest even, integers wrap, fixed point quantises and overflows by its modes.

    Raises:
        LanguageError: W123 where a finite literal is too large for the float type, or where an
            infinity or a NaN meets an integer or fixed-point type.
    """
    if isinstance(dtype, FloatType):
        exact = int(value) if isinstance(value, int) else value
        rounded = to_float(exact, 0, dtype) if isinstance(exact, int) else round_float(exact, dtype)
        if math.isinf(rounded) and not (isinstance(value, float) and math.isinf(value)):
            raise _does_not_fit(value, dtype, span)
        return Const(rounded, dtype)
    if isinstance(value, float) and not math.isfinite(value):
        raise _does_not_fit(value, dtype, span)
    raw = from_float(value, dtype) if isinstance(value, float) else convert(int(value), 0, dtype)
    if isinstance(dtype, FixedType):
        return Const(Fraction(raw) / Fraction(2) ** dtype.frac, dtype)
    return Const(raw, plain(dtype))


def is_within(literal: float, dtype: FixedType) -> bool:
    """Whether a literal is in the range of a type, though not between its numbers in steps of it."""
    low, high = bounds(dtype)
    unit = Fraction(2) ** dtype.frac
    return math.isfinite(literal) and low <= Fraction(literal) * unit <= high


def _does_not_fit(value: Number, dtype: DType, span: Span | None) -> LanguageError:
    return LanguageError(
        "W123",
        f"the literal {value!r} does not fit {dtype}",
        span=span,
        help="use a wider type",
    )


def typed_literal(x: Operand, other: DType | None = None, span: Span | None = None) -> Expr:
    """A literal as the `Const` that it is next to an operand of type ``other``."""
    if not isinstance(x, int | float):
        return x
    if isinstance(other, FloatType):
        return const(x, other, span)
    if isinstance(x, float) and other is None:
        raise LanguageError(
            "W124",
            f"the literal {x!r} has no type here",
            span=span,
            help=f"say which, as in f32({x!r})",
        )
    example = other if isinstance(other, FixedType) else _EXAMPLE
    return const(x, literal_type(x, span, example), span)


_FOLD: dict[BinaryOp, Callable[..., Number]] = {
    BinaryOp.ADD: operator.add,
    BinaryOp.SUB: operator.sub,
    BinaryOp.MUL: operator.mul,
    BinaryOp.DIV: operator.truediv,
    BinaryOp.FLOORDIV: operator.floordiv,
    BinaryOp.MOD: operator.mod,
    BinaryOp.AND: operator.and_,
    BinaryOp.OR: operator.or_,
    BinaryOp.XOR: operator.xor,
    BinaryOp.SHL: operator.lshift,
    BinaryOp.SHR: operator.rshift,
    BinaryOp.MIN: min,
    BinaryOp.MAX: max,
}
_FOLD_UNARY: dict[UnaryOp, Callable[..., Number]] = {
    UnaryOp.NEG: operator.neg,
    UnaryOp.INVERT: lambda x: (not x) if isinstance(x, bool) else ~x,
    UnaryOp.NOT: operator.not_,
    UnaryOp.ABS: abs,
    UnaryOp.SQRT: math.sqrt,
    UnaryOp.EXP: math.exp,
    UnaryOp.LOG: math.log,
    UnaryOp.TANH: math.tanh,
    UnaryOp.SIN: math.sin,
    UnaryOp.COS: math.cos,
}


def fold_binary(op: BinaryOp, a: Number, b: Number, span: Span | None) -> Number:
    """``a op b`` as Python has it; W127 where that has no value."""
    if op is BinaryOp.SHL and b > MAX_WIDTH:
        raise _cannot_fold(f"{a!r} << {b!r}", f"types have at most {MAX_WIDTH} bits", span)
    try:
        return _FOLD[op](a, b)
    except (ArithmeticError, TypeError, ValueError) as e:
        raise _cannot_fold(f"{a!r} {op.value} {b!r}", str(e), span) from e


def fold_unary(op: UnaryOp, x: Number, span: Span | None) -> Number:
    """``op x`` as Python has it; W127 where that has no value."""
    try:
        return _FOLD_UNARY[op](x)
    except (ArithmeticError, TypeError, ValueError) as e:
        raise _cannot_fold(f"{op.value} {x!r}", str(e), span) from e


def _cannot_fold(text: str, reason: str, span: Span | None) -> LanguageError:
    return LanguageError("W127", f"the constant {text} has no value: {reason}", span=span)
