"""LUTs that Vitis HLS books for logic by its width: adders, comparisons, selections, bitwise operations and shifts.

Read from the expressions that reports of public projects list, 2020.1 to 2025.2: up to some 15 bits the tool has a
table of each family, beyond that a line. Nearly all rows of a width and a family agree to the LUT.
"""

from __future__ import annotations

from collections.abc import Mapping

Line = tuple[float, float]
"""LUTs as a constant and a slope a bit."""

Costs = tuple[tuple[int, Line], ...]
"""A line for widths up to each of some, the narrowest first."""

ANY = 100_000  # bits: wider than anything

_WIDE = (ANY, (7, 1.0))

_ADDERS: Mapping[str, Costs] = {
    "ultrascale": ((3, (7, 1.0)), (4, (8, 1.0)), _WIDE),
    "series7": ((3, (8, 1.0)), (4, (9, 1.0)), (6, (8, 1.0)), _WIDE),
    "zynq7": (
        (3, (8, 1.0)), (4, (9, 1.0)), (6, (8, 1.0)), (8, (7, 1.0)), (11, (23, -1.0)), (12, (0, 1.0)),
        (15, (-25, 3.0)), _WIDE,
    ),
}  # fmt: skip
"""Zynq-7000 has narrower ones of 9 to 15 bits (12 bits: 12) than the other families of its series."""

_NARROW: Costs = (
    (3, (8, 0.0)), (5, (9, 0.0)), (7, (10, 0.0)), (11, (11, 0.0)), (15, (12, 0.0)), (18, (13, 0.0)),
)  # fmt: skip
_COMPARED: Mapping[str, Costs] = {
    "ultrascale": (*_NARROW, (32, (4, 0.5)), (64, (11, 0.28)), (ANY, (7.6, 0.335))),
    "series7": (*_NARROW, (32, (6.5, 0.36)), (64, (7, 0.344)), (ANY, (7.6, 0.335))),
}
"""Before 2023.1; from then on they are booked as adders."""

_TERNARY: Costs = ((3, (4, 0.0)), (7, (7, 0.0)), (ANY, (0, 1.0)))
"""Each of two additions that are one adder of three operands: a seventh to a tenth of all rows that reports have."""

_BITWISE: Costs = ((1, (2, 0.0)), (ANY, (0, 1.0)))
_SHIFTS: Costs = (
    (8, (0, 2.1)), (16, (-1, 2.25)), (32, (-30, 4.06)), (64, (18, 2.56)), (ANY, (-59, 3.77)),
)  # fmt: skip

_SLICE_7 = 25  # bits of the longer factor of a DSP slice of series 7


def logic_costs(fabric: str, side: int, compares: str) -> Mapping[str, Costs]:
    """LUTs of logic by kind: ``add``, ``ternary``, ``cmp``, ``select``, ``logic``, ``shift``.

    Args:
        fabric: the timing class whose logic a device has, as ``zynq7-1``.
        side: bits of the longer factor of its DSP slices, which tells series 7 from the later ones.
        compares: see `qor_gnn.tools.policies.latencies.Latencies`.
    """
    series = "series7" if side <= _SLICE_7 else "ultrascale"
    adders = _ADDERS["zynq7" if fabric.startswith("zynq7") else series]
    compared = _COMPARED[series] if compares == "own" else adders
    bitwise = {"select": _BITWISE, "logic": _BITWISE}
    return {"add": adders, "ternary": _TERNARY, "cmp": compared, **bitwise, "shift": _SHIFTS}
