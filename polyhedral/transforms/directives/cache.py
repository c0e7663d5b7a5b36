"""``cache(argument, lines, depth)``: a cache in front of an argument in memory outside that is only read.

The program stays as it is. A tool reads a line where an element is not there, and makes no bursts of what goes through a
cache (UG1399, pragma HLS cache, of 2023.2; UG1448, burst inference).
"""

from __future__ import annotations

from dataclasses import replace

from dsl.errors.errors import ScheduleError
from dsl.schedules.pragma_steps import Cache
from polyhedral.requests.repeated import once
from polyhedral.scop.lookup import find_array
from polyhedral.scop.scheduled import ScheduledScop
from polyhedral.transforms.registry import Order, transform

_MOST = 2**16


@transform(Cache, order=Order.KEPT)
def cache(state: ScheduledScop, step: Cache) -> ScheduledScop:
    """Record it; W207 where lines or elements of a line are no power of two."""
    name = find_array(state, step.argument, step).name
    for what, count, least in (("lines", step.lines, 1), ("depth", step.depth, 0)):
        if not least <= count <= _MOST or count & (count - 1):
            raise ScheduleError(
                "W207",
                f"{what} {count} does not fit",
                span=step.span,
                help=f"it is a power of two up to {_MOST}"
                + ("" if least else ", or 0: as the tool does"),
            )
    same = [c for c in state.caches if c.argument == name]
    return replace(state, caches=once(state.caches, same, step, f"the cache of '{name}'"))
