"""Recurrences: states besides those of the operators on them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Recurrences:
    """What a loop-carried dependence adds to, or takes from, its operators' states.

    Attributes:
        closing: states saved where a single operator is on a recurrence through a register.
        closes_in_time: one such state is saved where the operator's last stage and the selection in front of a
            register fit into a state together; of operators of the version's own table it is known whether it is.
        quicker: where a sum does not close at an interval that somebody asked for, it is done by an adder without DSP
            slices if that has fewer states.
        memory: states of a store and a load besides the operators between them.
        element: the same where the innermost loop of a flattened nest stays at the element, or a loop of its
            own loads what the iteration before has stored; None where that makes no difference.
        register: states that a register takes besides pipelined operators where a pipeline takes its first value from
            outside; what the first iteration sets goes from one to the next without.
        kept: what an iteration stores at a place that data tell is kept in a register for the next one
            (`qor_gnn.schedule.intervals.kept_updates`).
    """

    closing: int
    memory: int
    element: int | None = None
    register: int = 0
    kept: bool = False
    closes_in_time: bool = False
    quicker: bool = False
