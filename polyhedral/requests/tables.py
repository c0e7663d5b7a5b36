"""Which arrays have the partitions that their accesses want: those that a schedule says so of, and tables of constants."""

from __future__ import annotations

from dsl.expressions.expr import loads
from polyhedral.scop.scheduled import ScheduledScop


def auto_partitioned(state: ScheduledScop) -> tuple[str, ...]:
    """Arrays of ``auto_partition``, and the tables of constants that are read and of which the schedule says nothing else.

    A table that the program writes as a choice (`dsl.arrays.tabulated`) is read by as many copies at once as there are, and
    that it is one a schedule may not know. Nobody sees how a memory that nothing writes is split.
    """
    asked = tuple(step.array for step in state.auto_partitions)
    said = {
        *asked,
        *(step.array for step in state.partitions),
        *(step.array for step in state.reshapes),
        *(step.array for step in state.storage),
    }
    tables = [a.name for a in state.scop.program.tables if a.name not in said]
    if not tables:
        return asked
    read = {a.array for piece in state.pieces for a in loads(piece.statement.stmt.value)}
    return (*asked, *(name for name in tables if name in read))
