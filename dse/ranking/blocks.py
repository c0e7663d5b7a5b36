"""Statements outside all loops: blocks in front of the nests, between them and behind them, which nobody copies.

What stands in front of a nest runs beside the calls before it as far as it needs nothing of these, and shares its last
state with the nest's first (`qor_gnn.schedule.compose`). What is last is waited for.
"""

from __future__ import annotations

from dataclasses import dataclass

from dse.ranking.memories import Stored, as_stored
from dse.ranking.outline import outlined
from dse.ranking.pieces import units_in
from dse.space.costs.cost import Units
from dsl.errors.errors import ToolError
from polyhedral.looptree.tree import LoopTree
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.tools.personality import Personality


@dataclass(frozen=True, slots=True)
class Block:
    """A block of statements.

    Attributes:
        before: states until its values are there for what follows.
        last: states where nothing follows.
        units: that it takes.
        memories: names of the arrays that it touches.
        address_dsp: DSP slices of addresses.
    """

    before: int
    last: float
    units: Units
    memories: frozenset[str]
    address_dsp: int


def block_of(tree: LoopTree, tool: Personality, stored: Stored) -> Block | None:
    """What a tree of statements alone takes; None where the tool does not know an operator, and where loops that a structure
    brought with it stand between the statements: these are several regions, of which none waits as a block does.
    """
    kernel = as_stored(kernel_of_tree(tree), stored)
    if not any(function.body for function in kernel.functions):
        return _EMPTY  # constants that are known wherever they are read
    try:
        found = outlined(kernel, tool, frozenset(), 0)
    except ToolError:
        return None
    except ValueError:
        return _EMPTY
    if len(found.regions) != 1:
        return None
    (region,) = found.regions
    units = units_in([(region, {})], tool)
    return Block(region.released, region.extra, units, region.memories, found.address_dsp)


_EMPTY = Block(0, 0, (), frozenset(), 0)
