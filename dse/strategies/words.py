"""What arrays that are copied in and out in words of many elements wait for in their banks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dse.space.banks import Demand
from dse.space.nest import Nest
from dse.space.partitions import word_intervals
from dse.space.start import Start
from dsl.programs.program import Program


@dataclass(frozen=True, slots=True)
class Words:
    """Cycles in which each array of a program is copied in and out, at a word a cycle."""

    program: Program
    start: Start
    cycles: Mapping[str, float]

    @classmethod
    def of(
        cls, program: Program, start: Start, nests: Sequence[Nest], alone: Sequence[float]
    ) -> Words:
        """From what each nest takes alone; copies of arrays outside themselves do not count."""
        found: dict[str, float] = {}
        for nest, cycles in zip(nests, alone, strict=True):
            if nest.orders[0].words:
                for array in nest.arrays - start.outside:
                    found[array] = found.get(array, 0.0) + cycles
        return cls(program, start, found)

    def waiting(self, wanted: Demand) -> float:
        """Cycles by which arrays are copied slower than a word a cycle, in these banks."""
        if not self.cycles:
            return 0.0
        intervals = word_intervals(self.program, wanted, self.start)
        return sum((intervals.get(array, 1) - 1) * n for array, n in self.cycles.items())
