"""Where the values that a read sees come from: the last write before it, or through copies the one that is no copy."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from dsl.expressions.expr import Access, Scatter
from polyhedral.dependences.direct import writes_seen
from polyhedral.dependences.memory_order import program_order
from polyhedral.scop.scop import Scop, Statement

_HANDS = 4096  # from copy to copy, at most


@dataclass(frozen=True, eq=False)
class ValueOrigin:
    """Where values that a read sees come from.

    Attributes:
        source: the statement; None for what the array had before.
        pairs: from its iterations, or from elements, to those of the reader.
    """

    source: Statement | None
    pairs: isl.Map


@dataclass(frozen=True, eq=False)
class ValueOrigins:
    """Follows reads of some arrays through statements that copy."""

    scop: Scop
    arrays: set[str]
    copies: frozenset[str]

    def of(self, s: Statement, access: Access) -> list[ValueOrigin]:
        """Of what a statement reads.

        Raises:
            AssertionError: a value is handed on for ever.
        """
        found: list[ValueOrigin] = []
        open_: dict[str, isl.Map] = {}
        self._step(s, access, None, open_, found)
        for _ in range(_HANDS):
            if not open_:
                return found
            name, way = open_.popitem()
            copy = self.scop.statement(name)
            self._step(copy, copy.reads[0], way, open_, found)
        raise AssertionError("values go back in time")

    def _step(
        self,
        s: Statement,
        access: Access,
        way: isl.Map | None,
        open_: dict[str, isl.Map],
        found: list[ValueOrigin],
    ) -> None:
        """One hand further back: ``way`` leads from the statement's iterations to the reader's."""
        for source, pairs in writes_seen(self.scop, s, access):
            on = pairs if way is None else pairs.apply_range(way)
            if on.is_empty():
                continue
            if source.name in self.copies and source.reads:
                known = open_.get(source.name)
                open_[source.name] = on if known is None else known.union(on).coalesce()
            else:
                found.append(ValueOrigin(source, on))
        left = self._unwritten(s, access, s.domain if way is None else way.domain())
        if not left.is_empty():
            element = left.reverse()
            found.append(ValueOrigin(None, element if way is None else element.apply_range(way)))

    def _unwritten(self, s: Statement, access: Access, runs: isl.Set) -> isl.Map:
        """The elements that iterations read, a gather each of those that it may, which nothing has assigned before."""
        found = self.scop.access_map(s, access).intersect_domain(runs)
        for t in self.scop.statements:
            order = program_order(t, s)
            is_certain = not isinstance(t.stmt.value, Scatter)
            if t.stmt.target.array == access.array and is_certain and order is not None:
                assigned = self.scop.access_map(t, t.stmt.target)
                found = found.subtract(order.reverse().apply_range(assigned))
        return found
