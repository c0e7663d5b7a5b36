"""Lower bounds on the latency of any schedule of a kernel: work, memory ports, recurrences.

They hold for what the schedule space can do with the operators of a personality, after all that a
tool does by itself (`dse.bounds.work`), and say how far a design is from what is possible:

- DSP roofline: every operation takes a unit for a cycle, so ``cycles`` must satisfy
  ``sum over cores (ceil(operations / cycles) * DSP of a unit) <= budget``.
- Memory ports: every element of an argument that is loaded or stored passes a port of its array
  once, and an array has at most ``MAX_BANKS`` banks. An array of no more elements than that can be
  all registers.
- Recurrence: the operators on a chain of flow dependences run one after the other. A reduction that
  may be done in any order is a tree, elsewhere a chain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, prod
from typing import Literal

from dse.bounds.work import Work, work_of
from dsl.programs.program import Storage
from qor_gnn.tools.personality import Personality

__all__ = ["MAX_BANKS", "Bound", "Bounds", "Work", "bounds", "work_of"]

# Banks of one array that a design may ask for. More make multiplexers that no clock survives.
MAX_BANKS = 1024

BoundKind = Literal["dsp", "ports", "recurrence"]


@dataclass(frozen=True, slots=True)
class Bound:
    """No schedule takes fewer ``cycles``; ``reason`` says what stands in the way, in words."""

    kind: BoundKind
    cycles: int
    reason: str


@dataclass(frozen=True, slots=True)
class Bounds:
    """The strongest bound of each kind, under a DSP budget."""

    dsp: Bound
    ports: Bound
    recurrence: Bound

    @property
    def all(self) -> tuple[Bound, Bound, Bound]:
        """The three, in a fixed order."""
        return self.dsp, self.ports, self.recurrence

    @property
    def tightest(self) -> Bound:
        """The one that asks for the most cycles."""
        return max(self.all, key=lambda b: b.cycles)

    @property
    def cycles(self) -> int:
        """No design is faster than this."""
        return self.tightest.cycles


def bounds(work: Work, tool: Personality, dsp: int) -> Bounds:
    """The bounds for a budget of DSP slices.

    Args:
        work: of the kernel, from `work_of` with the same personality.
        tool: whose memories are counted.
        dsp: slices that a design may use.
    """
    cycles, detail = _roofline(work.operations, dsp)
    chain = work.chains[0] if work.chains else (0, "no recurrence")
    return Bounds(
        Bound("dsp", cycles, f"{detail} on {dsp} DSP"),
        _ports(work, tool),
        Bound("recurrence", *chain),
    )


def _roofline(operations: Mapping[str, tuple[int, int]], budget: int) -> tuple[int, str]:
    """The least cycles in which units within the budget get through the operations."""
    costly = {core: (n, dsp) for core, (n, dsp) in operations.items() if dsp and n}
    text = ", ".join(f"{n:,} {core}" for core, (n, _) in costly.items()) or "no DSP operators"

    def needed(cycles: int) -> int:
        return sum(ceil(n / cycles) * dsp for n, dsp in costly.values())

    low, high = 1, max((n for n, _ in costly.values()), default=1)
    # With one unit of each the longest sequence is the answer, even if the budget has not that.
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if needed(middle) <= budget else (middle + 1, high)
    return high if costly else 0, text


def _ports(work: Work, tool: Personality) -> Bound:
    best = Bound("ports", 0, "every array fits in registers")
    for array in work.program.arrays:
        elements = prod(array.shape)
        if elements <= MAX_BANKS:
            continue
        ports = tool.memories.ports(None, array.storage is Storage.ARGUMENT)
        reads, writes = work.reads.get(array.name, 0), work.writes.get(array.name, 0)
        cycles = max(
            ceil(reads / (ports.read * MAX_BANKS)) if ports.read else 0,
            ceil(writes / (ports.write * MAX_BANKS)) if ports.write else 0,
            ceil((reads + writes) / (ports.both * MAX_BANKS)),
        )
        if cycles > best.cycles:
            what = f"{reads:,} reads and {writes:,} writes"
            best = Bound("ports", cycles, f"{what} of {array.name} over {MAX_BANKS} banks")
    return best
