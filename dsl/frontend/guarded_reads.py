"""Conditional expressions one of whose sides may only be read where the condition holds: ``x[i - 1] if i > 0 else 0``.

A choice between two values computes both. Where a side reads an element that an array has only where a condition on
loop variables holds, as at the border of an image, the choice is a statement under ``if`` in front of the one that it
stands in.

Before::

    y[i] = x[i] + (x[i - 1] if i > 0 else 0)

After::

    if i > 0:
        chosen = x[i - 1]
    else:
        chosen = 0
    y[i] = x[i] + chosen
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping

from dsl.expressions import typing, values
from dsl.expressions.affine import Cond, negate
from dsl.expressions.expr import Access, Const, Expr, Gather, Load, Select, walk
from dsl.expressions.types import DType, IndexType, IntType
from dsl.expressions.value_range import Range, loops_where, truth_where
from dsl.expressions.values import Value
from dsl.frontend.ahead import put_ahead
from dsl.frontend.conditions import Condition, DataCond, condition
from dsl.frontend.context import Ahead, Context
from dsl.frontend.logic import tested
from dsl.programs.program import If, Node, Stmt


def guarded(ctx: Context, node: ast.expr, choice: ast.IfExp, found: Select) -> Value:
    """What an expression stands for, which chooses as ``found`` does, and as ``choice`` says it.

    It is a scalar that statements in front give their value, where a side reads outside of an array without the
    condition; else ``found``.
    """
    if not _guards(ctx, found):
        return found
    cond = condition(ctx, choice.test)
    if isinstance(cond, bool) or (isinstance(cond, DataCond) and cond.affine is None):
        return found
    span = ctx.span(node)
    dtype = typing.settled(found, span).dtype
    if isinstance(dtype, IndexType):
        dtype = IntType(32)
    scalar = Access(ctx.names.made("chosen", dtype, span).name, (), span)
    made = _Choice(ctx, scalar, dtype, choice)
    nodes: tuple[Node, ...] = (made.under(cond, found),)
    outside = [_affine_part(condition(ctx, test), holds) for test, holds in _around(ctx)]
    for outer in reversed(outside):
        if outer is not None:
            nodes = (If(outer, nodes, (made.given(Const(0, dtype), "0"),), span),)
    put_ahead(ctx, node, nodes, Load(scalar, dtype))
    return Load(scalar, dtype)


def in_branches(ctx: Context, node: ast.Assign) -> ast.If | None:
    """``y = a if c else b`` as assignments in the branches of an ``if``, where a side may only be read there."""
    choice = node.value
    if not isinstance(choice, ast.IfExp) or len(node.targets) != 1:
        return None
    if not any(isinstance(n, ast.Subscript) for n in ast.walk(choice)) or not _is_needed(
        ctx, choice
    ):
        return None
    sides: list[list[ast.stmt]] = []
    for side in (choice.body, choice.orelse):
        assigned = ast.Assign([copy.deepcopy(node.targets[0])], side)
        sides.append([ast.copy_location(assigned, node)])
    return ast.copy_location(ast.If(choice.test, sides[0], sides[1]), node)


def _is_needed(ctx: Context, choice: ast.IfExp) -> bool:
    """Whether a choice would be statements in front, which is found by reading it on trial."""
    before = ctx.names, dict(ctx.statements), dict(ctx.flags), ctx.ahead
    ctx.names, ctx.ahead = copy.deepcopy(ctx.names), Ahead()
    try:
        ctx.evaluate(choice)
        return choice in ctx.ahead.known
    finally:
        ctx.names, ctx.statements, ctx.flags, ctx.ahead = before


def _guards(ctx: Context, found: Select) -> bool:
    """Whether a condition keeps a read inside of its array that would be outside without."""
    if not ctx.names.runs:
        return False
    ranges: Mapping[str, Range] = ctx.names.ranges()
    tells = truth_where(found.cond, ranges) is not None or any(
        loops_where(found.cond, holds, ranges) != ranges for holds in (True, False)
    )
    if not tells:
        return False
    for test, holds in _around(ctx):
        around = values.operand(tested(ctx, test))
        ranges = loops_where(around, holds, ranges) if isinstance(around, Expr) else ranges
    known = truth_where(found.cond, ranges)  # of a loop of one iteration one side may be dead
    return any(
        _is_outside(ctx, part.access, ranges)
        and (
            known is (not holds)
            or not _is_outside(ctx, part.access, loops_where(found.cond, holds, ranges))
        )
        for side, holds in ((found.then, True), (found.orelse, False))
        for part in walk(side)
        if isinstance(part, Load | Gather)
    )


def _around(ctx: Context) -> Iterator[tuple[ast.expr, bool]]:
    """The conditions around a choice, outermost first, each to be read where those around it are all there are."""
    under = ctx.ahead.under
    try:
        for number, (test, holds) in enumerate(under):
            ctx.ahead.under = under[:number]
            yield test, holds
    finally:
        ctx.ahead.under = under


def _is_outside(ctx: Context, access: Access, ranges: Mapping[str, Range]) -> bool:
    """Whether an affine subscript may be outside, as far as the loop variables' ranges tell."""
    array = ctx.names.array(access.array)
    if array is None:
        return False
    for index, extent in zip(access.indices, array.shape, strict=False):
        if index.is_data:
            continue
        low, high = index.interval(ranges)
        if low < 0 or high >= extent:
            return True
    return False


def _affine_part(cond: Condition, holds: bool) -> Cond | None:
    """What is known of loop variables where a condition holds, or does not."""
    if isinstance(cond, bool):
        return None
    if not isinstance(cond, DataCond):
        return cond if holds else negate(cond)
    if cond.affine is None or cond.is_and is not holds:
        return None
    return cond.affine if holds else negate(cond.affine)


class _Choice:
    """Statements that give a scalar one of two values."""

    def __init__(self, ctx: Context, scalar: Access, dtype: DType, node: ast.IfExp) -> None:
        self._ctx, self._scalar, self._dtype, self._node = ctx, scalar, dtype, node

    def under(self, cond: Cond | DataCond, found: Select) -> If:
        """The values, each computed only where the condition asks for it."""
        span = self._ctx.span(self._node)
        source = self._ctx.source
        then: tuple[typing.Operand, str] = found.then, source.text(self._node.body)
        orelse: tuple[typing.Operand, str] = found.orelse, source.text(self._node.orelse)
        if isinstance(cond, DataCond):
            assert cond.affine is not None
            either = values.select(cond.data, found.then, found.orelse, span)
            both = values.operand(either), source.text(self._node)
            then, orelse = (both, orelse) if cond.is_and else (then, both)
            cond = cond.affine
        return If(cond, (self.given(*then),), (self.given(*orelse),), span)

    def given(self, value: typing.Operand, text: str) -> Stmt:
        """The assignment of a value."""
        span = self._ctx.span(self._node)
        made = typing.assigned(value, self._dtype, span)
        name = self._ctx.name_statement(None, span)
        return Stmt(name, self._scalar, made, span, f"{self._scalar} = {text}")
