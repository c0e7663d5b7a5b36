"""Automatic array partitioning: figures of what pipelines ask for and a tool grants."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Partitioning:
    """How far a tool goes when it splits arrays by itself (`qor_gnn.memory.automatic_partition`).

    Attributes:
        most_accesses: of an iteration to an array of one dimension: it is not partitioned for so many.
        most_copies: that an array, or a bank of it, is read from.
        accumulator_copies: of the loop around an accumulator: from so many on the accumulator's array is kept
            twice.
        recurrence_copies: of a recurrence of a product and a sum: so many have more states than an interval has,
            and banks are no help.
        serial_writes: of an iteration to an array of which it loads other elements: from so many on the array is
            not kept twice.
        sum_states: of a sum that each copy of a guarded update of a row makes, one after the other.
        around_sums: states of such an update besides: load, store and what closes it.
    """

    most_accesses: int
    most_copies: int
    accumulator_copies: int
    recurrence_copies: int
    serial_writes: int
    sum_states: int
    around_sums: int
