"""What a nest takes under any factors, from few schedules of the exact model.

The exact model schedules a small relative of the nest: the same loops, order, directives and kinds of
banks, with fewer copies where copies do the same beside one another. How long its pipeline is, which
interval its recurrences and ports allow, and what fills and drains it is then known of all vectors that
have this relative (`qor_gnn.batch.outline`); iterations and units follow from the factors.

- Copies along a loop that carries nothing are independent: one stands for all. Where ports or units are
  shared between them there are as many as it takes to share them alike.
- Copies along a loop that carries a chain make it longer by the same states each; a tree by levels.
- Blocks of a loop inside of one that carries are as many as they are where they are few: so soon a value
  comes back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import product
from math import inf, prod
from typing import Any

from dse.space.addresses import products
from dse.space.banks import Demand
from dse.space.nest import NestLoop, Order
from dse.space.ports import (
    Arrays,
    Copies,
    Factors,
    Gone,
    Spread,
    named,
    only_complete,
    rotates,
)
from dse.space.unrolled import Asked, Band, Side, Sides, unrolled
from dsl.errors.errors import ToolError
from dsl.programs.program import Program
from dsl.schedules.steps import BindOp, Partition
from polyhedral.looptree.tree import LoopTree, TreeLoop, TreeNode
from qor_gnn.batch.outline import Outline, Outlined, outlined
from qor_gnn.body.reassociation import carried_levels
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.tools.personality import Personality

_CHAIN = (4, 6)  # copies along a loop that carries, from which longer chains are extrapolated
_LONG = 256  # iterations in which some states more or less do not show
_WIDE = 32  # statements of an iteration, from which on shorter chains do
_SHORT = (1, 2)
_BESIDE = 8  # independent copies, at most
_UNKNOWN: Any = object()
_ROOM = 32  # copies in all
_EACH = (1, 2, 3, 4, 5, 6, 7, 8)  # of one loop
_LARGE = 512  # statements of a body that are too many to schedule here

@dataclass(frozen=True, slots=True)
class Relative:
    """The design that stands for a nest.

    Attributes:
        sides: blocks and copies.
        asked: of its loops.
        spread: banks that are not its own.
    """

    sides: Sides
    asked: Asked
    spread: Spread


@dataclass(frozen=True, slots=True)
class Leaf:
    """One of the nests that a nest becomes: what was scheduled, and what its factors make of that.

    Attributes:
        found: what was scheduled.
        relative: whose schedule it is.
        trips: trip counts of its loops, by name.
        more: operations of each core for one of the relative.
    """

    found: Outlined
    relative: Relative
    trips: Mapping[str, float]
    more: Mapping[str, float]


@dataclass(slots=True)
class Template:
    """One order of a nest: relatives that were scheduled so far.

    Attributes:
        program: with what the steps of the variant add to it.
        order: of the nest.
        around: the loops around it, outermost first.
        band: its own loops, nothing unrolled.
        tool: whose schedule it is.
        operators: what operations are bound to.
    """

    program: Program
    order: Order
    around: tuple[TreeLoop, ...]
    band: Band
    tool: Personality
    operators: tuple[BindOp, ...]
    known: dict[Relative, Outlined | None] = field(default_factory=dict)
    loops: tuple[NestLoop, ...] = field(init=False)
    arrays: Arrays = field(init=False)
    drains: bool = field(init=False)
    _inner: Copies = field(init=False)
    _operations: list[tuple[str, frozenset[str], tuple[int, ...]]] = field(init=False)
    _chosen: dict[object, Copies] = field(default_factory=dict)
    _products: dict[object, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.loops, self.arrays = self.order.band, Arrays(self.order)
        self._inner = tuple(loop.extent or 1 for loop in self.order.loops if loop.inner)
        self.drains = self.order.drains
        place = {loop.name: k for k, loop in enumerate(self.loops)}
        self._operations = [
            (o.core, o.loops, tuple(place[v] for v in o.loops if v in place))
            for o in self.order.operations
        ]

    def leaf(
        self, sides: Sides, asked: Asked, banks: Demand, *, whole_chains: bool = False
    ) -> Leaf | None:
        """One nest; None where it is not one that others can stand for.

        Args:
            sides: blocks and copies of each loop.
            asked: of its loops.
            banks: of all arrays of the design.
            whole_chains: no chain stands for a longer one.
        """
        if not all(side.copies == 1 or self.band.unrolls(k) for k, side in enumerate(sides)):
            return None
        if asked.pipelined is not None and sides[asked.pipelined].rest:
            asked = replace(asked, pipelined=None)
        arrays, divides = self.arrays, self.tool.division is not None
        named_, gone = self._named(tuple(side.copies for side in sides)), self._gone(sides)
        own, joint = arrays.demand(named_, gone), arrays.factors(banks)
        spread = arrays.spread(own, joint, gone, divides)
        wanted = arrays.interval(named_, arrays.served(own, joint, gone))
        alike = (wanted, arrays.interval(named_, joint) if rotates(spread) else 0)
        if not rotates(spread):  # else what ports allow is seen in the relative
            asked = replace(asked, ii=max(asked.ii, wanted))
        copies = self._copies(sides, gone, spread, alike, 1, whole_chains)
        best = Relative(self._cut(sides, copies, whole=True), asked, spread)
        found = self._scheduled(best)
        if found is None:
            return None
        slowest = max((r.slowest for r in _pipelines(found.regions)), default=0)
        whole = self._comes_back(sides) >= slowest
        if not whole:
            best = replace(best, sides=self._cut(sides, copies, whole=False))
            found = self._scheduled(best)
            if found is None:
                return None
        trips: dict[str, float] = {}
        for loop, side in zip(self.loops, sides, strict=True):
            if loop.extent is not None:
                trips[loop.name] = trips[f"{loop.name}_0"] = side.blocks
        longer = found if whole_chains else self._longer(found, best, sides)
        short = [r for r in _pipelines(longer.regions) if r.runs(trips) < _LONG]
        interval = max((r.interval for r in short), default=1)
        if interval > 1:
            copies = self._copies(sides, gone, spread, alike, interval, whole_chains)
            best = replace(best, sides=self._cut(sides, copies, whole))
            found = self._scheduled(best)
            if found is None:
                return None
            longer = found if whole_chains else self._longer(found, best, sides)
        found = longer
        found = self._addressed(found, best, sides, joint)
        return Leaf(found, best, trips, self._more(best.sides, sides))

    def _addressed(
        self, found: Outlined, best: Relative, sides: Sides, joint: Factors
    ) -> Outlined:
        """With the products that its addresses need, which depend on how long rows are in a bank."""
        policy = self.tool.indices
        if self.tool.division is not None or not (policy.row_dsp or policy.row_states):
            return found
        real, few = self._rows(sides, joint), self._rows(best.sides, self._factors(best))
        if real == few:
            return found
        states = policy.row_states * ((real > 0) - (few > 0))
        regions = found.regions
        if states:
            regions = tuple(_deeper(region, states) for region in regions)
        more = policy.row_dsp * (real - few)
        return Outlined(regions, found.behind, max(0, found.address_dsp + more))

    # ------------------------------------------------------------------------------ the relative

    def _copies(
        self,
        sides: Sides,
        gone: Gone,
        spread: Spread,
        alike: tuple[int, int],
        interval: int,
        whole_chains: bool,
    ) -> Copies:
        """As few copies of each loop as do that share ports and units alike."""
        counts = tuple((side.copies, side.guarded) for side in sides)
        key = (counts, gone, spread, alike, interval, whole_chains)
        found = self._chosen.get(key)
        if found is None:
            found = self._chosen[key] = self._choose(*key, _straight(sides))
        return found

    def _choose(
        self,
        counts: tuple[tuple[int, bool], ...],
        gone: Gone,
        spread: Spread,
        alike: tuple[int, int],
        interval: int,
        whole_chains: bool,
        straight: bool,
    ) -> Copies:
        shown = straight or (interval > 1 and prod(u for u, _ in counts) <= _ROOM)
        ends = None if whole_chains else self.ends
        turns = rotates(spread)
        two = turns and self.tool.division is not None
        least = [
            _carrying(loop, u, guarded, shown, ends)
            if loop.carries
            else min(u, 2 if guarded or two else 1)
            for loop, (u, guarded) in zip(self.loops, counts, strict=True)
        ]
        free = [k for k, loop in enumerate(self.loops) if not loop.carries]
        chained = prod(u for u, loop in zip(least, self.loops, strict=True) if loop.carries)
        room = max(1, _ROOM // chained)
        beside = min(_turns(interval, prod(counts[k][0] for k in free)), _BESIDE, room)
        whole = only_complete(spread)
        for chosen in _products([_upto(least[k], counts[k][0]) for k in free], beside):
            for k, u in zip(free, chosen, strict=True):
                least[k] = u
            copies = self._named(tuple(least))
            own = self.arrays.demand(copies, gone)
            if self.arrays.interval(copies, self.arrays.spreading(own, whole)) != alike[0]:
                continue
            joint = self.arrays.spreading(own, spread)
            if not turns or self.arrays.interval(copies, joint) == alike[1]:
                return tuple(least)
        for k in free:
            least[k] = min(counts[k][0], 2)
        return tuple(least)

    def _cut(self, sides: Sides, copies: Sequence[int], whole: bool) -> Sides:
        """So many copies, in all blocks that these make of a loop; inside of a loop that carries in as many
        as there are, if not ``whole``: so soon a value comes back.
        """
        found: list[Side] = []
        carried = False
        for loop, side, u in zip(self.loops, sides, copies, strict=True):
            blocks = side.blocks
            if loop.extent is not None and blocks > 1 and side.copies > 1 and (whole or not carried):
                blocks = max(2, -(-loop.extent // u) if side.guarded else loop.extent // u)
            found.append(Side(blocks, u, 0, False, side.guarded))
            carried |= bool(loop.carries)
        return tuple(found)

    def _comes_back(self, sides: Sides) -> float:
        """The fewest iterations in which a value comes back."""
        pairs = [(side.blocks, side.copies) for side in sides]
        pairs += [(1, u) for u in self._inner]
        found = inf
        for k, loop in enumerate(self.loops):
            if pairs[k][0] > 1:
                for carry in loop.carries:
                    found = min(found, carry.around(pairs[k:]))
        return found

    def _scheduled(self, relative: Relative) -> Outlined | None:
        found = self.known.get(relative, _UNKNOWN)
        if found is _UNKNOWN:
            found = self.known[relative] = self._schedule(relative)
        return found

    def _schedule(self, relative: Relative) -> Outlined | None:
        if self.statements(relative) > _LARGE:
            return None
        nodes = self.nodes(relative)
        for loop in reversed(self.around):
            nodes = (replace(loop, body=nodes),)
        partitions = tuple(partitions_of(self.program, [self.banks(relative)]))
        tree = LoopTree(self.program, nodes, partitions, operators=self.operators)
        try:
            kernel = kernel_of_tree(tree)
            return outlined(kernel, self.tool, self.kept(relative), len(self.around))
        except (ToolError, ValueError):
            return None

    def statements(self, relative: Relative) -> int:
        """Copies of a statement in a body."""
        return prod(side.copies for side in relative.sides) * self.order.inside

    def nodes(self, relative: Relative, prefix: str = "") -> tuple[TreeNode, ...]:
        """Its loops; see `dse.space.unrolled`."""
        return unrolled(self.band, relative.sides, relative.asked, prefix)

    def kept(self, relative: Relative, prefix: str = "") -> frozenset[str]:
        """Names of the loops that are unrolled."""
        pairs = zip(self.loops, relative.sides, strict=True)
        names = [n for x, s in pairs if s.copies > 1 for n in (x.name, f"{x.name}_1")]
        return frozenset(f"{prefix}{n}" for n in names) | frozenset(
            loop.name for loop in self.order.loops if loop.inner
        )

    def banks(self, relative: Relative) -> Demand:
        """The factors of its arrays."""
        return named(self.arrays, self._factors(relative))

    def _factors(self, relative: Relative) -> Factors:
        copies = self._named(tuple(side.copies for side in relative.sides))
        own = self.arrays.demand(copies, self._gone(relative.sides))
        return self.arrays.spreading(own, relative.spread)

    def _named(self, copies: Copies) -> Copies:
        """With the copies of inner loops."""
        return copies + self._inner

    def _gone(self, sides: Sides) -> Gone:
        """Loops of which nothing is left to run."""
        return tuple(side.blocks == 1 for side in sides) + (True,) * len(self._inner)

    def _rows(self, sides: Sides, factors: Factors) -> int:
        """How many different products the addresses of a pipeline need."""
        moving = _moving(self.drains, self.loops, sides)
        if len(moving) < 2:
            return 0
        copies = tuple(side.copies for side in sides)
        key = (copies, moving, factors)
        if key not in self._products:
            by_name = {loop.name: u for loop, u in zip(self.loops, copies, strict=True)}
            banks = named(self.arrays, factors)
            self._products[key] = products(self.order.uses, by_name, moving, banks)
        return self._products[key]

    def _more(self, best: Sides, sides: Sides) -> dict[str, float]:
        """For each core how many operations the pipeline has for one of its relative."""
        moving = _moving(self.drains, self.loops, sides)
        counts: dict[str, list[int]] = {}
        for core, loops, places in self._operations:
            if moving and not moving & loops:
                continue  # in front of the pipeline
            own = counts.setdefault(core, [0, 0])
            few = real = 1
            for k in places:
                few *= best[k].copies
                real *= sides[k].copies
            own[0] += few
            own[1] += real
        return {core: real / few for core, (few, real) in counts.items()}

    # ---------------------------------------------------------------------------- longer chains

    def _longer(self, found: Outlined, best: Relative, sides: Sides) -> Outlined:
        """With the chains as long as they are: each further copy adds what each of those before does."""
        for k, loop in enumerate(self.loops):
            more = sides[k].copies - best.sides[k].copies
            if not loop.carries or not more:
                continue
            if _tree(loop, sides[k].guarded) and not _straight(sides):
                continue
            ends = [
                self._scheduled(replace(best, sides=_with(best.sides, k, u))) for u in self.ends
            ]
            if ends[0] is not None and ends[1] is not None:
                found = _extrapolated(ends[0], ends[1], more / (self.ends[1] - self.ends[0]))
        return found

    @property
    def ends(self) -> tuple[int, int]:
        """Copies along a loop that carries, from which longer chains are extrapolated."""
        return _SHORT if self.order.inside > _WIDE else _CHAIN


def _moving(drains: bool, loops: Sequence[NestLoop], sides: Sides) -> frozenset[str]:
    """The loops that run as one pipeline."""
    found: list[str] = []
    for loop, side in zip(reversed(loops), reversed(sides), strict=True):
        if side.blocks > 1:
            found.append(loop.name)
        if loop.extent is None or (drains and found):
            break
    return frozenset(found)


def _deeper(region: Outline, states: int) -> Outline:
    if region.kind != "pipeline":
        return replace(region, children=tuple(_deeper(r, states) for r in region.children))
    return replace(region, depth=region.depth + states)


def _with(sides: Sides, k: int, copies: int) -> Sides:
    return (*sides[:k], replace(sides[k], copies=copies), *sides[k + 1 :])


def _extrapolated(one: Outlined, two: Outlined, times: float) -> Outlined:
    """The second, and so often what it has more than the first."""
    if len(one.regions) != len(two.regions):
        return two
    pairs = zip(one.regions, two.regions, strict=True)
    return replace(two, regions=tuple(_further(a, b, times) for a, b in pairs))


def _further(a: Outline, b: Outline, times: float) -> Outline:
    if a.kind != b.kind or len(a.children) != len(b.children):
        return b
    children = tuple(_further(*pair, times) for pair in zip(a.children, b.children, strict=True))
    return replace(
        b,
        interval=round(b.interval + times * (b.interval - a.interval)),
        depth=round(b.depth + times * (b.depth - a.depth)),
        children=children,
    )


def _pipelines(regions: Sequence[Outline]) -> Iterator[Outline]:
    for region in regions:
        if region.kind == "pipeline":
            yield region
        yield from _pipelines(region.children)


# ---------------------------------------------------------------------------------------- copies


def _tree(loop: NestLoop, guarded: bool) -> bool:
    return not guarded and all(carry.tree for carry in loop.carries)


def _straight(sides: Sides) -> bool:
    """Nothing is left to run: sums are chains in straight-line code."""
    return all(side.blocks == 1 for side in sides)


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


def _products(choices: Sequence[Sequence[int]], least: int) -> Iterator[tuple[int, ...]]:
    """All of at least so many copies and not too many, the fewest first; of fewer, where there are no
    others, the most.
    """
    found = list(product(*choices))
    enough = [c for c in found if least <= prod(c) <= max(least, _BESIDE)]
    if not enough:
        return iter([max(found, key=prod)])
    return iter(sorted(enough, key=lambda c: (prod(c), c)))


def partitions_of(program: Program, demands: Sequence[Demand]) -> Iterator[Partition]:
    """The steps that give arrays the most banks that one of several asks for."""
    for array in program.arrays:
        for d, n in enumerate(array.shape):
            factor = max(one.get((array.name, d), 1) for one in demands)
            if factor >= n > 1:
                yield Partition(array.name, d, "complete")
            elif factor > 1:
                yield Partition(array.name, d, "cyclic", factor)
