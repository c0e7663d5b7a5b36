"""Counters that each iteration of a nest changes alike, made into expressions of its loops.

Before::

    n = 0
    for i in range(8):
        for j in range(4):
            y[n] = x[i, j]
            n += 1

After::

    for i in range(8):
        for j in range(4):
            y[i * 4 + j] = x[i, j]

A counter that only some iterations change, as in a compaction, stays the local that it is.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from dsl.frontend.syntax.loop_parts import Renamed, first_value, placed, step_of, stored

_JUMPS = (ast.Break, ast.Continue, ast.Return)


def without_counters(function: ast.FunctionDef, kept: Collection[str] = ()) -> None:
    """Replace the counters of all nests of a function, but those that are ``kept``."""
    found = _Counters(function, kept)
    function.body = found.block(function.body, [])
    function.body = found.without_unread(function.body)


@dataclass(frozen=True, slots=True)
class _Range:
    """A variable that runs over ``range(start, stop)``; ``start`` is None for 0."""

    var: str
    start: ast.expr | None
    stop: ast.expr

    @property
    def index(self) -> ast.expr:
        """The number of the iteration."""
        var = ast.Name(self.var, ast.Load())
        return var if self.start is None else ast.BinOp(var, ast.Sub(), self.start)

    @property
    def trips(self) -> ast.expr:
        """How many iterations there are."""
        if isinstance(self.stop, ast.Constant) and self.start is None:
            return self.stop
        length = self.stop
        if self.start is not None:
            length = ast.BinOp(length, ast.Sub(), self.start)
        return ast.Call(ast.Name("max", ast.Load()), [length, ast.Constant(0)], [])


class _Counters:
    def __init__(self, function: ast.FunctionDef, kept: Collection[str]) -> None:
        self._function = function
        self._arguments = {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
        self._stored = list(stored(function.body))
        self._targets = {
            n.id
            for loop in ast.walk(function)
            if isinstance(loop, ast.For)
            for n in ast.walk(loop.target)
            if isinstance(n, ast.Name)
        }
        self._kept = {*kept}
        """Names whose types are said, and those that functions may read later."""
        for part in ast.walk(function):
            if isinstance(part, ast.AnnAssign | ast.Lambda):
                self._kept |= {n.id for n in ast.walk(part) if isinstance(n, ast.Name)}
        self._replaced: set[str] = set()

    def block(self, statements: Sequence[ast.stmt], around: Sequence[ast.For]) -> list[ast.stmt]:
        """Statements without the counters of their nests; ``around`` are the loops that they are in."""
        found: list[ast.stmt] = []
        for s in statements:
            after: list[ast.stmt] = []
            if isinstance(s, ast.For) and not s.orelse:
                for name in sorted({*stored(s.body)} - self._kept):
                    first = first_value(name, found)
                    if first is not None and self._is_plain(first, around):
                        after += self._replace(s, name, first)
            inside = [*around, s] if isinstance(s, ast.For) else around
            for part in ("body", "orelse"):
                inner = getattr(s, part, None)
                if isinstance(inner, list) and isinstance(s, ast.For | ast.If | ast.With):
                    setattr(s, part, self.block(inner, inside))
            found += [s, *after]
        return found

    def _is_plain(self, first: ast.expr, around: Sequence[ast.For]) -> bool:
        """Whether a first value is made of numbers and variables of the loops around: they wrap nowhere."""
        loops = {r.var for loop in around for r in _ranges_of(loop)}
        own = {*self._arguments, *self._stored} - loops
        parts = (
            ast.Constant,
            ast.Name,
            ast.BinOp,
            ast.UnaryOp,
            ast.operator,
            ast.unaryop,
            ast.expr_context,
        )
        return all(
            isinstance(n, parts)
            and not (isinstance(n, ast.Constant) and type(n.value) is not int)
            and not (isinstance(n, ast.Name) and n.id in own)
            for n in ast.walk(first)
        )

    def _replace(self, loop: ast.For, name: str, first: ast.expr) -> list[ast.stmt]:
        """Replace a counter in a nest, where it is one; what gives it its last value."""
        if not self._counts(loop, name) or _leaves(loop, name):
            return []
        end = self._in_loop(loop, name, first)
        self._replaced.add(name)
        last = ast.Assign([ast.Name(name, ast.Store())], end)
        return [placed(last, loop)]

    def _counts(self, loop: ast.For, name: str) -> bool:
        """Whether each iteration changes it by the same number."""
        found = _ranges_of(loop)
        if not found or loop.orelse or not all(map(self._is_fixed, found[1:])):
            return False
        fixed = {n.id for n in ast.walk(loop.iter) if isinstance(n, ast.Name)}
        if {*fixed, *(r.var for r in found)} & {*stored(loop.body)}:
            return False
        for s in loop.body:
            if name not in stored([s]):
                continue
            if isinstance(s, ast.For):
                if not self._counts(s, name) or not all(map(self._is_fixed, _ranges_of(s))):
                    return False
            elif _amount(s, name) is None:
                return False
        return True

    def _is_fixed(self, found: _Range) -> bool:
        """Whether a range is as long each time, whatever the loops around it are at."""
        own = {*self._arguments, *self._stored, *self._targets}
        ends = [found.stop] if found.start is None else [found.start, found.stop]
        return not any(
            isinstance(n, ast.Call | ast.Subscript) or (isinstance(n, ast.Name) and n.id in own)
            for end in ends
            for n in ast.walk(end)
        )

    def _in_loop(self, loop: ast.For, name: str, before: ast.expr) -> ast.expr:
        """Replace it in a loop in front of which it has a value; its value behind the loop."""
        found = _ranges_of(loop)
        step = self._step_of(loop.body, name)
        index: ast.expr = ast.Constant(0)
        for r in found:
            index = _sum(_product(index, r.trips), r.index)
        loop.body = self._body(loop.body, name, _sum(before, _product(index, step)))
        return _sum(before, _product(_trips(found), step))

    def _step_of(self, statements: Sequence[ast.stmt], name: str) -> ast.expr:
        """By how much a body changes it."""
        total: ast.expr = ast.Constant(0)
        for s in statements:
            if isinstance(s, ast.For) and name in stored([s]):
                inside = self._step_of(s.body, name)
                total = _sum(total, _product(_trips(_ranges_of(s)), inside))
            elif (by := _amount(s, name)) is not None:
                total = _sum(total, ast.Constant(by))
        return total

    def _body(self, statements: Sequence[ast.stmt], name: str, value: ast.expr) -> list[ast.stmt]:
        """The body without its changes, where the counter has a value at its begin."""
        found: list[ast.stmt] = []
        for s in statements:
            by = _amount(s, name)
            if by is not None:
                value = _sum(value, ast.Constant(by))
            elif isinstance(s, ast.For) and name in stored([s]):
                value = self._in_loop(s, name, value)
                found.append(s)
            else:
                found.append(Renamed(name, value).visit(s))
        return found or [placed(ast.Pass(), statements[0])]

    def without_unread(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Without assignments to counters that nothing reads any more."""
        read = {
            n.id
            for n in ast.walk(self._function)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
        }
        unread = self._replaced - read
        found: list[ast.stmt] = []
        for s in statements:
            match s:
                case ast.Assign(targets=[ast.Name(id=name)]) if name in unread:
                    continue
            for part in ("body", "orelse"):
                inner = getattr(s, part, None)
                if isinstance(inner, list) and inner and isinstance(s, ast.For | ast.If | ast.With):
                    kept = self.without_unread(inner)
                    empty = [] if part == "orelse" else [placed(ast.Pass(), s)]
                    setattr(s, part, kept or empty)
            found.append(s)
        return found


