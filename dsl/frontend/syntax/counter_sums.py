"""Counters that are sums of others throughout, made into these sums.

Before, in the merge of two sorted lists::

    i, j, k = 0, 0, 0
    while i < n and j < m:
        if x[i] <= y[j]:
            z[k] = x[i]
            i += 1
        else:
            z[k] = y[j]
            j += 1
        k += 1

After::

    i, j = 0, 0
    while i < n and j < m:
        if x[i] <= y[j]:
            z[i + j] = x[i]
            i += 1
        else:
            z[i + j] = y[j]
            j += 1

What limits ``i`` and ``j`` limits the subscript then, which it would not do for ``k``.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from dsl.frontend.syntax.loop_parts import Renamed, placed, step_of, stored

_MOST_TERMS = 2
_MOST_COUNTERS = 8


def with_sums(function: ast.FunctionDef, kept: Collection[str] = ()) -> None:
    """Put sums of other counters in the place of each counter that is one wherever it is read.

    Args:
        function: is changed.
        kept: names that stay, since their types are said or other functions read them.
    """
    if not any(isinstance(n, ast.While) for n in ast.walk(function)):
        return
    tested = {
        n.id
        for loop in ast.walk(function)
        if isinstance(loop, ast.While)
        for n in ast.walk(loop.test)
        if isinstance(n, ast.Name)
    }
    typed = {
        n.target.id
        for n in ast.walk(function)
        if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)
    }
    names = [n for n in counters(function) if n not in kept and n not in typed][:_MOST_COUNTERS]
    replaced: set[str] = set()
    for name in names:
        if name in tested or not _is_subscript(name, function):
            continue
        others = [n for n in names if n != name and n not in replaced]
        for size in range(1, _MOST_TERMS + 1):
            for terms in itertools.combinations(others, size):
                found = Differences(name, terms).everywhere(function)
                if found is not None:
                    _replace(function, name, terms, found)
                    replaced.add(name)
                    break
            if name in replaced:
                break


def counters(function: ast.FunctionDef) -> list[str]:
    """Names that are only set to constants, and stepped up by constants inside of ``while``."""
    arguments = {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
    counts: dict[str, int] = {}
    moved: set[str] = set()
    for s in ast.walk(function):
        if not isinstance(s, ast.stmt):
            continue
        step = step_of(s)
        if step is not None and step[1] > 0:
            counts[step[0]] = counts.get(step[0], 0) + 1
        elif (pair := _set_to(s)) is not None:
            counts[pair[0]] = counts.get(pair[0], 0) + 1
        if isinstance(s, ast.While):
            moved |= {*stored(s.body)}
    written = [*stored(function.body)]
    return [n for n in sorted(moved - arguments) if counts.get(n) == written.count(n)]


def _set_to(s: ast.stmt) -> tuple[str, int] | None:
    match s:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=value)) if (
            type(value) is int
        ):
            return name, value
    return None


def _is_subscript(name: str, function: ast.FunctionDef) -> bool:
    """Whether an element is written at the counter, alone."""
    return any(
        isinstance(n, ast.Subscript)
        and isinstance(n.ctx, ast.Store)
        and isinstance(n.slice, ast.Name)
        and n.slice.id == name
        for n in ast.walk(function)
    )


def _replace(function: ast.FunctionDef, name: str, terms: Sequence[str], by: int) -> None:
    total: ast.expr = ast.Name(terms[0], ast.Load())
    for term in terms[1:]:
        total = ast.BinOp(total, ast.Add(), ast.Name(term, ast.Load()))
    if by:
        op: ast.operator = ast.Add() if by > 0 else ast.Sub()
        total = ast.BinOp(total, op, ast.Constant(abs(by)))
    function.body = _without(function.body, name)
    renamed = Renamed(name, total)
    function.body = [renamed.visit(s) for s in function.body]


def _without(statements: Sequence[ast.stmt], name: str) -> list[ast.stmt]:
    """The statements but those that change the counter."""
    found: list[ast.stmt] = []
    for s in statements:
        for part in ("body", "orelse"):
            inner = getattr(s, part, None)
            if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                left = _without(inner, name)
                setattr(s, part, left or ([] if part == "orelse" else [placed(ast.Pass(), s)]))
        if not (isinstance(s, ast.Assign | ast.AugAssign) and name in stored([s])):
            found.append(s)
    return found


@dataclass(frozen=True, slots=True)
class _State:
    """What is known at a place: the constants that counters are, and by how much the one is more than the sum."""

    constants: Mapping[str, int]
    difference: int | None


class Differences:
    """Follows ``name - sum(terms)`` through a function: what it is, or with ``most`` what it is at most."""

    def __init__(self, name: str, terms: Sequence[str], *, most: bool = False) -> None:
        self._name = name
        self._most = most
        self._factors = {name: 1, **dict.fromkeys(terms, -1)}
        self._read: set[int | None] = set()
        self._subscripts: dict[int, tuple[ast.Name, int | None]] = {}
        self._breaks: list[list[_State]] = []
        self._continues: list[list[_State]] = []

    def everywhere(self, function: ast.FunctionDef) -> int | None:
        """The difference wherever the name is read; None where it is not one and the same."""
        self._block(function.body, _State({}, None))
        return next(iter(self._read)) if len(self._read) == 1 else None

    def at_subscripts(self, function: ast.FunctionDef) -> list[tuple[ast.Name, int]]:
        """The name where it is a subscript, alone, and the difference there, where it is known."""
        self._block(function.body, _State({}, None))
        return [(node, by) for node, by in self._subscripts.values() if by is not None]

    def _join(self, states: Sequence[_State | None]) -> _State | None:
        return _joined(states, self._most)

    def _block(self, statements: Sequence[ast.stmt], now: _State | None) -> _State | None:
        for s in statements:
            if now is None:
                return None
            now = self._after(s, now)
        return now

    def _after(self, s: ast.stmt, now: _State) -> _State | None:
        match s:
            case ast.Break() | ast.Continue():
                (self._breaks if isinstance(s, ast.Break) else self._continues)[-1].append(now)
                return None
            case ast.Return():
                self._note(s, now)
                return None
            case ast.If(test=test, body=body, orelse=orelse):
                self._note(test, now)
                return self._join([self._block(body, now), self._block(orelse, now)])
            case ast.For(iter=over):
                self._note(over, now)
                return self._looped(s, now)
            case ast.While():
                return self._looped(s, now)
            case ast.With(body=body):
                return self._block(body, now)
        pair, step = _set_to(s), step_of(s)
        if pair is not None and pair[0] in self._factors:
            return self._known({**now.constants, pair[0]: pair[1]})
        if step is not None and step[0] in self._factors:
            name, by = step
            constants = {n: c + by if n == name else c for n, c in now.constants.items()}
            difference = now.difference
            if difference is not None:
                difference += self._factors[name] * by
            return _State(constants, difference)
        self._note(s, now)
        return now

    def _known(self, constants: Mapping[str, int]) -> _State:
        if self._factors.keys() - constants.keys():
            return _State(constants, None)
        return _State(constants, sum(by * constants[n] for n, by in self._factors.items()))

    def _looped(self, s: ast.For | ast.While, before: _State) -> _State | None:
        head: _State = before
        # Constants are lost, then the difference; then nothing changes any more.
        for count in range(5):
            self._breaks.append([])
            self._continues.append([])
            read = set(self._read)
            if isinstance(s, ast.While):
                self._note(s.test, head)
            end = self._block(s.body, head)
            breaks, continues = self._breaks.pop(), self._continues.pop()
            again = self._join([head, end, *continues])
            assert again is not None
            if again == head:
                return self._join([self._block(s.orelse, head), *breaks])
            if count > 1 and again.difference != head.difference:
                again = _State(again.constants, None)  # it grows with each iteration
            head, self._read = again, read
        raise AssertionError("what is known of counters in a loop goes on changing")

    def _note(self, node: ast.AST, now: _State) -> None:
        """What the difference is where the name is read."""
        if any(isinstance(n, ast.Name) and n.id == self._name for n in ast.walk(node)):
            self._read.add(now.difference)
        for n in ast.walk(node):
            for part in _subscripts(n):
                if isinstance(part, ast.Name) and part.id == self._name:
                    _, known = self._subscripts.get(id(part), (part, now.difference))
                    both = [d for d in (known, now.difference) if d is not None]
                    self._subscripts[id(part)] = part, max(both) if len(both) == 2 else None


def _subscripts(node: ast.AST) -> Sequence[ast.expr]:
    if not isinstance(node, ast.Subscript):
        return ()
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else (node.slice,)


def _joined(states: Sequence[_State | None], most: bool) -> _State | None:
    """What holds in all of the places that are reached."""
    found = [s for s in states if s is not None]
    if not found:
        return None
    first, *others = found
    constants = {
        n: c for n, c in first.constants.items() if all(o.constants.get(n) == c for o in others)
    }
    differences = {s.difference for s in found}
    known = [d for d in differences if d is not None]
    if len(known) < len(differences) or (len(known) > 1 and not most):
        return _State(constants, None)
    return _State(constants, max(known))
