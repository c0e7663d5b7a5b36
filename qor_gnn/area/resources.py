"""LUTs and flip-flops of a design: sums of first-order terms over its scheduled bodies.

`terms_of` says how much of each term a design has; with the fitted coefficients of a tool
(``area.json`` of its folder) that gives its resources. See docs/qor-model.md for the terms.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from dsl.errors.errors import InputError, ToolError
from qor_gnn.area.control import control, kept_out
from qor_gnn.area.guards import guards
from qor_gnn.area.index_divisions import index_divisions
from qor_gnn.area.logic import logic, module_logic
from qor_gnn.area.modules import Leaf, leaves
from qor_gnn.area.registers import Pools, registers
from qor_gnn.area.sharing import shared_ports, top_ports, units
from qor_gnn.area.terms import FF_TERMS, LUT_TERMS, Sums
from qor_gnn.schedule.regions import Region
from qor_gnn.tools.personality import folder_of, table_of

SCHEMA = 1
_MOST = 1e6  # of a coefficient
DIGITS = 6
"""Decimals that a total is rounded to before it is made whole."""


@dataclass(frozen=True, slots=True)
class Coefficients:
    """What one of each term costs in LUTs and flip-flops, and where the numbers came from."""

    tool: str
    lut: Mapping[str, float]
    ff: Mapping[str, float]
    source: Mapping[str, Any]

    @property
    def taken_over(self) -> bool:
        """They are those of another tool, so that no label of this one is in them."""
        return bool(self.source.get("taken_over"))


@dataclass(frozen=True, slots=True)
class Resources:
    """LUTs and flip-flops of a design, and what of them each term is, the largest first."""

    lut: int
    ff: int
    lut_terms: tuple[tuple[str, float], ...]
    ff_terms: tuple[tuple[str, float], ...]


def terms_of(functions: Sequence[Sequence[Region]], most: Mapping[str, int]) -> Sums:
    """What a design has of each term.

    Args:
        functions: the scheduled regions of each function.
        most: units of each core that the design has.
    """
    sums = Sums()
    sums.lut["one"] = sums.ff["one"] = 1
    found = [leaves(regions) for regions in functions]
    for regions, own in zip(functions, found, strict=True):
        _function(regions, own, sums)
    units(most, found, sums)
    if len(found) > 1:
        top_ports(found, sums)
    return sums


def _function(regions: Sequence[Region], own: Sequence[Leaf], sums: Sums) -> None:
    shared: Pools = {}
    modules: dict[int, list[Leaf]] = {}
    for leaf in own:
        registers(leaf, sums, shared)
        kept_out(leaf, sums, shared)
        logic(leaf, sums)
        modules.setdefault(leaf.module, []).append(leaf)
    index_divisions(own, sums)
    guards(own, sums)
    for bodies in modules.values():
        module_logic(bodies, sums)
    for (name, *_), amount in shared.items():
        sums.ff[str(name)] += amount
    control(regions, own, sums)
    shared_ports(own, sums)


def resources(sums: Sums, coefficients: Coefficients) -> Resources:
    """The totals, and what of them each term is."""
    lut = _parts(sums.lut, coefficients.lut, sums.lut_fixed)
    ff = _parts(sums.ff, coefficients.ff, sums.ff_fixed)
    return Resources(_total(lut), _total(ff), lut, ff)


def _parts(
    amounts: Mapping[str, float], costs: Mapping[str, float], fixed: float
) -> tuple[tuple[str, float], ...]:
    parts = [("operators", fixed)]
    parts += [(name, n * costs.get(name, 0.0)) for name, n in amounts.items()]
    return tuple(sorted((p for p in parts if p[1]), key=lambda p: (-p[1], p[0])))


def _total(parts: Sequence[tuple[str, float]]) -> int:
    """A whole number, and the same one in whatever order the terms are added."""
    return round(round(sum(value for _, value in parts), DIGITS))


# ----------------------------------------------------------------------------------- coefficients


@cache
def coefficients(tool: str) -> Coefficients | None:
    """The coefficients that ship for a tool version; None where there are none."""
    try:
        path = table_of(tool, "area.json")
        own = path.parent == folder_of(tool)
    except ToolError:
        return None
    if not path.is_file():
        return None
    found = read(path)
    return found if own else replace(found, source={**found.source, "taken_over": found.tool})


def read(path: Path) -> Coefficients:
    """Coefficients from a file that `weft calibrate` wrote.

    Raises:
        InputError: W530, it is no such file.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["schema"] != SCHEMA:
            raise InputError("W530", f"{path} has schema {data['schema']}, not {SCHEMA}")
        costs = {
            key: {term.name: _cost(data[key][term.name]) for term in terms}
            for key, terms in (("lut", LUT_TERMS), ("ff", FF_TERMS))
        }
        return Coefficients(str(data["tool"]), costs["lut"], costs["ff"], dict(data["source"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        message = f"{path} holds no resource coefficients: {error!r}"
        help_line = "weft calibrate writes such a file"
        raise InputError("W530", message, help=help_line) from error


def _cost(value: object) -> float:
    """A coefficient: LUTs or flip-flops for each of something."""
    if not isinstance(value, int | float) or value is True or not 0 <= value <= _MOST:
        raise ValueError(f"{str(value)[:40]} is no coefficient")
    return float(value)


def written(found: Coefficients) -> str:
    """The text of a coefficients' file."""
    data = {
        "schema": SCHEMA,
        "tool": found.tool,
        "source": dict(found.source),
        "lut": {name: round(value, 4) for name, value in found.lut.items()},
        "ff": {name: round(value, 4) for name, value in found.ff.items()},
    }
    return json.dumps(data, indent=1) + "\n"
