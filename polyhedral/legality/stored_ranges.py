"""Ranges of what integer elements hold, from all that is written to them, whatever the data are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dsl.expressions.expr import Access, loads
from dsl.expressions.types import DType, IndexType, IntType
from dsl.expressions.value_range import Range, type_range, value_range
from dsl.programs.program import Loop, Program, Stmt, Storage

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
        self.known: dict[str, Range] = {}
        stmts = [s for s in program.statements() if s.target.array in self.types]
        number, changed = 0, set(self.types)
        while changed:
            number += 1
            changed = set(self._round(stmts))
            # What nothing has written yet is written by statements that are not understood, if it is read at all.
            wide = changed if number >= ROUNDS else () if changed else self._unknown(stmts)
            self.known.update({name: type_range(self.types[name]) for name in wide})
            changed |= set(wide)

    def stored(self, access: Access, dtype: DType) -> Range:
        """Of what an access reads."""
        if access.array in self.tables:
            return self.tables[access.array]
        return self.known.get(access.array, type_range(dtype))

    def _round(self, stmts: list[Stmt]) -> Iterator[str]:
        """What is written from the values so far; the arrays that get more of them."""
        for stmt in stmts:
            name = stmt.target.array
            unknown = (
                a.array in self.types and a.array not in self.known for a in loads(stmt.value)
            )
            if any(unknown):
                continue  # of what is read, nothing has been written yet
            before, new = self.known.get(name), self._written(stmt)
            if before is not None:
                new = min(before[0], new[0]), max(before[1], new[1])
            if new != before:
                self.known[name] = new
                yield name

    def _unknown(self, stmts: list[Stmt]) -> set[str]:
        """What statements read of which nothing is known to be written."""
        read = {access.array for stmt in stmts for access in loads(stmt.value)}
        return {name for name in read if name in self.types and name not in self.known}

    def _written(self, stmt: Stmt) -> Range:
        whole = type_range(self.types[stmt.target.array])
        if not isinstance(stmt.value.dtype, IntType | IndexType):
            return whole
        low, high = value_range(stmt.value, self.loops[stmt.name], self.stored)
        return (low, high) if whole[0] <= low and high <= whole[1] else whole


def _loop_ranges(loops: list[Loop]) -> Mapping[str, Range]:
    found: dict[str, Range] = {}
    for loop in loops:
        low = max(b.interval(found)[0] for b in loop.lowers)
        high = min(b.interval(found)[1] for b in loop.uppers)
        found[loop.var] = (low, max(low, high - 1))
    return found
