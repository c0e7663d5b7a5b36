"""What a design takes, from what its nests take: by the rules of `qor_gnn.schedule.compose`.

Nests run one after the other, those that share no array beside one another where the tool does so; in loops
around that several share they run in each iteration.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil

from dse.space.banks import Demand
from dse.space.cost import Units, added, cost, dsp_of
from dse.space.nest import Nest
from dse.space.templates import Leaf, Placed, Template
from dse.space.unrolled import asked_of, band_of, sides_of
from dse.space.variants import Variant
from dsl.schedules.schedule import Schedule
from polyhedral.codegen.generate import loop_tree
from polyhedral.looptree.tree import Instance, LoopTree, TreeGuard, TreeLoop, TreeNode
from polyhedral.schedule import apply
from qor_gnn.batch.outline import Outline, Outlined, Trips
from qor_gnn.tools.personality import Personality


@dataclass(frozen=True, slots=True)
class Around:
    """A loop that several nests share: how often it runs, and what is in it."""

    loop: TreeLoop
    trips: float
    body: tuple[Part, ...]


Part = Around | int  # or the number of a nest


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


class Composed:
    """The designs of one variant."""

    def __init__(self, variant: Variant, program: object, tool: Personality) -> None:
        """Nothing is scheduled yet."""
        self.variant, self.tool = variant, tool
        self._source = program
        self._tree: LoopTree | None = None
        self._plan: tuple[Part, ...] | None = None
        self._templates: dict[tuple[int, int], Template | None] = {}
        self._pieces: dict[object, Piece] = {}

    # ---------------------------------------------------------------------------------- designs

    @property
    def plan(self) -> tuple[Part, ...] | None:
        """Where the nests stand; None where they are not in plain loops."""
        if self._tree is None:
            self._tree = self._built(Schedule(self.variant.steps))
            self._plan = plan_of(self._tree.body, self.variant.nests)
        return self._plan

    def figures(self, choices: Sequence[tuple[int, tuple[int, ...], int]], banks: Demand,
                registers: frozenset[str]) -> tuple[float, int]:  # fmt: skip
        """Cycles and DSP slices of a design.

        Args:
            choices: for each nest its order, vector and interval.
            banks: the factors of all arrays.
            registers: arrays of which every element is a bank.
        """
        pieces = [self.piece(n, *choice, banks, registers) for n, choice in enumerate(choices)]
        plan = self.plan or tuple(range(len(pieces)))
        flow = self._flow(plan, pieces, top=True)
        ends = 0 if flow.ended else 1
        single = len(plan) == 1 and isinstance(plan[0], int) and pieces[plan[0]].calls == (True, True)
        if single:
            ends = 0 if pieces[0].first else -1
        dsp = dsp_of(flow.most) + sum(p.address_dsp for p in pieces)
        return flow.at + ends - 1, dsp

    def _flow(self, parts: Sequence[Part], pieces: Sequence[Piece], top: bool = False) -> _Flow:
        flow = _Flow()
        loops = self.tool.composition.concurrent == "loops"
        for part in parts:
            piece = pieces[part] if isinstance(part, int) else self._around(part, pieces)
            begins, ends = (True, True) if loops else piece.calls
            behind = flow.ended and begins
            states = piece.states - (piece.first if behind and not loops else 0)
            beside = bool(flow.calls) and behind and not any(
                piece.memories & other for other in flow.calls
            )  # fmt: skip
            if not beside:
                flow.calls, flow.called_at, flow.stage = [], flow.at, ()
            flow.stage = added((flow.stage, piece.units)) if beside else piece.units
            flow.most.append(flow.stage)
            flow.at = max(flow.at, flow.called_at + states)
            flow.ended = ends
            flow.piped |= piece.piped
            if ends:
                flow.calls.append(piece.memories)
            else:
                flow.calls = []
        del top
        return flow

    def _around(self, around: Around, pieces: Sequence[Piece]) -> Piece:
        """The nests of an iteration, so often."""
        runs = around.trips
        while len(around.body) == 1 and isinstance(around.body[0], Around):
            around = around.body[0]
            runs *= around.trips
        flow = self._flow(around.body, pieces)
        depth = flow.at + (0 if flow.ended else 1)
        loops = self.tool.composition.concurrent == "loops"
        states = 1 + runs * depth + (1 if loops else 0)
        inside = [pieces[n] for n in nests_in(around.body)]
        memories = frozenset[str]().union(*(p.memories for p in inside))
        units = _most(flow.most)
        return Piece(states, 0, (loops, loops), units, memories, 0, flow.piped)

    # ------------------------------------------------------------------------------------ nests

    def piece(
        self,
        n: int,
        order: int,
        vector: tuple[int, ...],
        ii: int,
        banks: Demand,
        registers: frozenset[str],
    ) -> Piece:
        """What a nest takes."""
        nest = self.variant.nests[n]
        own = tuple(sorted((k, f) for k, f in banks.items() if k[0] in nest.arrays))
        key = (n, order, vector, ii, own)
        found = self._pieces.get(key)
        if found is None:
            found = self._pieces[key] = self._piece(n, order, vector, ii, dict(own), registers)
        return found

    def _piece(
        self,
        n: int,
        number: int,
        vector: tuple[int, ...],
        ii: int,
        banks: Demand,
        registers: frozenset[str],
    ) -> Piece:
        nest = self.variant.nests[n]
        order = nest.orders[number]
        rough = cost(nest, order, vector, registers & nest.arrays, ii)
        template = self._template(n, number)
        leaves: list[Leaf] = []
        for sides in sides_of(order, vector, rough.tail) if template is not None else ():
            assert template is not None
            leaf = template.leaf(sides, asked_of(order, vector, rough.tail, ii), banks)
            if leaf is None:
                leaves = []
                break
            leaves.append(leaf)
        if not leaves:
            states = rough.cycles / max(1e-9, nest.runs)
            return Piece(states, 0, (False, False), rough.units, nest.arrays, 0, True)
        return self._joined(leaves)

    def _joined(self, leaves: Sequence[Leaf]) -> Piece:
        """The nests that a nest becomes, one after the other."""
        at = 0.0
        units: list[Units] = []
        ended = False
        address = 0
        for leaf in leaves:
            regions = leaf.found.regions
            states = leaf.found.states(leaf.trips)
            if ended and regions[0].kind == "pipeline":
                states -= regions[0].prologue
            at += states
            ended = regions[-1].kind == "pipeline"
            units += units_in(regions, leaf.more)
            address += leaf.found.address_dsp
        first = leaves[0].found.regions[0]
        calls = (first.kind == "pipeline", ended)
        regions = [r for leaf in leaves for r in leaf.found.regions]
        memories = frozenset[str]().union(*(r.memories for r in regions))
        prologue = first.prologue if first.kind == "pipeline" else 0
        piped = any(r.kind == "pipeline" for r in _all(regions))
        return Piece(at, prologue, calls, _most(units), memories, address, piped)

    def _template(self, n: int, number: int) -> Template | None:
        key = (n, number)
        if key not in self._templates:
            self._templates[key] = self._new(n, number)
        return self._templates[key]

    def _new(self, n: int, number: int) -> Template | None:
        nest = self.variant.nests[n]
        order = nest.orders[number]
        if not order.band or self.plan is None:
            return None
        tree = self._built(Schedule((*self.variant.steps, *order.steps)))
        plan = plan_of(tree.body, self.variant.nests)
        place = None if plan is None else _place(tree.body, plan, n)
        if place is None:
            return None
        around, node = place
        band = band_of(node, [loop.name for loop in order.band])
        if band is None or any(loop.guarded for loop in order.band):
            return None
        if any(loop.inner for loop in order.loops):
            return None
        return Template(
            self.variant.program, order, Placed(around, band), self.tool, tree.operators
        )

    def _built(self, schedule: Schedule) -> LoopTree:
        return loop_tree(apply(self._source, schedule))  # type: ignore[arg-type]


def units_in(regions: Sequence[Outline], more: Mapping[str, float]) -> list[Units]:
    """The units of each region, with all copies."""
    found: list[Units] = []
    for region in regions:
        own = []
        for unit in region.units:
            times = more.get(unit.core, 1.0)
            if unit.operations:
                count = ceil(round(unit.operations * times) / region.interval)
            else:
                count = round(unit.units * times)
            own.append((unit.core, unit.dsp, count))
        found += [tuple(own), *units_in(region.children, more)]
    return found


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
    numbers = [n for n in nests_in(found)]
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
