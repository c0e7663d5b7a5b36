"""Timing classes: the cells, delays and areas of each, read from ``data/``.

A class is a family's silicon at a speed grade (`backends.devices.Device.timing_class`). Some classes share the
cells of floating point with another one, and of some no report shows anything: ``classes.json`` says whose
figures stand for theirs, and how much faster they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from backends.tables import fault, parsed, table
from qor_gnn.tools.operators.cells import Cell, Core

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class Tables:
    """What is known of all classes.

    Attributes:
        floats: cores of floating point by class and core.
        logic: delays in ns at some widths, by class and kind.
        memories: delays of loads in ns, by class and memory.
        multipliers: of integers, by class and size.
        areas: DSP, FF and LUT of a core, by kind of area and stages.
    """

    floats: Mapping[tuple[str, str], Core] = field(hash=False)
    logic: Mapping[tuple[str, str], tuple[tuple[int, float], ...]] = field(hash=False)
    memories: Mapping[tuple[str, str], float] = field(hash=False)
    multipliers: Mapping[tuple[str, str], Core] = field(hash=False)
    areas: Mapping[tuple[str, str, int], tuple[int, int, int]] = field(hash=False)


@dataclass(frozen=True, slots=True)
class TimingClass:
    """Whose figures a class has.

    Attributes:
        floats: the class whose cells of floating point it has.
        fabric: the class whose logic, memories and multipliers it has.
        area: its kind of area.
        scale: how long everything takes against these, where it is not they themselves.
        shown: reports show the class; else it is taken to be like these.
        compared: estimates of its clock were compared with those of csynth.
    """

    floats: str
    fabric: str
    area: str
    scale: float = 1.0
    shown: bool = True
    compared: bool = False


@dataclass(frozen=True, slots=True)
class _Core:
    cells: tuple[tuple[int, float, float, float, bool], ...]
    seen: tuple[tuple[float, int], ...]

    @property
    def core(self) -> Core:
        return Core(tuple(Cell(*cell) for cell in self.cells), self.seen)


@dataclass(frozen=True, slots=True)
class _Class:
    evidence: str
    floats: Mapping[str, _Core]
    logic: Mapping[str, tuple[tuple[int, float], ...]]
    memories: Mapping[str, float]
    multipliers: Mapping[str, _Core]


@dataclass(frozen=True, slots=True)
class _Areas:
    evidence: str
    cores: Mapping[str, Mapping[str, tuple[tuple[int, int, int, int], ...]]]


@dataclass(frozen=True, slots=True)
class _Classes:
    evidence: str
    classes: Mapping[str, TimingClass]


@cache
def timing_classes(folder: Path = DATA) -> Mapping[str, TimingClass]:
    """The classes by name.

    Raises:
        ToolError: W453, the table is not as it should be.
    """
    data, where = table(folder / "classes.json", None)
    return parsed(_Classes, data, where).classes


FLOATS_OF = {name: one.floats for name, one in timing_classes().items() if one.shown}
"""The class whose cells of floating point a class has, where reports show both to be the same."""


@cache
def tables(folder: Path = DATA) -> Tables:
    """The tables of a folder.

    Raises:
        ToolError: W453, one of them is not as it should be.
    """
    found: dict[str, _Class] = {}
    for file in sorted(folder.glob("*-[0-9].json")):
        data, where = table(file, None)
        found[file.stem] = parsed(_Class, data, where)
    data, where = table(folder / "area.json", None)
    areas = parsed(_Areas, data, where)
    for name, one in timing_classes(folder).items():
        if one.floats not in found or one.fabric not in found:
            raise fault(f"{folder.name}/classes.json: {name}", "has no table")
    return Tables(
        {(t, c): core.core for t, one in found.items() for c, core in one.floats.items()},
        {(t, k): told for t, one in found.items() for k, told in one.logic.items()},
        {(t, m): d for t, one in found.items() for m, d in one.memories.items()},
        {(t, s): core.core for t, one in found.items() for s, core in one.multipliers.items()},
        {
            (core, kind, row[0]): row[1:]
            for core, kinds in areas.cores.items()
            for kind, rows in kinds.items()
            for row in rows
        },
    )
