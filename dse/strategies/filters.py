"""Designs with line buffers and windows, in front of all else: their factors are few, and ranking knows what they take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf

from dse.evaluators.base import Status
from dse.space.space import Point, Space
from dse.space.variant import Variant
from dse.strategies.estimates import Estimates, Figures
from dse.strategies.fabric import FabricBudget
from dse.strategies.search import Search
from dse.strategies.solve import solve

_TRIES = 4
_NEARLY = 1.05  # times the cycles
_MUCH_LESS = 0.75  # of the units
_OVER = (
    0.4  # by what share more LUTs or block RAM may be estimated: estimates of windows err by that
)


def filters(space: Space, budget: int, fabric: FabricBudget) -> Search:
    """The fastest structures with windows that are estimated to fit, until one does.

    Args:
        space: of the kernel.
        budget: DSP slices that a design may use.
        fabric: LUTs and block RAM that it may use.
    """
    numbers = [n for n, variant in enumerate(space.variants) if variant.made and _is_given(variant)]
    if not numbers:
        return
    estimates = fabric.estimates
    found: list[tuple[Figures, Point]] = []
    for number in numbers:
        for solution in solve(space, number, budget)[:1]:
            found += _soonest(estimates, solution.point, budget)
    tried, least = 0, (inf, inf)  # DSP slices and LUTs of what was too large
    worth = sorted(_worth(found), key=lambda pair: fabric.excess(pair[1]) > _OVER)
    for figures, point in worth:
        if tried == _TRIES:
            return
        lut = 0.0 if fabric.free else fabric.lut_of(point)
        if (figures.dsp >= least[0] and lut >= least[1]) or space.schedule(point) is None:
            continue  # a faster one was too large
        tried += 1
        (result,) = yield (point,)
        if result.status is Status.OK:
            return
        least = figures.dsp, lut


def _soonest(estimates: Estimates, planned: Point, budget: int) -> list[tuple[Figures, Point]]:
    """The structure at the least interval at which its units fit, up to the one that is planned: points of a window
    compute some of the same values, which plans do not know. None where they fit at none.
    """
    for ii in range(1, max((choice.ii for choice in planned.choices), default=1) + 1):
        choices = tuple(replace(choice, ii=min(choice.ii, ii)) for choice in planned.choices)
        point = replace(planned, choices=choices)
        figures = estimates.figures(point)
        if figures.dsp <= budget:
            return [(figures, point)]
    return []


def _worth(found: Sequence[tuple[Figures, Point]]) -> list[tuple[Figures, Point]]:
    """The fastest first, without those that take much more than one which is hardly slower."""
    return sorted(
        (
            (one, point)
            for one, point in found
            if not any(
                other.cycles <= _NEARLY * one.cycles and other.dsp < _MUCH_LESS * one.dsp
                for other, _ in found
            )
        ),
        key=lambda pair: (pair[0].cycles, pair[0].dsp),
    )


def _is_given(variant: Variant) -> bool:
    """Whether its steps say what becomes of a nest: tables in registers bring partitions with them, too."""
    return any(order.given for nest in variant.nests for order in nest.orders)
