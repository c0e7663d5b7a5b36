"""Which loops of an imperfect nest could be the outermost one of all its statements.

An alignment is one row of an affine schedule (Feautrier 1992): for each statement a loop, up or down, and
an offset, so that no dependence goes back. A dependence from S to T, whose rows are ``x`` and ``y`` without
their offsets, asks for ``offset(T) - offset(S) >= -min(y - x)``: a system of difference constraints,
whose least solution is that of longest paths (Bellman and Ford). The statements of an iteration are put
in the order of the dependences that stay in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import islice

import islpy as isl

from dsl.expressions.affine import Affine
from dsl.schedules.steps import Align
from polyhedral.dependences.memory_order import memory_order
from polyhedral.scop.scheduled import Piece, ScheduledScop

_MOST_STATEMENTS = 8
_MOST_ROWS = 64  # assignments of loops to the statements that are looked at

_Row = tuple[int, int]
"""A loop of a statement, by its level, and 1 or -1: whether the new loop goes up or down along it."""


def alignments(state: ScheduledScop, nest: Sequence[Piece], depth: int) -> list[Align]:
    """The alignments of a nest that free loops which are not free now, those first that free most, and of them those first
    that move the statements least against each other: what an iteration of one hands to the next of another one waits there.

    The loops of a statement are free where a loop around carries all that its iterations hand on to each
    other, terms of a sum included: they may then run in any order.

    Args:
        state: the program.
        nest: all pieces in a loop, in execution order, one a statement.
        depth: the loops that stay around them.
    """
    if not 2 <= len(nest) <= _MOST_STATEMENTS or len({p.name for p in nest}) < len(nest):
        return []
    system = _System(state, nest, depth)
    present = system.freed([(depth, 1)] * len(nest))
    if present == sum(len(p.dims) for p in nest):
        return []
    found: list[tuple[int, int, Align]] = []
    for rows in islice(system.assignments(), _MOST_ROWS):
        freed = system.freed(rows)
        offsets = system.offsets(rows) if freed > present else None
        step = system.aligned(rows, offsets) if offsets is not None else None
        if offsets is not None and step is not None:
            found.append((-freed, sum(offsets), step))
    return [step for *_, step in sorted(found, key=lambda one: one[:2])]


@dataclass(frozen=True)
class _System:
    """What the dependences of a nest ask of the rows of its statements."""

    state: ScheduledScop
    pieces: Sequence[Piece]
    depth: int
    _least: dict[tuple[int, int, _Row, _Row], int] = field(default_factory=dict)

    def assignments(self) -> Iterator[tuple[_Row, ...]]:
        """A loop of each statement, such that for no two of them offsets are out of question; the
        statements as they follow each other, loops that go up first.
        """
        yield from self._longer(())

    def _longer(self, rows: tuple[_Row, ...]) -> Iterator[tuple[_Row, ...]]:
        n = len(rows)
        if n == len(self.pieces):
            yield rows
            return
        for sign in (1, -1):
            for level in range(self.depth, len(self.pieces[n].dims)):
                longer = (*rows, (level, sign))
                if all(self._agree(k, n, longer) for k in range(n + 1)):
                    yield from self._longer(longer)

    def _agree(self, a: int, b: int, rows: Sequence[_Row]) -> bool:
        """Whether offsets of two statements could satisfy what is between them."""
        there, back = self.distance(a, b, rows), self.distance(b, a, rows)
        if a == b:
            return there is None or there >= 0
        return there is None or back is None or there + back >= 0

    def distance(self, a: int, b: int, rows: Sequence[_Row]) -> int | None:
        """The least distance, without offsets, of what has to stay in order; None if nothing has to."""
        pairs = self._order.get((a, b))
        if pairs is None:
            return None
        key = a, b, rows[a], rows[b]
        if key not in self._least:
            self._least[key] = self._minimum(pairs, *key)
        return self._least[key]

    def _minimum(self, pairs: isl.Set, a: int, b: int, first: _Row, second: _Row) -> int:
        kind = isl.dim_type.in_
        row = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(pairs.get_space()))
        row = row.set_coefficient_val(kind, first[0], isl.Val(-first[1]))
        at = len(self.pieces[a].dims) + second[0]
        row = row.set_coefficient_val(kind, at, isl.Val(second[1]))
        least: int = pairs.min_val(row).to_python()
        return least

    def freed(self, rows: Sequence[_Row]) -> int:
        """The loops of the statements whose own dependences the new loop carries, all together."""
        return sum(len(p.dims) for n, p in enumerate(self.pieces) if self._is_freed(n, rows[n]))

    def _is_freed(self, n: int, row: _Row) -> bool:
        level, sign = row
        order, terms = self._order.get((n, n)), self._sums.get(n)
        if order is not None and self._minimum(order, n, n, row, row) <= 0:
            return False
        # The terms of a sum may run backwards, where that is not in the order already.
        ways = [(level, sign), (level, -sign)]
        return terms is None or any(self._minimum(terms, n, n, way, way) > 0 for way in ways)

    def aligned(self, rows: Sequence[_Row], offsets: Sequence[int]) -> Align | None:
        """The step for an assignment with its offsets; None where there is no order."""
        order = self._sequence(rows, offsets)
        if order is None:
            return None
        times = [
            Affine.of(self.pieces[n].names[level]) * sign + offsets[n]
            for n, (level, sign) in enumerate(rows)
        ]
        names = tuple(self.pieces[n].name for n in order)
        return Align(names, tuple(str(times[n]) for n in order), depth=self.depth, promote=True)

    def offsets(self, rows: Sequence[_Row]) -> list[int] | None:
        """The least offsets, none negative, that satisfy all dependences."""
        count = len(self.pieces)
        edges = [
            (a, b, -least)
            for a, b in self._order
            if a != b and (least := self.distance(a, b, rows)) is not None
        ]
        offsets = [0] * count
        for _ in range(count):
            longer = [
                max([offsets[b], *(offsets[a] + w for a, c, w in edges if c == b)])
                for b in range(count)
            ]
            if longer == offsets:
                return offsets
            offsets = longer
        return None

    def _sequence(self, rows: Sequence[_Row], offsets: Sequence[int]) -> list[int] | None:
        """The statements of an iteration by the dependences inside it; None where they close a circle."""
        before: dict[int, set[int]] = {n: set() for n in range(len(self.pieces))}
        for a, b in self._order:
            least = self.distance(a, b, rows)
            if a != b and least is not None and least + offsets[b] - offsets[a] == 0:
                before[b].add(a)
        try:
            return list(TopologicalSorter(before).static_order())
        except CycleError:
            return None

    @cached_property
    def _positions(self) -> dict[int, int]:
        """Of each statement, by its index."""
        return {p.statement.index: n for n, p in enumerate(self.pieces)}

    @cached_property
    def _order(self) -> dict[tuple[int, int], isl.Set]:
        """What has to stay in order in an iteration of the loops around: points
        ``[loops of one piece, loops of the other]``, by their positions here.
        """
        at = self._positions
        found: dict[tuple[int, int], isl.Set] = {}
        for (a, b), pairs in memory_order(self.state.scop).between(self.state.reassociated):
            inside = self._inside(at[a], at[b], pairs) if a in at and b in at else None
            if inside is not None:
                key = at[a], at[b]
                found[key] = inside.union(found[key]) if key in found else inside
        return found

    @cached_property
    def _sums(self) -> dict[int, isl.Set]:
        """The order of each reduction, whether it has to stay or not."""
        at = self._positions
        sums = memory_order(self.state.scop).reductions.items()
        inside = {at[k]: self._inside(at[k], at[k], pairs) for k, pairs in sums if k in at}
        return {n: pairs for n, pairs in inside.items() if pairs is not None}

    def _inside(self, a: int, b: int, pairs: isl.Map) -> isl.Set | None:
        loops = pairs.apply_domain(self.pieces[a].times).apply_range(self.pieces[b].times)
        for k in range(self.depth):
            loops = loops.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
        return None if loops.is_empty() else loops.wrap().flatten()
