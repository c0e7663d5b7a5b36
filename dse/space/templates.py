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

from dse.space.banks import Demand, demand_of, port_interval_of
from dse.space.nest import NestLoop, Order, Vector
from dse.space.unrolled import Asked, Band, Side, Sides, unrolled
from dsl.errors.errors import ToolError
from dsl.programs.program import Program
from dsl.schedules.steps import BindOp, Partition
from polyhedral.looptree.tree import LoopTree, TreeLoop, TreeNode
from qor_gnn.batch.outline import Outline, Outlined, outlined
from qor_gnn.body.reassociation import carried_levels
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.tools.personality import Personality

_EXACT = 4  # copies along a loop that carries, up to which none stands for others
_CHAIN = (4, 6)  # copies from which longer chains are extrapolated
_BESIDE = 8  # independent copies, at most
_EACH = (1, 2, 4, 8)  # of one loop
_LARGE = 512  # statements of a body that are too many to schedule here


@dataclass(frozen=True, slots=True)
class Placed:
    """A nest in its place: the loops around it, and its own without any unrolling."""

    around: tuple[TreeLoop, ...]
    band: Band


@dataclass(frozen=True, slots=True)
class Leaf:
    """One of the nests that a nest becomes: what was scheduled, and what its factors make of that.

    Attributes:
        found: the relative.
        trips: trip counts of its loops, by name.
        more: operations of each core for one of the relative.
    """

    found: Outlined
    trips: Mapping[str, float]
    more: Mapping[str, float]


