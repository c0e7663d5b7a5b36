"""``stable(argument)``: processes read an argument without waiting for each other.

The program stays as it is. In a dataflow region the first process waits, at each call, until all that read an argument have
begun; one that the caller leaves alone while the kernel runs needs none of that (UG1399, pragma HLS stable). That nothing in
the kernel writes it is asked at the end of the schedule (`polyhedral.requests.read_only`).
"""

from __future__ import annotations

from dataclasses import replace

from dsl.schedules.pragma_steps import Stable
from polyhedral.requests.repeated import once
from polyhedral.scop.lookup import find_array
from polyhedral.scop.scheduled import ScheduledScop
from polyhedral.transforms.registry import Order, transform


@transform(Stable, order=Order.KEPT)
def stable(state: ScheduledScop, step: Stable) -> ScheduledScop:
    """Record it."""
    name = find_array(state, step.argument, step).name
    same = [s for s in state.stables if s.argument == name]
    return replace(state, stables=once(state.stables, same, step, f"'{name}'"))
