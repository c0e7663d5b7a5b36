"""The heading of a report of synthesis as text: which tool made it, of what, for which device and clock."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from backends.vitis.numbers import REAL, real

_TITLE = re.compile(r"== (Vitis|Vivado) HLS Report for '([^']{1,400})'")
_SUMMARY = re.compile(r"== Synthesis Summary Report of '([^']{1,400})'")
_FIELD = re.compile(r"\s*\* (Date|Version|Project|Solution|Product family|Target device):\s+(\S.*)")
_CLOCK = re.compile(
    rf"\s*\|\s*\S+\s*\|\s*({REAL})(?:ns)?\s*\|\s*{REAL}(?:ns)?\s*\|\s*({REAL})(?:ns)?\s*\|\s*$"
)
_VERSION = re.compile(r"(\d{4}\.\d)\b")
_FAR = 200  # lines: a heading has fewer before its clock
_MODERN = "2020.1"
"""From which version on it is Vitis HLS: summaries do not say."""


@dataclass(frozen=True, slots=True)
class Heading:
    """What a report says of itself.

    Attributes:
        tool: ``vitis`` or ``vivado``.
        module: that it is about.
        version: as ``2023.2``.
        family, part: as printed.
        clock, uncertainty: in ns; None where it does not say, as in summaries.
        date: when it was made, as printed.
    """

    tool: str
    module: str
    version: str = ""
    family: str = ""
    part: str = ""
    clock: float | None = None
    uncertainty: float | None = None
    date: str = ""

    @property
    def complete(self) -> bool:
        """It says the version and the device."""
        return bool(self.version and self.part)


def heading(text: Iterable[str]) -> Heading | None:
    """The heading of a report; None where it is none of synthesis, or a part of one is missing."""
    found: Heading | None = None
    for n, line in enumerate(text):
        if n > _FAR:
            break
        if found is None:
            found = _title(line)
        elif (field := _FIELD.match(line)) is not None:
            found = _with(found, field[1], field[2].strip())
        elif (told := _CLOCK.match(line)) is not None:
            found = replace(found, clock=real(told[1]), uncertainty=real(told[2]))
            break
        elif line.startswith("+ Latency"):
            break
    return found if found is not None and found.complete else None


def _title(line: str) -> Heading | None:
    if (title := _TITLE.match(line)) is not None:
        return Heading(title[1].lower(), title[2])
    summary = _SUMMARY.match(line)
    return Heading("vitis", summary[1]) if summary is not None else None


def _with(found: Heading, name: str, value: str) -> Heading:
    match name:
        case "Version":
            version = _VERSION.match(value)
            said = version[1] if version else ""
            return replace(found, version=said, tool="vivado" if said < _MODERN else found.tool)
        case "Date":
            return replace(found, date=value)
        case "Product family":
            return replace(found, family=value)
        case "Target device":
            return replace(found, part=value)
        case _:
            return found
