"""What the labels of Vitis HLS 2025.1 (xcu200, 4 ns) say of modules: units, divided stores, loops."""

from __future__ import annotations

import pytest

from qor_gnn.personality import personality

TOOL = "vitis-2025.1-u200-4ns"


@pytest.mark.parametrize(
    ("adders", "multipliers", "ff", "lut"),
    [
        (324, 144, 203_612, None),  # heat-3d: copies of an outer loop extrapolated to none
        (16, 8, 10_809, 11_830),  # jacobi-1d, of which some 9 banks are 576 FF and 585 LUTs
        (58, 60, 50_847, 44_972),  # doitgen
    ],
)
def test_units_are_most_of_what_is_not_copied(
    adders: int, multipliers: int, ff: int, lut: int | None
) -> None:
    tool = personality(TOOL)
    add, mul = (tool.operator(kind, "f64", 64) for kind in ("add", "mul"))
    assert 0.94 * ff < adders * add.ff + multipliers * mul.ff < ff
    if lut is not None:
        assert 0.93 * lut < adders * add.lut + multipliers * mul.lut < lut
