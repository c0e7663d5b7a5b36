"""What the tools said, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Outcome(Enum):
    """How a run of a tool ended."""

    OK = "ok"
    NO_FIT = "does not fit"
    TIMEOUT = "time-out"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Resources:
    """What a design takes.

    ECP5: ``lut`` counts TRELLIS_COMB (a carry cell is two, distributed RAM of 16 × 4 is four and
    its write port two), ``dsp`` MULT18X18D, ``bram`` DP16KD. xc7: LUTs of every size with those of
    shift registers and distributed RAM, DSP48E1, and RAMB18E1 (a RAMB36E1 is two).
    """

    lut: int
    ff: int
    dsp: int
    bram: int


@dataclass(frozen=True, slots=True)
class Synthesis:
    """What Yosys made. ``cells`` are counts by type; ``netlist`` (JSON) is for `nextpnr.route`."""

    outcome: Outcome
    resources: Resources | None
    cells: tuple[tuple[str, int], ...]
    seconds: float
    message: str = ""


@dataclass(frozen=True, slots=True)
class Routing:
    """What nextpnr made: ``fmax`` in MHz (None for a design without a register)."""

    outcome: Outcome
    resources: Resources | None
    fmax: float | None
    seed: int
    seconds: float
    message: str = ""


_ECP5_LUT = {"LUT4": 1, "CCU2C": 2, "TRELLIS_DPR16X4": 6}
_XC7_LUT = {"RAM32M": 4, "RAM64M": 4, "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4, "SRL16E": 1}


def ecp5_resources(cells: Mapping[str, int]) -> Resources:
    """After synthesis; carry chains take one cell more when they are placed."""
    lut = sum(cells.get(name, 0) * n for name, n in _ECP5_LUT.items())
    count = cells.get
    return Resources(lut, count("TRELLIS_FF", 0), count("MULT18X18D", 0), count("DP16KD", 0))


def xc7_resources(cells: Mapping[str, int]) -> Resources:
    """After synthesis."""
    lut = sum(cells.get(f"LUT{n}", 0) for n in range(1, 7))
    lut += sum(cells.get(name, 0) * n for name, n in (_XC7_LUT | {"SRLC32E": 1}).items())
    ff = sum(cells.get(name, 0) for name in ("FDRE", "FDSE", "FDCE", "FDPE"))
    bram = cells.get("RAMB18E1", 0) + 2 * cells.get("RAMB36E1", 0)
    return Resources(lut, ff, cells.get("DSP48E1", 0), bram)
