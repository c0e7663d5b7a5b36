"""Between which statements a step may have changed the order of iterations.

A step on one nest of a large program leaves most pairs of statements as they were: the same loops, as
many of them shared, the same one first. Those are legal if they were legal before.

Before, three statements share a loop; after ``distribute("S0")`` the loop of ``S0`` is its own::

    for i: S0, S1, S2            for i: S0
                                 for i: S1, S2

``S0`` has lost the loop that it shared with ``S1`` and ``S2``; these two share one as they did.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from polyhedral.scop.execution_order import shared_loops
from polyhedral.scop.scheduled import Piece, ScheduledScop


@dataclass(frozen=True, slots=True)
class Moved:
    """What may run in another order than before.

    Attributes:
        statements: those whose own loops were changed, by index; each with all that share a loop with it, itself included.
        between: each statement of the first set with each of the second, by index.
    """

    statements: Mapping[int, frozenset[int]]
    between: tuple[tuple[frozenset[int], frozenset[int]], ...]


def moved(before: ScheduledScop, after: ScheduledScop) -> Moved | None:
    """What a step has moved; None where that is not known: then it may be everything.

    It is known of statements of one piece each, in the same sequence before and after.
    """
    old, new = _in_sequence(before), _in_sequence(after)
    indices = [piece.statement.index for piece in new]
    if indices != [p.statement.index for p in old] or len({*indices}) < len(indices):
        return None
    shared, now = _shared(old), _shared(new)
    changed: dict[int, frozenset[int]] = {}
    # Statements that share no loop run one after the other, whatever their own loops are.
    for nest in _nests(len(indices), now):
        inside = [k for k in nest if not _same_loops(old[k], new[k])]
        together = frozenset(indices[k] for k in nest) if inside else frozenset[int]()
        changed.update((indices[k], together) for k in inside)
    between = []
    for at, (a, b) in enumerate(zip(shared, now, strict=True)):
        if a != b:
            # Two statements share as many loops as the neighbours between them do at the least. So
            # whatever is beyond neighbours that share no more than these is as far away as it was.
            least, first, last = min(a, b), at, at + 1
            while first > 0 and max(shared[first - 1], now[first - 1]) > least:
                first -= 1
            while last < len(now) and max(shared[last], now[last]) > least:
                last += 1
            left, right = indices[first : at + 1], indices[at + 1 : last + 1]
            between.append((frozenset(left), frozenset(right)))
    return Moved(changed, tuple(between))


def _nests(count: int, shared: Sequence[int]) -> Iterator[range]:
    """The positions of pieces that neighbours, each sharing a loop with the next, lead to from one another."""
    first = 0
    for last in range(count):
        if last + 1 == count or shared[last] == 0:
            yield range(first, last + 1)
            first = last + 1


def _in_sequence(state: ScheduledScop) -> list[Piece]:
    return sorted(state.pieces, key=lambda piece: piece.place)


def _same_loops(p: Piece, q: Piece) -> bool:
    same = p.domain is q.domain and p.bindings == q.bindings and len(p.dims) == len(q.dims)
    return same and p.names == q.names


def _shared(pieces: Sequence[Piece]) -> list[int]:
    """How many loops each piece shares with the next one."""
    return [shared_loops(p.place, q.place) for p, q in itertools.pairwise(pieces)]
