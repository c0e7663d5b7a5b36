"""Choices between two values by a condition on data, and what conditions are made of."""

from __future__ import annotations

from collections.abc import Callable
from math import copysign

from dsl.expressions import typing
from dsl.expressions.expr import (
    Binary,
    BinaryOp,
    Const,
    Expr,
    Gather,
    Load,
    Select,
    Unary,
    UnaryOp,
    children,
    with_operands,
)
from dsl.expressions.types import boolean


def either(cond: Expr, holds: bool, a: Expr, b: Expr) -> Expr:
    """``a`` where the condition is ``holds``, else ``b``.

    Where ``a`` is itself a choice between something and ``b`` the conditions are joined: of nested
    branches hardware gets one multiplexer, whose conditions are single bits.
    """
    if isinstance(a, Select) and (_is_one(a.then, b) or _is_one(a.orelse, b)):
        taken = cond if holds else opposite(cond)
        if _is_one(a.orelse, b):
            return Select(both(taken, a.cond), a.then, b, a.dtype, a.span)
        return Select(both(taken, opposite(a.cond)), a.orelse, b, a.dtype, a.span)
    found = typing.select(cond, a, b) if holds else typing.select(cond, b, a)
    assert not isinstance(found, int | float)
    return found


def _is_one(x: Expr, b: Expr) -> bool:
    """Whether both are the same element, or the same constant; zeros of floats have signs."""
    match x, b:
        case Const(one), Const(other):
            return x == b and (one != 0 or copysign(1, one) == copysign(1, other))
        case (Load(), Load()) | (Gather(), Gather()):
            return x == b
        case _:
            return False


def opposite(cond: Expr) -> Expr:
    """The condition that holds where this one does not."""
    match cond:
        case Unary(UnaryOp.NOT, operand) if cond.dtype == boolean:
            return operand
        case _:
            return typing.unary(UnaryOp.NOT, cond)


def both(a: Expr, b: Expr) -> Expr:
    """The condition that holds where both do."""
    found = typing.binary(BinaryOp.AND, a, b)
    assert isinstance(found, Expr)
    return found


def parts_of(cond: Expr) -> tuple[Expr, ...]:
    """The conditions that a conjunction joins."""
    match cond:
        case Binary(BinaryOp.AND, a, b) if cond.dtype == boolean:
            return (*parts_of(a), *parts_of(b))
        case _:
            return (cond,)


def with_choices(expr: Expr, decide: Callable[[Expr], Expr | bool]) -> Expr:
    """The expression with those choices made of which it is known how they turn out.

    Args:
        expr: an expression.
        decide: whether a condition holds, or what is left of it where that is not known.
    """
    parts = children(expr)
    if isinstance(expr, Select):
        decided = decide(expr.cond)
        if isinstance(decided, bool):
            return with_choices(expr.then if decided else expr.orelse, decide)
        return with_operands(expr, [decided, *(with_choices(x, decide) for x in parts[1:])])
    return with_operands(expr, [with_choices(x, decide) for x in parts])
