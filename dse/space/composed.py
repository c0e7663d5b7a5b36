"""What a design takes, from what its nests take: by the rules of `qor_gnn.schedule.compose`.

Nests run one after the other, those that share no array beside one another where the tool does so; in loops
around that several share they run in each iteration.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil

from dse.space.banks import Demand
from dse.space.cost import Units, added, cost, dsp_of, uneven
from dse.space.nest import Nest
from dse.space.templates import Leaf, Template, partitions_of
from dse.space.unrolled import asked_of, band_of, sides_of
from dse.space.variants import Variant
from dsl.errors.errors import ToolError
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Reassociate, Unroll
from polyhedral.codegen.generate import loop_tree
from polyhedral.looptree.tree import Instance, LoopTree, TreeGuard, TreeLoop, TreeNode
from polyhedral.schedule import apply
from qor_gnn.batch.outline import Outline, Outlined, outlined
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.tools.personality import Personality, allowed


@dataclass(frozen=True, slots=True)
class Around:
    """A loop that several nests share: how often it runs, and what is in it."""

    loop: TreeLoop
    trips: float
    body: tuple[Part, ...]


Part = Around | int  # or the number of a nest
Picked = tuple[int, tuple[int, ...], int]  # order, vector and interval of a nest
LARGE = 1024  # statements of a cluster that are too many to schedule here


@dataclass(frozen=True, slots=True)
class Piece:
    """What one nest takes each time that it is entered.

    Attributes:
        states: from its start to its end.
        first: states in front of its first region that it does not need behind a call.
        calls: whether it begins, and ends, with a call.
        units: of its regions, the most of each core.
        memories, stored: arrays.
        address_dsp: DSP slices of addresses.
        piped: a pipeline is in it.
    """

    states: float
    first: float
    calls: tuple[bool, bool]
    units: Units
    memories: frozenset[str]
    address_dsp: int
    piped: bool


@dataclass(slots=True)
class _Flow:
    """A sequence so far, as in `qor_gnn.schedule.compose`."""

    at: float = 0
    called_at: float = 0
    ended: bool = False  # by a call
    calls: list[frozenset[str]] = field(default_factory=list)
    stage: Units = ()
    most: list[Units] = field(default_factory=list)
    piped: bool = False
    memories: frozenset[str] = frozenset()
    address_dsp: int = 0
    only: Piece | None = None  # all that there is


class Composed:
    """The designs of one variant."""

    def __init__(self, variant: Variant, program: Program, tool: Personality) -> None:
        """Nothing is scheduled yet."""
        self.variant = variant
        self.tool = allowed(tool, any(isinstance(s, Reassociate) for s in variant.steps))
        self._source = program
        self._base: tuple[LoopTree, tuple[Part, ...] | None] | None = None
        self._templates: dict[tuple[int, int], Template | None] = {}
        self._pieces: dict[object, Piece | None] = {}
        self._clusters: dict[object, Outlined | None] = {}

    # ---------------------------------------------------------------------------------- designs

    @property
    def plan(self) -> tuple[Part, ...] | None:
        """Where the nests stand; None where they are not in plain loops."""
        if self._base is None:
            tree = self._built(Schedule(self.variant.steps))
            self._base = tree, plan_of(tree.body, self.variant.nests)
        return self._base[1]

    def figures(self, choices: Sequence[Picked], banks: Demand) -> tuple[float, int] | None:
        """Cycles and DSP slices of a design; None where it has no templates.

        Args:
            choices: for each nest its order, vector and interval.
            banks: the factors of all arrays.
        """
        plan = self.plan
        if plan is None:
            return None
        flow = self._flow(plan, choices, banks)
        if flow is None:
            return None
        ends = 0 if flow.ended else 1
        if flow.only is not None and flow.only.calls == (True, True):
            ends = 0 if flow.only.first else -1
        return flow.at + ends - 1, dsp_of(flow.most) + flow.address_dsp

    def _flow(
        self, parts: Sequence[Part], choices: Sequence[Picked], banks: Demand
    ) -> _Flow | None:
        flow = _Flow()
        loops = self.tool.composition.concurrent == "loops"
        for part in parts:
            piece = self._part(part, choices, banks)
            if piece is None:
                return None
            begins, ends = (True, True) if loops else piece.calls
            behind = flow.ended and begins
            states = piece.states - (piece.first if behind and not loops else 0)
            apart = all(not piece.memories & other for other in flow.calls)
            beside = bool(flow.calls) and behind and apart
            if not beside:
                flow.calls, flow.called_at, flow.stage = [], flow.at, ()
            flow.stage = added((flow.stage, piece.units)) if beside else piece.units
            flow.most.append(flow.stage)
            flow.at = max(flow.at, flow.called_at + states)
            flow.ended = ends
            flow.piped |= piece.piped
            flow.memories |= piece.memories
            flow.address_dsp += piece.address_dsp
            flow.only = piece if len(parts) == 1 else None
            flow.calls = [*flow.calls, piece.memories] if ends else []
        return flow

    def _part(self, part: Part, choices: Sequence[Picked], banks: Demand) -> Piece | None:
        if isinstance(part, int):
            return self.piece(part, choices[part], banks)
        if any(not self.variant.nests[n].orders[0].band for n in nests_in((part,))):
            return self._cluster(part, choices, banks)
        return self._around(part, choices, banks)

    def _around(self, around: Around, choices: Sequence[Picked], banks: Demand) -> Piece | None:
        """The nests of an iteration, so often."""
        runs = around.trips
        while len(around.body) == 1 and isinstance(around.body[0], Around):
            around = around.body[0]
            runs *= around.trips
        flow = self._flow(around.body, choices, banks)
        if flow is None:
            return None
        depth = flow.at + (0 if flow.ended else 1)
        loops = self.tool.composition.concurrent == "loops"
        states = 1 + runs * depth + (1 if loops else 0)
        units = _most(flow.most)
        calls = (loops, loops)
        return Piece(states, 0, calls, units, flow.memories, flow.address_dsp, flow.piped)

    # ------------------------------------------------------------------------------------ nests

    def piece(self, n: int, picked: Picked, banks: Demand) -> Piece | None:
        """What a nest takes each time that it is entered."""
        own = self._own_banks((n,), banks)
        key = (n, picked, own)
        if key not in self._pieces:
            leaves = self._leaves(n, picked, dict(own), whole_chains=False)
            self._pieces[key] = None if leaves is None else _joined(leaves, self.tool)
        return self._pieces[key]

    def _own_banks(
        self, nests: Iterable[int], banks: Demand
    ) -> tuple[tuple[tuple[str, int], int], ...]:
        arrays = frozenset[str]().union(*(self.variant.nests[n].arrays for n in nests))
        return tuple(sorted((k, f) for k, f in banks.items() if k[0] in arrays))

    def _leaves(
        self, n: int, picked: Picked, banks: Demand, *, whole_chains: bool
    ) -> list[Leaf] | None:
        """The nests that a nest becomes."""
        number, vector, ii = picked
        nest = self.variant.nests[n]
        order = nest.orders[number]
        template = self._template(n, number)
        if template is None:
            return None
        tail = cost(nest, order, vector).tail if uneven(order, vector) else "remainder"
        asked = asked_of(order, vector, tail, ii)
        leaves: list[Leaf] = []
        for sides in sides_of(order, vector, tail):
            leaf = template.leaf(sides, asked, banks, whole_chains=whole_chains)
            if leaf is None:
                return None
            leaves.append(leaf)
        return leaves

    def _template(self, n: int, number: int) -> Template | None:
        key = (n, number)
        if key not in self._templates:
            self._templates[key] = self._new(n, number)
        return self._templates[key]

    def _new(self, n: int, number: int) -> Template | None:
        nest = self.variant.nests[n]
        order = nest.orders[number]
        if not order.band or any(x.guarded and x.extent is not None for x in order.band):
            return None
        unrolls = (
            Unroll(loop.ref, 0, "guard" if loop.varies else "remainder")
            for loop in order.loops
            if loop.inner
        )
        tree = self._built(Schedule((*self.variant.steps, *order.steps, *unrolls)))
        plan = plan_of(tree.body, self.variant.nests)
        place = None if plan is None else _place(tree.body, plan, n)
        if place is None:
            return None
        around, node = place
        band = band_of(node, [loop.name for loop in order.band])
        if band is None:
            return None
        program = self.variant.program
        return Template(program, order, around, band, self.tool, tree.operators)

    def _built(self, schedule: Schedule) -> LoopTree:
        return loop_tree(apply(self._source, schedule))

    # --------------------------------------------------------------------------------- clusters

    def _cluster(self, part: Around, choices: Sequence[Picked], banks: Demand) -> Piece | None:
        """Nests and statements between them in the same loops, which the tool may join."""
        inside = tuple(dict.fromkeys(nests_in((part,))))
        own = self._own_banks(inside, banks)
        key = (inside, tuple(choices[n] for n in inside), own)
        if key not in self._pieces:
            self._pieces[key] = self._clustered(part, inside, choices, dict(own))
        return self._pieces[key]

    def _clustered(
        self, part: Around, inside: Sequence[int], choices: Sequence[Picked], banks: Demand
    ) -> Piece | None:
        assert self._base is not None
        leaves: dict[int, list[Leaf]] = {}
        for n in inside:
            if self.variant.nests[n].orders[0].band:
                found = self._leaves(n, choices[n], banks, whole_chains=True)
                if found is None:
                    return None
                leaves[n] = found
        relatives = tuple((n, tuple(x.relative for x in each)) for n, each in leaves.items())
        key = (tuple(inside), tuple(choices[n][0] for n in inside), relatives)
        if key not in self._clusters:
            self._clusters[key] = self._schedule(part, choices, leaves)
        scheduled = self._clusters[key]
        if scheduled is None:
            return None
        trips: dict[str, float] = {}
        more: dict[str, Mapping[str, float]] = {}
        for n, each in leaves.items():
            for k, leaf in enumerate(each):
                more[_prefix(n, k)] = leaf.more
                trips.update({f"{_prefix(n, k)}{v}": t for v, t in leaf.trips.items()})
        regions = scheduled.regions
        units = units_in([(r, more) for r in regions], self.tool)
        memories = frozenset[str]().union(*(r.memories for r in regions))
        called = (regions[0].kind == "pipeline", regions[-1].kind == "pipeline")
        piped = any(r.kind == "pipeline" for r in _all(regions))
        states = scheduled.states(trips)
        return Piece(states, 0, called, units, memories, scheduled.address_dsp, piped)

    def _schedule(
        self, part: Around, choices: Sequence[Picked], leaves: Mapping[int, list[Leaf]]
    ) -> Outlined | None:
        assert self._base is not None
        templates: dict[int, Template] = {}
        for n in leaves:
            template = self._template(n, choices[n][0])
            assert template is not None
            templates[n] = template
        if sum(templates[n].statements(x.relative) for n in leaves for x in leaves[n]) > LARGE:
            return None
        node = _filled(part, templates, leaves)
        pairs = [(templates[n], n, k, x) for n in leaves for k, x in enumerate(leaves[n])]
        demands = [template.banks(x.relative) for template, _, _, x in pairs]
        kept = frozenset[str]().union(
            *(template.kept(x.relative, _prefix(n, k)) for template, n, k, x in pairs)
        )
        program = self.variant.program
        partitions = tuple(partitions_of(program, demands))
        tree = LoopTree(program, (node,), partitions, operators=self._base[0].operators)
        try:
            return outlined(kernel_of_tree(tree), self.tool, kept, 0)
        except (ToolError, ValueError):
            return None


def _prefix(nest: int, side: int) -> str:
    return f"{nest}.{side}."


def _filled(
    part: Around, templates: Mapping[int, Template], leaves: Mapping[int, list[Leaf]]
) -> TreeLoop:
    """The loops around nests with these in their places."""
    nodes: list[TreeNode] = []
    for inner, node in zip(part.body, part.loop.body, strict=True):
        if isinstance(inner, Around):
            nodes.append(_filled(inner, templates, leaves))
        elif inner in templates:
            for k, leaf in enumerate(leaves[inner]):
                nodes += templates[inner].nodes(leaf.relative, _prefix(inner, k))
        else:
            nodes.append(node)
    return replace(part.loop, body=tuple(nodes))


def _joined(leaves: Sequence[Leaf], tool: Personality) -> Piece:
    """The nests that a nest becomes, one after the other."""
    at = 0.0
    ended = False
    for leaf in leaves:
        regions = leaf.found.regions
        states = leaf.found.states(leaf.trips)
        if ended and regions[0].kind == "pipeline":
            states -= regions[0].prologue
        at += states
        ended = regions[-1].kind == "pipeline"
    units = units_in([(r, {"": x.more}) for x in leaves for r in x.found.regions], tool)
    regions = tuple(r for leaf in leaves for r in leaf.found.regions)
    first = regions[0]
    memories = frozenset[str]().union(*(r.memories for r in regions))
    prologue = first.prologue if first.kind == "pipeline" else 0
    address = sum(leaf.found.address_dsp for leaf in leaves)
    piped = any(r.kind == "pipeline" for r in _all(regions))
    calls = (first.kind == "pipeline", ended)
    return Piece(at, prologue, calls, units, memories, address, piped)


More = Mapping[str, Mapping[str, float]]
"""Operations of each core for one that was scheduled, by the prefix of a nest's loops."""


