"""Devices: the figures of the product tables, and what a name stands for."""

from __future__ import annotations

import pytest

from backends.devices import DEFAULT, DEVICES, device
from dsl.errors.errors import ToolError


def test_what_they_are_asked_for_is_there() -> None:
    assert set(DEVICES) == {
        *("xc7z020", "xczu9eg", "xcu50", "xcu200", "xcu250", "xcu280", "xcu55c", "ecp5-85k")
    }
    assert DEFAULT in DEVICES


@pytest.mark.parametrize(
    ("name", "lut", "ff", "dsp", "bram18", "uram"),
    [
        ("xc7z020", 53200, 106400, 220, 280, 0),
        ("xczu9eg", 274080, 548160, 2520, 1824, 0),
        ("xcu50", 871680, 1743360, 5952, 2688, 640),
        ("xcu200", 1182240, 2364480, 6840, 4320, 960),
        ("xcu250", 1728000, 3456000, 12288, 5376, 1280),
        ("xcu280", 1303680, 2607360, 9024, 4032, 960),
        ("xcu55c", 1303680, 2607360, 9024, 4032, 960),
        ("ecp5-85k", 83640, 83640, 156, 208, 0),
    ],
)
def test_resources(name: str, lut: int, ff: int, dsp: int, bram18: int, uram: int) -> None:
    found = device(name)
    assert (found.lut, found.ff, found.dsp, found.bram18, found.uram) == (
        lut, ff, dsp, bram18, uram,
    )  # fmt: skip


def test_every_part_begins_with_its_device() -> None:
    assert all(d.part.startswith(d.name) for d in DEVICES.values() if d.vitis)
    assert [d.name for d in DEVICES.values() if not d.vitis] == ["ecp5-85k"]


def test_another_package_or_speed_grade_is_a_part_of_the_device() -> None:
    other = device("xczu9eg-ffvb1156-1-i")
    assert other.part == "xczu9eg-ffvb1156-1-i"
    assert other.dsp == DEVICES["xczu9eg"].dsp


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("xcu281", "error[W403]: no device is called 'xcu281'\nhelp: did you mean 'xcu280'?"),
        (
            "xcu280; exec rm",
            "error[W403]: no device is called 'xcu280; exec rm'\nhelp: there is ecp5-85k, "
            "xc7z020, xcu200, xcu250, xcu280, xcu50, xcu55c, xczu9eg",
        ),
    ],
)
def test_an_unknown_device_is_refused(name: str, text: str) -> None:
    with pytest.raises(ToolError) as caught:
        device(name)
    assert caught.value.render() == text
