"""What is asked of a loop beside an interval, copies and flattening: the same at all levels, from steps to C++."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PipelineStyle = Literal["", "stp", "flp", "frp"]


@dataclass(frozen=True, slots=True)
class LoopRequests:
    """Requests of `dsl.schedules.steps` and `dsl.schedules.pragma_steps` for one loop.

    Attributes:
        style: of its pipeline; ``""`` is the tool's own.
        rewind: its next execution begins before this one has ended.
        skip_exit_check: copies of its body are not asked whether they are the last.
        latency: the least and the most cycles of an iteration; 0 where nothing is said.
        target_ti: cycles from one execution to the next that the tool is to reach; 0: nothing is said.
        unbalanced: sums stay in the order in which they are written.
        spread: its copies reach arrays outside through pointers of their own.
        allocation: operators by the tool's names, and how many units of each there are at the most.
    """

    style: PipelineStyle = ""
    rewind: bool = False
    skip_exit_check: bool = False
    latency: tuple[int, int] = (0, 0)
    target_ti: int = 0
    unbalanced: bool = False
    spread: bool = False
    allocation: tuple[tuple[str, int], ...] = ()

    def of_loop(self) -> tuple[str, ...]:
        """Those that need a loop of their own in the code, as steps are called."""
        asked = {
            "latency": self.latency != (0, 0),
            "performance": bool(self.target_ti),
            "unbalanced": self.unbalanced,
            "allocation": bool(self.allocation),
        }
        return tuple(name for name, there in asked.items() if there)


NO_REQUESTS = LoopRequests()
