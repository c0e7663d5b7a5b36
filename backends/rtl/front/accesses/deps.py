"""Which accesses of a block must keep their order, and across how many iterations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import gcd

from backends.rtl.front.accesses.memory import Access
from backends.rtl.front.values.scope import Scope, contradict
from backends.rtl.graph import Counter, Dep, DepKind, Op
from dsl.expressions.affine import Affine
from polyhedral.dependences.axes import Axis, Spot
from polyhedral.dependences.least_distance import least_distance, meets

MOST_QUESTIONS = 2000
"""Pairs of accesses of a block whose distance is computed; of any more it is taken for 1."""


def dependences(
    ops: Sequence[Op], accesses: Sequence[Access], scope: Scope, pipelined: int
) -> tuple[Dep, ...]:
    """Pairs of accesses that touch the same element, at least one of them a store.

    A store and itself in a later iteration are in order anyway.

    Args:
        ops: of the block.
        accesses: in their order.
        scope: the loops around.
        pipelined: how many of the innermost of them overlap.
    """
    axes = tuple(_axis(c) for c in scope.counters)
    split = len(axes) - pipelined
    finder = _Finder(scope, axes[:split], axes[split:])
    by_array: dict[str, list[Access]] = defaultdict(list)
    for access in accesses:
        by_array[access.array].append(access)
    found: list[Dep] = []
    for group in by_array.values():
        if any(a.is_store for a in group):
            for a, b, ahead in _pairs(ops, group):
                distance = finder.distance(a, b, ahead)
                if distance is not None:
                    found.append(Dep(a.op, b.op, _kind(a, b), distance))
    return tuple(found)


def _pairs(ops: Sequence[Op], group: Sequence[Access]) -> Iterator[tuple[Access, Access, bool]]:
    """Pairs with a store that may share a bank; whether the first stands before the second."""
    by_bank: dict[int | None, list[tuple[int, Access]]] = defaultdict(list)
    for n, access in enumerate(group):
        place = ops[access.op].place
        by_bank[None if place is None else place.bank].append((n, access))
    anywhere = by_bank.pop(None, [])
    parts = [[*found, *anywhere] for found in by_bank.values()] or [anywhere]
    done: set[tuple[int, int]] = set()
    for part in parts:
        stores = [(n, a) for n, a in part if a.is_store]
        for n, a in part:
            for m, b in part if a.is_store else stores:
                if a.op != b.op and (not anywhere or (n, m) not in done):
                    done.add((n, m))
                    yield a, b, n < m


@dataclass(slots=True)
class _Finder:
    scope: Scope
    outer: tuple[Axis, ...]
    axes: tuple[Axis, ...]
    asked: int = 0
    parts: dict[int, list[tuple[Affine, int]]] = field(default_factory=dict)
    variables: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.variables = frozenset(a.iv for a in self.axes)

    def distance(self, a: Access, b: Access, ahead: bool) -> int | None:
        """From the first to the second; None if nothing is to be kept."""
        if ahead and not contradict(a.guard, b.guard):
            if a.indices == b.indices and not a.guard and not b.guard:
                return 0
            if not self.scope.distinct(a.indices, b.indices) and meets(
                (*self.outer, *self.axes), _spot(a), _spot(b)
            ):
                return 0
        if not self.axes or not self._may_meet(a, b):
            return None
        if self.asked == MOST_QUESTIONS:
            return 1
        self.asked += 1
        return least_distance(self.outer, self.axes, _spot(a), _spot(b))

    def _may_meet(self, a: Access, b: Access) -> bool:
        """Some iterations, not the same ones, might touch one element."""
        for (x, moves_x), (y, moves_y) in zip(self._parts(a), self._parts(b), strict=True):
            if x.terms != y.terms:
                continue
            rest, common = x.const - y.const, gcd(moves_x, moves_y)
            if rest % common if common else rest:
                return False
        return True

    def _parts(self, access: Access) -> list[tuple[Affine, int]]:
        """Of each subscript what stays in the pipeline, and the divisor of what moves."""
        found = self.parts.get(access.op)
        if found is None:
            found = self.parts[access.op] = [self._part(i) for i in access.indices]
        return found

    def _part(self, index: Affine) -> tuple[Affine, int]:
        still, common = [], 0
        for atom, c in index.terms:
            if Affine(((atom, c),)).variables() & self.variables:
                common = gcd(common, c)
            else:
                still.append((atom, c))
        return Affine(tuple(still), index.const), common


def _axis(c: Counter) -> Axis:
    return Axis(c.iv, c.lowers, c.uppers, c.step)


def _spot(access: Access) -> Spot:
    return Spot(access.indices, access.guard)


def _kind(a: Access, b: Access) -> DepKind:
    if not a.is_store:
        return DepKind.ANTI
    return DepKind.OUTPUT if b.is_store else DepKind.FLOW
