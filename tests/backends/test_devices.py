"""Devices: the figures of the product tables, and what a name stands for."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from backends.devices import BOARDS, DEFAULT, DEVICES, board, device
from backends.devices.catalogue import devices_of, families
from dsl.errors.errors import ToolError


def test_what_they_are_asked_for_is_there() -> None:
    asked = {"xc7z007s", "xc7z020", "xc7z100", "xc7a35t", "xc7k325t", "xc7vx690t", "xc7s50"}
    asked |= {"xczu1eg", "xczu7ev", "xczu9eg", "xczu19eg", "xck24", "xck26", "xczu28dr"}
    asked |= {"xcku040", "xcvu095", "xcku5p", "xcvu9p", "xcvu13p", "xcvc1902", "xcv80"}
    asked |= {"xcu25", "xcu50", "xcu55c", "xcu200", "xcu250", "xcu280", "ecp5-85k"}
    assert asked <= set(DEVICES)
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
        ("xc7z045", 218600, 437200, 900, 1090, 0),
        ("xc7a100t", 63400, 126800, 240, 270, 0),
        ("xc7k325t", 203800, 407600, 840, 890, 0),
        ("xck26", 117120, 234240, 1248, 288, 64),
        ("xczu7ev", 230400, 460800, 1728, 624, 96),
        ("xczu28dr", 425280, 850560, 4272, 2160, 80),
        ("xcku115", 663360, 1326720, 5520, 4320, 0),
        ("xcvc1902", 899840, 1799680, 1968, 1934, 463),
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


def test_every_part_of_the_catalogue_names_its_device() -> None:
    assert all(device(d.part) == device(d.part.lower()) == d for d in DEVICES.values())


def test_another_package_or_speed_grade_is_a_part_of_the_device() -> None:
    other = device("xczu9eg-ffvb1156-1-i")
    assert other.part == "xczu9eg-ffvb1156-1-i"
    assert other.dsp == DEVICES["xczu9eg"].dsp


def test_figures_that_every_family_keeps() -> None:
    """Two flip-flops a LUT in all AMD families; 28 nm has no URAM."""
    for chip in DEVICES.values():
        if not chip.vitis:
            continue
        assert chip.ff == 2 * chip.lut, chip.name
        assert chip.bram18 % 2 == 0
        assert chip.uram == 0 or chip.dsp_kind in ("DSP48E2", "DSP58")
        assert device(chip.part) == chip


@pytest.mark.parametrize(
    ("name", "die", "part", "timing"),
    [
        ("xc7z020clg484-2", "xc7z020", "xc7z020clg484-2", "zynq7-2"),
        ("xc7z020-clg484-1", "xc7z020", "xc7z020-clg484-1", "zynq7-1"),
        ("xa7z020clg400-1I", "xc7z020", "xa7z020clg400-1I", "zynq7-1"),
        ("xc7z020-3", "xc7z020", "xc7z020clg400-3", "zynq7-3"),
        ("xc7a35ticsg324-1L", "xc7a35t", "xc7a35ticsg324-1L", "artix7-1"),
        ("XCZU9EG", "xczu9eg", "xczu9eg-ffvb1156-2-e", "zynquplus-2"),
        ("xck26-sfvc784-2LV-c", "xck26", "xck26-sfvc784-2LV-c", "zynquplus-2"),
        ("xcu280-fsvh2892-2L-e", "xcu280", "xcu280-fsvh2892-2L-e", "virtexuplus-2"),
        ("xcvu9p-flga2104-2L-e-es1", "xcvu9p", "xcvu9p-flga2104-2L-e-es1", "virtexuplus-2"),
        ("xcvc1902-vsva2197-2MP-e-S", "xcvc1902", "xcvc1902-vsva2197-2MP-e-S", "versal-2"),
        ("zcu104", "xczu7ev", "xczu7ev-ffvc1156-2-e", "zynquplus-2"),
    ],
)
def test_a_part_number_is_read(name: str, die: str, part: str, timing: str) -> None:
    found = device(name)
    assert (found.name, found.part, found.timing_class) == (die, part, timing)
    assert (found.lut, found.dsp) == (DEVICES[die].lut, DEVICES[die].dsp)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("xcu281", "error[W403]: no device is called 'xcu281'\nhelp: did you mean 'xcu280'?"),
        (
            "xcu280; exec rm",
            "error[W403]: no device is called 'xcu280; exec rm'\nhelp: did you mean 'xcu280'?",
        ),
        (
            "xc7z021clg400-1",
            "error[W403]: no device is called 'xc7z021clg400-1'\nhelp: did you mean 'xc7z020'?",
        ),
        ("quartus", "error[W403]: no device is called 'quartus'\nhelp: weft devices lists them"),
        (
            "xc7z020clg400-4",
            "error[W403]: xc7z020 has no speed grade -4 ('xc7z020clg400-4')\n"
            "help: there is -1, -1L, -1LI, -2, -2L, -2LI, -3",
        ),
        (
            "xc7z020clg400",
            "error[W403]: the part 'xc7z020clg400' has no speed grade\n"
            "help: for instance xc7z020clg400-1",
        ),
        (
            "xc7z020clg400-1-e-e",
            "error[W403]: no device is called 'xc7z020clg400-1-e-e'\nhelp: did you mean 'xc7z020'?",
        ),
    ],
)
def test_an_unknown_device_is_refused(name: str, text: str) -> None:
    with pytest.raises(ToolError) as caught:
        device(name)
    assert caught.value.render() == text


def test_boards() -> None:
    assert {"pynq-z2", "zedboard", "zcu102", "ultra96", "kv260", "basys3", "u50"} <= set(BOARDS)
    for name, part in BOARDS.items():
        assert board(name).part == part
        assert DEVICES[board(name).name].vitis
    with pytest.raises(ToolError) as caught:
        board("kv26")
    assert caught.value.render() == (
        "error[W403]: no board is called 'kv26'\nhelp: did you mean 'kv260'?"
    )


FAMILY = {
    "source": "a data sheet", "family": "f", "timing": "f", "dsp_kind": "DSP", "speeds": ["1"],
    "devices": {
        "xcf1": {"part": "xcf1abc100-1", "lut": 1, "ff": 2, "dsp": 3, "bram18": 4, "uram": 0, "slrs": 1}
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d.pop("source"), "lacks 'source'"),
        (lambda d: d["devices"]["xcf1"].update(lut="1"), 'is "1"'),
        (lambda d: d["devices"]["xcf1"].update(lut=-1), "is -1"),
        (lambda d: d["devices"]["xcf1"].update(luts=1), "has no 'luts'"),
        (lambda d: d["devices"]["xcf1"].update(part="xcf2abc100-1"), "which is none of it"),
        (lambda d: d["devices"]["xcf1"].update(part="xcf1abc100-2"), "which is none of it"),
    ],
)
def test_a_family_is_read_strictly(
    tmp_path: Path, change: Callable[[Any], object], said: str
) -> None:
    data = json.loads(json.dumps(FAMILY))
    (tmp_path / "f.json").write_text(json.dumps(data), encoding="utf-8")
    assert devices_of(families(tmp_path))["xcf1"].timing_class == "f-1"
    change(data)
    (tmp_path / "f.json").write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(ToolError, match="W453") as caught:
        devices_of(families(tmp_path))
    assert said in caught.value.render()


def test_a_device_of_two_families_is_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.json").write_text(json.dumps(FAMILY), encoding="utf-8")
    with pytest.raises(ToolError, match="there twice"):
        devices_of(families(tmp_path))