@dataclass(slots=True)
class Template:
    """One order of a nest: relatives that were scheduled so far."""

    program: Program
    order: Order
    placed: Placed
    tool: Personality
    operators: tuple[BindOp, ...]
    known: dict[object, Outlined | None] = field(default_factory=dict)

    def leaf(self, sides: Sides, asked: Asked, banks: Demand) -> Leaf | None:
        """One nest; None where it has to be looked at as a whole.

        Args:
            sides: blocks and copies of each loop.
            asked: of its loops.
            banks: of all arrays of the design.
        """
        order = self.order
        if not all(
            side.copies == 1 or self.placed.band.unrolls(k) for k, side in enumerate(sides)
        ):
            return None
        gone = _gone(order, sides)
        complete = frozenset(
            (use.array, d)
            for use in order.uses
            for d, n in enumerate(use.shape)
            if banks.get((use.array, d), 1) >= n > 1
        )
        wanted = _ports(order, _copies(order, sides), gone, complete)
        if asked.pipelined is not None and sides[asked.pipelined].rest:
            asked = replace(asked, pipelined=None)
        copies = self._relative(sides, gone, complete, wanted, 1)
        best = self._cut(sides, copies, whole=True)
        found = self._scheduled(best, asked, gone, complete, wanted)
        if found is None:
            return None
        slowest = max((r.slowest for r in _pipelines(found.regions)), default=0)
        whole = self._comes_back(sides) >= slowest
        if not whole:
            best = self._cut(sides, copies, whole=False)
            found = self._scheduled(best, asked, gone, complete, wanted)
            if found is None:
                return None
        interval = max((r.interval for r in _pipelines(found.regions)), default=1)
        if interval > 1:
            sharing = self._cut(sides, self._relative(sides, gone, complete, wanted, interval), whole)
            if sharing != best:
                best = sharing
                found = self._scheduled(best, asked, gone, complete, max(wanted, interval))
                if found is None:
                    return None
        found = self._longer(found, best, sides, asked, gone, complete, wanted)
        trips: dict[str, float] = {}
        for loop, side in zip(order.band, sides, strict=True):
            if loop.extent is not None:
                trips[loop.name] = trips[f"{loop.name}_0"] = side.blocks
        return Leaf(found, trips, _more(order, best, sides))

    # ------------------------------------------------------------------------------ the relative

    def _relative(
        self,
        sides: Sides,
        gone: frozenset[str],
        complete: frozenset[tuple[str, int]],
        wanted: int,
        interval: int,
    ) -> tuple[int, ...]:
        """Copies of each loop of the nest with as few as do, which share ports and units alike."""
        order = self.order
        least = [
            _carrying(loop, side) if loop.carries else min(side.copies, 2 if side.guarded else 1)
            for loop, side in zip(order.band, sides, strict=True)
        ]
        free = [k for k, loop in enumerate(order.band) if not loop.carries]
        chained = prod(u for u, loop in zip(least, order.band, strict=True) if loop.carries)
        beside = min(-(-interval // chained), prod(sides[k].copies for k in free), _BESIDE)
        for chosen in _products([_upto(least[k], sides[k].copies) for k in free], beside):
            copies = list(least)
            for k, u in zip(free, chosen, strict=True):
                copies[k] = u
            ports = _ports(order, _named(order, copies), gone, complete)
            if ports == wanted:
                return tuple(copies)
        for k in free:
            least[k] = min(sides[k].copies, 2)
        return tuple(least)

    def _cut(self, sides: Sides, copies: Sequence[int], whole: bool) -> Sides:
        """So many copies, in all blocks that these make of a loop; inside of a loop that carries in as many
        as there are, if not ``whole``: so soon a value comes back.
        """
        found: list[Side] = []
        loops = self.order.band
        carried = False
        for loop, side, u in zip(loops, sides, copies, strict=True):
            blocks = side.blocks
            if loop.extent is not None and blocks > 1 and side.copies > 1 and (whole or not carried):
                blocks = max(2, -(-loop.extent // u) if side.guarded else loop.extent // u)
            found.append(Side(blocks, u, 0, False, side.guarded))
            carried |= bool(loop.carries)
        return tuple(found)

    def _comes_back(self, sides: Sides) -> float:
        """The fewest iterations in which a value comes back."""
        pairs = [(side.blocks, side.copies) for side in sides]
        loops = list(enumerate(self.order.band))
        found = (c.around(pairs[k:]) for k, loop in loops for c in loop.carries if pairs[k][0] > 1)
        return min(found, default=inf)

    def _scheduled(
        self,
        sides: Sides,
        asked: Asked,
        gone: frozenset[str],
        complete: frozenset[tuple[str, int]],
        interval: int,
    ) -> Outlined | None:
        own = replace(asked, ii=max(asked.ii, interval))
        key = (sides, own, complete)
        if key not in self.known:
            self.known[key] = self._schedule(sides, own, gone, complete)
        return self.known[key]

    def _schedule(
        self,
        sides: Sides,
        asked: Asked,
        gone: frozenset[str],
        complete: frozenset[tuple[str, int]],
    ) -> Outlined | None:
        copies = [side.copies for side in sides]
        if prod(copies) * self.order.inside > _LARGE:
            return None
        nodes: tuple[TreeNode, ...] = unrolled(self.placed.band, sides, asked)
        for loop in reversed(self.placed.around):
            nodes = (replace(loop, body=nodes),)
        wanted = demand_of(self.order.uses, _named(self.order, copies), gone)
        tree = LoopTree(
            self.program,
            nodes,
            tuple(_partitions(self.program, wanted, complete)),
            operators=self.operators,
        )
        kept = frozenset(
            name
            for loop, side in zip(self.order.band, sides, strict=True)
            if side.copies > 1
            for name in (loop.name, f"{loop.name}_1")
        )
        try:
            return outlined(kernel_of_tree(tree), self.tool, kept, len(self.placed.around))
        except (ToolError, ValueError):
            return None

    # ---------------------------------------------------------------------------- longer chains

    def _longer(
        self,
        found: Outlined,
        best: Sides,
        sides: Sides,
        asked: Asked,
        gone: frozenset[str],
        complete: frozenset[tuple[str, int]],
        wanted: int,
    ) -> Outlined:
        """With the chains as long as they are: each further copy adds what each of those before does."""
        for k, loop in enumerate(self.order.band):
            more = sides[k].copies - best[k].copies
            if not loop.carries or not more or _tree(loop, sides[k]):
                continue
            one, two = (replace(best[k], copies=u) for u in _CHAIN)
            ends = [
                self._scheduled((*best[:k], x, *best[k + 1 :]), asked, gone, complete, wanted)
                for x in (one, two)
            ]
            if ends[0] is not None and ends[1] is not None:
                found = _extrapolated(ends[0], ends[1], more / (_CHAIN[1] - _CHAIN[0]))
        return found


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


def _carrying(loop: NestLoop, side: Side) -> int:
    """The fewest copies of a loop that carries that stand for those of a side."""
    u = side.copies
    if u <= _EXACT:
        return u
    return _same_tree(u) if _tree(loop, side) else min(u, _CHAIN[1])


@lru_cache(maxsize=4096)
def _same_tree(terms: int) -> int:
    """The fewest terms whose sum has as many levels, by itself and with what it is added to."""
    found = terms
    while found > 1 and _levels(found - 1) == _levels(terms):
        found -= 1
    return found


def _levels(terms: int) -> tuple[int, int, int]:
    return (terms - 1).bit_length(), terms.bit_length(), carried_levels(terms)


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


def _copies(order: Order, sides: Sides) -> dict[str, int]:
    return _named(order, [side.copies for side in sides])


def _gone(order: Order, sides: Sides) -> frozenset[str]:
    """Loops of which nothing is left to run."""
    band = zip(order.band, sides, strict=True)
    return frozenset(
        [loop.name for loop, side in band if side.blocks == 1]
        + [loop.name for loop in order.loops if loop.inner]
    )


def _ports(
    order: Order,
    copies: Mapping[str, int],
    gone: frozenset[str],
    complete: frozenset[tuple[str, int]],
) -> int:
    """Cycles that the accesses of a body need at the ports of their banks."""
    uses = tuple(
        use
        for use in order.uses
        if not all(n == 1 or (use.array, d) in complete for d, n in enumerate(use.shape))
    )
    moving = {v for use in uses for index in use.indices for v in index.variables()}
    return port_interval_of(uses, tuple((v, u) for v, u in copies.items() if v in moving), gone)


def _partitions(
    program: Program, wanted: Demand, complete: frozenset[tuple[str, int]]
) -> Iterator[Partition]:
    for array in program.arrays:
        for d, n in enumerate(array.shape):
            factor = wanted.get((array.name, d), 1)
            if (array.name, d) in complete or factor >= n > 1:
                yield Partition(array.name, d, "complete")
            elif factor > 1:
                yield Partition(array.name, d, "cyclic", factor)


def _more(order: Order, best: Sides, sides: Sides) -> dict[str, float]:
    """For each core how many operations the nest has for one of its relative."""
    counts: dict[str, list[int]] = {}
    for operation in order.operations:
        own = counts.setdefault(operation.core, [0, 0])
        for n, each in enumerate((best, sides)):
            pairs = zip(order.band, each, strict=True)
            own[n] += prod(s.copies for loop, s in pairs if loop.name in operation.loops)
    return {core: real / few for core, (few, real) in counts.items()}


def vector_of(sides: Sides) -> Vector:
    """The copies."""
    return tuple(side.copies for side in sides)
