"""What a design takes, from what its nests take: by the rules of `qor_gnn.schedule.compose`.

Nests run one after the other, those that share no array beside one another where the tool does so; in loops
around that several share they run in each iteration.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from dse.ranking.blocks import Block, block_of
from dse.ranking.copies import about, is_border, with_pipelines
from dse.ranking.flow import Flow
from dse.ranking.outline import Outlined
from dse.ranking.pieces import Piece, joined, piped, units_in
from dse.ranking.places import Around, Part, nests_in, place_of, plan_of, processes_in
from dse.ranking.relatives import Relative
from dse.ranking.structures import structure
from dse.ranking.templates import Leaf, Template, like, scheduled
from dse.ranking.unrolled import Asked, asked_of, band_of, sides_of
from dse.space.costs.cost import Shared, Units, added, dsp_of, tail_of
from dse.space.memory.banks import Demand
from dse.space.space import nest_steps
from dse.space.variant import Variant
from dsl.programs.program import Program
from dsl.schedules.steps import Pipeline, Reassociate, Step, Unroll
from polyhedral.codegen.generate import loop_tree
from polyhedral.looptree.tree import LoopTree, TreeLoop, TreeNode
from polyhedral.schedule import completed
from qor_gnn.design.directives import written_unrolls
from qor_gnn.schedule.overlapped import pace
from qor_gnn.tools.personality import Personality, allowed

Picked = tuple[int, tuple[int, ...], int]  # order, vector and interval of a nest
_LARGE = 256  # statements of a cluster that are too many to schedule here


@dataclass(frozen=True, slots=True)
class _Process:
    """One of a loop whose body is a dataflow region, in states of its first iteration."""

    start: float
    end: float
    units: Units
    memories: frozenset[str]
    address_dsp: int


class Composed:
    """The designs of one variant."""

    def __init__(
        self,
        variant: Variant,
        program: Program,
        tool: Personality,
        shared: dict[object, Template] | None = None,
    ) -> None:
        """Nothing is scheduled yet but what others, of which ``shared`` has the templates, have."""
        self.variant = variant
        self.tool = allowed(tool, any(isinstance(s, Reassociate) for s in variant.steps))
        self._source = program
        self._base: tuple[LoopTree, tuple[Part, ...] | None] | None = None
        self._templates: dict[tuple[int, int], Template | None] = {}
        self._shared = {} if shared is None else shared
        self._pieces: dict[object, Piece | None] = {}
        self._clusters: dict[object, Outlined | None] = {}
        self._blocks: dict[object, Block | None] = {}

    # ---------------------------------------------------------------------------------- designs

    @property
    def plan(self) -> tuple[Part, ...] | None:
        """Where the nests stand; None where they are not in plain loops."""
        if self._base is None:
            tree = loop_tree(completed(structure(self._source, self.variant.steps), ()))
            self._base = tree, plan_of(tree.body, self.variant.nests)
        return self._base[1]

    def figures(self, choices: Sequence[Picked], banks: Demand) -> tuple[float, float] | None:
        """Cycles and DSP slices of a design; None where it has no templates.

        Args:
            choices: for each nest its order, vector and interval.
            banks: the factors of all arrays.
        """
        plan = self.plan
        if plan is None:
            return None
        if self.variant.beside:
            return self._at_once(plan, choices, banks)
        flow = self._flow(plan, choices, banks)
        if flow is None:
            return None
        ends = 0 if flow.ended else 1
        if flow.only is not None and flow.only.calls == (True, True):
            ends = 0 if flow.only.first else -1
        return flow.at + ends - 1, dsp_of(flow.most) + flow.address_dsp

    def _at_once(
        self, plan: Sequence[Part], choices: Sequence[Picked], banks: Demand
    ) -> tuple[float, float] | None:
        """All nests beside one another: as long as the longest."""
        pieces: list[Piece] = []
        for part in plan:
            piece = self._part(part, choices, banks)
            if piece is None:
                return None
            pieces.append(piece)
        dsp = dsp_of([added(piece.units for piece in pieces)])
        return max(piece.states for piece in pieces), dsp + sum(p.address_dsp for p in pieces)

    def _flow(self, parts: Sequence[Part], choices: Sequence[Picked], banks: Demand) -> Flow | None:
        flow = Flow()
        loops = self.tool.composition.concurrent == "loops"
        for at, part in enumerate(parts):
            if self._is_block(part):
                if at and self._is_block(parts[at - 1]):
                    continue  # the same block
                block = self._block(parts, at, banks)
                if block is None:
                    return None
                flow.put(block[0], last=block[1] == len(parts))
                continue
            piece = self._part(part, choices, banks)
            if piece is None:
                return None
            flow.follow(piece, loops)
            flow.only = piece if len(parts) == 1 else None
        return flow

    def _is_block(self, part: Part) -> bool:
        return isinstance(part, int) and not self.variant.nests[part].orders[0].band

    def _block(self, parts: Sequence[Part], at: int, banks: Demand) -> tuple[Block, int] | None:
        """The statements outside all loops from a place on, and the place where they end."""
        assert self._base is not None
        end = next((k for k in range(at, len(parts)) if not self._is_block(parts[k])), len(parts))
        own = self._own_banks((n for n in nests_in(parts[at:end])), banks)
        key = (at, end, own)
        if key not in self._blocks:
            tree, _ = self._base
            demands = [dict(own)]
            found = like(tree, self.variant.program, tree.body[at:end], demands)
            self._blocks[key] = block_of(found, self.tool)
        block = self._blocks[key]
        return None if block is None else (block, end)

    def _part(self, part: Part, choices: Sequence[Picked], banks: Demand) -> Piece | None:
        if isinstance(part, int):
            return self.piece(part, choices[part], banks)
        if any(not self.variant.nests[n].orders[0].band for n in nests_in((part,))):
            return self._cluster(part, choices, banks)
        return self._around(part, choices, banks)

    def _around(self, around: Around, choices: Sequence[Picked], banks: Demand) -> Piece | None:
        """The nests of an iteration, so often."""
        runs = around.trips
        if around.loop.processes:
            return self._overlapped(around, choices, banks)
        while len(around.body) == 1 and isinstance(around.body[0], Around):
            if around.body[0].loop.processes:
                break
            around = around.body[0]
            runs *= around.trips
        flow = self._flow(around.body, choices, banks)
        if flow is None:
            return None
        depth = flow.at + (0 if flow.ended else 1)
        loops = self.tool.composition.concurrent == "loops"
        states = 1 + runs * depth + (1 if loops else 0)
        units = Shared(flow.most).units()
        calls = (loops, loops)
        return Piece(states, 0, calls, units, flow.memories, flow.address_dsp, flow.piped)

    def _overlapped(self, around: Around, choices: Sequence[Picked], banks: Demand) -> Piece | None:
        """The processes of an iteration, which begins when the slowest is free; by the rules of
        `qor_gnn.schedule.overlapped`.
        """
        processes: list[_Process] = []
        for parts in processes_in(around, self.variant.nests):
            flow = self._flow(parts, choices, banks)
            if flow is None:
                return None
            start = max((p.end + 1 for p in processes if p.memories & flow.memories), default=0.0)
            end = start + flow.at + (0 if flow.ended else 1)
            units = Shared(flow.most).units()
            processes.append(_Process(start, end, units, flow.memories, flow.address_dsp))
        depth, interval = pace([(p.start, p.end) for p in processes])
        loops = self.tool.composition.concurrent == "loops"
        states = max(0.0, around.trips - 1) * interval + depth + (1 if loops else 0)
        return Piece(
            states,
            0,
            (loops, loops),
            added([p.units for p in processes]),
            frozenset[str]().union(*(p.memories for p in processes)),
            sum(p.address_dsp for p in processes),
            False,
        )

    # ------------------------------------------------------------------------------------ nests

    def piece(self, n: int, picked: Picked, banks: Demand) -> Piece | None:
        """What a nest takes each time that it is entered."""
        own = self._own_banks((n,), banks)
        key = (n, picked, own)
        if key not in self._pieces:
            if self.variant.nests[n].orders[picked[0]].given:
                leaves = self._whole(n, (), dict(own))
            elif is_border(self.variant.nests[n].orders[picked[0]]):
                return about(self.variant.nests[n], *picked)
            elif self.variant.nests[n].orders[picked[0]].words:
                leaves = self._words(n, picked, dict(own))
            else:
                leaves = self._leaves(n, picked, dict(own), whole_chains=False)
            self._pieces[key] = None if leaves is None else joined(leaves, self.tool)
        return self._pieces[key]

    def rates(self, n: int, picked: Picked, banks: Demand) -> tuple[tuple[int, int], ...]:
        """Interval and states of the nests that a nest becomes; nothing where it was not scheduled by itself."""
        piece = self._pieces.get((n, picked, self._own_banks((n,), banks)))
        return () if piece is None else piece.rates

    def _whole(self, n: int, steps: Sequence[Step], banks: Demand) -> list[Leaf] | None:
        """A nest as the structure leaves it, with its pipelines."""
        assert self._base is not None
        tree, plan = self._base
        place = None if plan is None else place_of(tree.body, plan, n)
        if place is None:
            return None
        around, node = place
        node = with_pipelines(node, [step for step in steps if isinstance(step, Pipeline)])
        for loop in reversed(around):
            node = replace(loop, body=(node,))
        design = like(tree, self.variant.program, (node,), [banks])
        kept = written_unrolls((*self.variant.steps, *steps))
        found = scheduled(design, self.tool, kept, len(around))
        return None if found is None else [Leaf(found, Relative((), Asked(None), ()), {}, {})]

    def _words(self, n: int, picked: Picked, banks: Demand) -> list[Leaf] | None:
        """A nest that copies words, of which no part stands for the whole."""
        nest = self.variant.nests[n]
        steps = tuple(nest_steps(nest, nest.orders[picked[0]], *picked[1:]))
        return self._whole(n, steps, banks)

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
        tail = tail_of(nest, order, vector)
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
        start = structure(self._source, self.variant.steps)
        state = completed(start, (*order.steps, *unrolls))
        tree = loop_tree(state)
        plan = plan_of(tree.body, self.variant.nests)
        place = None if plan is None else place_of(tree.body, plan, n)
        if place is None:
            return None
        around, node = place
        band = band_of(node, [loop.name for loop in order.band], state.reassociated)
        if band is None:
            return None
        found = Template(self.variant.program, order, around, band, self.tool, tree)
        return self._shared.setdefault(found.content(nest.statements), found)

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
        states = scheduled.states(trips)
        return Piece(states, 0, called, units, memories, scheduled.address_dsp, piped(regions))

    def _schedule(
        self, part: Around, choices: Sequence[Picked], leaves: Mapping[int, list[Leaf]]
    ) -> Outlined | None:
        assert self._base is not None
        templates: dict[int, Template] = {}
        for n in leaves:
            template = self._template(n, choices[n][0])
            assert template is not None
            templates[n] = template
        if sum(templates[n].statements(x.relative) for n in leaves for x in leaves[n]) > _LARGE:
            return None
        node = _filled(part, templates, leaves)
        pairs = [(templates[n], n, k, x) for n in leaves for k, x in enumerate(leaves[n])]
        demands = [template.banks(x.relative) for template, _, _, x in pairs]
        kept = frozenset[str]().union(
            *(template.kept(x.relative, _prefix(n, k)) for template, n, k, x in pairs)
        )
        tree = like(self._base[0], self.variant.program, (node,), demands)
        return scheduled(tree, self.tool, kept, 0)


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
