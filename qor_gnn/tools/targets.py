"""A tool version away from the device and clock that it was measured at: names, and what differs there."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from backends.devices import DEVICES, Device
from dsl.errors.errors import ToolError

SHORTEST, LONGEST = 1.0, 1000.0
"""Clock periods in ns that there are operators for."""

SAME_CLOCK = 0.005  # ns: 3.33 is 300 MHz

CALIBRATED = "+"
"""In the name of a personality, before the digest of a calibration."""

_NAME = re.compile(
    r"(?P<version>[a-z]+(?:-[\d.]+)?)-(?P<die>[a-z0-9]+(?:-\d+k)?)-(?P<grade>\d)"
    r"-(?P<clock>\d+(?:\.\d+)?)ns(?:-u(?P<free>\d+(?:\.\d+)?))?"
)


@dataclass(frozen=True, slots=True)
class Target:
    """A device at a clock, under a tool version.

    Attributes:
        version: what a user calls the version, as ``vitis-2023.2``.
        device: the device, at its speed grade.
        clock_ns: the period.
        uncertainty: share of it that is kept free; None for the version's own.
    """

    version: str
    device: Device
    clock_ns: float
    uncertainty: float | None = None

    @property
    def name(self) -> str:
        """What a personality there is called: ``vitis-2023.2-xc7z020-1-5ns``."""
        free = "" if self.uncertainty is None else f"-u{100 * self.uncertainty:g}"
        grade = self.device.speed[:1]
        return f"{self.version}-{self.device.name}-{grade}-{self.clock_ns:g}ns{free}"


def target_named(name: str) -> Target | None:
    """The target that a personality's name tells; None of another name."""
    found = _NAME.fullmatch(name.partition(CALIBRATED)[0])
    if found is None or found["die"] not in DEVICES:
        return None
    chip = DEVICES[found["die"]]
    try:
        clock = period(float(found["clock"]))
    except ToolError:
        return None
    free = None if found["free"] is None else float(found["free"]) / 100
    return Target(found["version"], replace(chip, speed=found["grade"]), clock, free)


def told_uncertainty(personality: str | None) -> float | None:
    """The share of the period that is kept free by a personality's name; None where it is the version's own."""
    named = None if personality is None else target_named(personality)
    return None if named is None else named.uncertainty


def period(clock: float) -> float:
    """A clock period as names have it: six digits.

    Raises:
        ToolError: W452, nothing runs at it.
    """
    if not SHORTEST <= clock <= LONGEST:
        raise ToolError(
            "W452",
            f"there are no operators for a clock period of {clock:g} ns",
            help=f"it is between {SHORTEST:g} and {LONGEST:g} ns",
        )
    return float(f"{clock:g}")
