"""Cycles of nests in loops whose iterations overlap: while one tile is worked on, the next one is copied in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dse.space.costs.cost import design_cycles
from dse.space.nests.nest import Nest
from polyhedral.legality.loop_regions import loop_regions, names_of
from polyhedral.scop.ranges import constant_interval
from polyhedral.scop.scheduled import ScheduledScop

Groups = Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True)
class Overlap:
    """A loop whose iterations overlap.

    Attributes:
        processes: numbers of the nests in it, those of a process together.
        runs: iterations of the loop, in all of its executions.
        entered: its executions.
    """

    processes: tuple[tuple[int, ...], ...]
    runs: float
    entered: float

    @property
    def nests(self) -> frozenset[int]:
        """All that are in the loop."""
        return frozenset(n for process in self.processes for n in process)


def overlaps_in(state: ScheduledScop, nests: Sequence[Nest]) -> Iterator[Overlap]:
    """The loops of a structure whose iterations overlap, each of them in one place."""
    place = {name: n for n, nest in enumerate(nests) for name in nest.statements}
    for region in loop_regions(state):
        named = names_of(region.processes)
        found = [dict.fromkeys(place[s] for s in names if s in place) for names in named]
        processes = tuple(tuple(own) for own in found if own)
        trips = constant_interval(region.pieces[0], region.level)
        if len(processes) > 1 and trips is not None:
            runs = min(nests[n].runs for own in processes for n in own)
            yield Overlap(processes, runs, runs / trips.extent)


def overlapped_cycles(
    groups: Groups, cycles: Sequence[float], overlaps: Sequence[Overlap]
) -> float:
    """Cycles of a design: as `dse.space.costs.cost.design_cycles`, but an iteration of a loop that overlaps begins as soon
    as the longest process is done with the one before.

    Args:
        groups: nests that run at the same time, in order.
        cycles: of each nest, in all of its runs.
        overlaps: loops whose iterations overlap.
    """
    saved: dict[Overlap, float] = {}
    # A loop inside of another one that overlaps belongs to one of its processes.
    for loop in sorted(overlaps, key=lambda one: len(one.nests)):
        nests = loop.nests
        within = sum(less for inner, less in saved.items() if inner.nests < nests)
        inside = design_cycles([own for own in groups if own[0] in nests], cycles) - within
        longest = max(
            sum(cycles[n] for n in process)
            - sum(less for inner, less in saved.items() if inner.nests <= set(process))
            for process in loop.processes
        )
        if longest < inside and loop.runs:
            saved[loop] = (inside - longest) * (1 - loop.entered / loop.runs)
    return design_cycles(groups, cycles) - sum(saved.values())