def units_in(regions: Sequence[tuple[Outline, More]], tool: Personality) -> Units:
    """The units of regions one after the other, with all copies, as `qor_gnn.area.binding` shares them.

    Args:
        regions: as they were scheduled, and what they stand for.
        tool: whose units they are.
    """
    found: list[Units] = []
    stage: Units = ()
    for position, (region, more) in enumerate(regions):
        own = _own_units(region, more)
        beside = regions[position + 1 : position + 2]
        if tool.composition.blocks == "raised" and _raised(regions, position):
            own = added((own, _own_units(*beside[0])))
        if region.beside:
            stage = added((stage, own))
        elif region.kind != "block" or position == len(regions) - 1:
            stage = own
        found += [own, stage, units_in([(child, more) for child in region.children], tool)]
    return _most(found)


def _raised(regions: Sequence[tuple[Outline, More]], position: int) -> bool:
    """A block between two pipelines, which moves above the first."""
    if regions[position][0].kind != "block" or not 0 < position < len(regions) - 1:
        return False
    around = (regions[position - 1][0], regions[position + 1][0])
    return all(region.kind == "pipeline" for region in around)


def _own_units(region: Outline, more: More) -> Units:
    own = []
    name = region.loops[-1][0] if region.loops else ""
    mine = more.get(name[: name.rfind(".") + 1], {})
    for unit in region.units:
        times = mine.get(unit.core, 1.0)
        if unit.operations:
            count = ceil(round(unit.operations * times) / region.interval)
        else:
            count = round(unit.units * times)
        own.append((unit.core, unit.dsp, count))
    return tuple(own)


