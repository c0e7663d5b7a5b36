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
