"""Elements that live in a register while the inner loops of a pipeline run.

for i:                                  for i:
    for j:                                  for j:
        C[i] = C[i] + A[i, j]                   r = (j == 0 ? C[i] : r) + A[i, j]
                                                if j == M - 1: C[i] = r
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from backends.rtl.front.values.scope import Scope
from backends.rtl.front.values.val import Guard
from backends.rtl.graph import Array, Counter, Memory
from dsl.expressions.affine import Affine, Constraint

Indices = tuple[Affine, ...]


@dataclass(frozen=True, slots=True)
class Touch:
    """A statement copy accesses an element."""

    array: str
    indices: Indices
    guard: Guard
    is_store: bool


@dataclass(frozen=True, slots=True)
class Span:
    """The iterations in which an element lives in a register: their first and their last.

    ``private``: the element holds nothing before, nor is it needed afterwards. ``lanes``: it is
    accumulated in so many partial results, one iteration (``turn``, from 0) after the other, and
    not written back here; ``identity`` is what a partial result starts with.
    """

    first: Guard
    last: Guard
    private: bool
    lanes: int = 0
    turn: Affine | None = None
    identity: int = 0

    def in_lanes(self, counter: Counter, lanes: int, identity: int) -> Span:
        """The span of an element that is accumulated in partial results, along one counter."""
        turn = (Affine.of(counter.iv) - counter.lowers[0]) // counter.step
        return replace(self, lanes=lanes, turn=turn, identity=identity)


def spans(
    touches: Iterable[Touch],
    counters: Sequence[Counter],
    scope: Scope,
    arrays: Mapping[str, Array],
    lifetimes: Mapping[str, int],
    registers: bool = False,
) -> dict[tuple[str, Indices], Span]:
    """The elements of a pipeline that are better kept in registers.

    Their subscripts do not change in the innermost counters, something writes them, and no other
    access of the block can be of the same element.

    Args:
        touches: the accesses of all statement copies.
        counters: of the pipeline, outermost first.
        scope: that of the block.
        arrays: by name.
        lifetimes: of arrays that live in one iteration of some of the outer counters: how many.
        registers: also those of arrays that are registers already.
    """
    written: dict[str, dict[Indices, bool]] = defaultdict(dict)
    guards: dict[tuple[str, Indices], set[Guard]] = defaultdict(set)
    for t in touches:
        known = written[t.array]
        known[t.indices] = known.get(t.indices, False) or t.is_store
        guards[t.array, t.indices].add(t.guard)
    found: dict[tuple[str, Indices], Span] = {}
    for array, elements in written.items():
        if not any(elements.values()):
            continue
        if not registers and _is_register(arrays[array], elements):
            continue
        shapes = {tuple(i.terms for i in indices) for indices in elements}
        for indices, stored in elements.items():
            if not stored or any(i.is_data for i in indices):
                continue
            depth = lifetimes.get(array, 0)
            start = max(suffix(indices, counters), depth)
            ends = edges(counters[start:], scope)
            inside = frozenset(c.iv for c in counters[start:])
            when = _when(guards[array, indices], inside)
            if ends is None or (when is None and not exists(indices, arrays[array], scope)):
                continue
            first, last = (scope.guard((*end, *(when or ()))) for end in ends)
            if first is None or last is None:
                continue
            if len(shapes) == 1 or all(
                other == indices or scope.distinct(other, indices) for other in elements
            ):
                private = array in lifetimes and start == depth
                found[array, indices] = Span(first, last, private)
    return found


def _when(guards: set[Guard], inside: frozenset[str]) -> Guard | None:
    """Under which condition on the outer loops an element is accessed; None if that is not all."""
    for guard in guards:
        outside = not any(c.expr.variables() & inside for c in guard)
        if outside and all(set(guard) <= set(other) for other in guards):
            return guard
    return None


def exists(indices: Indices, array: Array, scope: Scope) -> bool:
    """The element is one of the array in every iteration."""
    pairs = [(i, n) for i, n in zip(indices, array.shape, strict=True) if not i.is_data]
    return all(scope.low(i) >= 0 and scope.high(i) < n for i, n in pairs)


def _is_register(array: Array, elements: Iterable[Indices]) -> bool:
    """It is made of registers already, each statement with its own."""
    return array.memory is Memory.REGISTERS and all(array.bank(e).is_const for e in elements)


def suffix(indices: Indices, counters: Sequence[Counter]) -> int:
    """From which counter on the subscripts stay the same."""
    names: frozenset[str] = frozenset().union(*(i.variables() for i in indices))
    start = len(counters)
    while start and counters[start - 1].iv not in names:
        start -= 1
    return start


def edges(counters: Sequence[Counter], scope: Scope) -> tuple[Guard, Guard] | None:
    """When the counters are all at their first, and at their last values; None if not sayable."""
    if not counters or any(len(c.lowers) > 1 or len(c.uppers) > 1 for c in counters):
        return None
    first = scope.guard(Constraint(Affine.of(c.iv) - c.lowers[0], "==") for c in counters)
    last = scope.guard(Constraint(Affine.of(c.iv) + c.step - c.uppers[0]) for c in counters)
    return None if first is None or last is None else (first, last)
