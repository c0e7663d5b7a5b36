"""Ranges of what integer elements hold, from all that is written to them, whatever the data are."""

from __future__ import annotations

from collections.abc import Mapping

from dsl.expressions.expr import Access
from dsl.expressions.types import DType, IndexType, IntType
from dsl.expressions.value_range import Range, type_range, value_range
from dsl.programs.program import Loop, Program, Stmt, Storage

ROUNDS = 4  # in which a range has to settle, or it is that of the type


class StoredRanges:
    """Ranges of the values of a program; of arguments those of their types."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.loops = {
            node.name: _loop_ranges([a for a in around if isinstance(a, Loop)])
            for node, around in program.walk()
            if isinstance(node, Stmt)
        }
        self.known: dict[str, Range] = {}
        for array in program.arrays:
            if array.storage is Storage.LOCAL and isinstance(array.dtype, IntType):
                self.known[array.name] = self._settled(array.name, array.dtype)

    def stored(self, access: Access, dtype: DType) -> Range:
        """Of what an access reads."""
        return self.known.get(access.array, type_range(dtype))

    def _settled(self, name: str, dtype: DType) -> Range:
        """The least range that holds itself and what is written, where a few rounds find it."""
        whole = type_range(dtype)
        stmts = [s for s in self.program.statements() if s.target.array == name]
        if any(not isinstance(s.value.dtype, IntType | IndexType) for s in stmts):
            return whole
        found: Range | None = None
        for _ in range(ROUNDS):
            before = found
            for s in stmts:

                def stored(access: Access, of: DType, now: Range | None = found) -> Range:
                    own = access.array == name
                    return (now or (0, 0)) if own else self.known.get(access.array, type_range(of))

                new = value_range(s.value, self.loops[s.name], stored)
                if new[0] < whole[0] or new[1] > whole[1]:
                    return whole
                found = new if found is None else (min(found[0], new[0]), max(found[1], new[1]))
            if found == before:
                return found or whole
        return whole


def _loop_ranges(loops: list[Loop]) -> Mapping[str, Range]:
    found: dict[str, Range] = {}
    for loop in loops:
        low = max(b.interval(found)[0] for b in loop.lowers)
        high = min(b.interval(found)[1] for b in loop.uppers)
        found[loop.var] = (low, max(low, high - 1))
    return found
