"""Operators of a tool version: when a result may be used, and what a unit costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from backends.tables import described, mapping
from dsl.errors.errors import ToolError, did_you_mean

_TABLES = ("operators", "integers", "implementations")


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator at one type: when its result may be used, and what a unit costs.

    Attributes:
        core: the kind of unit; operators of one core share units.
        distance: states from its start to the start of what uses it; 0 is combinational.
        delay: of a combinational operator in ns, for chaining.
        dsp, lut, ff, bram18: of one unit. A combinational operator is not shared.
        measured: the figures come from reports of this tool, else they are assumed.
        integer: it works on integers.
        origin: where the distance comes from, see `qor_gnn.tools.operators.cells.Origin`; empty in the
            library of a version, where ``measured`` says it.
        least, most: the range of the distance, where it is extrapolated; 0 where it is not told.
    """

    core: str
    distance: int
    delay: float = 0.0
    dsp: int = 0
    lut: int = 0
    ff: int = 0
    bram18: int = 0
    measured: bool = True
    integer: bool = False
    origin: str = ""
    least: int = 0
    most: int = 0

    @property
    def source(self) -> str:
        """``measured``, ``derived`` or ``extrapolated``: of what is assumed nothing is known."""
        return self.origin or ("measured" if self.measured else "extrapolated")

    @property
    def shared(self) -> bool:
        """Units of it are worth sharing: it is no mere logic."""
        return self.distance > 0


Table = Mapping[str, Mapping[str, Operator]]
"""Operators by type (``f32``, …) and kind."""


@dataclass(frozen=True, slots=True)
class Step:
    """An operator on integers up to a width, in bits: figures that are linear in it are (constant, slope)."""

    width: int
    distance: int = 0
    delay: tuple[float, float] = (0.0, 0.0)
    dsp: int = 0
    lut: tuple[float, float] = (0, 0)
    ff: int = 0
    measured: bool = False
    origin: str = ""
    least: int = 0
    most: int = 0


@dataclass(frozen=True, slots=True)
class Integers:
    """An operator on integers of any width, or in steps up to some widths."""

    distance: int = 0
    delay: tuple[float, float] = (0.0, 0.0)
    dsp: int = 0
    lut: tuple[float, float] = (0, 0)
    ff: int = 0
    measured: bool = False
    origin: str = ""
    least: int = 0
    most: int = 0
    steps: tuple[Step, ...] = ()

    def operator(self, kind: str, width: int) -> Operator:
        """The operator on so many bits."""
        row = next((step for step in self.steps if width <= step.width), self)
        return Operator(
            core=f"{kind}_{width}",
            distance=row.distance,
            delay=row.delay[0] + row.delay[1] * width,
            dsp=row.dsp,
            lut=round(row.lut[0] + row.lut[1] * width),
            ff=row.ff,
            measured=row.measured,
            integer=True,
            origin=row.origin,
            least=row.least,
            most=row.most,
        )


@dataclass(frozen=True, slots=True)
class Library:
    """The operators of a tool version at one clock on one device family.

    Attributes:
        operators: on floats.
        integers: by kind.
        implementations: operators on floats by an implementation that may be asked for.
    """

    operators: Table
    integers: Mapping[str, Integers]
    implementations: Mapping[str, Table] = field(default_factory=dict)

    def operator(self, tool: str, kind: str, type_: str, width: int) -> Operator:
        """The tool's own choice, see `qor_gnn.tools.personality.Personality.operator`.

        Raises:
            ToolError: W451, ``tool``, as the error calls it, has no such operator.
        """
        if type_ == "int" and kind in self.integers:
            return self.integers[kind].operator(kind, width)
        table = self.operators.get(type_, {})
        if kind not in table:
            known = sorted({*table, *self.integers})
            message = f"{tool} has no operator '{kind}' on {type_}"
            raise ToolError("W451", message, help=did_you_mean(kind, known))
        return table[kind]


def library(file: Path) -> Library:
    """The operators of a file.

    Raises:
        ToolError: W453, it is no table of operators.
    """
    data, where = described(file, set(_TABLES))
    operators, integers, implementations = (data[name] for name in _TABLES)
    return Library(
        _table(operators, f"{where}.operators"),
        mapping(Integers, integers, f"{where}.integers"),
        {i: _table(t, f"{where}.implementations.{i}") for i, t in implementations.items()},
    )


def _table(rows: Mapping[str, Any], where: str) -> Table:
    return {type_: mapping(Operator, row, f"{where}.{type_}") for type_, row in rows.items()}
