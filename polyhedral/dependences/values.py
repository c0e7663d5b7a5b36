"""Which values a program needs, and which of them differ: what no tool can leave out or merge.

A tool drops what is never used and computes what is the same once, however far apart it is after
unrolling. Lower bounds count what is left: iterations whose value reaches an argument (they are
live), of which no two compute the same.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import islpy as isl

from dsl.programs.program import Storage
from polyhedral.dependences.direct import Dependence, DepKind, dependences
from polyhedral.scop.scop import Scop, Statement

_PATHS = 3  # statements on a way from a value to a later one of the same statement


@dataclass(frozen=True, eq=False)
class Values:
    """What is known of a program's values.

    Attributes:
        scop: the program.
        needed: the statements of which the value of every iteration is.
        reads: all flow dependences.
        flow: those between these statements.
    """

    scop: Scop
    needed: frozenset[str]
    reads: tuple[Dependence, ...]
    flow: tuple[Dependence, ...]

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
    flow = tuple(d for d in every if d.kind is DepKind.FLOW)
    read = [(d, d.pairs.domain()) for d in flow]
    kept = {s.name: _kept(scop, s, every) for s in scop.statements}
    needed = frozenset(kept)
    while True:
        # If each iteration is kept or read by one of these, the last one is kept, and so all are.
        found = frozenset(
            s.name for s in scop.statements if s.name in needed
            and _covered(s, [kept[s.name], *(u for d, u in read if d.source is s
                                             and d.sink.name in needed)])
        )  # fmt: skip
        if found == needed:
            break
        needed = found
    both = tuple(d for d in flow if d.source.name in needed and d.sink.name in needed)
    return Values(scop, needed, flow, both)


def _covered(s: Statement, parts: Sequence[isl.Set]) -> bool:
    """Whether every iteration of a statement is in one of some sets."""
    rest = s.domain
    for part in parts:
        rest = rest.subtract(part)
        if rest.is_empty():
            return True
    return False


def _kept(scop: Scop, s: Statement, every: Sequence[Dependence]) -> isl.Set:
    """The iterations whose value an argument has at the end."""
    last = s.domain
    if scop.program.array(s.stmt.target.array).storage is not Storage.ARGUMENT:
        return last.subtract(last)
    for d in every:
        if d.kind is DepKind.OUTPUT and d.source is s:
            last = last.subtract(d.pairs.domain())
    return last
