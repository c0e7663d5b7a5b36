"""Loop flattening: which nests run as one pipeline."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Flattening:
    """Which loops around a pipelined one make a single loop with it.

    Attributes:
        imperfect: also those with statements beside the inner loop, which then run in its first or last
            iteration.
        promotes_first: accumulators are promoted to registers before nests flatten, which keeps a nest whose
            innermost loop has one in memory from it.
        guarded_updates: also a nest whose inner loop updates, under a guard, an element that it stays at.
    """

    imperfect: bool = False
    promotes_first: bool = True
    guarded_updates: bool = True