def _ranges_of(loop: ast.For) -> tuple[_Range, ...]:
    """The ranges of a loop over ``range`` or ``grid``, outermost first; none of another loop."""
    match loop:
        case ast.For(target=ast.Name(id=var), iter=ast.Call() as call):
            found = _range_of(var, call)
            return () if found is None else (found,)
        case ast.For(
            target=ast.Tuple(elts=targets), iter=ast.Call(func=function, args=args, keywords=[])
        ) if _name_of(function) in ("grid", "ndindex", "product") and len(targets) == len(args):
            parts = [
                _range_of(t.id, a) if isinstance(a, ast.Call) else _Range(t.id, None, a)
                for t, a in zip(targets, args, strict=True)
                if isinstance(t, ast.Name)
            ]
            known = tuple(p for p in parts if p is not None)
            return known if len(known) == len(targets) else ()
    return ()


def _range_of(var: str, call: ast.Call) -> _Range | None:
    plain = 1 <= len(call.args) <= 2 and not call.keywords
    if not plain or _name_of(call.func) != "range":
        return None
    if any(isinstance(a, ast.Starred) for a in call.args):
        return None
    return _Range(var, None if len(call.args) == 1 else call.args[0], call.args[-1])


def _name_of(function: ast.expr) -> str:
    return getattr(function, "id", getattr(function, "attr", ""))


def _trips(found: Sequence[_Range]) -> ast.expr:
    """How many iterations loops have together."""
    total: ast.expr = ast.Constant(1)
    for r in found:
        total = r.trips if isinstance(total, ast.Constant) else _product(total, r.trips)
    return total


def _amount(s: ast.stmt, name: str) -> int | None:
    """By how much a statement changes it: ``n += 2`` and ``n = n - 1``."""
    found = step_of(s)
    return found[1] if found is not None and found[0] == name else None


def _leaves(loop: ast.For, name: str) -> bool:
    """Whether an iteration of a loop that changes it may be left early."""
    for s in loop.body:
        inside = isinstance(s, ast.For) and name in stored([s])
        if isinstance(s, ast.For) and inside:
            if _leaves(s, name):
                return True
        elif any(isinstance(n, _JUMPS) for n in _own(s)):
            return True
    return False


def _own(s: ast.stmt) -> list[ast.AST]:
    """What is in a statement; of a loop that is no part of the nest, its jumps are its own but for ``return``."""
    if isinstance(s, ast.For | ast.While) and not s.orelse:
        return [n for n in ast.walk(s) if isinstance(n, ast.Return)]
    return list(ast.walk(s))


def _sum(a: ast.expr, b: ast.expr) -> ast.expr:
    match a, b:
        case ast.Constant(value=int() as x), ast.Constant(value=int() as y):
            return ast.Constant(x + y)
        case ast.Constant(value=0), _:
            return copy.deepcopy(b)
        case _, ast.Constant(value=0):
            return copy.deepcopy(a)
        case ast.BinOp(left=left, op=ast.Add(), right=ast.Constant(value=int() as x)), ast.Constant(
            value=int() as y
        ):
            return _sum(left, ast.Constant(x + y))
    return ast.BinOp(copy.deepcopy(a), ast.Add(), copy.deepcopy(b))


def _product(a: ast.expr, b: ast.expr) -> ast.expr:
    match a, b:
        case _, ast.Constant(value=0):
            return ast.Constant(0)
        case _, ast.Constant(value=1):
            return copy.deepcopy(a)
    return ast.BinOp(copy.deepcopy(a), ast.Mult(), copy.deepcopy(b))
