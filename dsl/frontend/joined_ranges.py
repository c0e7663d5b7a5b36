"""Ranges that begin at a minimum or end at a maximum, which join several intervals.

Before::

    for k in range(min(i, 4), 16):
        y[i] += x[k]

After::

    for k in range(0, 16):
        if k >= i or k >= 4:
            y[i] += x[k]
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from dsl.expressions.affine import Affine
from dsl.frontend.context import Context
from dsl.frontend.extrema import Bound
from dsl.frontend.loops import bound, is_plain_range
from dsl.frontend.operands import value


def joined_range(ctx: Context, node: ast.For) -> ast.For | None:
    """The loop over all that may be in it, with its body under a condition; None of any other loop.

    The other end stays as it is. Ranges with a step other than 1 and -1 begin at one value, and are not joined.
    """
    if not is_plain_range(ctx, node):
        return None
    assert isinstance(node.iter, ast.Call)
    args = node.iter.args
    step = value(ctx, args[2]) if len(args) == 3 else 1
    if step not in (1, -1):
        return None
    start = bound(ctx, args[0]) if len(args) > 1 else Bound("", (Affine.of(0),))
    stop = bound(ctx, args[min(1, len(args) - 1)])
    early, late = ("min", "max") if step == 1 else ("max", "min")
    if start.kind != early and stop.kind != late:
        return None
    return _Joined(ctx, node, step == 1).loop(start, stop, (start.kind == early, stop.kind == late))


class _Joined:
    def __init__(self, ctx: Context, node: ast.For, is_up: bool) -> None:
        self._ctx, self._node, self._is_up = ctx, node, is_up

    def loop(self, start: Bound, stop: Bound, joined: tuple[bool, bool]) -> ast.For:
        """See the module; ``joined`` says which of the ends are."""
        tests: list[ast.expr] = []
        ends = [self._end(start), self._end(stop)]
        if joined[0]:
            tests.append(self._any(ast.GtE() if self._is_up else ast.LtE(), start.parts))
            ends[0] = self._known(self._furthest(start.parts, is_start=True))
        if joined[1]:
            tests.append(self._any(ast.Lt() if self._is_up else ast.Gt(), stop.parts))
            ends[1] = self._known(self._furthest(stop.parts, is_start=False))
        test = tests[0] if len(tests) == 1 else self._at(ast.BoolOp(ast.And(), tests))
        inside: ast.stmt = ast.copy_location(ast.If(test, self._node.body, []), self._node)
        args = [*ends, self._known(1 if self._is_up else -1)]
        called = self._at(ast.Call(self._known(range), args, []))
        made = ast.For(self._node.target, called, [inside], self._node.orelse)
        if self._node in self._ctx.flags:
            self._ctx.flags[made] = self._ctx.flags[self._node]
        return ast.copy_location(made, self._node)

    def _furthest(self, parts: Sequence[Affine], *, is_start: bool) -> int:
        """The first value, or the end, of all the intervals together."""
        intervals = [part.interval(self._ctx.names.ranges()) for part in parts]
        if is_start is self._is_up:
            return min(low for low, _ in intervals)
        return max(high for _, high in intervals)

    def _end(self, end: Bound) -> ast.expr:
        """An end that is one value, or an extremum that a loop may have."""
        if not end.kind:
            return self._known(end.parts[0])
        of_kind = min if end.kind == "min" else max
        return self._at(ast.Call(self._known(of_kind), [*map(self._known, end.parts)], []))

    def _any(self, op: ast.cmpop, parts: Sequence[Affine]) -> ast.expr:
        """Whether the loop's variable is on that side of any of the values."""
        tests: list[ast.expr] = []
        for part in parts:
            assert isinstance(self._node.target, ast.Name)
            variable = self._at(ast.Name(self._node.target.id, ast.Load()))
            tests.append(self._at(ast.Compare(variable, [op], [self._known(part)])))
        return self._at(ast.BoolOp(ast.Or(), tests))

    def _known(self, found: object) -> ast.expr:
        made = self._at(ast.Name("given", ast.Load()))
        self._ctx.given[made] = found
        return made

    def _at(self, node: ast.expr) -> ast.expr:
        return ast.copy_location(node, self._node.iter)
