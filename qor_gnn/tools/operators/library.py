"""Operators of a tool version: when a result may be used, and what a unit costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from backends.tables import described, mapping
from dsl.errors.errors import ToolError, did_you_mean
from qor_gnn.tools.operators.multipliers import DSP, IMPLEMENTATIONS, ONE_SUM, Product

_TABLES = ("operators", "integers", "implementations")
_SIDE = "dsp_side"


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator at one type: when its result may be used, and what a unit costs.

    Attributes:
        core: the kind of unit; operators of one core share units.
        distance: states from its start to the start of what uses it; 0 is combinational.
        delay: of a combinational operator in ns, for chaining.
        dsp, lut, ff, bram18: of one unit. Units of mere logic are not shared.
        measured: the figures come from reports of this tool, else they are assumed.
        integer: it works on integers.
        origin: where the distance comes from, see `qor_gnn.tools.operators.cells.Origin`; empty in the
            library of a version, where ``measured`` says it.
        least, most: the range of the distance, where it is extrapolated; 0 where it is not told.
        alone: no two operations have one unit, though it has DSP slices.
        own: the user's own reports show when its result may be used.
        slice: a DSP slice multiplies its factors, and can add to their product.
        takes_in: its first stage is nothing but registers, so that it starts in the state in which a load ends.
        gives_out: its last stage is a register of its own, so that what takes its result at once needs no other.
        width: bits, of one on integers as wide as it is asked for; else 0.
        first_ns: of a registered one what its first stage takes of the state in which its operands are there.
        last_ns: what has passed in the state in which its result is there.
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
    alone: bool = False
    own: bool = False
    slice: bool = False
    takes_in: bool = False
    gives_out: bool = False
    width: int = 0
    first_ns: float = 0.0
    last_ns: float = 0.0

    @property
    def source(self) -> str:
        """``measured``, ``derived`` or ``extrapolated``: of what is assumed nothing is known."""
        return self.origin or ("measured" if self.measured else "extrapolated")

    @property
    def shared(self) -> bool:
        """Units of it are worth sharing: it is no mere logic."""
        return self.registered or (self.dsp > 0 and not self.alone)

    @property
    def assumed(self) -> bool:
        """No report shows it, and a design may have other states or DSP slices by that: of mere logic it has not."""
        return self.source == "extrapolated" and (self.registered or self.dsp > 0 or self.most > 0)

    @property
    def registered(self) -> bool:
        """Its result comes out of a register, in a later state."""
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
    own: bool = False
    first_ns: float = 0.0
    last_ns: float = 0.0


BY_NUMBER, UNSIGNED = "number", "unsigned"
"""End the names of quotients and remainders by numbers, and of those of integers without a sign, of tools in which they are
operators of their own: ``div_number``, ``div_unsigned``, ``div_unsigned_number``.
"""


@dataclass(frozen=True, slots=True)
class ByFactors:
    """A product of factors of up to so many bits, of which up to ``width`` are kept."""

    width: int
    long: int
    short: int
    distance: int
    delay: float
    dsp: int
    lut: int
    ff: int
    first_ns: float = 0.0
    last_ns: float = 0.0


@dataclass(frozen=True, slots=True)
class Integers:
    """An operator on integers of any width, or in steps up to some widths; ``products`` by the widths of their
    factors, the narrowest first, for tools whose products are not cut into slices.
    """

    distance: int = 0
    delay: tuple[float, float] = (0.0, 0.0)
    dsp: int = 0
    lut: tuple[float, float] = (0, 0)
    ff: int = 0
    measured: bool = False
    origin: str = ""
    least: int = 0
    most: int = 0
    own: bool = False
    first_ns: float = 0.0
    last_ns: float = 0.0
    steps: tuple[Step, ...] = ()
    products: tuple[ByFactors, ...] = ()

    def product(self, width: int, long: int, short: int) -> Operator | None:
        """The narrowest product of the table that is as wide; None of a wider one."""
        wide = (p for p in self.products if long <= p.long and short <= p.short)
        row = next((p for p in wide if width <= p.width), None)
        if row is None:
            return None
        return Operator(
            core=f"mul_{row.width}_{row.long}_{row.short}",
            distance=row.distance,
            delay=row.delay,
            dsp=row.dsp,
            lut=row.lut,
            ff=row.ff,
            integer=True,
            alone=not row.distance,
            width=width,
            first_ns=row.first_ns,
            last_ns=row.last_ns,
        )

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
            own=row.own,
            width=width,
            first_ns=row.first_ns,
            last_ns=row.last_ns,
        )


@dataclass(frozen=True, slots=True)
class Library:
    """The operators of a tool version at one clock on one device family.

    Attributes:
        operators: on floats.
        integers: by kind.
        implementations: operators on floats by an implementation that may be asked for.
        dsp_side: bits of the longer factor of a DSP slice, for tools whose products are cut into those
            (`qor_gnn.tools.operators.multipliers`); 0 where ``integers`` has them by their own width,
            and what ends in the state that it starts in has a unit of its own.
    """

    operators: Table
    integers: Mapping[str, Integers]
    implementations: Mapping[str, Table] = field(default_factory=dict)
    dsp_side: int = 0

    def operator(
        self,
        tool: str,
        kind: str,
        type_: str,
        width: int,
        factors: tuple[int, int] = (0, 0),
        impl: str = "",
    ) -> Operator:
        """The tool's own choice, but for ``impl`` of a product of integers; see
        `qor_gnn.tools.personality.Personality.operator`.

        ``factors`` are the widths of the factors of a product, or of what is shifted, the longer one first, or of a dividend
        and the number that divides it;
        the shorter one is 0 where wires do it, and both are where they are not known.

        Raises:
            ToolError: W451, ``tool``, as the error calls it, has no such operator.
        """
        long, short = factors
        by_number = type_ == "int" and any(factors) and f"{kind}_{BY_NUMBER}" in self.integers
        if type_ == "int" and long and not short and not by_number:
            return Operator(f"{kind}_wires", 0, integer=True, origin="derived")
        one_sum = short == ONE_SUM and impl != DSP
        cut = self.dsp_side or self.integers["mul"].products
        if type_ == "int" and kind == "mul" and cut and one_sum:
            return replace(self.integers["add"].operator("add", width), core=f"mul_sum_{width}")
        if type_ == "int" and kind == "mul" and self.dsp_side and short:
            return self._product(width, long, short, impl)
        if type_ == "int" and kind == "mul" and short:
            found = self.integers["mul"].product(width, long, short)
            if found is not None:
                return found
        if by_number:
            kind, width = f"{kind}_{BY_NUMBER}", long
        if type_ == "int" and kind in self.integers:
            found = self.integers[kind].operator(kind, width)
            return found if self.dsp_side else replace(found, alone=not found.registered)
        table = self.operators.get(type_, {})
        if kind not in table:
            known = sorted({*table, *self.integers})
            message = f"{tool} has no operator '{kind}' on {type_}"
            raise ToolError("W451", message, help=did_you_mean(kind, known))
        return table[kind]

    def _product(self, width: int, long: int, short: int, impl: str) -> Operator:
        """A product of two widths, of which so many bits are kept."""
        made = Product(min(long, width), min(short, width), width, self.dsp_side)
        asked = replace(made, impl=impl if impl in IMPLEMENTATIONS else "")
        other = asked.of_luts != made.of_luts  # than what the tool chooses by itself
        made = asked if other else made
        kind = "_".join(("mul", impl) if other else ("mul",))
        core = f"{kind}_{made.long}_{made.short}_{width}"
        found = self.integers["mul"].operator("mul", made.like)
        found = replace(found, slice=asked.in_a_slice)
        if made.by_few_bits:  # timed as if it were in slices
            return replace(found, core=core, dsp=0, lut=made.luts)
        if made.of_luts and not found.dsp:
            return replace(found, core=core, lut=made.luts)
        return replace(found, core=core, dsp=made.slices or found.dsp)  # LUTs may be too slow


def completed(own: Library, law: Library) -> Library:
    """What a version's own reports show, and of all that they do not what the law of selection gives.

    Args:
        own: read from a version's reports.
        law: at the class and clock of those reports (`qor_gnn.tools.operators.at_clock.library_at`).
    """
    return replace(
        own,
        operators={t: {**row, **own.operators.get(t, {})} for t, row in law.operators.items()},
        integers={**law.integers, **own.integers},
    )


def library(file: Path) -> Library:
    """The operators of a file.

    Raises:
        ToolError: W453, it is no table of operators.
    """
    data, where = described(file, {*_TABLES, _SIDE})
    operators, integers, implementations = (data[name] for name in _TABLES)
    return Library(
        _table(operators, f"{where}.operators"),
        mapping(Integers, integers, f"{where}.integers"),
        {i: _table(t, f"{where}.implementations.{i}") for i, t in implementations.items()},
        int(data[_SIDE]),
    )


def _table(rows: Mapping[str, Any], where: str) -> Table:
    return {type_: mapping(Operator, row, f"{where}.{type_}") for type_, row in rows.items()}
