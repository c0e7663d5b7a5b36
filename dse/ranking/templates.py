"""What a nest takes under any factors, from few schedules of the exact model.

The exact model schedules a small relative of the nest (`dse.ranking.relatives`): the same loops, order,
directives and kinds of banks. How long its pipeline is, which interval its recurrences and ports allow, and
what fills and drains it is then known of all vectors that have this relative (`dse.ranking.outline`);
iterations and units follow from the factors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from dse.ranking.memories import Memories, Stored, as_stored, partitions_of
from dse.ranking.outline import (
    Outlined,
    deeper,
    extrapolated,
    growth,
    outlined,
    pipelines,
    repeated,
)
from dse.ranking.ports import Factors, named, rotates
from dse.ranking.relatives import Alike, Relative, Relatives
from dse.ranking.seen import Banks, in_line
from dse.ranking.unrolled import Asked, Band, Sides, unrolled
from dse.space.costs.addresses import Products, in_step, priced_products, row_products
from dse.space.memory.banks import Demand
from dse.space.nests.nest import Order, Use
from dsl.errors.errors import ToolError
from dsl.programs.program import Program
from polyhedral.looptree.tree import LoopTree, TreeLoop, TreeNode
from qor_gnn.body.address_products import RowProduct
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.tools.personality import Personality

_LONG = 256  # iterations in which some states more or less do not show
_LARGE = 128  # statements of a body that are too many to schedule here
_CHAINED = 2.0  # states for each further copy, below which some copies share a state
_RESOLVED = 128  # statements of the body that tells how many then
_UNKNOWN: Any = object()


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
        said: interfaces, storage and operators, of a tree of the design.
    """

    program: Program
    order: Order
    around: tuple[TreeLoop, ...]
    band: Band
    tool: Personality
    said: LoopTree
    relatives: Relatives = field(init=False)
    known: dict[Relative, Outlined | None] = field(default_factory=dict)
    banks_seen: Banks = field(init=False)
    _same: dict[object, Outlined] = field(
        default_factory=dict
    )  # by what the schedule sees of banks
    _products: dict[object, Products] = field(default_factory=dict)
    _in_step: tuple[tuple[int, tuple[Use, ...]], ...] = field(init=False)
    _leaves: dict[object, Leaf | None] = field(default_factory=dict)
    _unrolls: tuple[bool, ...] = field(init=False)
    _operations: list[tuple[str, frozenset[str], tuple[int, ...]]] = field(init=False)

    def __post_init__(self) -> None:
        self.relatives = Relatives(self.order, self.tool)
        steps = {loop.name: loop.step for loop in self.around}
        self.banks_seen = Banks(self.relatives.arrays, self.tool, steps)
        self._unrolls = tuple(self.band.unrolls(k) for k in range(len(self.relatives.loops)))
        place = {loop.name: k for k, loop in enumerate(self.relatives.loops)}
        first = dict(zip(self.order.uses, self.relatives.arrays.first, strict=True))
        self._in_step = tuple((first[each[0]], each) for each in in_step(self.order.uses))
        self._operations = [
            (o.core, o.loops, tuple(place[v] for v in o.loops if v in place))
            for o in self.order.operations
        ]

    def content(self, statements: Sequence[str]) -> object:
        """Equal for templates whose relatives have the same schedules, of several variants.

        Args:
            statements: names of those of the nest.
        """
        said = self.said
        return (
            self.tool,
            self.program.arrays,
            self.order,
            tuple(replace(loop, body=()) for loop in self.around),
            self.band,
            said.storage,
            said.interfaces,
            said.packs,
            tuple(step for step in said.operators if step.stmt in statements),
        )

    def leaf(
        self, sides: Sides, asked: Asked, memories: Memories, *, whole_chains: bool = False
    ) -> Leaf | None:
        """One nest; None where it is not one that others can stand for.

        Args:
            sides: blocks and copies of each loop.
            asked: of its loops.
            memories: the arrays of the nest.
            whole_chains: no chain stands for a longer one.
        """
        if not self.has_loops(sides):
            return None
        if asked.pipelined is not None and sides[asked.pipelined].rest:
            asked = replace(asked, pipelined=None)
        joint = self.relatives.arrays.factors(memories.banks)
        alike = self._alike(sides, joint, whole_chains, memories.stored)
        rows = self._rows(sides, joint) if self._has_rows else Products()
        key = (sides, asked, alike, rows)
        if key not in self._leaves:
            self._leaves[key] = self._leaf(sides, asked, alike, rows)
        return self._leaves[key]

    def _leaf(self, sides: Sides, asked: Asked, alike: Alike, rows: Products) -> Leaf | None:
        """One nest; all that it shares with others that take the same is known."""
        own, whole_chains = self.relatives, alike.chains
        copies, shares = own.fewest(sides, alike)
        # Where accesses rotate between banks, what ports allow is seen in the relative.
        if not shares and not rotates(alike.spread):
            asked = replace(asked, ii=max(asked.ii, alike.ports[0]))
        best = Relative(own.cut(sides, copies, whole=True), asked, alike.spread, alike.stored)
        found = self._scheduled(best)
        if found is None:
            return None if whole_chains else self._by_one(sides, best)
        whole = own.comes_back(sides) >= max(
            (r.slowest for r in pipelines(found.regions)), default=0
        )
        if not whole:
            best = replace(best, sides=own.cut(sides, copies, whole=False))
            found = self._scheduled(best)
        trips = self._trips(sides)
        found = self._longer(found, best, sides, whole, whole_chains)
        if found is None:
            return None
        short = [r for r in pipelines(found.regions) if r.runs(trips) < _LONG]
        interval = max((r.interval for r in short), default=1)
        if interval > 1:
            copies, _ = own.fewest(sides, replace(alike, interval=interval))
            sharing = replace(best, sides=own.cut(sides, copies, whole))
            scheduled = self._scheduled(sharing)
            scheduled = self._longer(scheduled, sharing, sides, whole, whole_chains)
            if scheduled is not None:
                found, best = scheduled, sharing
        found = self._addressed(found, best, rows)
        return Leaf(found, best, trips, self._more(best.sides, sides))

    def _trips(self, sides: Sides) -> dict[str, float]:
        found: dict[str, float] = {}
        for loop, side in zip(self.relatives.loops, sides, strict=True):
            if loop.extent is not None:
                found[loop.name] = found[f"{loop.name}_0"] = side.blocks
        return found

    def _by_one(self, sides: Sides, best: Relative) -> Leaf | None:
        """Of a body that is too large to be scheduled: one copy of the only loop that is unrolled, which carries a chain,
        and each further one as long after it as the next iteration would be.
        """
        unrolled = [k for k, side in enumerate(sides) if side.copies > 1]
        if len(unrolled) != 1 or not self.relatives.is_chain(sides, unrolled[0]):
            return None
        (k,) = unrolled
        times = sides[k].copies
        ones = (1,) * len(sides)
        asked = replace(best.asked, ii=-(-best.asked.ii // times))
        one = replace(best, sides=self.relatives.cut(sides, ones, whole=True), asked=asked)
        found = self._scheduled(one)
        if found is None:
            return None
        more = {core: count / times for core, count in self._more(one.sides, sides).items()}
        return Leaf(repeated(found, times), one, self._trips(sides), more)

    def _alike(self, sides: Sides, joint: Factors, whole_chains: bool, stored: Stored) -> Alike:
        """What a relative of a nest has to share with it."""
        own, arrays = self.relatives, self.relatives.arrays
        copies, gone = own.copies(sides), own.gone(sides)
        mine = arrays.demand(copies, gone)
        spread = arrays.spread(mine, joint, gone, own.divides)
        served = arrays.served(mine, joint, gone)
        if rotates(spread):
            ports = arrays.intervals(copies, served, joint, stored)
        else:
            ports = (arrays.interval(copies, served, stored), 0)
        return Alike(gone, spread, ports, chains=whole_chains, stored=stored)

    # ------------------------------------------------------------------------------- schedules

    def _scheduled(self, relative: Relative) -> Outlined | None:
        found: Outlined | None = self.known.get(relative, _UNKNOWN)
        if found is _UNKNOWN:
            found = self.known[relative] = self._like_others(relative)
        return found

    def _like_others(self, relative: Relative) -> Outlined | None:
        """The schedule of a relative with other banks of which one sees the same, or its own."""
        own = self.relatives
        pairs = zip(own.gone(relative.sides), own.order.loops, strict=True)
        gone = tuple(each and loop.extent is not None for each, loop in pairs)
        seen = self.banks_seen.seen(own.copies(relative.sides), gone, own.factors(relative))
        if seen is None:
            return self._schedule(relative)
        key = (relative.sides, relative.asked, seen, relative.stored)
        found: Outlined | None = self._same.get(key)
        if found is None:
            found = self._schedule(relative)
            if found is not None and in_line(found.regions):
                self._same[key] = found
        return found

    def _schedule(self, relative: Relative) -> Outlined | None:
        if self.statements(relative) > _LARGE:
            return None
        nodes = self.nodes(relative)
        for loop in reversed(self.around):
            nodes = (replace(loop, body=nodes),)
        tree = like(self.said, self.program, nodes, [self.banks(relative)])
        kept, deep = self.kept(relative), len(self.around)
        return scheduled(tree, self.tool, kept, deep, relative.stored)

    def statements(self, relative: Relative) -> int:
        """Copies of a statement in a body."""
        return prod(side.copies for side in relative.sides) * self.order.inside

    def has_loops(self, sides: Sides) -> bool:
        """Whether its loops are known with these copies (`Band.unrolls`)."""
        return all(s.copies == 1 or may for s, may in zip(sides, self._unrolls, strict=True))

    def nodes(self, relative: Relative, prefix: str = "") -> tuple[TreeNode, ...]:
        """Its loops; see `dse.ranking.unrolled`."""
        return unrolled(self.band, relative.sides, relative.asked, prefix)

    def kept(self, relative: Relative, prefix: str = "") -> frozenset[str]:
        """Names of the loops that are unrolled."""
        pairs = zip(self.relatives.loops, relative.sides, strict=True)
        names = [n for x, s in pairs if s.copies > 1 for n in (x.name, f"{x.name}_1")]
        return frozenset(f"{prefix}{n}" for n in names) | frozenset(
            loop.name for loop in self.order.loops if loop.inner
        )

    def banks(self, relative: Relative) -> Demand:
        """The factors of its arrays."""
        return named(self.relatives.arrays, self.relatives.factors(relative))

    def _longer(
        self, found: Outlined | None, best: Relative, sides: Sides, whole: bool, whole_chains: bool
    ) -> Outlined | None:
        """With the chains as long as they are: each further copy adds what each of those before does."""
        if found is None or whole_chains:
            return found
        one, two = self.relatives.ends
        for k, more in self.relatives.extrapolates(sides, best):
            few = self._scheduled(self._with(best, sides, k, one, whole))
            many = self._scheduled(self._with(best, sides, k, two, whole))
            if few is None or many is None:
                continue
            last = self._resolved(best, k, sides[k].copies)
            if last > two and 0 < growth(few, many) / (two - one) < _CHAINED:
                far = self._scheduled(self._with(best, sides, k, last, whole))
                if far is not None:
                    many, more, two = far, sides[k].copies - last, last
            found = extrapolated(few, many, more / (two - one))
        return found

    def _with(self, best: Relative, sides: Sides, k: int, copies: int, whole: bool) -> Relative:
        """A relative with other copies of one loop, which has the blocks that these make of it."""
        chosen = tuple(copies if n == k else side.copies for n, side in enumerate(best.sides))
        return replace(best, sides=self.relatives.cut(sides, chosen, whole))

    def _resolved(self, best: Relative, k: int, copies: int) -> int:
        """Copies along a loop, as many as there are at most, that tell how many of a chain of short operations share a
        state: each two copies more or less are rounded to whole states.
        """
        others = self.statements(best) // best.sides[k].copies
        return min(copies, _RESOLVED // others)

    # --------------------------------------------------------------------- what factors make of it

    @property
    def _has_rows(self) -> bool:
        """Whether the tool multiplies the numbers of rows, and does not divide subscripts."""
        policy = self.tool.indices
        return self.tool.division is None and bool(policy.row_dsp or policy.row_states)

    def _addressed(self, found: Outlined, best: Relative, real: Products) -> Outlined:
        """With the products that its addresses need, which depend on how long rows are in a bank."""
        if not self._has_rows:
            return found
        few = self._rows(best.sides, self.relatives.factors(best))
        if real == few:
            return found
        regions = found.regions
        if states := real.states - few.states:
            regions = tuple(deeper(region, states) for region in regions)
        more = real.slices - few.slices
        return Outlined(regions, found.behind, max(0, found.address_dsp + more))

    def _rows(self, sides: Sides, factors: Factors) -> Products:
        """What the addresses of a pipeline need."""
        moving = self.relatives.moving(sides)
        if len(moving) < 2:
            return Products()
        copies = tuple(side.copies for side in sides)
        key = (copies, moving, factors)
        if key not in self._products:
            needed: list[tuple[RowProduct, ...]] = []
            times = {loop.name: u for loop, u in zip(self.relatives.loops, copies, strict=True)}
            for first, alike in self._in_step:
                own = factors[first : first + len(alike[0].shape)]
                needed += row_products(alike, times, moving, own)
            self._products[key] = priced_products(needed, self.tool.indices)
        return self._products[key]

    def _more(self, best: Sides, sides: Sides) -> dict[str, float]:
        """For each core how many operations the pipeline has for one of its relative."""
        moving = self.relatives.moving(sides)
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


def like(
    said: LoopTree,
    program: Program,
    nodes: tuple[TreeNode, ...],
    demands: Sequence[Demand],
) -> LoopTree:
    """Other nodes, with the banks for some demands, under the interfaces, the storage and the operators of a tree."""
    return LoopTree(
        program,
        nodes,
        tuple(partitions_of(program, demands)),
        storage=said.storage,
        operators=said.operators,
        interfaces=said.interfaces,
        packs=said.packs,
    )


def scheduled(
    tree: LoopTree, tool: Personality, kept: frozenset[str], deep: int, stored: Stored
) -> Outlined | None:
    """What a tree takes, as `outlined`; None where it has no schedule that others can be told from."""
    try:
        return outlined(as_stored(kernel_of_tree(tree), stored), tool, kept, deep)
    except (ToolError, ValueError):
        return None
