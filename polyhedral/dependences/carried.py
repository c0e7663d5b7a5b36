"""Which loop carries which dependence, under a schedule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import islpy as isl

from polyhedral.dependences.direct import Dependence, flows_within
from polyhedral.dependences.memory_order import memory_order
from polyhedral.scop.execution_order import shared_levels
from polyhedral.scop.scheduled import LoopId, Piece, ScheduledScop
from polyhedral.scop.scop import Scop


@dataclass(frozen=True, slots=True)
class Carried:
    """Iterations of two statements that must stay in order, and the loop that keeps them so.

    ``distance`` is the least number of iterations of the loop between them; ``reduction`` says
    that only the order of one reduction is at stake. ``flow``: where a value is handed on, the least
    distances along the loop and along each shared loop inside it, which may be negative; one
    iteration of a flattened nest may so follow another much sooner than ``distance`` says.
    """

    source: str
    sink: str
    loop: LoopId
    distance: int
    reduction: bool
    flow: tuple[int, ...] = ()


def carried(state: ScheduledScop, statements: frozenset[str]) -> tuple[Carried, ...]:
    """What the loops around some statements carry between these statements.

    A loop that carries nothing may run its iterations in any order. Reductions are there even where
    they may be reassociated: one iteration still waits for another's sum.
    """
    order = memory_order(state.scop)
    wanted = sorted(order.names[name] for name in statements)
    known = [(key, order.pairs[key], False) for key in _within(order.pairs, wanted)]
    known += [((k, k), order.reductions[k], True) for k in wanted if k in order.reductions]
    found: dict[_Key, int] = {}
    for key, pairs, reduction in known:
        for own, levels in _each(state, key, pairs, reduction):
            found[own] = min(levels[0], found.get(own, levels[0]))
    flows: dict[_Key, tuple[int, ...]] = {}
    every = _flows(state.scop, frozenset(wanted))
    direct = [(ends, d) for ends in _within(every, wanted) for d in every[ends]]
    for ends, dependence in direct:
        for own, levels in _each(state, ends, dependence.pairs, dependence.reduction):
            flows[own] = tuple(map(min, zip(levels, flows.get(own, levels), strict=True)))
    return tuple(
        Carried(*own[:3], distance, own[3], flows.get(own, ())) for own, distance in found.items()
    )


_Key = tuple[str, str, LoopId, bool]
_Ends = tuple[int, int]
"""Statements by index: what runs first, and what has to run later."""


@lru_cache(maxsize=256)
def _flows(scop: Scop, wanted: frozenset[int]) -> dict[_Ends, list[Dependence]]:
    """From each value to what reads it, by both statements, computed once for the statements of a nest."""
    found: dict[_Ends, list[Dependence]] = {}
    for d in flows_within(scop, [scop.statements[n] for n in wanted]):
        found.setdefault((d.source.index, d.sink.index), []).append(d)
    return found


def _within(known: Mapping[_Ends, object], wanted: Sequence[int]) -> Iterator[_Ends]:
    """The pairs of statements among those wanted: a large program has few in a nest, of many."""
    if len(wanted) ** 2 > len(known):
        inside = frozenset(wanted)
        return (key for key in known if inside.issuperset(key))
    return (key for key in product(wanted, wanted) if key in known)


def _each(
    state: ScheduledScop,
    ends: tuple[int, int],
    pairs: isl.Map,
    reduction: bool,
) -> Iterator[tuple[_Key, tuple[int, ...]]]:
    """Each loop that carries some of the pairs between two of the statements, with the least
    distances along it and the shared loops inside it.
    """
    source, sink = (state.scop.statements[k].name for k in ends)
    for p in state.of_statement(source):
        for q in state.of_statement(sink):
            for level, distances in _levels(pairs, p, q):
                yield (source, sink, p.dims[level].uid, reduction), distances


def _levels(pairs: isl.Map, p: Piece, q: Piece) -> list[tuple[int, tuple[int, ...]]]:
    """Each shared loop that carries some of the pairs, with the least distances from it inwards."""
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
            least = (here.dim_min_val(k).to_python() for k in range(level, shared))
            found.append((level, tuple(least)))
        deltas = deltas.fix_val(isl.dim_type.set, level, isl.Val(0))
    return found
