"""Lower bounds on the latency of any schedule of a kernel: work, memory ports, recurrences.

They hold for what the schedule space can do with the operators of a personality, after all that a
tool does by itself (`dse.bounds.work`), and say how far a design is from what is possible:

- DSP roofline: every operation takes a unit for a cycle, so ``cycles`` must satisfy
  ``sum over cores (ceil(operations / cycles) * DSP of a unit) <= budget``.
- LUT roofline: the same of all that a unit may be built of, where a budget of LUTs is given: products of
  integers are made of slices or of LUTs, and operators on floats take LUTs beside their slices.
- Memory ports: every element of an argument that is loaded or stored passes a port of its array
  once, and an array has at most ``MAX_BANKS`` banks. An array of no more elements than that can be
  all registers. In memory outside it has one port, which takes an element a cycle in each direction.
- Recurrence: the operators on a chain of flow dependences run one after the other. A reduction that
  may be done in any order is a tree, elsewhere a chain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, prod
from typing import Literal

from dse.bounds.roofline import in_logic, in_slices
from dse.bounds.work import Work, work_of
from dsl.programs.program import Storage
from polyhedral.banks.wanted import MAX_BANKS
from qor_gnn.tools.personality import Personality

__all__ = ["MAX_BANKS", "Bound", "Bounds", "Work", "bounds", "work_of"]

BoundKind = Literal["dsp", "lut", "ports", "recurrence"]


@dataclass(frozen=True, slots=True)
class Bound:
    """No schedule takes fewer ``cycles``; ``reason`` says what stands in the way, in words."""

    kind: BoundKind
    cycles: int
    reason: str


@dataclass(frozen=True, slots=True)
class Bounds:
    """The strongest bound of each kind, under a budget.

    ``lut`` is None where no LUTs are counted, or none are needed.
    """

    dsp: Bound
    lut: Bound | None
    ports: Bound
    recurrence: Bound

    @property
    def all(self) -> tuple[Bound, ...]:
        """Those there are, in a fixed order."""
        every = self.dsp, self.lut, self.ports, self.recurrence
        return tuple(bound for bound in every if bound is not None)

    @property
    def tightest(self) -> Bound:
        """The one that asks for the most cycles."""
        return max(self.all, key=lambda b: b.cycles)

    @property
    def cycles(self) -> int:
        """No design is faster than this."""
        return self.tightest.cycles


def bounds(
    work: Work,
    tool: Personality,
    dsp: int,
    lut: int | None = None,
    outside: Mapping[str, int] = {},
) -> Bounds:
    """The bounds for a budget of DSP slices and LUTs.

    Args:
        work: of the kernel, from `work_of` with the same personality.
        tool: whose memories are counted.
        dsp: slices that a design may use.
        lut: LUTs that it may use; None for any number.
        outside: arguments in memory outside, and how many elements of each a port passes at a time.
    """
    cycles, detail = in_slices(work.operations, dsp)
    logic = (0, "") if lut is None else in_logic(work.operations, dsp, lut)
    chain = work.chains[0] if work.chains else (0, "no recurrence")
    return Bounds(
        Bound("dsp", cycles, f"{detail} on {dsp} DSP"),
        Bound("lut", *logic) if logic[0] else None,
        max(_ports(work, tool), _outside(work, tool, outside), key=lambda bound: bound.cycles),
        Bound("recurrence", *chain),
    )


def _outside(work: Work, tool: Personality, outside: Mapping[str, int]) -> Bound:
    best = Bound("ports", 0, "no array is outside")
    for array in work.program.arguments if tool.outside is not None else ():
        reads, writes = work.reads.get(array.name, 0), work.writes.get(array.name, 0)
        lanes = outside.get(array.name, 0)
        if lanes and array.shape and -(-max(reads, writes) // lanes) > best.cycles:
            what = f"{reads:,} reads and {writes:,} writes of {array.name}"
            each = "an element" if lanes == 1 else f"{lanes} elements"
            cycles = -(-max(reads, writes) // lanes)
            best = Bound("ports", cycles, f"{what}, {each} a cycle from outside")
    return best


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
