"""States of the beam that solves a variant: what is chosen for some of its nests."""

from __future__ import annotations

from dataclasses import dataclass, field

from dse.area.designs import NOTHING, Area, Own, Part
from dse.space.costs.cost import Beside, Units
from dse.space.memory.banks import Demand
from dse.space.space import Choice
from dse.strategies.options import Alone, Option


@dataclass(slots=True)
class Banks:
    """The factors that nests ask for together, the banks of each array, and what these cost.

    ``most`` is the largest number of banks, ``waits`` are cycles by which words are copied slower than one in a cycle, ``dear`` the share by which a plan
    counts as slower: many banks are dear. ``memories`` are LUTs and block RAM of the arrays, where somebody has asked.
    """

    wanted: Demand
    each: dict[str, int]
    most: int = 1
    waits: float = 0.0
    dear: float = 0.0
    memories: Area | None = None


@dataclass(slots=True)
class State:
    """Some nests chosen.

    ``longest`` are the cycles of the stages with the best of what is not chosen. ``closed`` are the
    units that the stages share of which all nests are chosen, ``open`` those of each stage of which
    some are, with the least that the others need. ``waiting`` are the choices whose copies share
    units.
    """

    chosen: dict[int, Option]
    banks: Banks
    longest: list[float]
    closed: Units
    open: dict[int, Units]
    waiting: tuple[Choice, ...] = ()
    score: float = 0.0
    over: float = 0.0
    own: Own = NOTHING
    part: Part | None = (
        None  # what is known of its area, or of those of its nests that ask for the same banks
    )
    _waiting_for: dict[str, tuple[tuple[Alone, int], ...]] = field(default_factory=dict)

    def waiting_for(self, array: str) -> tuple[tuple[Alone, int], ...]:
        """The choices that wait for the ports of an array, and the interval that each has anyway."""
        found = self._waiting_for.get(array)
        if found is None:
            touching = (o for o in self.chosen.values() if array in o.alone.touched)
            found = self._waiting_for[array] = tuple([(o.alone, o.most) for o in touching])
        return found


@dataclass(slots=True)
class Grown:
    """A state with one nest more: what tells its place among others, before it is made.

    ``before`` is the state, ``beside`` the stage of the nest without it; the others are those of the new state.
    """

    before: State
    nest: int
    option: Option
    beside: Beside
    banks: Banks
    longest: list[float]
    score: float
    own: Own
