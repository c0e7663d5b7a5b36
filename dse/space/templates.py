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

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import product
from math import inf, prod

from dse.space.addresses import products
from dse.space.banks import Demand, demand_of, interval_at
from dse.space.nest import NestLoop, Order, Use
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
_NEIGHBOURS = 4  # elements side by side that a nest may access in turn
_LONG = 256  # iterations in which some states more or less do not show
_WIDE = 32  # statements of an iteration, from which on shorter chains do
_SHORT = (1, 2)
_BESIDE = 8  # independent copies, at most
_ROOM = 32  # copies in all
_EACH = (1, 2, 3, 4, 5, 6, 7, 8)  # of one loop
_LARGE = 512  # statements of a body that are too many to schedule here

Spread = tuple[tuple[str, int, int], ...]
"""Where arrays have other banks than the nest itself asks for: array, dimension, and how many times as
many stand for them, an odd number where they are no power of two; 0 where every element is one.
"""


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
        order = self.order
        if not all(side.copies == 1 or self.band.unrolls(k) for k, side in enumerate(sides)):
            return None
        gone = _gone(order, sides)
        if asked.pipelined is not None and sides[asked.pipelined].rest:
            asked = replace(asked, pipelined=None)
        named = _named(order, [side.copies for side in sides])
        spread = self._spread(named, gone, banks)
        wanted = _ports(order, named, self._served(named, gone, banks))
        alike = (wanted, _ports(order, named, banks))
        if _complete(spread) == spread:  # else what ports allow is seen in the relative
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
        for loop, side in zip(order.band, sides, strict=True):
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
        found = self._addressed(found, best, sides, banks)
        return Leaf(found, best, trips, _more(order, best.sides, sides))

    def _addressed(
        self, found: Outlined, best: Relative, sides: Sides, banks: Demand
    ) -> Outlined:
        """With the products that its addresses need, which depend on how long rows are in a bank."""
        policy = self.tool.indices
        if self.tool.division is not None or not (policy.row_dsp or policy.row_states):
            return found
        real, few = _rows(self.order, sides, banks), _rows(self.order, best.sides, self.banks(best))
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
        gone: frozenset[str],
        spread: Spread,
        alike: tuple[int, int],
        interval: int,
        whole_chains: bool,
    ) -> tuple[int, ...]:
        """As few copies of each loop as do that share ports and units alike."""
        order = self.order
        shown = _straight(sides) or (interval > 1 and prod(s.copies for s in sides) <= _ROOM)
        divides = _complete(spread) != spread and self.tool.division is not None
        least = [
            _carrying(loop, side, shown, None if whole_chains else self.ends)
            if loop.carries
            else min(side.copies, 2 if side.guarded or divides else 1)
            for loop, side in zip(order.band, sides, strict=True)
        ]
        free = [k for k, loop in enumerate(order.band) if not loop.carries]
        rotates = _complete(spread) != spread
        chained = prod(u for u, loop in zip(least, order.band, strict=True) if loop.carries)
        room = max(1, _ROOM // chained)
        beside = min(_turns(interval, prod(sides[k].copies for k in free)), _BESIDE, room)
        for chosen in _products([_upto(least[k], sides[k].copies) for k in free], beside):
            copies = list(least)
            for k, u in zip(free, chosen, strict=True):
                copies[k] = u
            fewer = _named(order, copies)
            own = _ports(order, fewer, self._banks(fewer, gone, _complete(spread)))
            if own != alike[0]:
                continue
            if not rotates or _ports(order, fewer, self._banks(fewer, gone, spread)) == alike[1]:
                return tuple(copies)
        for k in free:
            least[k] = min(sides[k].copies, 2)
        return tuple(least)

    def _cut(self, sides: Sides, copies: Sequence[int], whole: bool) -> Sides:
        """So many copies, in all blocks that these make of a loop; inside of a loop that carries in as many
        as there are, if not ``whole``: so soon a value comes back.
        """
        found: list[Side] = []
        carried = False
        for loop, side, u in zip(self.order.band, sides, copies, strict=True):
            blocks = side.blocks
            if loop.extent is not None and blocks > 1 and side.copies > 1 and (whole or not carried):
                blocks = max(2, -(-loop.extent // u) if side.guarded else loop.extent // u)
            found.append(Side(blocks, u, 0, False, side.guarded))
            carried |= bool(loop.carries)
        return tuple(found)

    def _comes_back(self, sides: Sides) -> float:
        """The fewest iterations in which a value comes back."""
        pairs = [(side.blocks, side.copies) for side in sides]
        pairs += [(1, loop.extent or 1) for loop in self.order.loops if loop.inner]
        loops = list(enumerate(self.order.band))
        found = (c.around(pairs[k:]) for k, loop in loops for c in loop.carries if pairs[k][0] > 1)
        return min(found, default=inf)

    def _scheduled(self, relative: Relative) -> Outlined | None:
        if relative not in self.known:
            self.known[relative] = self._schedule(relative)
        return self.known[relative]

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
        pairs = zip(self.order.band, relative.sides, strict=True)
        names = [n for x, s in pairs if s.copies > 1 for n in (x.name, f"{x.name}_1")]
        return frozenset(f"{prefix}{n}" for n in names) | frozenset(
            loop.name for loop in self.order.loops if loop.inner
        )

    def banks(self, relative: Relative) -> Demand:
        """The factors of its arrays."""
        copies = _named(self.order, [side.copies for side in relative.sides])
        return self._banks(copies, _gone(self.order, relative.sides), relative.spread)

    def _banks(self, copies: Mapping[str, int], gone: frozenset[str], spread: Spread) -> Demand:
        found = dict(_demand(self.order.uses, tuple(copies.items()), gone))
        for array, d, times in spread:
            extent = self.program.array(array).shape[d]
            own = found.get((array, d), 1) * times
            found[array, d] = min(extent, own) if times else extent
        return found

    def _spread(self, copies: Mapping[str, int], gone: frozenset[str], banks: Demand) -> Spread:
        """See `Spread`. An array that is accessed once in an iteration cannot be in its own way."""
        own = _demand(self.order.uses, tuple(copies.items()), gone)
        times = Counter(use.array for use in self.order.uses)
        places = Counter(array for array, _ in {(x.array, x.indices) for x in self.order.uses})
        found: dict[tuple[str, int], int] = {}
        for use in self.order.uses:
            for d, n in enumerate(use.shape):
                joint, mine = banks.get((use.array, d), 1), own.get((use.array, d), 1)
                if joint >= n > 1:
                    found[use.array, d] = 0
                elif joint == mine or use.indices[d].variables() <= gone:
                    continue
                elif times[use.array] > 1 or self.tool.division is not None:
                    near = places[use.array] > 1 or self.tool.division is not None
                    found[use.array, d] = _times(joint, mine) if near else 2
        return tuple((array, d, k) for (array, d), k in sorted(found.items()))

    def _served(
        self, copies: Mapping[str, int], gone: frozenset[str], banks: Demand
    ) -> Demand:
        """The banks that matter to the nest: what others ask for beyond its own does it no harm."""
        own = _demand(self.order.uses, tuple(copies.items()), gone)
        found: Demand = {}
        for use in self.order.uses:
            for d, n in enumerate(use.shape):
                joint, mine = banks.get((use.array, d), 1), own.get((use.array, d), 1)
                serves = joint % mine == 0 or (joint > mine and use.indices[d].variables() <= gone)
                found[use.array, d] = mine if serves and joint < n else joint
        return found

    # ---------------------------------------------------------------------------- longer chains

    def _longer(self, found: Outlined, best: Relative, sides: Sides) -> Outlined:
        """With the chains as long as they are: each further copy adds what each of those before does."""
        for k, loop in enumerate(self.order.band):
            more = sides[k].copies - best.sides[k].copies
            if not loop.carries or not more:
                continue
            if _tree(loop, sides[k]) and not _straight(sides):
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


def _rows(order: Order, sides: Sides, banks: Demand) -> int:
    """How many different products the addresses of a pipeline need."""
    copies = {loop.name: side.copies for loop, side in zip(order.band, sides, strict=True)}
    return products(order.uses, copies, _moving(order, sides), banks)


def _moving(order: Order, sides: Sides) -> frozenset[str]:
    """The loops that run as one pipeline."""
    found: list[str] = []
    for loop, side in zip(reversed(order.band), reversed(sides), strict=True):
        if side.blocks > 1:
            found.append(loop.name)
        if loop.extent is None or (order.drains and found):
            break
    return frozenset(found)


def _deeper(region: Outline, states: int) -> Outline:
    if region.kind != "pipeline":
        return replace(region, children=tuple(_deeper(r, states) for r in region.children))
    return replace(region, depth=region.depth + states)


def _complete(spread: Spread) -> Spread:
    """Where every element is a bank."""
    return tuple(one for one in spread if not one[2])


def _times(joint: int, mine: int) -> int:
    """How many times as many banks stand for those that there are: enough for neighbours to differ."""
    times = -(-joint // mine)
    if times <= _NEIGHBOURS:
        return times
    return 2 * _NEIGHBOURS - 1 if joint & (joint - 1) else 2 * _NEIGHBOURS


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


def _tree(loop: NestLoop, side: Side) -> bool:
    return not side.guarded and all(carry.tree for carry in loop.carries)


def _straight(sides: Sides) -> bool:
    """Nothing is left to run: sums are chains in straight-line code."""
    return all(side.blocks == 1 for side in sides)


def _carrying(loop: NestLoop, side: Side, shown: bool, ends: tuple[int, int] | None) -> int:
    """The fewest copies of a loop that carries that stand for those of a side, in a chain those that it is
    extrapolated from; all that are to be ``shown``.
    """
    u = side.copies
    if shown and u <= _ROOM:
        return u
    if _tree(loop, side):
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


def _named(order: Order, copies: Sequence[int]) -> dict[str, int]:
    """Copies by the name of a loop, those of inner loops too."""
    own = {loop.name: u for loop, u in zip(order.band, copies, strict=True)}
    return own | {loop.name: loop.extent or 1 for loop in order.loops if loop.inner}


def _gone(order: Order, sides: Sides) -> frozenset[str]:
    """Loops of which nothing is left to run."""
    band = zip(order.band, sides, strict=True)
    return frozenset(
        [loop.name for loop, side in band if side.blocks == 1]
        + [loop.name for loop in order.loops if loop.inner]
    )


# ----------------------------------------------------------------------------------------- banks


@lru_cache(maxsize=100_000)
def _demand(
    uses: tuple[Use, ...], copies: tuple[tuple[str, int], ...], gone: frozenset[str]
) -> Demand:
    return demand_of(uses, dict(copies), gone)


def _ports(order: Order, copies: Mapping[str, int], banks: Demand) -> int:
    """Cycles that the accesses of a body need at the ports of their banks."""
    interval = 1
    for uses in _by_array(order.uses):
        factors = tuple(banks.get((uses[0].array, d), 1) for d in range(len(uses[0].shape)))
        moving = {v for use in uses for index in use.indices for v in index.variables()}
        own = tuple((v, u) for v, u in copies.items() if v in moving)
        interval = max(interval, interval_at(uses, own, factors))
    return interval


@lru_cache(maxsize=4096)
def _by_array(uses: tuple[Use, ...]) -> tuple[tuple[Use, ...], ...]:
    arrays = dict.fromkeys(use.array for use in uses)
    return tuple(tuple(use for use in uses if use.array == array) for array in arrays)


def partitions_of(program: Program, demands: Sequence[Demand]) -> Iterator[Partition]:
    """The steps that give arrays the most banks that one of several asks for."""
    for array in program.arrays:
        for d, n in enumerate(array.shape):
            factor = max(one.get((array.name, d), 1) for one in demands)
            if factor >= n > 1:
                yield Partition(array.name, d, "complete")
            elif factor > 1:
                yield Partition(array.name, d, "cyclic", factor)


def _more(order: Order, best: Sides, sides: Sides) -> dict[str, float]:
    """For each core how many operations the pipeline has for one of its relative."""
    moving = _moving(order, sides)
    counts: dict[str, list[int]] = {}
    for operation in order.operations:
        if moving and not moving & operation.loops:
            continue  # in front of the pipeline
        own = counts.setdefault(operation.core, [0, 0])
        for n, each in enumerate((best, sides)):
            pairs = zip(order.band, each, strict=True)
            own[n] += prod(s.copies for loop, s in pairs if loop.name in operation.loops)
    return {core: real / few for core, (few, real) in counts.items()}
