"""Which iterations must stay in order because they touch the same memory.

For every pair of statements: all pairs of iterations, in program order, that access one element of
which at least one writes it. This is more than the direct dependences of `polyhedral.dependences`
(it is closed under transitivity), says the same about legality, and is cheaper to compute: no
parametric integer programming, only intersections.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import islpy as isl

from dsl.expr import Access
from polyhedral.isl_text import dims
from polyhedral.scop import Scop, Statement, common_loops, reduction_access

Key = tuple[int, int]


@dataclass(frozen=True, eq=False)
class MemoryOrder:
    """``pairs[source, sink]`` by statement index, without those that only order a reduction;
    these are in ``reductions[statement]``.
    """

    scop: Scop
    pairs: dict[Key, isl.Map]
    reductions: dict[int, isl.Map]

    @cached_property
    def names(self) -> dict[str, int]:
        """Statement name to index."""
        return {s.name: s.index for s in self.scop.statements}

    def between(self, reassociated: frozenset[str]) -> Iterator[tuple[Key, isl.Map]]:
        """All ordered pairs; the reductions of ``reassociated`` statements are free."""
        yield from self.pairs.items()
        free = {self.names[name] for name in reassociated}
        for index, pairs in self.reductions.items():
            if index not in free:
                yield (index, index), pairs


@lru_cache(maxsize=64)
def memory_order(scop: Scop) -> MemoryOrder:
    """Compute (once a scop) the order that memory asks for."""
    pairs: dict[Key, isl.Map] = {}
    reductions: dict[int, isl.Map] = {}
    for array in scop.program.arrays:
        users: dict[int, list[tuple[Access, bool]]] = defaultdict(list)
        for s in scop.statements:
            for access in s.reads:
                if access.array == array.name:
                    users[s.index].append((access, False))
            if s.stmt.target.array == array.name:
                users[s.index].append((s.stmt.target, True))
        if not any(is_write for accesses in users.values() for _, is_write in accesses):
            continue
        for i, first in users.items():
            for j, second in users.items():
                source, sink = scop.statements[i], scop.statements[j]
                found = _ordered(scop, (source, first), (sink, second))
                if found is None:
                    continue
                target = reduction_access(source) if i == j else None
                if target is not None and target.array == array.name:
                    reductions[i] = found
                else:
                    known = pairs.get((i, j))
                    pairs[i, j] = found if known is None else known.union(found)
    return MemoryOrder(scop, {key: p.coalesce() for key, p in pairs.items()}, reductions)


def order_between(
    scop: Scop, source: Statement, sink: Statement
) -> tuple[isl.Map | None, isl.Map | None]:
    """The pairs of iterations of two statements that must stay in order, as `memory_order` has them:
    those that do not only order a reduction, and those that do. None where there are none.
    """
    pairs: isl.Map | None = None
    reduction: isl.Map | None = None
    target = reduction_access(source) if source is sink else None
    first, second = _accesses(source), _accesses(sink)
    for array in first.keys() & second.keys():
        found = _ordered(scop, (source, first[array]), (sink, second[array]))
        if found is None:
            continue
        if target is not None and target.array == array:
            reduction = found
        else:
            pairs = found if pairs is None else pairs.union(found)
    return pairs, reduction


def _accesses(s: Statement) -> dict[str, list[tuple[Access, bool]]]:
    """What a statement accesses of each array, and whether it writes it."""
    found: dict[str, list[tuple[Access, bool]]] = {}
    for access, writes in (*((a, False) for a in s.reads), (s.stmt.target, True)):
        found.setdefault(access.array, []).append((access, writes))
    return found


def _ordered(
    scop: Scop,
    source: tuple[Statement, list[tuple[Access, bool]]],
    sink: tuple[Statement, list[tuple[Access, bool]]],
) -> isl.Map | None:
    """Pairs of iterations on one array, the source's first in the program; None if none."""
    before = program_order(source[0], sink[0])
    if before is None:
        return None
    union: isl.Map | None = None
    for a, a_writes in source[1]:
        for b, b_writes in sink[1]:
            if not (a_writes or b_writes):
                continue
            same = scop.access_map(source[0], a).apply_range(scop.access_map(sink[0], b).reverse())
            ordered = same.intersect(before)
            if not ordered.is_empty():
                union = ordered if union is None else union.union(ordered)
    return None if union is None else union.coalesce()


def program_order(source: Statement, sink: Statement) -> isl.Map | None:
    """All pairs of iterations where the source's runs first; None where none can."""
    shared = common_loops(source, sink)
    tie = source is not sink and source.place[shared] < sink.place[shared]
    if not (shared or tie):
        return None
    ascending = tuple(loop.step > 0 for loop in source.loops[:shared])
    before = _before(len(source.loops), len(sink.loops), ascending, tie)
    return before.set_tuple_name(isl.dim_type.in_, f"s{source.index}").set_tuple_name(
        isl.dim_type.out, f"s{sink.index}"
    )


@lru_cache(maxsize=1024)
def _before(mine: int, others: int, ascending: tuple[bool, ...], tie: bool) -> isl.Map:
    """Pairs of iterations in order by the loops that two statements share, those first which step
    up; ``tie`` allows the same iteration of all of these.
    """
    x, y = dims(mine, "x"), dims(others, "y")
    cases: list[str] = []
    for k, up in enumerate(ascending):
        equal = [f"{x[m]} = {y[m]}" for m in range(k)]
        cases.append(" and ".join([*equal, f"{x[k]} {'<' if up else '>'} {y[k]}"]))
    if tie:
        cases.append(" and ".join(f"{x[m]} = {y[m]}" for m in range(len(ascending))) or "true")
    text = " or ".join(f"({case})" for case in cases)
    return isl.Map(f"{{ [{', '.join(x)}] -> [{', '.join(y)}] : {text} }}")
