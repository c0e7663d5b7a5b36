"""Choices that guard a read, ``x[i - 1] if i > 0 else 0``: both sides are computed, so that one is outside of the array.

Before::

    y[i] = x[i] + (x[i - 1] if i > 0 else 0)

After::

    if i > 0:
        before = x[i - 1]
    else:
        before = 0
    y[i] = x[i] + before
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from dsl.errors.errors import LanguageError
from dsl.expressions import typing, values
from dsl.expressions.affine import Affine
from dsl.expressions.expr import (
    Access,
    Binary,
    BinaryOp,
    Compare,
    CompareOp,
    Const,
    Expr,
    Index,
    Load,
    Unary,
    UnaryOp,
    loads,
)
from dsl.expressions.types import IndexType, IntType
from dsl.expressions.value_range import OPPOSITE, Range
from dsl.expressions.values import Value
from dsl.frontend.ahead import put_ahead
from dsl.frontend.context import Context
from dsl.programs.program import Array


def guards_reads(ctx: Context, cond: Value, then: Value, orelse: Value) -> bool:
    """Whether a choice by loop variables keeps a read inside of its array that would be outside without."""
    test = values.operand(cond)
    if not isinstance(test, Expr):
        return False
    ranges = ctx.names.ranges()
    sides = ((test, True), (values.operand(then), True), (values.operand(orelse), False))
    return any(
        _is_outside(ctx, access, ranges)
        and not _is_outside(ctx, access, _narrowed(ranges, test, holds))
        for part, holds in sides
        if isinstance(part, Expr)
        for access in loads(part)
    )


def _is_outside(ctx: Context, access: Access, ranges: Mapping[str, Range]) -> bool:
    """Whether an access is outside of its array at an affine subscript, for some values of the loop variables."""
    array = ctx.names.find(access.array)
    if not isinstance(array, Array) or len(access.indices) != len(array.shape):
        return False
    for index, extent in zip(access.indices, array.shape, strict=True):
        if not index.is_data:
            low, high = index.interval(ranges)
            if low < 0 or high >= extent:
                return True
    return False


def _narrowed(ranges: Mapping[str, Range], cond: Expr, holds: bool) -> Mapping[str, Range]:
    """What a condition that is ``holds`` leaves of the ranges of loop variables; where nothing is left, all."""
    match cond:
        case Unary(UnaryOp.NOT, x):
            return _narrowed(ranges, x, not holds)
        case Binary(BinaryOp.AND | BinaryOp.OR as joins, a, b) if (joins is BinaryOp.AND) is holds:
            return _narrowed(_narrowed(ranges, a, holds), b, holds)
        case Compare(op, lhs, rhs):
            left, right = _affine(lhs), _affine(rhs)
            if left is not None and right is not None:
                return _compared(ranges, op if holds else OPPOSITE[op], left - right)
    return ranges


def _affine(of: Expr) -> Affine | None:
    if isinstance(of, Const) and isinstance(of.dtype, IntType | IndexType):
        return Affine.of(int(of.value))
    return of.affine if isinstance(of, Index) else None


def _compared(ranges: Mapping[str, Range], op: CompareOp, of: Affine) -> Mapping[str, Range]:
    """Where an affine expression compares so with 0."""
    match op:
        case CompareOp.LE:
            return _not_above(ranges, of)
        case CompareOp.LT:
            return _not_above(ranges, of + 1)
        case CompareOp.GE:
            return _not_above(ranges, -of)
        case CompareOp.GT:
            return _not_above(ranges, 1 - of)
        case CompareOp.EQ:
            return _not_above(_not_above(ranges, of), -of)
        case CompareOp.NE:
            return ranges


def _not_above(ranges: Mapping[str, Range], of: Affine) -> Mapping[str, Range]:
    """Where an affine expression is not above 0: each variable by what the others may be."""
    if not of.is_linear:
        return ranges
    found = dict(ranges)
    for name, by in of.terms:
        assert isinstance(name, str)
        least = (of - Affine.of(name) * by).interval(found)[0]
        low, high = found[name]
        if by > 0:
            high = min(high, -least // by)
        else:
            low = max(low, -(-least // -by))
        if low <= high:
            found[name] = low, high
    return found


def chosen_ahead(ctx: Context, node: ast.IfExp, found: Value) -> Load | None:
    """The local that ``if`` and ``else`` in front of the statement assign; None where they cannot stand there."""
    value = values.operand(found)
    if not isinstance(value, Expr):
        return None
    dtype = typing.settled(value, ctx.span(node)).dtype
    dtype = IntType(32) if isinstance(dtype, IndexType) else dtype
    local = ctx.names.made("chosen", dtype, ctx.span(node))
    start = len(ctx.ahead.nodes)
    nodes = ctx.read(_placed(node, local.name))
    try:
        put_ahead(ctx, node, nodes, Load(Access(local.name, (), ctx.span(node)), dtype))
    except LanguageError:
        del ctx.ahead.nodes[start:]
        return None
    known = ctx.ahead.known[node]
    assert isinstance(known, Load)
    return known


def _placed(node: ast.IfExp, name: str) -> ast.If:
    branches: list[ast.stmt] = [
        ast.Assign([ast.Name(name, ast.Store())], side) for side in (node.body, node.orelse)
    ]
    made = ast.If(node.test, branches[:1], branches[1:])
    for part in _made(made):
        ast.copy_location(part, node)
    return made


def _made(of: ast.If) -> Iterator[ast.stmt | ast.expr]:
    for part in ast.walk(of):
        if isinstance(part, ast.stmt | ast.expr) and not hasattr(part, "lineno"):
            yield part
