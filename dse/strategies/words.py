"""What arrays that are copied in and out in words of many elements wait for in their banks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dse.space.memory.banks import Demand
from dse.space.memory.partitions import word_intervals
from dse.space.nests.nest import Nest
from dse.space.start import Start
from dsl.programs.program import Program


@dataclass(frozen=True, slots=True)
class Words:
    """Cycles in which each array of a program is copied in and out, at a word a cycle."""

    program: Program
    start: Start
    cycles: Mapping[str, float]
    _asked: tuple[tuple[str, int], ...] = field(init=False)
    """Each dimension whose factor makes a difference."""
    _waits: dict[tuple[int, ...], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        packed = {array for array, _ in self.start.lanes(self.program)} & set(self.cycles)
        asked = ((name, d) for name in packed for d in range(len(self.program.array(name).shape)))
        object.__setattr__(self, "_asked", tuple(sorted(asked)))

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
        key = tuple([wanted.get(one, 1) for one in self._asked])
        found = self._waits.get(key)
        if found is None:
            own = {one: factor for one, factor in zip(self._asked, key, strict=True) if factor > 1}
            intervals = word_intervals(self.program, own, self.start)
            found = sum((intervals.get(array, 1) - 1) * n for array, n in self.cycles.items())
            self._waits[key] = found
        return found
