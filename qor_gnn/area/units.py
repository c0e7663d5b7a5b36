"""What the units of a design cost: DSP slices, and block RAM for tables of functions."""

from __future__ import annotations

from collections.abc import Sequence

from qor_gnn.area.address_cost import address_dsp, exits_dsp
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


def addresses_dsp(regions: Sequence[Region]) -> int:
    """DSP slices of addresses: each module has its own."""
    return _addresses_dsp(regions) + exits_dsp(regions)


def _addresses_dsp(regions: Sequence[Region]) -> int:
    own = sum(address_dsp(r.body) for r in regions if r.body is not None)
    return own + sum(_addresses_dsp(r.children) for r in regions)


def _costs(region: Region, cost: dict[str, int]) -> None:
    if region.body is not None:
        for operator in region.body.graph.operator:
            if operator is not None:
                cost[operator.core] = operator.dsp
    for child in region.children:
        _costs(child, cost)
