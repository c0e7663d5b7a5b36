"""Which iterations must stay in order because they touch the same memory.

For every pair of statements: all pairs of iterations, in program order, that access one element of
which at least one writes it. This is more than the direct dependences of
`polyhedral.dependences.direct` (it is closed under transitivity), says the same about legality, and
is cheaper to compute: no parametric integer programming, only intersections.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import islpy as isl

from dsl.expressions.expr import Access
from polyhedral.isl.text import dims, map_of, set_of
from polyhedral.scop.moved import Moved
from polyhedral.scop.scop import Scop, Statement, common_loops, reduction_access

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

    @cached_property
    def partners(self) -> dict[int, list[Key]]:
        """For each statement the pairs that it is in."""
        found: dict[int, list[Key]] = defaultdict(list)
        for key in self.pairs:
            for index in {*key}:
                found[index].append(key)
        return found

    @cached_property
    def positions(self) -> dict[Key, int]:
        """Where each pair is among all."""
        return {key: n for n, key in enumerate(self.pairs)}

    def touched(self, moved: Moved, reassociated: frozenset[str]) -> Iterator[tuple[Key, isl.Map]]:
        """Of `between` those whose order a step may have changed."""
        for key in sorted(self._between(moved), key=self.positions.__getitem__):
            yield key, self.pairs[key]
        yield from self._accumulations(moved, reassociated)

    def touched_likely(
        self, moved: Moved, reassociated: frozenset[str]
    ) -> Iterator[tuple[Key, isl.Map]]:
        """The same, those of few statements that were moved away from many others first: what a
        step is about comes before what it takes apart on the way. None is computed in advance.
        """
        for key in self._between(moved):
            yield key, self.pairs[key]
        yield from self._accumulations(moved, reassociated)

    def _between(self, moved: Moved) -> Iterator[Key]:
        seen: set[Key] = set()
        for index, near in moved.statements.items():
            for key in self.partners.get(index, ()):
                if key not in seen and near.issuperset(key):
                    seen.add(key)
                    yield key
        groups = (sorted(pair, key=len) for pair in moved.between)
        for few, others in sorted(groups, key=lambda pair: len(pair[0])):
            for index in few:
                for key in self.partners.get(index, ()):
                    if key not in seen and not others.isdisjoint(key):
                        seen.add(key)
                        yield key

    def _accumulations(
        self, moved: Moved, reassociated: frozenset[str]
    ) -> Iterator[tuple[Key, isl.Map]]:
        free = {self.names[name] for name in reassociated}
        for index, pairs in self.reductions.items():
            if index in moved.statements and index not in free:
                yield (index, index), pairs


@lru_cache(maxsize=64)
def memory_order(scop: Scop) -> MemoryOrder:
    """Compute (once a scop) the order that memory asks for."""
    pairs: dict[Key, isl.Map] = {}
    reductions: dict[int, isl.Map] = {}
    for array in scop.program.arrays:
        users: list[tuple[Statement, _Shape]] = []
        for s in scop.statements:
            accesses = _accesses(s).get(array.name)
            if accesses is not None:
                users.append((s, _shape(scop, s, accesses)))
        if not any(shape.writes for _, shape in users):
            continue
        for source, first in users:
            for sink, second in users:
                found = _ordered((source, first), (sink, second))
                if found is None:
                    continue
                target = reduction_access(source) if source is sink else None
                if target is not None and target.array == array.name:
                    reductions[source.index] = found
                else:
                    key = source.index, sink.index
                    known = pairs.get(key)
                    pairs[key] = found if known is None else known.union(found).coalesce()
    return MemoryOrder(scop, pairs, reductions)


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
        shapes = _shape(scop, source, first[array]), _shape(scop, sink, second[array])
        found = _ordered((source, shapes[0]), (sink, shapes[1]))
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


@dataclass(frozen=True, slots=True)
class _Shape:
    """What a statement does with an array, whatever it and the array are called.

    ``elements`` are subscripts as text, and whether they are written; ``where`` are the conditions
    of its iterations, ``loops`` their dimensions.
    """

    loops: int
    where: str
    elements: tuple[tuple[str, bool], ...]

    @property
    def writes(self) -> bool:
        """Whether an element is written."""
        return any(written for _, written in self.elements)


def _shape(scop: Scop, s: Statement, accesses: list[tuple[Access, bool]]) -> _Shape:
    elements = tuple((scop.subscripts(s, access), written) for access, written in accesses)
    return _Shape(len(s.loops), s.conditions, elements)


def _ordered(source: tuple[Statement, _Shape], sink: tuple[Statement, _Shape]) -> isl.Map | None:
    """Pairs of iterations on one array, the source's first in the program; None if none."""
    (s, first), (t, second) = source, sink
    found = _of_shapes(first, second, _program_order(s, t))
    if found is None:
        return None
    return found.set_tuple_name(isl.dim_type.in_, f"s{s.index}").set_tuple_name(
        isl.dim_type.out, f"s{t.index}"
    )


_Order = tuple[tuple[bool, ...], bool]
"""Of two statements: which of the loops that they share step up; whether in the same iteration of
all of them the first one runs first."""


@lru_cache(maxsize=16384)
def _of_shapes(first: _Shape, second: _Shape, order: _Order) -> isl.Map | None:
    """`_ordered` of statements without names: large programs have few shapes of pairs."""
    ascending, tie = order
    if not (ascending or tie):
        return None
    before = _before(first.loops, second.loops, ascending, tie)
    union: isl.Map | None = None
    for mine, writes in first.elements:
        for others, rewrites in second.elements:
            if not (writes or rewrites):
                continue
            ordered = _element(first, mine).apply_range(_element(second, others).reverse())
            ordered = ordered.intersect(before)
            if not ordered.is_empty():
                union = ordered if union is None else union.union(ordered)
    return None if union is None else union.coalesce()


def _element(shape: _Shape, subscripts: str) -> isl.Map:
    names = ", ".join(dims(shape.loops))
    inside = set_of(f"{{ [{names}] : {shape.where} }}")
    return map_of(f"{{ [{names}] -> [{subscripts}] }}").intersect_domain(inside)


def _program_order(source: Statement, sink: Statement) -> _Order:
    shared = common_loops(source, sink)
    tie = source is not sink and source.place[shared] < sink.place[shared]
    return tuple(loop.step > 0 for loop in source.loops[:shared]), tie


def program_order(source: Statement, sink: Statement) -> isl.Map | None:
    """All pairs of iterations where the source's runs first; None where none can."""
    ascending, tie = _program_order(source, sink)
    if not (ascending or tie):
        return None
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
