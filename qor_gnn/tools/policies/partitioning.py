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
    """

    most_accesses: int
    most_copies: int
    accumulator_copies: int
    recurrence_copies: int
