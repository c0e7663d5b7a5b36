"""Variants of a structure: its nests with their orders, and with loops around short loops pipelined."""

from __future__ import annotations

from dataclasses import replace

from dse.space.costs.at_once import overlaps_in
from dse.space.loops.overlaps import leaves_regions
from dse.space.nests.context import Context
from dse.space.nests.early_exits import early_exits, ending_early
from dse.space.nests.groups import MOST, volumes
from dse.space.nests.orders import nests
from dse.space.sums.partial_sums import whole_parts
from dse.space.variant import Variant
from dsl.schedules.recurrence_steps import Tree
from dsl.schedules.steps import Step
from polyhedral.scop.scheduled import ScheduledScop


def variant_of(
    name: str, state: ScheduledScop, steps: tuple[Step, ...], context: Context, most: int = 0
) -> Variant:
    """A structure with the orders of its nests; ``most`` as in `dse.space.nests.orders.nests`."""
    found = whole_parts(nests(state, context, most), steps)
    overlaps = tuple(overlaps_in(state, found))
    exits = () if context.tool.is_open else early_exits(state, context.exits)
    found = tuple(ending_early(nest, exits) for nest in found) if exits else found
    return Variant(name, steps, found, state.scop.program, overlaps=overlaps, exits=exits)


def unrolled(
    name: str, state: ScheduledScop, steps: tuple[Step, ...], context: Context
) -> list[Variant]:
    """The structure with loops around short loops pipelined: the shortest ones, and all of them."""
    # Terms of trees are statements of their own: twice as many for the operators of a chain.
    trees = any(isinstance(step, Tree) for step in steps)
    found = volumes(state, 2 * MOST if trees else MOST)
    made = (
        variant_of(f"{name}, up to {most} statements unrolled", state, steps, context, most)
        for most in sorted({found[0], found[-1]} if found else ())
    )
    return [variant for variant in made if leaves_regions(variant.nests, state)]


def both(*structure: *tuple[str, ScheduledScop, tuple[Step, ...], Context]) -> list[Variant]:
    """The structure, and with loops around short loops pipelined."""
    return [variant_of(*structure), *unrolled(*structure)]


def as_written(state: ScheduledScop, steps: tuple[Step, ...], context: Context) -> Variant:
    """The program as it is, each nest in the one order that it has: nothing is tried."""
    return variant_of("as written", state, steps, replace(context, as_written=True))
