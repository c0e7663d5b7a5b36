"""What to try next to a design whose copies share units, and which is a little over a limit of LUTs."""

from __future__ import annotations

from math import inf

from dse.space.space import Point
from dse.strategies.fabric import FabricBudget
from dse.strategies.neighbours import longer_intervals


def relieved(point: Point, fabric: FabricBudget, fastest: float = inf) -> Point | None:
    """A design over a limit with a little longer intervals, if it is expected to fit then and still to be the fastest:
    what it took tells the LUTs of these nearly exactly.

    Args:
        point: the design.
        fabric: LUTs and block RAM that there may be; has learnt of the design.
        fastest: cycles of what is known to fit.
    """
    estimates = fabric.estimates
    near = (p for p in longer_intervals(estimates.space, point) if fabric.excess(p) <= 0)
    return next((p for p in near if estimates.figures(p).cycles < fastest), None)
