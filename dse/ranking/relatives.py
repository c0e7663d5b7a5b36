"""The relative of a nest that stands for it: fewer copies, which share ports and units alike.

- Copies along a loop that carries nothing are independent: one stands for all. Where ports or units are
  shared between them there are as many as it takes to share them alike.
- Copies along a loop that carries a chain make it longer by the same states each; a tree by levels.
- Blocks of a loop inside of one that carries are as many as they are where they are few: so soon a value
  comes back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from math import inf, prod

from dse.ranking.memories import Stored
from dse.ranking.ports import Arrays, Copies, Factors, Gone, Spread, only_complete, rotates
from dse.ranking.unrolled import Asked, Side, Sides
from dse.space.nests.nest import NestLoop, Order
from qor_gnn.body.reassociation import carried_levels
from qor_gnn.tools.personality import Personality

_CHAIN = (4, 6)  # copies along a loop that carries, from which longer chains are extrapolated
_WIDE = 32  # statements of an iteration, from which on shorter chains do
_SHORT = (1, 2)
_BESIDE = 8  # independent copies, at most
_ROOM = 32  # copies in all
_STATEMENTS = 64  # of a body, where an iteration has several anyway
_EACH = (1, 2, 3, 4, 5, 6, 7, 8)  # of one loop


@dataclass(frozen=True, slots=True)
class Relative:
    """The design that stands for a nest.

    Attributes:
        sides: blocks and copies.
        asked: of its loops.
        spread: banks that are not its own.
        stored: types of storage that the tool gives local arrays of the design.
    """

    sides: Sides
    asked: Asked
    spread: Spread
    stored: Stored = ()


@dataclass(frozen=True, slots=True)
class Alike:
    """What a relative has to share with its nest.

    Attributes:
        gone: loops of which nothing is left to run.
        spread: banks that are not the nest's own.
        ports: cycles that accesses need at their ports, if banks are known, and with all banks.
        interval: of the pipeline: units do the work of several copies meanwhile.
        chains: whether no chain stands for a longer one.
        stored: types of storage of local arrays.
    """

    gone: Gone
    spread: Spread
    ports: tuple[int, int]
    interval: int = 1
    chains: bool = False
    stored: Stored = ()


@dataclass(slots=True)
class Relatives:
    """Of one order of a nest.

    Attributes:
        order: of the nest.
        tool: whose schedules they have.
        divides: the tool divides subscripts by the number of banks.
    """

    order: Order
    tool: Personality
    divides: bool = field(init=False)
    loops: tuple[NestLoop, ...] = field(init=False)
    arrays: Arrays = field(init=False)
    drains: bool = field(init=False)
    room: int = field(init=False)
    _inner: Copies = field(init=False)
    _chosen: dict[object, tuple[Copies, bool]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.loops, self.drains = self.order.band, self.order.drains
        self.divides = self.tool.division is not None
        self.arrays = Arrays(self.order, self.tool)
        self.room = max(1, min(_ROOM, _STATEMENTS // self.order.inside))
        self._inner = tuple(loop.extent or 1 for loop in self.order.loops if loop.inner)

    @property
    def ends(self) -> tuple[int, int]:
        """Copies along a loop that carries, from which longer chains are extrapolated."""
        return _SHORT if self.order.inside > _WIDE else _CHAIN

    def copies(self, sides: Sides) -> Copies:
        """Of each loop, those inside included."""
        return tuple(side.copies for side in sides) + self._inner

    def gone(self, sides: Sides) -> Gone:
        """Loops of which nothing is left to run."""
        return tuple(side.blocks == 1 for side in sides) + (True,) * len(self._inner)

    def factors(self, relative: Relative) -> Factors:
        """The banks of a relative."""
        own = self.arrays.demand(self.copies(relative.sides), self.gone(relative.sides))
        return self.arrays.spreading(own, relative.spread)

    def moving(self, sides: Sides) -> frozenset[str]:
        """The loops that run as one pipeline."""
        found: list[str] = []
        for loop, side in zip(reversed(self.loops), reversed(sides), strict=True):
            if side.blocks > 1:
                found.append(loop.name)
            if loop.extent is None or (self.drains and found):
                break
        return frozenset(found)

    def fewest(self, sides: Sides, alike: Alike) -> tuple[Copies, bool]:
        """As few copies of each loop as do that share ports and units alike, and whether there are such."""
        counts = tuple((side.copies, side.guarded) for side in sides)
        key = (counts, alike)
        found = self._chosen.get(key)
        if found is None:
            found = self._chosen[key] = self._fewest(counts, alike, is_straight(sides))
        return found

    def _fewest(
        self, counts: tuple[tuple[int, bool], ...], alike: Alike, straight: bool
    ) -> tuple[Copies, bool]:
        shown = straight or (alike.interval > 1 and prod(u for u, _ in counts) <= self.room)
        ends = None if alike.chains else self.ends
        two = self.divides and rotates(alike.spread)
        least = [
            _carrying(loop, u, guarded, shown, ends)
            if loop.carries
            else min(u, 2 if guarded or two else 1)
            for loop, (u, guarded) in zip(self.loops, counts, strict=True)
        ]
        free = [k for k, loop in enumerate(self.loops) if not loop.carries]
        chained = prod(u for u, loop in zip(least, self.loops, strict=True) if loop.carries)
        room = max(1, self.room // chained)
        beside = min(_turns(alike.interval, prod(counts[k][0] for k in free)), _BESIDE, room)
        most = max(room, prod(least[k] for k in free))
        for chosen in _products([_upto(least[k], counts[k][0]) for k in free], beside, most):
            for k, u in zip(free, chosen, strict=True):
                least[k] = u
            if self._shares(tuple(least) + self._inner, alike):
                return tuple(least), True
        for k in free:
            least[k] = min(counts[k][0], 2)
        return tuple(least), False

    def _shares(self, copies: Copies, alike: Alike) -> bool:
        """Whether ports are shared alike."""
        own = self.arrays.demand(copies, alike.gone)
        known = self.arrays.spreading(own, only_complete(alike.spread))
        if not rotates(alike.spread):
            return self.arrays.interval(copies, known, alike.stored) == alike.ports[0]
        joint = self.arrays.spreading(own, alike.spread)
        return self.arrays.intervals(copies, known, joint, alike.stored) == alike.ports

    def cut(self, sides: Sides, copies: Copies, whole: bool) -> Sides:
        """So many copies, in all blocks that these make of a loop; inside of a loop that carries in as many
        as there are, if not ``whole``: so soon a value comes back.
        """
        found: list[Side] = []
        carried = False
        for loop, side, u in zip(self.loops, sides, copies, strict=True):
            blocks = side.blocks
            if (
                loop.extent is not None
                and blocks > 1
                and side.copies > 1
                and (whole or not carried)
            ):
                blocks = max(2, -(-loop.extent // u) if side.guarded else loop.extent // u)
            uncut = side.whole or (u == 1 and blocks == loop.extent and not side.guarded)
            found.append(Side(blocks, u, guarded=side.guarded, whole=uncut))
            carried |= bool(loop.carries)
        return tuple(found)

    def comes_back(self, sides: Sides) -> float:
        """The fewest iterations in which a value comes back."""
        pairs = [(side.blocks, side.copies) for side in sides]
        pairs += [(1, u) for u in self._inner]
        found = inf
        for k, loop in enumerate(self.loops):
            if pairs[k][0] > 1:
                for carry in loop.carries:
                    found = min(found, carry.around(pairs[k:]))
        return found

    def extrapolates(self, sides: Sides, relative: Relative) -> Iterator[tuple[int, int]]:
        """Loops with longer chains than those of the relative: their positions, and copies more."""
        for k, side in enumerate(sides):
            more = side.copies - relative.sides[k].copies
            if more and self.is_chain(sides, k):
                yield k, more

    def is_chain(self, sides: Sides, k: int) -> bool:
        """Whether the copies of a loop wait for one another."""
        loop = self.loops[k]
        return bool(loop.carries) and (not _tree(loop, sides[k].guarded) or is_straight(sides))


def is_straight(sides: Sides) -> bool:
    """Nothing is left to run: sums are chains in straight-line code."""
    return all(side.blocks == 1 for side in sides)


def _tree(loop: NestLoop, guarded: bool) -> bool:
    return not guarded and all(carry.tree for carry in loop.carries)


def _carrying(
    loop: NestLoop, u: int, guarded: bool, shown: bool, ends: tuple[int, int] | None
) -> int:
    """The fewest copies of a loop that carries that stand for those of a side, in a chain those that it is
    extrapolated from; all that are to be ``shown``.
    """
    if shown and u <= _ROOM:
        return u
    if _tree(loop, guarded):
        return _same_tree(u)
    return u if ends is None or u <= ends[0] else min(u, ends[1])


@lru_cache(maxsize=4096)
def _same_tree(terms: int) -> int:
    """The fewest terms whose sum has as many levels, by itself and with what it is added to."""
    found = terms
    while found > 1 and _levels(found - 1) == _levels(terms):
        found -= 1
    return found


def _levels(terms: int) -> tuple[int, int, int]:
    return (terms - 1).bit_length(), terms.bit_length(), carried_levels(terms)


def _turns(interval: int, copies: int) -> int:
    """How many copies a unit does one after the other."""
    return -(-copies // -(-copies // interval))


def _upto(least: int, most: int) -> list[int]:
    return [u for u in dict.fromkeys((least, *_EACH)) if least <= u <= most]


def _products(choices: Sequence[Sequence[int]], least: int, most: int) -> Iterator[tuple[int, ...]]:
    """All of at least so many copies and not too many, the fewest first; of fewer, where there are no
    others, the most.
    """
    found = [c for c in product(*choices) if prod(c) <= most]
    enough = [c for c in found if least <= prod(c) <= max(least, _BESIDE)]
    if not enough:
        return iter([max(found, key=prod)])
    return iter(sorted(enough, key=lambda c: (prod(c), c)))
