"""LUTs and flip-flops of indices that are divided by numbers of banks, in logic."""

from __future__ import annotations

from collections.abc import Sequence

from qor_gnn.area.address_cost import Division, divisions
from qor_gnn.area.modules import Leaf
from qor_gnn.area.multiplexers import WIDE_DIVIDER, divider, division_adders, subtraction
from qor_gnn.area.terms import Sums
from qor_gnn.tools.policies.indices import IndexDivision


def index_divisions(own: Sequence[Leaf], sums: Sums) -> None:
    """Add the divisions of a function's bodies.

    What does not move with a pipeline is divided in front of it: in the loop around whose counter it is, once
    for all of its copies.
    """
    done: set[tuple[int, Division]] = set()
    for leaf in own:
        body, policy = leaf.body, leaf.body.personality.division
        if policy is None:
            continue
        moving = body.variables
        for division in divisions(body, policy):
            if leaf.around and not any(v in moving for v, _ in division.terms):
                if (key := (_home(leaf, division), division)) in done:
                    continue
                done.add(key)
            lut, ff = _cost(division, policy)
            sums.lut_fixed += lut
            sums.ff_fixed += ff


def _home(leaf: Leaf, division: Division) -> int:
    """The innermost nest around a body whose counters a division takes."""
    moving = {atom for atom, _ in division.terms}
    return next((id(n) for n in reversed(leaf.around) if any(x.iv in moving for x in n.loops)), 0)


def _cost(division: Division, policy: IndexDivision) -> tuple[int, int]:
    """LUTs and flip-flops of a division; one of many bits is in DSP slices."""
    width = (division.extent - 1).bit_length()
    if division.wide:
        return WIDE_DIVIDER
    if division.rest:
        return subtraction(width, division.factor), 0
    if policy.in_slices(division.extent):
        return division_adders(width, division.factor), 0
    return divider(width)
