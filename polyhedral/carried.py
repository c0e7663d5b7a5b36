"""Which loop carries which dependence, under a schedule."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from polyhedral.legality import shared_levels
from polyhedral.memory_order import memory_order
from polyhedral.scheduled import LoopId, Piece, ScheduledScop


@dataclass(frozen=True, slots=True)
class Carried:
    """Iterations of two statements that must stay in order, and the loop that keeps them so.

    ``distance`` is the least number of iterations of the loop between them; ``reduction`` says
    that only the order of one reduction is at stake.
    """

    source: str
    sink: str
    loop: LoopId
    distance: int
    reduction: bool


def carried(state: ScheduledScop, statements: frozenset[str]) -> tuple[Carried, ...]:
    """What the loops around some statements carry between these statements.

    A loop that carries nothing may run its iterations in any order. Reductions are there even where
    they may be reassociated: one iteration still waits for another's sum.
    """
    order = memory_order(state.scop)
    known = [(key, pairs, False) for key, pairs in order.pairs.items()]
    known += [((index, index), pairs, True) for index, pairs in order.reductions.items()]
    found: dict[tuple[str, str, LoopId, bool], int] = {}
    for (source, sink), pairs, reduction in known:
        names = (state.scop.statements[source].name, state.scop.statements[sink].name)
        if not statements.issuperset(names):
            continue
        for p in state.of_statement(names[0]):
            for q in state.of_statement(names[1]):
                for level, distance in _levels(pairs, p, q):
                    key = (*names, p.dims[level].uid, reduction)
                    found[key] = min(distance, found.get(key, distance))
    return tuple(Carried(*key[:3], distance, key[3]) for key, distance in found.items())


def _levels(pairs: isl.Map, p: Piece, q: Piece) -> list[tuple[int, int]]:
    """Each shared loop that carries some of the pairs, with the least distance."""
    shared = shared_levels(p, q)
    if shared == 0:
        return []
    deltas = (
        pairs.apply_domain(p.times)
        .apply_range(q.times)
        .project_out(isl.dim_type.in_, shared, len(p.dims) - shared)
        .project_out(isl.dim_type.out, shared, len(q.dims) - shared)
        .deltas()
    )
    found = []
    for level in range(shared):
        here = deltas.lower_bound_val(isl.dim_type.set, level, isl.Val(1))
        if not here.is_empty():
            found.append((level, here.dim_min_val(level).to_python()))
        deltas = deltas.fix_val(isl.dim_type.set, level, isl.Val(0))
    return found
