"""Which statements can be the last, or the next, to write what another accesses.

Of statements that write one element in each iteration of the same loops, all but two are always
overwritten before anybody looks: what an access in the body sees is written by the statement just
before it, or by the last one in an earlier iteration::

    for i:
        A[i] = …   # S0: seen by S1 alone
        A[i] = …   # S1, reads A[i - 1] of S2 and A[i] of S0
        A[i] = …   # S2

Leaving the others out before isl is asked makes its work linear in the statements of a loop.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from polyhedral.scop.scop import Scop, Statement

FEW = 8
"""Writers up to which all are asked for at once, which is fewer questions."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Statements that access an array, and all that may have written, or will write, what they
    access.
    """

    sinks: tuple[Statement, ...]
    writers: tuple[Statement, ...]


def batches(
    scop: Scop, writers: Sequence[Statement], sinks: Sequence[Statement], *, following: bool
) -> Iterator[Batch]:
    """All sinks, each with the writers that may be the last before it, or the first after it.

    Args:
        scop: the program.
        writers: all statements that write an array, in the order of the program.
        sinks: statements that access it.
        following: the first writers after the accesses are sought, not the last before them.
    """
    if len(writers) <= FEW:
        yield Batch(tuple(sinks), tuple(writers))
        return
    alike: dict[object, list[Statement]] = defaultdict(list)
    for s in writers:
        alike[s.loop_ids, s.conds, scop.subscripts(s, s.stmt.target)].append(s)
    # Of equal loops the last place tells the order.
    groups = [sorted(group, key=lambda s: s.place[-1]) for group in alike.values()]
    found: dict[frozenset[int], list[Statement]] = defaultdict(list)
    for sink in sinks:
        seen = {s.index for group in groups for s in _candidates(group, sink, following)}
        found[frozenset(seen)].append(sink)
    for indices, together in found.items():
        yield Batch(tuple(together), tuple(s for s in writers if s.index in indices))


def _candidates(
    group: Sequence[Statement], sink: Statement, following: bool
) -> Iterator[Statement]:
    """Of statements that write the same element in each iteration, those that a sink may see."""
    yield group[0] if following else group[-1]
    depth = len(group[0].loop_ids)
    if sink.loop_ids[:depth] != group[0].loop_ids:
        return  # all of an iteration run before it, or after it
    places = [s.place[depth] for s in group]
    if following:
        at = bisect_right(places, sink.place[depth])
        if at < len(group):
            yield group[at]
    else:
        at = bisect_left(places, sink.place[depth])
        if at > 0:
            yield group[at - 1]
