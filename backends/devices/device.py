"""A device: one part of a family, and its resources."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Device:
    """A part and its resources (counts of the whole device).

    BRAM is counted in 18 kbit blocks, as Vitis HLS does: twice the number of RAMB36.

    Attributes:
        name: of the die, as ``xczu9eg``.
        part: the full part number, with package, speed grade and temperature range.
        family: in the tool's words.
        lut, ff, dsp, bram18, uram: how many there are.
        vendor: who makes it.
        dsp_kind: the primitive of a DSP slice.
        timing: the family whose silicon it is: devices of one ``timing`` and grade are as fast.
        slrs: dies on the package (super logic regions).
        speed: the speed grade of the part, as ``2LV``.
    """

    name: str
    part: str
    family: str
    lut: int
    ff: int
    dsp: int
    bram18: int
    uram: int
    vendor: str = "amd"
    dsp_kind: str = ""
    timing: str = ""
    slrs: int = 1
    speed: str = ""

    @property
    def vitis(self) -> bool:
        """Vitis HLS can target it."""
        return self.vendor == "amd"

    @property
    def timing_class(self) -> str:
        """Devices whose operators take the same time, as ``zynq7-1``: silicon and grade.

        Low-power and low-voltage variants of a grade count as the grade: at their nominal voltage the
        tool's delays are the same.
        """
        return f"{self.timing}-{self.speed[:1]}"
