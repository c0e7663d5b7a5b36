"""How the arrays of a design are kept: their banks, and what a tool makes of local ones by itself.

A local array is read from copies, or split, for all that the pipelines of a design do with it
(`qor_gnn.memory.many_readers`, `qor_gnn.memory.automatic_partition`). A relative of one nest shows less: fewer copies, and
nothing of who else writes the array. So what is decided is found of the loops of the design as a whole, which are not
scheduled for it, and relatives are told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from dse.ranking.places import Part, filled_with
from dse.space.memory.banks import Demand
from dse.space.memory.partitions import together
from dse.space.variant import Variant
from dsl.programs.program import Program, Storage
from dsl.schedules.steps import Partition
from polyhedral.looptree.tree import LoopTree, TreeNode
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.design.region import Kernel, Memory
from qor_gnn.memory.automatic_partition import partitioned
from qor_gnn.tools.personality import Personality
from qor_gnn.tools.policies.local_arrays import LocalArrays


@dataclass(frozen=True, slots=True)
class Kept:
    """What a tool makes of a local array: the type of its storage, and whether it is accessed in order."""

    array: str
    storage: str
    in_order: bool


Stored = tuple[Kept, ...]  # of the arrays of which it is a tool's choice, by name


@dataclass(frozen=True, slots=True)
class Memories:
    """Factors of arrays, and types of storage that a tool chose; sorted."""

    factors: tuple[tuple[tuple[str, int], int], ...] = ()
    stored: Stored = ()

    @staticmethod
    def of(banks: Demand, stored: Stored = ()) -> Memories:
        """Of the factors of all arrays."""
        return Memories(tuple(sorted(banks.items())), stored)

    @property
    def banks(self) -> Demand:
        """Factors by array and dimension."""
        return dict(self.factors)

    def only(self, arrays: frozenset[str]) -> Memories:
        """Those of some arrays."""
        return Memories(
            tuple(f for f in self.factors if f[0][0] in arrays),
            tuple(s for s in self.stored if s.array in arrays),
        )


Picked = tuple[int, tuple[int, ...], int]  # order, vector and interval of a nest
Nodes = tuple[
    tuple[TreeNode, ...], frozenset[str]
]  # of a nest, and names of loops that are unrolled


class Decisions:
    """What a tool decides of the local arrays of one variant."""

    def __init__(
        self, variant: Variant, tree: LoopTree, plan: Sequence[Part], tool: Personality
    ) -> None:
        """Nothing is decided yet; ``tree`` has no copies, ``plan`` says where the nests stand in it."""
        self.tree, self.plan, self.tool = tree, plan, tool
        self.arrays = undecided(tree, tool)
        self.nests = tuple(n for n, x in enumerate(variant.nests) if x.arrays & self.arrays)
        self.banded = tuple(n for n in self.nests if variant.nests[n].orders[0].band)
        self.touched = frozenset[str]().union(*(variant.nests[n].arrays for n in self.nests))
        self._known: dict[object, Memories | None] = {}

    def memories(
        self,
        choices: Sequence[Picked],
        banks: Demand,
        nodes: Callable[[int, Picked], Nodes | None],
    ) -> Memories | None:
        """All arrays of a design.

        Args:
            choices: for each nest its order, vector and interval.
            banks: the factors that are asked for.
            nodes: of a nest with all its copies; None where they are not known, as then is what is decided.
        """
        asked = Memories.of(banks)
        if not self.nests:
            return asked
        key = (tuple(choices[n] for n in self.nests), asked.only(self.touched))
        if key not in self._known:
            self._known[key] = self._decided(choices, asked, nodes)
        found = self._known[key]
        return found and Memories.of({**banks, **found.banks}, found.stored)

    def _decided(
        self,
        choices: Sequence[Picked],
        asked: Memories,
        nodes: Callable[[int, Picked], Nodes | None],
    ) -> Memories | None:
        inside: dict[int, tuple[TreeNode, ...]] = {}
        kept = frozenset[str]()
        for n in self.banded:
            own = nodes(n, choices[n])
            if own is None:
                return None
            inside[n], unrolled = own
            kept |= unrolled
        body = filled_with(self.plan, self.tree.body, inside)
        steps = tuple(partitions_of(self.tree.program, [asked.banks]))
        design = replace(self.tree, body=body, partitions=steps)
        return decided(design, self.tool, kept, self.arrays)


def undecided(tree: LoopTree, tool: Personality) -> frozenset[str]:
    """The local arrays that the tool may store in a way of its own."""
    policy = tool.local_arrays
    if not policy.most_copies and not policy.promoted and tool.partitioning is None:
        return frozenset()
    bound = {s.array for s in tree.storage}
    return frozenset(
        a.name
        for a in tree.program.arrays
        if a.shape and a.storage is Storage.LOCAL and a.name not in bound
    )


def decided(
    tree: LoopTree, tool: Personality, kept: frozenset[str], arrays: Iterable[str]
) -> Memories:
    """Factors and types of storage of some arrays as the tool has them.

    Args:
        tree: all loops in which they are accessed.
        tool: whose policies they are.
        kept: names of loops whose unroll factor somebody wrote.
        arrays: that are `undecided`.
    """
    kernel, _ = partitioned(kernel_of_tree(tree), tool, kept)
    own = {m.name: m for m in kernel.memories}
    mine = [own[name] for name in sorted(arrays) if name in own]
    banks = {(m.name, d): s.factor for m in mine for d, s in enumerate(m.splits) if s.factor > 1}
    return Memories.of(banks, tuple(Kept(m.name, m.storage, m.in_order) for m in mine))


def as_stored(kernel: Kernel, stored: Stored) -> Kernel:
    """A design whose arrays have these types of storage."""
    if not stored:
        return kernel
    choices = {kept.array: kept for kept in stored}
    memories = tuple(_bound(m, choices.get(m.name)) for m in kernel.memories)
    return replace(kernel, memories=memories)


def _bound(memory: Memory, kept: Kept | None) -> Memory:
    if kept is None:
        return memory
    return replace(memory, storage=kept.storage, in_order=kept.in_order)


def settled(tool: Personality) -> Personality:
    """A tool that changes nothing in how local arrays are stored."""
    return replace(tool, local_arrays=LocalArrays(), partitioning=None)


def partitions_of(program: Program, demands: Sequence[Demand]) -> Iterator[Partition]:
    """The steps that give arrays banks that serve all of several demands."""
    for (array, d), factor in together(program, demands).items():
        if factor >= program.array(array).shape[d] > 1:
            yield Partition(array, d, "complete")
        elif factor > 1:
            yield Partition(array, d, "cyclic", factor)
