"""By how much the ways through the body of a loop change a sum of counters.

Of ``hi - lo`` it is -1 on both ways through ``if x[lo] < x[hi]: lo += 1`` with ``else: hi -= 1``; of ``back - front`` it is
-1 or more through ``front += 1`` and ``if new: back += 1``.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from dsl.frontend.syntax.loop_parts import step_of, stored

Steps = tuple[float, float]
"""The least and the most of all ways; infinite where that is not known."""

_UNKNOWN: Steps = (-math.inf, math.inf)


@dataclass(frozen=True, slots=True)
class _Ways:
    """What ways add that reach the end, that go on with the next iteration, and that leave the loop; None: there are none."""

    falls: Steps | None = None
    goes_on: Steps | None = None
    leaves: Steps | None = None


@dataclass(frozen=True, slots=True)
class PathSteps:
    """Of the sum of ``factors``, each times the name that it is of.

    ``ending`` are assignments, as text, after which the condition of the loop does not hold: they leave it as well.
    ``known`` is by how much assignments, as text, change the name that they assign.
    """

    factors: Mapping[str, int]
    ending: Collection[str] = ()
    known: Mapping[str, Steps] = field(default_factory=dict)

    def of_iteration(self, body: Sequence[ast.stmt]) -> Steps | None:
        """What iterations add that another one may follow; None where each of them leaves the loop."""
        found = self._block(body)
        return _hull(found.falls, found.goes_on)

    def of_block(self, statements: Sequence[ast.stmt]) -> Steps | None:
        """What statements add, where they are run to their end."""
        return self._block(statements).falls

    def _block(self, statements: Sequence[ast.stmt]) -> _Ways:
        falls: Steps | None = (0, 0)
        goes_on: Steps | None = None
        leaves: Steps | None = None
        for s in statements:
            if falls is None:
                break
            found = self._statement(s)
            goes_on = _hull(goes_on, _sum(falls, found.goes_on))
            leaves = _hull(leaves, _sum(falls, found.leaves))
            falls = _sum(falls, found.falls)
        return _Ways(falls, goes_on, leaves)

    def _statement(self, s: ast.stmt) -> _Ways:
        match s:
            case ast.Continue():
                return _Ways(goes_on=(0, 0))
            case ast.Break() | ast.Return():
                return _Ways(leaves=(0, 0))
            case ast.If(body=body, orelse=orelse):
                then, other = self._block(body), self._block(orelse)
                return _Ways(
                    _hull(then.falls, other.falls),
                    _hull(then.goes_on, other.goes_on),
                    _hull(then.leaves, other.leaves),
                )
            case ast.For() | ast.While():
                return self._loop(s)
            case ast.With(body=body):
                return self._block(body)
        if self.ending and ast.unparse(s) in self.ending:
            return _Ways(leaves=(0, 0))
        if not self.factors.keys() & {*stored([s])}:
            return _Ways(falls=(0, 0))
        return _Ways(falls=self._added(s))

    def _added(self, s: ast.stmt) -> Steps:
        target = s.targets[0] if isinstance(s, ast.Assign) else getattr(s, "target", None)
        if not isinstance(target, ast.Name) or target.id not in self.factors:
            return _UNKNOWN
        name, by = step_of(s) or ("", 0)
        if name == target.id:
            low, high = float(by), float(by)
        elif isinstance(s, ast.AugAssign) and isinstance(s.op, ast.Add):
            low, high = _amount(s.value) or self.known.get(ast.unparse(s), _UNKNOWN)
        else:
            low, high = self.known.get(ast.unparse(s), _UNKNOWN)
        ends = (self.factors[target.id] * low, self.factors[target.id] * high)
        return min(ends), max(ends)

    def _loop(self, s: ast.For | ast.While) -> _Ways:
        """An inner loop, which may run any number of times."""
        targets = (
            {n.id for n in ast.walk(s.target) if isinstance(n, ast.Name)}
            if isinstance(s, ast.For)
            else set()
        )
        if targets & self.factors.keys():
            return _Ways(falls=_UNKNOWN, goes_on=_UNKNOWN, leaves=_UNKNOWN)
        each = PathSteps(self.factors, (), self.known)._block(s.body)
        found = _hull(_hull(each.falls, each.goes_on), each.leaves) or (0, 0)
        low = 0 if found[0] >= 0 else -math.inf
        high = 0 if found[1] <= 0 else math.inf
        behind = self._block(s.orelse)
        without = _hull((0, 0), behind.falls)  # a break of the inner loop leaves its `else` out
        around = (low, high)
        return _Ways(
            _sum(around, without), _sum(around, behind.goes_on), _sum(around, behind.leaves)
        )


def _amount(node: ast.expr) -> Steps | None:
    """What a choice between constants, a comparison as a number, and a sum of these may be."""
    match node:
        case ast.Constant(value=int() as number):
            return number, number
        case ast.Compare():
            return 0, 1
        case ast.IfExp(body=a, orelse=b):
            parts = _amount(a), _amount(b)
            return None if None in parts else _hull(*parts)
        case ast.BinOp(left=a, op=ast.Add(), right=b):
            first, second = _amount(a), _amount(b)
            return None if first is None else _sum(first, second)
        case _:
            return None


def _sum(a: Steps, b: Steps | None) -> Steps | None:
    return None if b is None else (a[0] + b[0], a[1] + b[1])


def _hull(a: Steps | None, b: Steps | None) -> Steps | None:
    if a is None or b is None:
        return b if a is None else a
    return min(a[0], b[0]), max(a[1], b[1])
