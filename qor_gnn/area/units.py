"""What the units of a design cost: DSP slices, and block RAM for tables of functions."""

from __future__ import annotations

from collections.abc import Sequence

from qor_gnn.area.address_cost import address_dsp, exits_dsp
from qor_gnn.body.body import Body
from qor_gnn.schedule.regions import Region


def units_dsp(regions: Sequence[Region], units: dict[str, int]) -> int:
    """DSP slices of all units."""
    cost: dict[str, int] = {}
    for region in regions:
        _costs(region, cost)
    return sum(n * cost.get(core, 0) for core, n in units.items())


def units_bram(regions: Sequence[Region], units: dict[str, int]) -> int:
    """BRAM18 inside of operators: tables of functions."""
    cost: dict[str, int] = {}
    for region in regions:
        _tables(region, cost)
    return sum(units.get(core, 0) * n for core, n in cost.items())


def _tables(region: Region, cost: dict[str, int]) -> None:
    if region.body is not None:
        for operator in region.body.graph.operator:
            if operator is not None and operator.bram18:
                cost[operator.core] = operator.bram18
    for child in region.children:
        _tables(child, cost)


def own_dsp(regions: Sequence[Region]) -> int:
    """DSP slices that no two operations share: of addresses, and of operators that have a unit each."""
    return _own_dsp(regions) + exits_dsp(regions)


def _own_dsp(regions: Sequence[Region]) -> int:
    bodies = [r.body for r in regions if r.body is not None]
    own = sum(address_dsp(body) + _alone_dsp(body) for body in bodies)
    return own + sum(_own_dsp(r.children) for r in regions)


def _alone_dsp(body: Body) -> int:
    if body.personality.is_open:  # it counts its own units
        return 0
    operators = (body.graph.operator[n] for n in (*body.nodes, *body.hoisted))
    return sum(o.dsp for o in operators if o is not None and o.alone)


def _costs(region: Region, cost: dict[str, int]) -> None:
    if region.body is not None:
        for operator in region.body.graph.operator:
            if operator is not None:
                cost[operator.core] = operator.dsp
    for child in region.children:
        _costs(child, cost)
