"""Arithmetic on constants that are known when the kernel is compiled: exactly Python's.

Sizes are bounded first: ``10 ** 10 ** 10`` in a kernel is an error, not a long wait.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from fractions import Fraction

from dsl.expressions.values import MAX_BITS
from dsl.frontend.capture import Number

_BINARY: dict[type[ast.operator], Callable[..., Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_UNARY: dict[type[ast.unaryop], Callable[..., Number]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: lambda x: not x if isinstance(x, bool) else operator.invert(x),  # a u1
    ast.Not: operator.not_,
}
_COMPARE: dict[type[ast.cmpop], Callable[..., bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class FoldError(Exception):
    """The constant has no value; the text says why."""


def binary(op: ast.operator, a: Number, b: Number) -> Number:
    """``a op b``.

    Raises:
        FoldError: division by zero, a result that is too large, operands Python refuses.
    """
    _check_growth(op, a, b)
    try:
        value = _BINARY[type(op)](a, b)
    except KeyError:
        raise FoldError("this operator is not supported") from None
    except ZeroDivisionError:
        raise FoldError("division by zero") from None
    except OverflowError:
        raise FoldError("the result is too large") from None
    except (TypeError, ValueError) as e:
        raise FoldError(str(e)) from None
    return checked(value)


def unary(op: ast.unaryop, a: Number) -> Number:
    """``op a``."""
    try:
        return _UNARY[type(op)](a)
    except TypeError as e:
        raise FoldError(str(e)) from None


def compare(op: ast.cmpop, a: Number, b: Number) -> bool | None:
    """``a op b``; None for an operator that does not compare numbers (``in``, ``is``)."""
    function = _COMPARE.get(type(op))
    return None if function is None else bool(function(a, b))


def checked(value: object) -> Number:
    """A number that is not too large and is real."""
    match value:
        case bool() | float() | Fraction():
            return value
        case int():
            if value.bit_length() > MAX_BITS:
                raise FoldError(f"the result has more than {MAX_BITS} bits")
            return value
        case _:
            raise FoldError("the result is not a real number")


def _check_growth(op: ast.operator, a: Number, b: Number) -> None:
    if not isinstance(a, int) or not isinstance(b, int):
        return
    match op:
        case ast.Pow():
            bits = a.bit_length() * max(b, 0)
        case ast.LShift():
            bits = a.bit_length() + max(b, 0)
        case ast.Mult():
            bits = a.bit_length() + b.bit_length()
        case _:
            return
    if bits > 2 * MAX_BITS:
        raise FoldError(f"the result has more than {MAX_BITS} bits")
