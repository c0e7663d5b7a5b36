"""Control: state machines of pipelines, and counters of nests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Control:
    """What controls a pipeline.

    Attributes:
        states: of its state machine. ``iteration``: those of an iteration. ``interval``: those of its interval,
            and an enable for each iteration that overlaps; at interval 1 none. Where no iterations overlap,
            registers are then those of a sequential body.
        flattened: what the LUTs of a flattened nest are counted by: ``nest``, or ``loop`` around the innermost one.
        counted_copies: a nest that copies an array in the order of its elements has one counter, and its
            pipeline is not one of those of which each further one costs LUTs; one loop by itself keeps nothing
            that it copies in a register.
    """

    states: Literal["iteration", "interval"] = "iteration"
    flattened: Literal["nest", "loop"] = "nest"
    counted_copies: bool = False

    def enables(self, states: int, interval: int) -> int:
        """LUTs of the enables of a pipeline's stages.

        Args:
            states: of an iteration.
            interval: between iterations. At 1 an enable may be the flip-flop of the stage before it.
        """
        if self.states == "iteration":
            return states
        return -(-states // interval) if interval > 1 else 0

    def own_states(self, interval: int) -> int:
        """States of a pipeline's own state machine; 0 where its enables are all that there is."""
        return interval if self.states == "interval" and interval > 1 else 0

    def overlap(self, states: int, interval: int) -> bool:
        """Whether the tool takes iterations of a pipeline to overlap."""
        return self.states == "iteration" or interval < states

    def flattened_loops(self, levels: int) -> int:
        """How often a flattened nest of so many loops has its LUTs."""
        return levels - 1 if self.flattened == "loop" else int(levels > 1)
