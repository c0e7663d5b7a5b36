"""Which values a program needs, and which of them differ: what no tool can leave out or merge.

A tool drops what is never used and computes what is the same once, however far apart it is after
unrolling. Lower bounds count what is left: iterations whose value reaches an argument (they are
live), of which no two compute the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count

import islpy as isl

from dsl.programs.program import Storage
from polyhedral.dependences.direct import Dependence, DepKind, dependences
from polyhedral.scop.scop import Scop, Statement

_PATHS = 3  # statements on a way from a value to a later one of the same statement
_ROUNDS = 4  # of taking away what no needed iteration reads


@dataclass(frozen=True, eq=False)
class Values:
    """What is known of a program's values.

    Attributes:
        scop: the program.
        needed: the statements of which the value of every iteration is.
        reads: all flow dependences.
        flow: those between these statements, of values that are certain to be read.
        live: such flow dependences between iterations whose values are needed.
    """

    scop: Scop
    needed: frozenset[str]
    reads: tuple[Dependence, ...]
    flow: tuple[Dependence, ...]
    live: tuple[Dependence, ...]

    def sources(self, reader: str, array: str) -> frozenset[str]:
        """The statements whose values a statement reads from an array."""
        return frozenset(
            d.source.name for d in self.reads if d.sink.name == reader and d.array == array
        )

    def grows(self, name: str, arrays: Collection[str]) -> frozenset[str]:
        """Loops along which each value of a statement is computed from the one before.

        The later one is a larger expression then, which is no earlier one.

        Args:
            name: of the statement.
            arrays: through which the value before it is read.
        """
        s = self.scop.statement(name)
        if name not in self.needed or any(loop.step < 0 for loop in s.loops):
            return frozenset()
        fed = self._fed(name, arrays)
        if fed is None:
            return frozenset()
        moved = {v for index in s.stmt.target.indices for v in index.variables()}
        staying = tuple(v for v in s.variables if v not in moved)
        every = dict.fromkeys((staying, *((v,) for v in s.variables)))
        chosen: tuple[str, ...] = ()
        for some in every:
            if len(some) > len(chosen) and _follows(s, some).is_subset(fed):
                chosen = some
        return frozenset(chosen)

    def _fed(self, name: str, arrays: Collection[str]) -> isl.Map | None:
        """From iterations of a statement to those that are computed from their values."""
        last = [d for d in self.flow if d.sink.name == name and d.array in arrays]
        found: isl.Map | None = None
        ways: dict[str, isl.Map] = {}
        for d in last:
            ways[d.source.name] = _joined(ways.get(d.source.name), d.pairs)
        for _ in range(_PATHS):
            if name in ways:
                found = _joined(found, ways.pop(name))
            longer: dict[str, isl.Map] = {}
            for middle, way in ways.items():
                for d in self.flow:
                    if d.sink.name == middle and d.source.name != middle:
                        new = d.pairs.apply_range(way)
                        longer[d.source.name] = _joined(longer.get(d.source.name), new)
            ways = longer
        return found


def _joined(one: isl.Map | None, other: isl.Map) -> isl.Map:
    return other if one is None else one.union(other).coalesce()


def _follows(s: Statement, variables: tuple[str, ...]) -> isl.Map:
    """Each iteration with the next one along some loops, the other ones the same."""
    space = s.domain.get_space().map_from_set()
    moving = [k for k, v in enumerate(s.variables) if v in variables]
    result: isl.Map | None = None
    for n, k in enumerate(moving):
        step = isl.Map.universe(space)
        for dim, v in enumerate(s.variables):
            free = v in variables and dim in moving[n + 1 :]
            if dim == k:
                step = step.order_lt(isl.dim_type.in_, dim, isl.dim_type.out, dim)
            elif not free:
                step = step.equate(isl.dim_type.in_, dim, isl.dim_type.out, dim)
        result = _joined(result, step)
    if result is None:
        return isl.Map.empty(space)
    return result.intersect_domain(s.domain).intersect_range(s.domain).lexmin()


def values_of(scop: Scop) -> Values:
    """What is known of a program's values."""
    every = dependences(scop)
    reads = tuple(d for d in every if d.kind is DepKind.FLOW)
    flow = tuple(d for d in reads if not _gathered(d))
    live = _live({s.name: _kept(scop, s, every) for s in scop.statements}, scop, flow)
    needed = frozenset(s.name for s in scop.statements if s.domain.is_subset(live[s.name]))
    both = tuple(d for d in flow if d.source.name in needed and d.sink.name in needed)
    return Values(scop, needed, reads, both, tuple(_between(d, live) for d in flow))


def _gathered(flow: Dependence) -> bool:
    """A read at a subscript that is data: nobody knows which of the values it takes."""
    return any(
        access.array == flow.array and any(e.is_data for e in access.indices)
        for access in flow.sink.reads
    )


def _between(dep: Dependence, live: Mapping[str, isl.Set]) -> Dependence:
    """The pairs of a dependence of which both sides are live."""
    pairs = dep.pairs.intersect_domain(live[dep.source.name])
    return replace(dep, pairs=pairs.intersect_range(live[dep.sink.name]).coalesce())


def _live(
    kept: Mapping[str, isl.Set], scop: Scop, flow: Sequence[Dependence]
) -> dict[str, isl.Set]:
    """Iterations, by statement, whose value is kept or read by one of these: all of them are needed.

    For the last of them in the order of the program is kept, and so is what it reads needed, and so
    on. The largest such sets are found from above. What still shrinks after some rounds, as a sum
    that nobody reads loses its last term in each, is given up.
    """
    live = {s.name: s.domain for s in scop.statements}
    for turn in count():
        shrunk = False
        for s in scop.statements:
            held = live[s.name]
            rest = _uncovered(held, kept[s.name], (
                d.pairs.intersect_range(live[d.sink.name]).domain() for d in flow if d.source is s
            ))  # fmt: skip
            if rest.is_empty():
                continue
            shrunk = True
            left = held.subtract(rest).coalesce()
            live[s.name] = left if turn < _ROUNDS else held.subtract(held)
        if not shrunk:
            return live
    raise AssertionError


def _uncovered(rest: isl.Set, kept: isl.Set, read: Iterable[isl.Set]) -> isl.Set:
    """What of a set is in none of the others."""
    rest = rest.subtract(kept)
    for part in read:
        if rest.is_empty():
            break
        rest = rest.subtract(part)
    return rest


def _kept(scop: Scop, s: Statement, every: Sequence[Dependence]) -> isl.Set:
    """The iterations whose value an argument has at the end."""
    last = s.domain
    if scop.program.array(s.stmt.target.array).storage is not Storage.ARGUMENT:
        return last.subtract(last)
    for d in every:
        if d.kind is DepKind.OUTPUT and d.source is s:
            last = last.subtract(d.pairs.domain())
    return last
