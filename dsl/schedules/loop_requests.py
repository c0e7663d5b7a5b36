"""What is asked of a loop beside an interval, copies and flattening: the same at all levels, from steps to C++."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PipelineStyle = Literal["", "stp", "flp", "frp"]


@dataclass(frozen=True, slots=True)
class ExitTest:
    """A loop ends where ``scale * variable + sum(factor * scalar) + const >= 0`` in front of an iteration.

    Attributes:
        scale: of the loop's own variable, as it is in the code; not negative.
        terms: scalars by name, each with its factor. No iteration from there on changes them.
        const: what is added.
    """

    scale: int
    terms: tuple[tuple[str, int], ...]
    const: int


@dataclass(frozen=True, slots=True)
class Leaving:
    """A loop that ends early, as data say.

    Attributes:
        trips: iterations that an execution is expected to have; 0 where nobody said.
        tests: any of them ends it; empty until loops are built (`polyhedral.codegen.exits`).
    """

    trips: int = 0
    tests: tuple[ExitTest, ...] = ()

    def expected(self, most: int) -> int:
        """Iterations that count as expected, of so many at most: half of them where nobody said."""
        return min(most, self.trips or -(-most // 2))


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
        leaving: it ends early, as data say; None where it runs as often as its bounds say.
    """

    style: PipelineStyle = ""
    rewind: bool = False
    skip_exit_check: bool = False
    latency: tuple[int, int] = (0, 0)
    target_ti: int = 0
    unbalanced: bool = False
    spread: bool = False
    allocation: tuple[tuple[str, int], ...] = ()
    leaving: Leaving | None = None

    def of_loop(self) -> tuple[str, ...]:
        """Those that need a loop of their own in the code, as steps are called."""
        asked = {
            "latency": self.latency != (0, 0),
            "performance": bool(self.target_ti),
            "unbalanced": self.unbalanced,
            "allocation": bool(self.allocation),
            "leave": self.leaving is not None,
        }
        return tuple(name for name, there in asked.items() if there)


NO_REQUESTS = LoopRequests()
