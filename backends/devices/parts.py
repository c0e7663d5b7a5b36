"""Part numbers: die, package, speed grade and temperature range.

7 series write ``xc7z020clg400-1`` or ``xc7a35ticsg324-1L``, with a letter of the temperature range behind the
grade where it is ordered so (``-1I``); UltraScale and later ``xczu9eg-ffvb1156-2-e``, Versal
``xcvc1902-vsva2197-2MP-e-S``. Automotive and defence grades (``xa``, ``xq``) are the same dies.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

_TAIL = re.compile(
    r"(?:i?-?(?P<package>[a-z]{3,5}\d{3,4}))?-(?P<speed>\d[a-z]*)"
    r"(?P<rest>(?:-[a-z])?(?:-(?:s|es\d?))?)"
)
_PACKAGE = re.compile(r"i?-?[a-z]{3,5}\d{3,4}")
_GRADES = ("xa", "xq")  # automotive, defence
_TEMPERATURES = "ceimq"


@dataclass(frozen=True, slots=True)
class Part:
    """A part number, read.

    Attributes:
        die: as ``xc7z020``.
        package: as ``clg400``; empty where only the die and the grade are named.
        speed: the speed grade as it is written, in lower case; empty where there is none.
    """

    die: str
    package: str = ""
    speed: str = ""


def parsed(text: str, dies: Collection[str]) -> Part | None:
    """The part that a text names; None where it is none of these dies.

    Args:
        text: in lower case.
        dies: the names of those that are known, in lower case.
    """
    plain = f"xc{text[2:]}" if text[:2] in _GRADES else text
    for length in range(len(plain), 0, -1):
        die, tail = plain[:length], plain[length:]
        if die not in dies:
            continue
        if not tail:
            return Part(die)
        found = _TAIL.fullmatch(tail)
        if found is not None:
            return Part(die, found["package"] or "", found["speed"])
        if (package := _PACKAGE.fullmatch(tail)) is not None:
            return Part(die, package[0].lstrip("i-"))
    return None


def grade(speed: str, speeds: Collection[str]) -> str | None:
    """The speed grade of a family that is written so; None where it has no such.

    Args:
        speed: as written, in lower case, perhaps with a temperature range: ``1i``.
        speeds: those of the family, as ``2LV``.
    """
    known = {s.lower(): s for s in speeds}
    if speed in known:
        return known[speed]
    return known.get(speed[:-1]) if speed[-1:] in _TEMPERATURES else None
