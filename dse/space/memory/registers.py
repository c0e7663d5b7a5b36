"""Small tables whose elements no banks tell apart: each in a register.

In a dynamic program that is kept in one row, how far apart two accesses are moves with a loop::

    for i in range(32):
      for c in range(255, i, -1):
        row[c] = max(row[c], row[c - i - 1] + value[i])

Whatever the banks, each copy of such a statement may need any of them. Registers have no ports: a copy chooses
among all of them.

So it is with a table that a nest reads and writes at data, as one whose elements are swapped. There an iteration waits for
what the one before has written, through a memory; registers have it in the next cycle.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod

from dse.space.nests.groups import groups
from dsl.programs.program import Storage
from dsl.schedules.steps import Partition
from polyhedral.schedule import tried
from polyhedral.scop.scheduled import Piece, ScheduledScop

MOST = 512
"""Elements of a table in registers, at most."""


def in_registers(
    state: ScheduledScop, outside: Collection[str] = ()
) -> tuple[ScheduledScop, tuple[Partition, ...]]:
    """The program with a register for each element of such tables; as it is where there are none.

    Args:
        state: a structure.
        outside: arrays in memory outside, which has no registers.
    """
    steps: tuple[Partition, ...] = ()
    settled = {*outside, *(step.array for step in state.partitions)}
    for array in state.scop.program.arrays:
        if array.storage is Storage.SCRATCH or not array.shape or array.name in settled:
            continue
        if prod(array.shape) > MOST or not _varies(state, array.name):
            continue
        moved: ScheduledScop = state
        own: tuple[Partition, ...] = ()
        for d in range(len(array.shape)):
            step = Partition(array.name, d, "complete")
            next_ = tried(moved, step)
            if next_ is None:
                break
            moved, own = next_, (*own, step)
        else:
            state, steps = moved, (*steps, *own)
    return state, steps


def _varies(state: ScheduledScop, array: str) -> bool:
    """Whether a nest accesses elements of an array that no banks tell apart."""
    return at_data(state, (array,)) or any(
        meets_itself(group.pieces, array) for group in groups(state)
    )


def at_data(state: ScheduledScop, arrays: Collection[str]) -> bool:
    """Whether a nest hands elements of one of some arrays from statement to statement, which data tell."""
    return any(_at_data(group.pieces, array) for array in arrays for group in groups(state))


def _at_data(pieces: Sequence[Piece], array: str) -> bool:
    """Whether a statement of a nest writes an array that another one reads, some of these elements at data."""
    writers = {p.name: p.statement.stmt.target for p in pieces}
    writers = {name: target for name, target in writers.items() if target.array == array}
    return any(
        index.is_data
        for p in pieces
        for read in p.statement.reads
        if read.array == array
        for name, target in writers.items()
        if name != p.name
        for index in (*read.indices, *target.indices)
    )


def meets_itself(pieces: Sequence[Piece], array: str | None = None) -> bool:
    """Whether a nest writes elements that are a varying number of elements away from others that it accesses.

    Args:
        pieces: of the nest.
        array: whose elements; None for any.
    """
    targets = [p.statement.stmt.target for p in pieces]
    others = [*targets, *(a for p in pieces for a in p.statement.reads)]
    return any(
        not (x - y).is_const and not (x.is_data or y.is_data)
        for target in targets
        for other in others
        if target.array == other.array and array in (None, target.array)
        for x, y in zip(target.indices, other.indices, strict=True)
    )
