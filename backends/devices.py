"""FPGA devices as data: the parts that designs are made for and what is on them.

Figures: AMD product tables DS190 (Zynq-7000), DS891 (Zynq UltraScale+), DS962 (Alveo cards, the
whole device without the platform's shell), Lattice FPGA-DS-02012 (ECP5). BRAM is counted in 18 kbit
blocks, as Vitis HLS does: twice the number of RAMB36. An ECP5 EBR is one 18 kbit block, and an ECP5
DSP is one 18 × 18 multiplier (MULT18X18D).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from dsl.errors.errors import ToolError, did_you_mean


@dataclass(frozen=True, slots=True)
class Device:
    """A part and its resources (counts of the whole device)."""

    name: str
    part: str
    family: str
    lut: int
    ff: int
    dsp: int
    bram18: int
    uram: int
    vendor: str = "amd"

    @property
    def vitis(self) -> bool:
        """Vitis HLS can target it."""
        return self.vendor == "amd"


_ALL = (
    Device("xc7z020", "xc7z020clg400-1", "zynq7", 53_200, 106_400, 220, 280, 0),
    Device("xczu9eg", "xczu9eg-ffvb1156-2-e", "zynquplus", 274_080, 548_160, 2_520, 1_824, 0),
    Device("xcu50", "xcu50-fsvh2104-2-e", "virtexuplusHBM", 871_680, 1_743_360, 5_952, 2_688, 640),
    Device(
        *("xcu200", "xcu200-fsgd2104-2-e", "virtexuplus"),
        *(1_182_240, 2_364_480, 6_840, 4_320, 960),
    ),
    Device(
        *("xcu250", "xcu250-figd2104-2L-e", "virtexuplus"),
        *(1_728_000, 3_456_000, 12_288, 5_376, 1_280),
    ),
    Device(
        *("xcu280", "xcu280-fsvh2892-2L-e", "virtexuplusHBM"),
        *(1_303_680, 2_607_360, 9_024, 4_032, 960),
    ),
    Device(
        *("xcu55c", "xcu55c-fsvh2892-2L-e", "virtexuplusHBM"),
        *(1_303_680, 2_607_360, 9_024, 4_032, 960),
    ),
    Device("ecp5-85k", "LFE5U-85F-6BG756C", "ecp5", 83_640, 83_640, 156, 208, 0, "lattice"),
)
DEVICES: dict[str, Device] = {device.name: device for device in _ALL}
DEFAULT = "xczu9eg"

_PART = re.compile(r"[A-Za-z0-9]+(-[A-Za-z0-9]+)*")


def device(name: str) -> Device:
    """The device called `name`, or one of its parts (``xczu9eg-ffvb1156-1-i``).

    Raises:
        ToolError: W403: no such device.
    """
    key = name.lower()
    if key in DEVICES:
        return DEVICES[key]
    for known in DEVICES.values():
        if known.vitis and key.startswith(known.name) and _PART.fullmatch(name):
            return replace(known, part=name)
    raise ToolError("W403", f"no device is called '{name}'", help=did_you_mean(name, DEVICES))
