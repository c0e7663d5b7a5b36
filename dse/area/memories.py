"""LUTs and block RAM of a design's arrays, and of its ports to memory outside, by their banks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf

from dse.space.memory.banks import Demand
from dse.space.memory.distributed_ram import (
    IMPL,
    Blocks,
    banked,
    bindable,
    blocks_of,
    short_with,
)
from dse.space.space import Space
from dsl.schedules.schedule import Schedule
from polyhedral.banks.splits import Split
from polyhedral.codegen.generate import loop_tree
from polyhedral.schedule import apply
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.design.region import Memory
from qor_gnn.memory.adapters import adapters_cost
from qor_gnn.memory.storage import StorageCost, memory_cost, storage_rules


class Memories:
    """Of the designs of one variant."""

    def __init__(self, space: Space, variant: int) -> None:
        """Nothing has banks yet."""
        steps = Schedule(space.variants[variant].steps)
        kernel = kernel_of_tree(loop_tree(apply(space.program, steps)))
        self._rules = storage_rules(space.tool.name)
        self._blocks = Blocks(space.bram18, self._rules)
        self._bindable = bindable(space.variants[variant].program, space.variants[variant].steps)
        self._adapters = adapters_cost(kernel, space.tool)
        self._arrays = tuple(m for m in kernel.memories if m.shape and not m.argument)
        self._dims = [(m.name, d) for m in self._arrays for d in range(len(m.shape))]
        self._known: dict[tuple[str, str, tuple[int, ...]], StorageCost] = {}
        self._taken: dict[tuple[str, tuple[int, ...]], tuple[Memory, int]] = {}
        self._totals: dict[tuple[int, ...], StorageCost] = {}

    def cost(self, banks: Demand) -> StorageCost:
        """What they take.

        Args:
            banks: by array and dimension.
        """
        key = tuple([banks.get(one, 1) for one in self._dims])
        total = self._totals.get(key)
        if total is None:
            total = self._adapters
            in_luts = self._short_of_blocks(banks)
            for memory in self._arrays:
                if memory.name in in_luts:
                    memory = replace(memory, impl=IMPL)
                total = total.plus(self._of(memory, banks))
            self._totals[key] = total
        return total

    def _short_of_blocks(self, banks: Demand) -> frozenset[str]:
        """The arrays that go to LUTs: plans ask for thousands of ways to bank a few arrays, most of them in few ways each."""
        if self._blocks.bram18 == inf:
            return frozenset()
        taken = []
        for memory in self._bindable:
            key = (
                memory.name,
                tuple([banks.get((memory.name, d), 1) for d in range(len(memory.shape))]),
            )
            if key not in self._taken:
                own = banked(memory, banks)
                self._taken[key] = own, blocks_of(own, 1, self._blocks)
            taken.append(self._taken[key])
        return short_with(taken, self._blocks)

    def _of(self, memory: Memory, banks: Mapping[tuple[str, int], int]) -> StorageCost:
        factors = tuple(banks.get((memory.name, d), 1) for d in range(len(memory.shape)))
        key = memory.name, memory.impl, factors
        if key not in self._known:
            splits = tuple(Split("cyclic", f) for f in factors)
            self._known[key] = memory_cost(replace(memory, splits=splits), self._rules)
        return self._known[key]
