"""Cycles that RTL takes with the tool's model of memory (hardware emulation), next to csynth's.

The design is scheduled as for csynth, with memory that lets each line of 64 bytes wait (`emulation.json`). Processes wait for
each other as their channels say (`qor_gnn.dataflow.region`), and no port passes more than a word a cycle in a direction,
whatever arrays share it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from backends.tables import described, parsed
from polyhedral.requests.outside import word_bits
from qor_gnn.accelerator.interval import Interval
from qor_gnn.accelerator.service import Service, served
from qor_gnn.design.port import Port
from qor_gnn.design.region import Kernel, Memory
from qor_gnn.estimate import brief
from qor_gnn.result.qor_estimate import QorEstimate
from qor_gnn.schedule.alike import Alike
from qor_gnn.tools.personality import Personality

LINE = 64
"""Bytes of a line, a word of 512 bits."""


@dataclass(frozen=True, slots=True)
class Waits:
    """Cycles that a line of 64 bytes waits on its way: as expected, and the most that was seen."""

    stall: float
    most: float


@cache
def waits() -> Waits:
    """The constants of emulation.

    Raises:
        ToolError: W453, the table is not as it should be.
    """
    data, where = described(Path(__file__).parent / "emulation.json", {"stall", "most"})
    return parsed(Waits, data, where)


def emulated(
    kernel: Kernel,
    answer: QorEstimate,
    tool: Personality,
    kept: frozenset[str],
    known: Alike | None = None,
) -> Interval:
    """Cycles of RTL with the tool's memory.

    Args:
        kernel: a design with memory outside.
        answer: csynth's view of it, which is the least: there memory is always ready.
        tool: that is modelled.
        kept: as `qor_gnn.estimate.estimate` has it.
        known: scopes of the design, whose bodies are used again.
    """
    lines, scopes = waits(), known or Alike()
    least = max(answer.latency.average, busiest_port(answer))
    value, high = (
        max(least, _with(kernel, stall, tool, kept, scopes)) for stall in (lines.stall, lines.most)
    )
    return Interval(least, value, high)


def busiest_port(answer: QorEstimate) -> float:
    """Words of the port, and the direction, that most pass through: the least cycles that they take."""
    passed: dict[tuple[str, str], float] = defaultdict(float)
    for one in answer.traffic:
        passed[one.bundle, one.direction] += one.words
    return max(passed.values(), default=0.0)


def _with(
    kernel: Kernel, stall: float, tool: Personality, kept: frozenset[str], known: Alike
) -> float:
    def waiting(memory: Memory, port: Port) -> Service:
        size = max(1, port.lanes) * word_bits(memory.dtype) / 8
        return Service(stall=stall * size / LINE)

    return brief(served(kernel, waiting), tool, kept, known).cycles
