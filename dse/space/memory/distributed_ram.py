"""Local arrays in distributed RAM (memories of LUTs), where a design has too little block RAM for their banks.

A tool puts a bank into block RAM from some bits on (1,024 on 7 series), however few words it has: 64 banks of 49
words are 64 blocks, each of them nearly empty, or 64 times some 25 LUTs. What a pipeline reads under several guards is kept in
copies besides, each in blocks of its own, where the tool takes the reads for different ones. An engineer binds such an array to
LUTs, in one copy, as soon as blocks are short, and so does a point here: those arrays first that need the fewest LUTs for a block.
Where a pipeline reads more of a bank in a cycle than one copy has ports for, there is one for each read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf

from dse.space.memory.banks import interval_at, port_interval
from dse.space.nests.nest import ANY, Order, Vector
from dsl.programs.program import Program, Storage
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import BindStorage, Dataflow, Partition, Step
from polyhedral.applied import applied, tree_of
from polyhedral.banks.splits import Split
from qor_gnn.area.local_memories import local_memories
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.design.region import Memory
from qor_gnn.memory.automatic_partition import copies_cost
from qor_gnn.memory.storage import memory_cost
from qor_gnn.tools.personality import Personality
from qor_gnn.tools.storage.laws import StorageRules

IMPL = "lutram"
_Ports = tuple[int, int, int]
_PORTS: dict[str, _Ports] = {"ram_2p": (2, 1, 2), "ram_1wnr": (ANY, 1, ANY)}
"""Reads, writes and accesses in all of a bank in a cycle. The second type is a copy for each read, the first is one memory."""
_LARGEST = 4096
"""Bits of a bank: as many as tools put into LUTs on silicon with deeper memories of these."""


@dataclass(frozen=True, slots=True)
class Blocks:
    """Block RAM of a budget.

    Attributes:
        bram18: blocks that a design may use.
        rules: what memories cost.
    """

    bram18: float
    rules: StorageRules


def bindable(program: Program, steps: Iterable[Step]) -> tuple[Memory, ...]:
    """Local arrays whose storage is a tool's choice, in one bank each.

    None where nests are processes: what these hand each other is kept twice, and in FIFOs.

    Args:
        program: of a structure.
        steps: that made it.
    """
    steps = tuple(steps)
    if any(isinstance(step, Dataflow) for step in steps):
        return ()
    bound = {step.array for step in steps if isinstance(step, BindStorage)}
    return tuple(
        Memory(a.name, a.dtype, a.shape, (Split("cyclic", 1),) * len(a.shape), argument=False)
        for a in program.arrays
        if a.storage is Storage.LOCAL and a.shape and a.name not in bound
    )


Kept = tuple[Memory, int | Fraction]
"""An array with its banks, and how often a tool keeps each, on average."""


def short_of_blocks(kept: Iterable[Kept], blocks: Blocks) -> frozenset[str]:
    """The arrays that go to LUTs so that the others keep to the budget, as far as that can be.

    Args:
        kept: those of a design that may.
        blocks: of the budget.
    """
    if blocks.bram18 == inf:
        return frozenset()
    taken = {m: blocks_of(m, n, blocks) for m, n in kept}
    return short_with(list(taken.items()), blocks)


def blocks_of(memory: Memory, kept: int | Fraction, blocks: Blocks) -> int:
    """Block RAM that an array takes with its banks, if a tool keeps it so often, on average."""
    return copies_cost(memory, kept, blocks.rules, both=True).bram18


def short_with(taken: Sequence[tuple[Memory, int]], blocks: Blocks) -> frozenset[str]:
    """As `short_of_blocks`, of arrays whose block RAM is known."""
    over = sum(n for _, n in taken) - blocks.bram18
    found: list[str] = []
    if over > 0:
        for memory, n in sorted(taken, key=lambda one: _price(one[0], one[1], blocks.rules)):
            if over > 0 and n and _is_small(memory):
                found.append(memory.name)
                over -= n
    return frozenset(found)


def _price(memory: Memory, blocks: int, rules: StorageRules) -> float:
    """LUTs for each block that is not needed then."""
    return memory_cost(replace(memory, impl=IMPL), rules).lut / blocks if blocks else inf


def _is_small(memory: Memory) -> bool:
    words = 1
    for extent, split in zip(memory.shape, memory.splits, strict=True):
        words *= split.words(extent)
    return words * memory.word_bits <= _LARGEST


def bindings(
    program: Program,
    schedule: Schedule,
    memories: Sequence[Memory],
    nests: Sequence[tuple[Order, Vector, int]],
    tool: Personality,
    blocks: Blocks,
) -> tuple[BindStorage, ...]:
    """The steps of a design: none for an array whose accesses would wait for the ports of such a memory.

    Args:
        program: the kernel.
        schedule: of the design, banks included.
        memories: see `bindable`.
        nests: order, factors and interval of each.
        tool: whose choice the storage is else.
        blocks: of the budget.
    """
    factors: dict[tuple[str, int], int] = {}
    for step in schedule:
        if isinstance(step, Partition):
            factors[step.array, step.dim] = step.factor
    shapes = {m.name: m.shape for m in memories}
    banks = {(a, d): f or shapes[a][d] for (a, d), f in factors.items() if a in shapes}
    own = [banked(memory, banks) for memory in memories]
    most = 1 + tool.local_arrays.most_copies
    if not short_of_blocks([(memory, most) for memory in own], blocks):
        return ()
    # What is kept in copies is known of the whole design.
    kernel = kernel_of_tree(tree_of(applied(program, schedule)))
    kept = local_memories(kernel, tool, frozenset()).arrays
    found = short_of_blocks([(m, n) for m, n in kept if m.name in shapes], blocks)
    types = {m.name: kind for m in own if m.name in found and (kind := _type(m, nests))}
    return tuple(BindStorage(name, kind, IMPL) for name, kind in types.items())


def banked(memory: Memory, factors: Mapping[tuple[str, int], int]) -> Memory:
    """An array with so many banks in each dimension."""
    each = (factors.get((memory.name, d), 1) for d in range(len(memory.shape)))
    return replace(memory, splits=tuple(Split("cyclic", factor) for factor in each))


def _type(memory: Memory, nests: Sequence[tuple[Order, Vector, int]]) -> str:
    """The first type of memory for whose ports no nest waits that would not wait else; none where there is no such type."""
    many = _PORTS["ram_1wnr"]
    waits = [
        max(interval, min(port_interval(order, vector), _interval(memory, order, vector, many)))
        for order, vector, interval in nests
    ]
    for kind, ports in _PORTS.items():
        taken = (_interval(memory, order, vector, ports) for order, vector, _ in nests)
        if all(own <= most for own, most in zip(taken, waits, strict=True)):
            return kind
    return ""


def _interval(memory: Memory, order: Order, vector: Vector, ports: _Ports) -> int:
    """What accesses of an array take with such ports, of one nest."""
    factors = tuple(split.factor for split in memory.splits)
    uses = tuple(replace(u, ports=ports) for u in order.uses if u.array == memory.name)
    copies = tuple((loop.name, u) for loop, u in zip(order.loops, vector, strict=True))
    return interval_at(uses, copies, factors) if uses else 1
