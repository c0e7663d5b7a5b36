"""The nests of one variant: what each takes each time that it is entered, by itself."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from dse.ranking.copies import about, is_border, with_pipelines
from dse.ranking.memories import Memories, Nodes, Picked
from dse.ranking.pieces import Piece, joined
from dse.ranking.places import Part, place_of, plan_of
from dse.ranking.relatives import Relative
from dse.ranking.structures import structure
from dse.ranking.templates import Leaf, Template, like, scheduled
from dse.ranking.unrolled import Asked, Sides, asked_of, band_of, sides_of
from dse.space.costs.cost import tail_of
from dse.space.space import nest_steps
from dse.space.variant import Variant
from dsl.programs.program import Program
from dsl.schedules.steps import Pipeline, Unroll
from polyhedral.codegen.generate import loop_tree
from polyhedral.looptree.tree import LoopTree, TreeLoop, TreeNode
from polyhedral.schedule import completed
from qor_gnn.design.directives import written_unrolls
from qor_gnn.tools.personality import Personality


class Nests:
    """Those of one variant."""

    def __init__(
        self,
        variant: Variant,
        program: Program,
        tool: Personality,
        shared: dict[object, Template],
    ) -> None:
        """Nothing is scheduled yet but what others, of which ``shared`` has the templates, have."""
        self.variant, self.tool = variant, tool
        self._source, self._shared = program, shared
        self._templates: dict[tuple[int, int], Template | None] = {}
        self._pieces: dict[object, Piece | None] = {}
        self._wholes: dict[tuple[int, ...], tuple[list[Leaf], Piece]] = {}
        self._arrays: dict[tuple[int, ...], frozenset[str]] = {}

    @cached_property
    def tree(self) -> LoopTree:
        """The loops of the variant, nothing unrolled."""
        return loop_tree(completed(structure(self._source, self.variant.steps), ()))

    @cached_property
    def plan(self) -> tuple[Part, ...] | None:
        """Where the nests stand; None where they are not in plain loops."""
        return plan_of(self.tree.body, self.variant.nests)

    def piece(self, n: int, picked: Picked, memories: Memories) -> Piece | None:
        """What a nest takes each time that it is entered; None where it has no template."""
        own = self.own((n,), memories)
        key = (n, picked, own)
        if key not in self._pieces:
            order = self.variant.nests[n].orders[picked[0]]
            if is_border(order) and not order.words and picked[1] != order.plain:
                return about(self.variant.nests[n], *picked)
            if self._is_whole(n, picked):
                leaves = self._whole(n, picked, own)
            else:
                leaves = self.leaves(n, picked, own, whole_chains=False)
            self._pieces[key] = None if leaves is None else self._joined(leaves)
        return self._pieces[key]

    def _joined(self, leaves: list[Leaf]) -> Piece:
        """As `joined`; templates keep what they find, so that the same ones come back."""
        key = tuple(map(id, leaves))
        if key not in self._wholes:
            self._wholes[key] = leaves, joined(leaves, self.tool)
        return self._wholes[key][1]

    def known(self, n: int, picked: Picked, memories: Memories) -> Piece | None:
        """A piece that was asked for before."""
        return self._pieces.get((n, picked, self.own((n,), memories)))

    def _is_whole(self, n: int, picked: Picked) -> bool:
        """No part of the nest stands for it: it is as its steps say, or copies words."""
        order = self.variant.nests[n].orders[picked[0]]
        return order.given or bool(order.words) or is_border(order)

    def _whole(self, n: int, picked: Picked, memories: Memories) -> list[Leaf] | None:
        """A nest as the structure leaves it, with its pipelines."""
        place = self._place(n, picked)
        if place is None:
            return None
        around, node, kept = place
        for loop in reversed(around):
            node = replace(loop, body=(node,))
        design = like(self.tree, self.variant.program, (node,), [memories.banks])
        found = scheduled(design, self.tool, kept, len(around), memories.stored)
        return None if found is None else [Leaf(found, Relative((), Asked(None), ()), {}, {})]

    def _place(
        self, n: int, picked: Picked
    ) -> tuple[tuple[TreeLoop, ...], TreeNode, frozenset[str]] | None:
        """The loops around a nest of which no part stands for it, its node with its pipelines, and the loops that are
        unrolled.
        """
        plan = self.plan
        place = None if plan is None else place_of(self.tree.body, plan, n)
        if place is None:
            return None
        nest = self.variant.nests[n]
        number, vector, ii = picked
        steps = tuple(nest_steps(nest, nest.orders[number], vector, ii))
        node = with_pipelines(place[1], [step for step in steps if isinstance(step, Pipeline)])
        return place[0], node, written_unrolls((*self.variant.steps, *steps))

    def own(self, nests: tuple[int, ...], memories: Memories) -> Memories:
        """The arrays of some nests."""
        arrays = self._arrays.get(nests)
        if arrays is None:
            mine = (self.variant.nests[n].arrays for n in nests)
            arrays = self._arrays[nests] = frozenset[str]().union(*mine)
        return memories.only(arrays)

    def unrolled(self, n: int, picked: Picked) -> Nodes | None:
        """All copies of a nest, and the loops that are unrolled; None where it has no template."""
        if self._is_whole(n, picked):
            place = self._place(n, picked)
            return None if place is None else ((place[1],), place[2])
        return self._template_nodes(n, picked)

    def leaves(
        self, n: int, picked: Picked, memories: Memories, *, whole_chains: bool
    ) -> list[Leaf] | None:
        """The nests that a nest becomes."""
        template = self.template(n, picked[0])
        if template is None:
            return None
        leaves: list[Leaf] = []
        for sides, asked in self._sides(n, picked):
            leaf = template.leaf(sides, asked, memories, whole_chains=whole_chains)
            if leaf is None:
                return None
            leaves.append(leaf)
        return leaves

    def _sides(self, n: int, picked: Picked) -> list[tuple[Sides, Asked]]:
        """The nests that a nest becomes, in the order in which they run, and what is asked of their loops."""
        number, vector, ii = picked
        nest = self.variant.nests[n]
        order = nest.orders[number]
        tail = tail_of(nest, order, vector)
        asked = asked_of(order, vector, tail, ii)
        return [(sides, asked) for sides in sides_of(order, vector, tail)]

    def _template_nodes(self, n: int, picked: Picked) -> Nodes | None:
        template = self.template(n, picked[0])
        if template is None:
            return None
        nodes: list[TreeNode] = []
        kept = frozenset[str]()
        for k, (sides, asked) in enumerate(self._sides(n, picked)):
            if not template.has_loops(sides):
                return None
            all_of_it = Relative(sides, asked, ())
            nodes += template.nodes(all_of_it, prefix(n, k))
            kept |= template.kept(all_of_it, prefix(n, k))
        return tuple(nodes), kept

    def template(self, n: int, number: int) -> Template | None:
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
        band = band_of(node, [loop.name for loop in order.band])
        if band is None:
            return None
        found = Template(self.variant.program, order, around, band, self.tool, tree)
        return self._shared.setdefault(found.content(nest.statements), found)


def prefix(nest: int, side: int) -> str:
    """Of the names of the loops of a nest that a nest becomes."""
    return f"{nest}.{side}."
