"""Roundings of fractions to integers, as the front end writes them: ``math.floor(x)`` is ``int(x) - (int(x) > x)``."""

from __future__ import annotations

from collections.abc import Callable

from dsl.expressions.expr import Binary, BinaryOp, Cast, Compare, CompareOp, Const, Expr
from dsl.expressions.types import FixedType, FloatType, IntType


def rounding_of(
    op: BinaryOp, lhs: Expr, rhs: Expr, chosen: Callable[[Expr], Expr]
) -> tuple[str, Expr] | None:
    """How a sum or difference rounds a float to an integer, ``floor``, ``ceil`` or ``round``, and the float; None of all
    other operations.

    Args:
        op: addition or subtraction, else there is none.
        lhs: its first operand.
        rhs: its second one.
        chosen: what a choice is whose condition is known, of all else itself.
    """
    way = {BinaryOp.SUB: ("floor", CompareOp.GT), BinaryOp.ADD: ("ceil", CompareOp.LT)}.get(op)
    if way is None:
        return None
    kind, compared = way
    match lhs, _plain(rhs):
        case Cast(operand=of), Compare(op=how, lhs=cut, rhs=x) if (
            how is compared
            and _plain(chosen(of)) == _plain(x)
            and _is_cut(lhs, of)
            and _plain(cut) == _plain(lhs)
        ):
            return kind, _plain(x)
        case _, Binary(BinaryOp.OR, Compare(CompareOp.GT, Binary(BinaryOp.SUB, x, floor), half), _):
            of_floor = _floored(lhs, chosen)
            if (
                of_floor is not None
                and of_floor == _plain(x)
                and _plain(floor) == _plain(lhs)
                and _is_half(half)
            ):
                return "round", of_floor
    return None


def _floored(value: Expr, chosen: Callable[[Expr], Expr]) -> Expr | None:
    """Of what a value is the floor."""
    match _plain(value):
        case Binary(op, lhs, rhs):
            found = rounding_of(op, lhs, rhs, chosen)
            return found[1] if found is not None and found[0] == "floor" else None
    return None


def _is_cut(value: Expr, of: Expr) -> bool:
    return isinstance(value.dtype, IntType) and isinstance(of.dtype, FloatType | FixedType)


def _is_half(value: Expr) -> bool:
    value = _plain(value)
    return isinstance(value, Const) and value.value == 0.5


def _plain(value: Expr) -> Expr:
    """Without conversions around, but the one that cuts a float to an integer."""
    while isinstance(value, Cast) and not _is_cut(value, value.operand):
        value = value.operand
    return value
