"""A sequence of regions in time: the state that it is in, and what still runs beside it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from qor_gnn.body.body import Body
from qor_gnn.schedule.block_values import BlockValues
from qor_gnn.schedule.loops import Scope
from qor_gnn.schedule.regions import Region, loaded_alike, side_by_side

Ended = Literal["start", "loop", "call", "stored"]


@dataclass(slots=True)
class Flow:
    """A sequence of regions so far: the current state, how the last one ended, what it stored."""

    at: float = 0
    ended: Ended = "start"
    stored: list[int] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    calls: list[Region] = field(default_factory=list)  # that run at the same time, the last ones
    called_at: float = 0
    block: Body | None = None  # in front of the next region
    values: BlockValues = field(default_factory=BlockValues)  # of blocks that run beside calls
    top: bool = False

    def wait(self, *bodies: Body | None) -> None:
        """For what blocks beside the calls compute and bodies load; for all of it where none is given."""
        wanted = [self.values.wanted(body) for body in bodies if body is not None]
        until = max(wanted, default=0.0) if bodies else self.values.latest()
        if until > self.at:
            self.at, self.calls = until, []


def until_return(flow: Flow) -> float:
    """States of a function whose body that is."""
    only = flow.regions[0] if len(flow.regions) == 1 else None
    if only is not None and only.pipeline is not None and flow.ended == "call":
        return flow.at - (0 if only.prologue else 1)
    return flow.at + (0 if flow.ended == "call" else 1)


def call(scope: Scope, flow: Flow, region: Region, loads: int = 0) -> None:
    """Calls that share no memory run at the same time, and take as long as the longest.

    Args:
        scope: the design.
        flow: the regions so far; the call is added.
        region: what is called.
        loads: states of what is loaded in front of it, which no call hides that runs at the same time.
    """
    loops = scope.personality.composition.concurrent == "loops"
    in_turn = scope.personality.composition.in_turn
    ready = bool(flow.calls) and flow.ended in ("call", "stored") and not in_turn
    merged = ready and not loops and loaded_alike(region, flow.calls)
    free = loops or not region.prologue or merged
    region.beside = (ready and free) and (
        side_by_side(scope.addresses.memories, region, flow.calls)
        if loops and not flow.top
        else merged or all(not region.memories & other.memories for other in flow.calls)
    )
    if merged:
        region.prologue = max(other.prologue for other in flow.calls)
    if region.beside and not loops:
        region.prologue = max(region.prologue, loads)
    if not region.beside:
        flow.calls = []
        flow.called_at = flow.at
    region.start = flow.called_at + region.prologue
    flow.calls.append(region)
    flow.regions.append(region)
    flow.at = max(flow.at, flow.called_at + region.prologue + region.latency)
