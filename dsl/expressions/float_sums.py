"""Sums of floats as lists of terms, in which each is added or subtracted."""

from __future__ import annotations

from collections.abc import Sequence

from dsl.expressions.expr import Binary, BinaryOp, Expr
from dsl.expressions.types import FloatType

Terms = tuple[tuple[bool, Expr], ...]
"""Terms in the order in which they are added up; False where one is subtracted."""

_OPS = {BinaryOp.ADD: True, BinaryOp.SUB: False}


def terms_of(value: Expr) -> Terms:
    """The terms of a sum of one type; the value alone where it is none.

    Parentheses are taken for no more than an order: ``a - (b - c)`` is ``a``, ``-b``, ``+c``.
    """
    if not isinstance(value, Binary) or value.op not in _OPS or not _floats(value):
        return ((True, value),)
    plus = _OPS[value.op]
    return (*terms_of(value.lhs), *((sign == plus, term) for sign, term in terms_of(value.rhs)))


def _floats(value: Binary) -> bool:
    types = {value.dtype, value.lhs.dtype, value.rhs.dtype}
    return len(types) == 1 and isinstance(value.dtype, FloatType)


def summed(terms: Sequence[tuple[bool, Expr]], like: Expr) -> Expr:
    """The terms added up one after the other, the first of them not subtracted.

    Args:
        terms: two or more.
        like: of their type, where the program has it.
    """
    (plus, total), *others = terms
    assert plus, "a sum begins with what is added"
    span = like.span if isinstance(like, Binary) else None
    for sign, term in others:
        op = BinaryOp.ADD if sign else BinaryOp.SUB
        total = Binary(op, total, term, like.dtype, span)
    return total
