"""Counters: how far a local scalar gets that statements step by constants, whatever decides whether they do.

``n += 1`` under a condition on data runs at most as often as the loops around it iterate. So ``n`` is between what it
is set to and that plus one step for each of these iterations; at a statement, only those count that come before it::

    n = 0
    for i in range(16):
        if x[i] > 0:
            y[n] = x[i]  # n is 0 to 15 here
            n += 1
    m[0] = n  # and 0 to 16 here
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dsl.expressions.expr import (
    Access,
    Binary,
    BinaryOp,
    Cast,
    Expr,
    Load,
    Select,
    loads,
)
from dsl.expressions.types import DType, IndexType, IntType
from dsl.expressions.value_range import Range, type_range, value_range
from dsl.programs.program import If, Loop, Node, Program, Stmt, Storage

Loops = Mapping[str, Mapping[str, Range]]
"""Ranges of the loop variables around each statement."""


@dataclass(frozen=True, slots=True)
class _Effect:
    """What a statement does to a scalar: adds something of a range, sets it to something of one, or either."""

    adds: Range | None = None
    sets: Range | None = None

    def joined(self, other: _Effect) -> _Effect:
        return _Effect(_hull(self.adds, other.adds), _hull(self.sets, other.sets))


@dataclass(frozen=True, slots=True)
class _Update:
    """A statement that steps a counter: its place in the order of the program, and the loops around it."""

    place: int
    loops: tuple[Loop, ...]
    trips: tuple[int, ...]
    adds: Range


@dataclass(slots=True)
class _Counter:
    """The range of what it is set to, and its updates."""

    start: Range | None = None
    updates: list[_Update] = field(default_factory=list)


class Counters:
    """The counters of a program, and their ranges."""

    def __init__(self, program: Program, loops: Loops, values: Mapping[str, Expr]) -> None:
        """``values`` are those of the statements (see `polyhedral.legality.flags`)."""
        self._ranges = loops
        self._places: dict[str, tuple[int, tuple[Loop, ...]]] = {}
        found: dict[str, _Counter | None] = {
            a.name: _Counter()
            for a in program.arrays
            if a.storage is Storage.LOCAL and not a.shape and isinstance(a.dtype, IntType)
        }
        self._types: dict[str, DType] = {a.name: a.dtype for a in program.arrays}
        self._scopes = {a.name: a.scope_depth for a in program.arrays}
        for place, (stmt, around) in enumerate(_statements(program)):
            self._places[stmt.name] = place, around
            self._note(stmt, values[stmt.name], place, around, found)
        self._known = {name: c for name, c in found.items() if c is not None and c.updates}
        self._firsts = {name: _renewed(program.body, name) for name in self._known}

    def range_of(self, name: str, at: str = "") -> Range | None:
        """What a counter may be: anywhere, or as the statement ``at`` reads it; None of what is no counter."""
        counter = self._known.get(name)
        if counter is None or counter.start is None:
            return None
        low, high = counter.start
        for update in counter.updates:
            times = self._times(name, update, at)
            low += times * min(0, update.adds[0])
            high += times * max(0, update.adds[1])
        whole = type_range(self._types[name])
        if at:  # it is one of all values that it has anywhere, of which none wraps
            return (low, high) if self.range_of(name) is not None else None
        return (low, high) if whole[0] <= low and high <= whole[1] else None

    def _note(
        self,
        stmt: Stmt,
        value: Expr,
        place: int,
        around: tuple[Loop, ...],
        found: dict[str, _Counter | None],
    ) -> None:
        name = stmt.target.array
        counter = found.get(name)
        if counter is None:
            return
        effect = self._effect(value, name, stmt)
        if effect is None:
            found[name] = None
            return
        counter.start = _hull(counter.start, effect.sets)
        if effect.adds not in (None, (0, 0)):
            assert effect.adds is not None
            trips = tuple(_trips(loop, self._ranges[stmt.name]) for loop in around)
            counter.updates.append(_Update(place, around, trips, effect.adds))

    def _effect(self, value: Expr, name: str, stmt: Stmt) -> _Effect | None:
        """None where it is neither a step nor of a range that its own value does not decide."""
        match value:
            case Load(access=access) if access.array == name:
                return _Effect(adds=(0, 0))
            case Cast(operand, dtype) if isinstance(dtype, IntType):
                inside = self._effect(operand, name, stmt)
                return inside if _is_wider(dtype, operand.dtype) or inside is None else None
            case Select(then=then, orelse=orelse):
                a, b = self._effect(then, name, stmt), self._effect(orelse, name, stmt)
                return None if a is None or b is None else a.joined(b)
            case Binary(BinaryOp.ADD | BinaryOp.SUB as op, lhs, rhs) if _reads(lhs, name):
                return self._stepped(op, lhs, rhs, name, stmt)
            case Binary(BinaryOp.ADD, lhs, rhs) if _reads(rhs, name):
                return self._stepped(BinaryOp.ADD, rhs, lhs, name, stmt)
        if _reads(value, name) or not isinstance(value.dtype, IntType | IndexType):
            return None
        return _Effect(sets=self._own_range(value, stmt))

    def _stepped(
        self, op: BinaryOp, counted: Expr, by: Expr, name: str, stmt: Stmt
    ) -> _Effect | None:
        inside = self._effect(counted, name, stmt)
        if inside is None or _reads(by, name) or not isinstance(by.dtype, IntType | IndexType):
            return None
        low, high = self._own_range(by, stmt)
        if op is BinaryOp.SUB:
            low, high = -high, -low
        return _Effect(_moved(inside.adds, low, high), _moved(inside.sets, low, high))

    def _own_range(self, value: Expr, stmt: Stmt) -> Range:
        return value_range(value, self._ranges[stmt.name], _of_type)

    def _times(self, name: str, update: _Update, at: str) -> int:
        """How often an update may have run, since the counter was set anew, as a statement reads it."""
        outer = self._outermost(name, update.loops)
        loops, trips = update.loops[outer:], update.trips[outer:]
        if not at:
            return math.prod(trips)
        place, around = self._places[at]
        if _common(update.loops, around) < outer:
            return math.prod(trips)
        shared = _common(loops, around[outer:])
        each = math.prod(trips[shared:])
        before = max(0, math.prod(trips[:shared]) - 1)
        return before * each + (each if update.place < place else 0)

    def _outermost(self, name: str, loops: tuple[Loop, ...]) -> int:
        """How many loops around an update begin with the counter anew in each iteration."""
        found = min(self._scopes[name], len(loops))
        for depth in range(found, len(loops)):
            if any(loops[depth] is loop for loop in self._firsts[name]):
                found = depth + 1
        return found


def _renewed(nodes: tuple[Node, ...], name: str) -> list[Loop]:
    """The loops of which each iteration sets a scalar before anything else is done to it."""
    found: list[Loop] = []
    for node in nodes:
        match node:
            case Loop(body=body):
                if _begins(body, name):
                    found.append(node)
                found += _renewed(body, name)
            case If(then=then, orelse=orelse):
                found += _renewed(then, name) + _renewed(orelse, name)
    return found


def _begins(nodes: tuple[Node, ...], name: str) -> bool:
    for node in nodes:
        if isinstance(node, Stmt):
            if node.target.array == name:
                return not _reads(node.value, name)
            if _reads(node.value, name):
                return False
        elif any(
            s.target.array == name or _reads(s.value, name) for s, _ in _statements_in((node,), ())
        ):
            return False
    return False


def _statements(program: Program) -> list[tuple[Stmt, tuple[Loop, ...]]]:
    return _statements_in(program.body, ())


def _statements_in(
    nodes: tuple[Node, ...], around: tuple[Loop, ...]
) -> list[tuple[Stmt, tuple[Loop, ...]]]:
    found: list[tuple[Stmt, tuple[Loop, ...]]] = []
    for node in nodes:
        match node:
            case Stmt():
                found.append((node, around))
            case Loop(body=body):
                found += _statements_in(body, (*around, node))
            case If(then=then, orelse=orelse):
                found += _statements_in((*then, *orelse), around)
    return found


def _trips(loop: Loop, ranges: Mapping[str, Range]) -> int:
    """The largest number of iterations of a loop, of all iterations of those around it."""
    spans = [(high - low).interval(ranges)[1] for low in loop.lowers for high in loop.uppers]
    return max(0, -(-min(spans) // abs(loop.step)))


def _common(a: Sequence[Loop], b: Sequence[Loop]) -> int:
    """How many loops both are in."""
    count = 0
    while count < min(len(a), len(b)) and a[count] is b[count]:
        count += 1
    return count


def _reads(value: Expr, name: str) -> bool:
    return any(access.array == name for access in loads(value))


def _of_type(access: Access, dtype: DType) -> Range:
    return type_range(dtype)


def _is_wider(wide: DType, narrow: DType) -> bool:
    if not isinstance(narrow, IntType | IndexType):
        return False
    outer, inner = type_range(wide), type_range(narrow)
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def _hull(a: Range | None, b: Range | None) -> Range | None:
    if a is None or b is None:
        return b if a is None else a
    return min(a[0], b[0]), max(a[1], b[1])


def _moved(of: Range | None, low: int, high: int) -> Range | None:
    return None if of is None else (of[0] + low, of[1] + high)
