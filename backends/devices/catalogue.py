"""The catalogue: devices and boards by name, and what a name or a part number stands for."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from backends.devices.device import Device
from backends.devices.parts import grade, parsed
from backends.tables import fault, table
from backends.tables import parsed as of_type
from dsl.errors.errors import ToolError

DEFAULT = "xczu9eg"
_HERE = Path(__file__).parent
_LISTED = "weft devices lists them"
_NEAR = 0.6  # of a misspelt name to the one that is meant, by difflib


@dataclass(frozen=True, slots=True)
class _Row:
    """A device in the file of its family."""

    part: str
    lut: int
    ff: int
    dsp: int
    bram18: int
    uram: int
    slrs: int


@dataclass(frozen=True, slots=True)
class Family:
    """A family of devices.

    Attributes:
        source: where the figures come from.
        family: its name in the tool's words.
        timing: the family whose silicon it is.
        dsp_kind: the primitive of a DSP slice.
        speeds: speed grades that there are.
        devices: by name.
        vendor: who makes them.
    """

    source: str
    family: str
    timing: str
    dsp_kind: str
    speeds: tuple[str, ...]
    devices: Mapping[str, _Row]
    vendor: str = "amd"


@dataclass(frozen=True, slots=True)
class _Boards:
    source: str
    boards: Mapping[str, str]


def families(folder: Path = _HERE / "families") -> tuple[Family, ...]:
    """The families of a folder.

    Raises:
        ToolError: W453, a file of it is not as it should be.
    """
    found = []
    for file in sorted(folder.glob("*.json")):
        data, where = table(file, None)
        found.append(of_type(Family, data, where))
    return tuple(found)


def devices_of(found: tuple[Family, ...]) -> dict[str, Device]:
    """The devices of families by name.

    Raises:
        ToolError: W453, a device that is there twice, or whose part is none of it.
    """
    devices: dict[str, Device] = {}
    for family in found:
        for name, row in family.devices.items():
            if name in devices:
                raise fault(name, "is there twice")
            part = parsed(row.part.lower(), {name})
            speed = grade(part.speed, family.speeds) if part is not None else None
            if family.vendor == "amd" and speed is None:
                raise fault(
                    f"{family.family}: {name}", f"has the part {row.part}, which is none of it"
                )
            devices[name] = Device(
                name, row.part, family.family, row.lut, row.ff, row.dsp, row.bram18, row.uram,
                family.vendor, family.dsp_kind, family.timing, row.slrs, speed or family.speeds[0],
            )  # fmt: skip
    return devices


_FAMILIES = families()
_SPEEDS = {name: family.speeds for family in _FAMILIES for name in family.devices}
DEVICES: dict[str, Device] = devices_of(_FAMILIES)
_PARTS = {each.part.lower(): each for each in DEVICES.values()}
BOARDS: dict[str, str] = dict(
    of_type(_Boards, table(_HERE / "boards.json", None)[0], "devices/boards.json").boards
)


def device(name: str) -> Device:
    """The device of a name, of a part number (``xczu9eg-ffvb1156-1-i``; of FPGAs that are not AMD's, those
    in the catalogue), or on a board.

    A die with a grade (``xc7z020-2``) is in the package of the catalogue.

    Raises:
        ToolError: W403: no such device, or not at that speed grade.
    """
    key = name.lower()
    if key in DEVICES:
        return DEVICES[key]
    if key in _PARTS:  # parts of other vendors are not read, only known
        return _PARTS[key]
    if key in BOARDS:
        return device(BOARDS[key])
    part = parsed(key, DEVICES)
    if part is None or not DEVICES[part.die].vitis:
        raise _unknown("device", name, [*DEVICES, *BOARDS])
    known = DEVICES[part.die]
    if not part.speed:
        raise ToolError(
            "W403",
            f"the part '{name}' has no speed grade",
            help=f"for instance {name}-{known.speed}",
        )
    speed = grade(part.speed, _SPEEDS[part.die])
    if speed is None:
        grades = ", ".join(f"-{s}" for s in _SPEEDS[part.die])
        message = f"{part.die} has no speed grade -{part.speed} ('{name}')"
        raise ToolError("W403", message, help=f"there is {grades}")
    if not part.package:
        return replace(
            known, part=known.part.replace(f"-{known.speed}", f"-{speed}", 1), speed=speed
        )
    return replace(known, part=name, speed=speed)


def board(name: str) -> Device:
    """The device on a board.

    Raises:
        ToolError: W403: no such board.
    """
    key = name.lower()
    if key not in BOARDS:
        raise _unknown("board", name, list(BOARDS))
    return device(BOARDS[key])


def _unknown(what: str, name: str, known: list[str]) -> ToolError:
    """Nobody is called so; the nearest by as much of the name as theirs is long."""
    text = name.lower()[: 2 * max(map(len, known))]

    def likeness(other: str) -> float:
        return difflib.SequenceMatcher(None, other, text[: len(other)]).ratio()

    def in_place(other: str) -> int:
        return sum(a == b for a, b in zip(other, text, strict=False))

    near = max(sorted(known), key=lambda k: (likeness(k), in_place(k)))
    help_line = f"did you mean '{near}'?" if likeness(near) >= _NEAR else _LISTED
    return ToolError("W403", f"no {what} is called '{name}'", help=help_line)
