"""Ranges of what integer elements hold, from all that is written to them, whatever the data are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dsl.expressions.expr import Access, loads
from dsl.expressions.types import DType, IndexType, IntType
from dsl.expressions.value_range import Range, type_range, value_range
from dsl.programs.program import Loop, Program, Stmt, Storage
from polyhedral.legality.counters import Counters
from polyhedral.legality.flags import resolved_values

ROUNDS = 4  # in which ranges have to settle, or they are those of the types


class StoredRanges:
    """Ranges of the values of a program; of arguments those of their types.

    They are the least that hold themselves: from nothing, what statements write from what is in the ranges so far is
    added until nothing is new.
    """

    def __init__(self, program: Program) -> None:
        self.loops = {
            node.name: _loop_ranges([a for a in around if isinstance(a, Loop)])
            for node, around in program.walk()
            if isinstance(node, Stmt)
        }
        self.types = {
            a.name: a.dtype
            for a in program.arrays
            if a.storage is Storage.LOCAL and isinstance(a.dtype, IntType)
        }
        self.tables = {
            a.name: (min(a.contents), max(a.contents))
            for a in program.tables
            if isinstance(a.dtype, IntType)
        }
        self.values = resolved_values(program)
        self.counters = Counters(program, self.loops, self.values)
        self.known: dict[str, Range] = {}
        stmts = [s for s in program.statements() if s.target.array in self.types]
        number, changed = 0, set(self.types)
        while changed:
            number += 1
            before = dict(self.known)
            changed = set(self._round(stmts))
            # What nothing has written yet is written by statements that are not understood, if it is read at all.
            wide = changed if number >= ROUNDS else () if changed else self._unknown(stmts)
            self.known.update({name: self._widened(name, before.get(name)) for name in wide})
            changed |= set(wide)

    def stored(self, access: Access, dtype: DType, at: str = "") -> Range:
        """Of what an access reads, anywhere or in the statement ``at``."""
        if access.array in self.tables:
            return self.tables[access.array]
        low, high = self.known.get(access.array, type_range(dtype))
        counted = self.counters.range_of(access.array, at) if at else None
        return (low, high) if counted is None else (max(low, counted[0]), min(high, counted[1]))

    def _widened(self, name: str, before: Range | None) -> Range:
        """All that the type holds; of a counter all that it may count to, at the end that still grows."""
        counted = self.counters.range_of(name)
        if counted is None or before is None:
            return counted or type_range(self.types[name])
        now = self.known[name]
        low = now[0] if now[0] == before[0] else counted[0]
        return low, now[1] if now[1] == before[1] else counted[1]

    def _round(self, stmts: list[Stmt]) -> Iterator[str]:
        """What is written from the values so far; the arrays that get more of them."""
        for stmt in stmts:
            name = stmt.target.array
            unknown = (
                a.array in self.types and a.array not in self.known
                for a in loads(self.values[stmt.name])
            )
            if any(unknown):
                continue  # of what is read, nothing has been written yet
            before, new = self.known.get(name), self._counted(name, self._written(stmt))
            if before is not None:
                new = min(before[0], new[0]), max(before[1], new[1])
            if new != before:
                self.known[name] = new
                yield name

    def _counted(self, name: str, of: Range) -> Range:
        """What of a range a counter may be."""
        counted = self.counters.range_of(name)
        return of if counted is None else (max(of[0], counted[0]), min(of[1], counted[1]))

    def _unknown(self, stmts: list[Stmt]) -> set[str]:
        """What statements read of which nothing is known to be written."""
        read = {access.array for stmt in stmts for access in loads(self.values[stmt.name])}
        return {name for name in read if name in self.types and name not in self.known}

    def _written(self, stmt: Stmt) -> Range:
        whole = type_range(self.types[stmt.target.array])
        value = self.values[stmt.name]
        if not isinstance(value.dtype, IntType | IndexType):
            return whole
        low, high = value_range(value, self.loops[stmt.name], self.stored)
        return (low, high) if whole[0] <= low and high <= whole[1] else whole


def _loop_ranges(loops: list[Loop]) -> Mapping[str, Range]:
    found: dict[str, Range] = {}
    for loop in loops:
        low = max(b.interval(found)[0] for b in loop.lowers)
        high = min(b.interval(found)[1] for b in loop.uppers)
        found[loop.var] = (low, max(low, high - 1))
    return found
