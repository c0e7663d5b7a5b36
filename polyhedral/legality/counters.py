"""Counters: how far a local scalar gets that statements step by constants, whatever decides whether they do.

``n += 1`` under a condition on data runs at most as often as the loops around it iterate. So ``n`` is between what it
is set to and that plus one step for each of these iterations; at a statement, only those count that come before it::

    n = 0
    for i in range(16):
        if x[i] > 0:
            y[n] = x[i]  # n is 0 to 15 here
            n += 1
    m[0] = n  # and 0 to 16 here

Of the two branches of an `if` on loop variables one runs in each iteration of the loops around it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
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
class _Branch:
    """A branch of an `if` on loop variables, and how many loops are around that."""

    node: If
    is_then: bool
    depth: int


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a statement stands: its number in the order of the program, the loops and the branches around it."""

    number: int
    loops: tuple[Loop, ...]
    branches: tuple[_Branch, ...]

    def excludes(self, other: _Place) -> bool:
        """Whether the other one is in the other branch of an `if`."""
        return any(
            a.node is b.node and a.is_then is not b.is_then
            for a, b in zip(self.branches, other.branches, strict=False)
        )

    def is_in(self, node: If) -> bool:
        return any(branch.node is node for branch in self.branches)


@dataclass(frozen=True, slots=True)
class _Update:
    """A statement that steps a counter."""

    place: _Place
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
        self._places = dict(_statements(program))
        found: dict[str, _Counter | None] = {
            a.name: _Counter()
            for a in program.arrays
            if a.storage is Storage.LOCAL and not a.shape and isinstance(a.dtype, IntType)
        }
        self._types: dict[str, DType] = {a.name: a.dtype for a in program.arrays}
        self._scopes = {a.name: a.scope_depth for a in program.arrays}
        for stmt in program.statements():
            self._note(stmt, values[stmt.name], found)
        self._known = {name: c for name, c in found.items() if c is not None and c.updates}
        self._firsts = {name: _renewed(program.body, name) for name in self._known}

    def range_of(self, name: str, at: str = "") -> Range | None:
        """What a counter may be: anywhere, or as the statement ``at`` reads it; None of what is no counter."""
        counter = self._known.get(name)
        if counter is None or counter.start is None:
            return None
        down, up = (
            [(u, max(0, -u.adds[0])) for u in counter.updates],
            [(u, max(0, u.adds[1])) for u in counter.updates],
        )
        low = counter.start[0] - sum(self._moved(name, down, at, 0))
        high = counter.start[1] + sum(self._moved(name, up, at, 0))
        whole = type_range(self._types[name])
        if at:  # it is one of all values that it has anywhere, of which none wraps
            return (low, high) if self.range_of(name) is not None else None
        return (low, high) if whole[0] <= low and high <= whole[1] else None

    def _note(
        self,
        stmt: Stmt,
        value: Expr,
        found: dict[str, _Counter | None],
    ) -> None:
        name = stmt.target.array
        counter = found.get(name)
        if counter is None:
            return
        effect = self._assigned(value, name, stmt)
        if effect is None:
            found[name] = None
            return
        counter.start = _hull(counter.start, effect.sets)
        if effect.adds not in (None, (0, 0)):
            assert effect.adds is not None
            place = self._places[stmt.name]
            trips = tuple(_trips(loop, self._ranges[stmt.name]) for loop in place.loops)
            counter.updates.append(_Update(place, trips, effect.adds))

    def _assigned(self, value: Expr, name: str, stmt: Stmt) -> _Effect | None:
        """The effect of what is assigned: a conversion to the counter's own type is that of the assignment."""
        match value:
            case Select(then=then, orelse=orelse):
                a, b = self._assigned(then, name, stmt), self._assigned(orelse, name, stmt)
                return None if a is None or b is None else a.joined(b)
            case Cast(operand, dtype) if dtype == self._types[name]:
                return self._effect(operand, name, stmt)
            case _:
                return self._effect(value, name, stmt)

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
        return _Effect(_shifted(inside.adds, low, high), _shifted(inside.sets, low, high))

    def _own_range(self, value: Expr, stmt: Stmt) -> Range:
        return value_range(value, self._ranges[stmt.name], _of_type)

    def _moved(
        self, name: str, updates: Sequence[tuple[_Update, int]], at: str, level: int
    ) -> tuple[int, int]:
        """How far updates by so much each have moved a counter at most, as a statement reads it: in iterations in front of
        its own one, and in that.

        Args:
            name: of the counter.
            updates: those in one branch, ``level`` of an `if` deep.
            at: the statement.
            level: see above.
        """
        before, now = 0, 0
        ifs: dict[int, list[tuple[_Update, int]]] = {}
        for update, by in updates:
            if len(update.place.branches) > level:
                ifs.setdefault(id(update.place.branches[level].node), []).append((update, by))
                continue
            ahead, here = self._times(name, update, at)
            before, now = before + ahead * by, now + here * by
        for inside in ifs.values():
            first = inside[0][0].place.branches[level]
            sides = [
                self._moved(name, side, at, level + 1)
                for then in (True, False)
                if (side := [u for u in inside if u[0].place.branches[level].is_then is then])
            ]
            one = all(self._outermost(name, u.place.loops) <= first.depth for u, _ in inside)
            most = max if one else sum
            is_around = bool(at) and self._places[at].is_in(first.node)
            before += most([ahead for ahead, _ in sides])
            now += (sum if is_around else most)([here for _, here in sides])
        return before, now

    def _times(self, name: str, update: _Update, at: str) -> tuple[int, int]:
        """How often an update may have run, since the counter was set anew, as a statement reads it: see `_moved`."""
        mine = update.place
        outer = self._outermost(name, mine.loops)
        loops, trips = mine.loops[outer:], update.trips[outer:]
        if not at:
            return math.prod(trips), 0
        place = self._places[at]
        if _common(mine.loops, place.loops) < outer:
            return math.prod(trips), 0
        shared = _common(loops, place.loops[outer:])
        each = math.prod(trips[shared:])
        before = max(0, math.prod(trips[:shared]) - 1)
        is_done = mine.number < place.number and not mine.excludes(place)
        return before * each, each if is_done else 0

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


def _statements(program: Program) -> Iterator[tuple[str, _Place]]:
    for number, (stmt, around) in enumerate(_statements_in(program.body, ())):
        loops = tuple(a for a in around if isinstance(a, Loop))
        yield stmt.name, _Place(number, loops, tuple(a for a in around if isinstance(a, _Branch)))


def _statements_in(
    nodes: tuple[Node, ...], around: tuple[Loop | _Branch, ...]
) -> list[tuple[Stmt, tuple[Loop | _Branch, ...]]]:
    found: list[tuple[Stmt, tuple[Loop | _Branch, ...]]] = []
    for node in nodes:
        match node:
            case Stmt():
                found.append((node, around))
            case Loop(body=body):
                found += _statements_in(body, (*around, node))
            case If(then=then, orelse=orelse):
                depth = sum(isinstance(a, Loop) for a in around)
                found += _statements_in(then, (*around, _Branch(node, True, depth)))
                found += _statements_in(orelse, (*around, _Branch(node, False, depth)))
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


def _shifted(of: Range | None, low: int, high: int) -> Range | None:
    return None if of is None else (of[0] + low, of[1] + high)