def _most(units: Iterable[Units]) -> Units:
    most: dict[tuple[str, int], int] = {}
    for one in units:
        for core, dsp, count in one:
            most[core, dsp] = max(count, most.get((core, dsp), 0))
    return tuple((*key, count) for key, count in most.items())


def _all(regions: Iterable[Outline]) -> Iterator[Outline]:
    for region in regions:
        yield region
        yield from _all(region.children)


# ---------------------------------------------------------------------------------------- places


def plan_of(nodes: tuple[TreeNode, ...], nests: Sequence[Nest]) -> tuple[Part, ...] | None:
    """Where the nests stand in a tree; None where one is in several places, or under a guard."""
    whose = {name: n for n, nest in enumerate(nests) for name in nest.statements}
    found: list[Part] = []
    for node in nodes:
        inside = {whose[name] for name in statements_in(node)}
        if len(inside) == 1:
            found.append(inside.pop())
            continue
        if not isinstance(node, TreeLoop):
            return None
        body = plan_of(node.body, nests)
        if body is None:
            return None
        trips = float(node.constant_trip or 0)
        if node.constant_trip is None:
            if node.trip is None:
                return None
            trips = node.trip.average
        found.append(Around(node, trips, body))
    numbers = [n for n in nests_in(found) if nests[n].orders[0].band]
    return tuple(found) if len(numbers) == len(set(numbers)) else None


def nests_in(parts: Iterable[Part]) -> Iterator[int]:
    """Their numbers, in order."""
    for part in parts:
        if isinstance(part, int):
            yield part
        else:
            yield from nests_in(part.body)


def statements_in(node: TreeNode) -> Iterator[str]:
    """Names of the statements at or below a node."""
    match node:
        case Instance(stmt=stmt):
            yield stmt.name
        case TreeLoop(body=body) | TreeGuard(body=body):
            for inner in body:
                yield from statements_in(inner)


def _place(
    nodes: tuple[TreeNode, ...], plan: Sequence[Part], n: int
) -> tuple[tuple[TreeLoop, ...], TreeNode] | None:
    """The loops around a nest, and its own node."""
    for node, part in zip(nodes, plan, strict=True):
        if part == n:
            return (), node
        if isinstance(part, Around) and n in nests_in((part,)) and isinstance(node, TreeLoop):
            inner = _place(node.body, part.body, n)
            return None if inner is None else ((node, *inner[0]), inner[1])
    return None
