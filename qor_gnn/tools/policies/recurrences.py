"""Recurrences: states besides those of the operators on them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Recurrences:
    """What a loop-carried dependence adds to, or takes from, its operators' states.

    Attributes:
        closing: states saved where a single operator is on a recurrence through a register.
        memory: states of a store and a load besides the operators between them.
        element: the same where the innermost loop of a flattened nest stays at the element, or a loop of its
            own loads what the iteration before has stored; None where that makes no difference.
        kept: what an iteration stores at a place that data tell is kept in a register for the next one
            (`qor_gnn.schedule.intervals.kept_updates`).
    """

    closing: int
    memory: int
    element: int | None = None
    kept: bool = False
