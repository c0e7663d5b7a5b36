"""How the arrays of a design are kept: their banks, and what a tool makes of local ones by itself.

A local array is read from copies, or split, for all that the pipelines of a design do with it
(`qor_gnn.memory.many_readers`, `qor_gnn.memory.automatic_partition`). A relative of one nest shows less: fewer copies, and
nothing of who else writes the array. So what is decided is found of the loops of the design as a whole, which are not
scheduled for it, and relatives are told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dse.ranking.places import Part, filled_with
from dse.space.memory.banks import Demand, interval_with
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
        self.variant, self.tree, self.plan, self.tool = variant, tree, plan, tool
        self.arrays = undecided(tree, tool)
        self._shapes = {a.name: a.shape for a in tree.program.arrays if a.name in self.arrays}
        self._nests: dict[str, tuple[tuple[int, ...], frozenset[str]]] = {}
        self._known: dict[object, Memories | None] = {}

    @property
    def count(self) -> int:
        """How many were made."""
        return len(self._known)

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
        found, stored = dict(banks), list[Kept]()
        for name, shape in self._shapes.items():
            if not _in_memory(name, shape, banks):
                continue  # where each element is a bank there is nothing to decide
            if name not in self._nests:
                self._nests[name] = self._accessing(name)
            nests, touched = self._nests[name]
            if not self._is_wanted(name, len(shape), nests, choices, banks):
                continue
            key = (name, tuple(choices[n] for n in nests), asked.only(touched))
            if key not in self._known:
                own = {n: nodes(n, choices[n]) for n in nests if self._has_loops(n)}
                self._known[key] = self._decided(own, asked, frozenset((name,)))
            one = self._known[key]
            if one is None:
                return None
            found.update(one.banks)
            stored += one.stored
        return Memories.of(found, tuple(stored))

    def _is_wanted(
        self,
        array: str,
        dims: int,
        nests: Sequence[int],
        choices: Sequence[Picked],
        banks: Demand,
    ) -> bool:
        """Whether a nest may want more of an array in a cycle than the ports of its banks give: where none does, what is
        read from copies and what is not take the same, and a tool that splits nothing has nothing to decide.
        """
        if self.tool.partitioning is not None or self.tree.streams:
            return True
        factors = {d: banks.get((array, d), 1) for d in range(dims)}
        picked = ((self.variant.nests[n].orders[choices[n][0]], choices[n][1]) for n in nests)
        return any(interval_with(order, vector, array, factors) > 1 for order, vector in picked)

    def _has_loops(self, n: int) -> bool:
        return bool(self.variant.nests[n].orders[0].band)

    def _accessing(self, array: str) -> tuple[tuple[int, ...], frozenset[str]]:
        """The nests that access an array, and the arrays whose banks what is decided of it depends on."""
        mine = [(n, x.arrays) for n, x in enumerate(self.variant.nests) if array in x.arrays]
        own = frozenset((array,))
        if self.tool.partitioning is not None:
            own = own.union(*(arrays for _, arrays in mine))
        return tuple(n for n, _ in mine), own

    def _decided(
        self,
        nests: Mapping[int, Nodes | None],
        asked: Memories,
        arrays: frozenset[str],
    ) -> Memories | None:
        inside: dict[int, tuple[TreeNode, ...]] = {}
        kept = frozenset[str]()
        for n, own in nests.items():
            if own is None:
                return None
            inside[n], unrolled = own
            kept |= unrolled
        body = filled_with(self.plan, self.tree.body, inside)
        steps = tuple(partitions_of(self.tree.program, [asked.banks]))
        design = replace(self.tree, body=body, partitions=steps)
        return decided(design, self.tool, kept, arrays)


def _in_memory(name: str, shape: tuple[int, ...], banks: Demand) -> bool:
    """Whether an array has fewer banks than elements."""
    return any(banks.get((name, d), 1) < n for d, n in enumerate(shape))


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
