"""Two trials, at most, for a small program of several nests without any loop: all of it as one block.

What is unrolled completely has no pipeline to fill, and nests that are beside one another in a block are scheduled
together: an addition begins in the state in which its operands are there, and short ones share one. Plans and ranking know
each nest by itself, whose states they add up, so that such designs are far faster than they are estimated to be.
"""

from __future__ import annotations

from collections.abc import Mapping

from dse.evaluators.base import Result
from dse.space.nests.nest import Nest
from dse.space.space import Choice, Point, Space
from dse.strategies.fabric import FabricBudget
from dse.strategies.ladder import whole
from dse.strategies.search import Search

_MOST = 4096
"""Copies of statements in a block."""
_APART = 1.2  # times the LUTs: else it is the same block
_EXCESS = 0.1  # by what share it may be estimated to take too many LUTs


def one_block(
    space: Space, budget: int, fabric: FabricBudget, known: Mapping[Point, Result]
) -> Search:
    """The blocks that are estimated to take the fewest LUTs, and the most of those that fit: what tables in copies or in registers
    save of waiting for ports is not estimated.

    Args:
        space: of the kernel.
        budget: DSP slices that a design may use.
        fabric: LUTs and block RAM that it may use; learns of designs.
        known: what was evaluated before.
    """
    found = []
    for number, variant in enumerate(space.variants):
        choices = _choices(variant.nests)
        if choices is None or variant.beside or variant.overlaps:
            continue
        point = Point(number, choices)
        fits = fabric.share(point, budget) <= 1 + _EXCESS
        if fits and point not in known and space.schedule(point) is not None:
            found.append((fabric.lut_of(point), number, point))
    if found:
        least, most = min(found), max(found)
        for _, _, point in (least, most) if most[0] > _APART * least[0] else (least,):
            (result,) = yield (point,)
            fabric.learn(point, result)


def _choices(nests: tuple[Nest, ...]) -> tuple[Choice, ...] | None:
    """No loops in any nest; None where that is too much, or where there are no two nests with loops."""
    left, found = _MOST, list[Choice]()
    for nest in nests:
        order = nest.orders[0]
        vector = next(whole(order, left), None) if order.band else order.plain
        if vector is None or nest.around or order.given:
            return None
        left -= order.copies(vector) * len(nest.statements)
        found.append(Choice(0, vector))
    several = sum(bool(nest.orders[0].band) for nest in nests) > 1
    return tuple(found) if several and left >= 0 else None
