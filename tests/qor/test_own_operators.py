"""A user's own measurements over the shipped operators: they win in their timing class, and nothing else changes."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from backends.devices import device
from dsl.errors.errors import InputError
from qor_gnn.tools.calibrated import calibrated
from qor_gnn.tools.operators.at_clock import library_at
from qor_gnn.tools.operators.calibration import Calibration, OwnClass, OwnCore, laid_over
from qor_gnn.tools.operators.calibration_file import calibration_of, document, read
from qor_gnn.tools.operators.cells import Cell, Core
from qor_gnn.tools.personality import Personality, at, available, personality

CORE = Core(
    tuple(Cell(n, d, d, d) for n, d in ((0, 40.0), (1, 10.0), (2, 8.0), (3, 6.0), (4, 4.0))),
    ((5.0, 4), (7.3, 3), (8.75, 2)),
)


def own(of: dict[str, Any], timing: str = "zynq7-1") -> Calibration:
    """A calibration of one class."""
    return calibration_of(document({timing: OwnClass(**of)}, {}), "the test")


def tool(name: str, part: str, clock: float) -> Personality:
    """A version on a device at a clock."""
    return at(personality(name), device(part), clock)


def test_a_choice_that_was_measured_wins() -> None:
    found = laid_over(CORE, OwnCore(((7.3, 4),), ((4, 6.9),)))
    choice = found.choose(7.3)
    assert (choice.latency, choice.delay, choice.origin, choice.own) == (4, 6.9, "measured", True)
    # With less time there are no fewer cycles; with more there may be, as there were.
    assert found.choose(7.0).latency == 4
    assert found.choose(8.75) == replace(CORE.choose(8.75))


def test_a_shipped_choice_that_contradicts_it_is_gone() -> None:
    found = laid_over(CORE, OwnCore(((8.0, 4),), ()))
    assert found.seen == ((5.0, 4), (8.0, 4), (8.75, 2))
    third = next(c for c in found.cells if c.latency == 3)
    assert third.low > 8.0  # it was too long at 8 ns
    assert not third.known


def test_what_does_not_contradict_stays_as_it_is() -> None:
    found = laid_over(CORE, OwnCore(((6.5, 3),), ((3, 6.0),)))
    assert found.cells == CORE.cells
    assert found.seen == ((5.0, 4), (6.5, 3), (7.3, 3), (8.75, 2))
    assert not found.choose(7.3).own


def test_only_its_timing_class_changes() -> None:
    found = own({"floats": {"fadd": OwnCore(((7.3, 7),), ((7, 5.0),))}})
    for part, changes in (
        ("xc7z020-clg400-1", True),
        ("xc7z045-ffg900-2", False),
        ("xczu9eg", False),
    ):
        before = tool("vitis-2023.2", part, 10.0)
        after = calibrated(before, found)
        assert (after is not before) == changes
    before = tool("vitis-2023.2", "xc7z020-clg400-1", 10.0)
    after = calibrated(before, found)
    assert after.operator("add", "f32", 32).distance == 8
    assert after.operator("add", "f32", 32).own
    for kind in ("mul", "div", "cmp", "sqrt"):
        assert after.operator(kind, "f32", 32) == before.operator(kind, "f32", 32)
    for kind in ("add", "mul", "div", "select", "shl"):
        assert after.operator(kind, "int", 32) == before.operator(kind, "int", 32)


@pytest.mark.parametrize("name", [n for n in available() if n.startswith("vitis")])
def test_it_wins_where_the_version_was_measured(name: str) -> None:
    before = personality(name)
    timing = device(before.device).timing_class
    budget = round(before.usable_ns, 2)
    facts = {
        "floats": {"fadd": OwnCore(((budget, 11),), ((11, 0.9),))},
        "areas": {"fadd": ((12, 7, 777, 77),)},
        "multipliers": {"four": OwnCore(((budget, 6),), ())},
    }
    after = calibrated(before, own(facts, timing))
    add, product = after.operator("add", "f32", 32), after.operator("mul", "int", 32, "", (32, 32))
    states = before.latencies.states
    assert (add.distance, add.own) == (11 + states, True)
    assert (add.dsp, add.ff, add.lut) == (7, 777, 77)
    assert (product.distance, product.own) == (6 + states, True)
    assert after.operator("mul", "f32", 32) == before.operator("mul", "f32", 32)
    small = after.operator("mul", "int", 16, "", (16, 16))
    assert small == before.operator("mul", "int", 16, "", (16, 16))
    assert after.measured_as == before.measured_as
    assert personality(after.name) is before or personality(after.name) == before


def test_an_area_alone_changes_no_cycles() -> None:
    before = tool("vitis-2023.2", "xc7z020-clg400-1", 10.0)
    found = before.operator("mul", "f32", 32)
    after = calibrated(before, own({"areas": {"fmul": ((found.distance, 1, 2, 3),)}}))
    changed = after.operator("mul", "f32", 32)
    assert (changed.dsp, changed.ff, changed.lut) == (1, 2, 3)
    assert (changed.distance, changed.own) == (found.distance, False)


def test_a_class_that_no_report_shows() -> None:
    """The others of such a class stay extrapolated; what was measured is."""
    part = "xc7z045-ffg900-2"
    hidden = next(p for p in ("xcku5p-ffvb676-2-e", "xcvc1902-vsva2197-2MP-e-S") if device(p))
    timing = device(hidden).timing_class
    found = own({"floats": {"fadd": OwnCore(((7.3, 9),), ((9, 2.0),))}}, timing)
    after = calibrated(tool("vitis-2023.2", hidden, 10.0), found)
    assert after.operator("add", "f32", 32).source == "measured"
    assert after.operator("mul", "f32", 32).source == "extrapolated"
    assert calibrated(tool("vitis-2023.2", part, 10.0), found).calibration is None


def test_at_another_clock_the_law_takes_the_measured_delays() -> None:
    found = own({"floats": {"fmul": OwnCore(((4.38, 5),), ((5, 3.9),))}})
    at_other = library_at("zynq7-1", "DSP48E1", 3.95, calibration=found)
    told = at_other.operators["f32"]["mul"]
    assert (told.distance, told.own) == (6, False)


def test_the_file_is_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "own.json"
    data = document(
        {"zynq7-1": OwnClass(floats={"fadd": OwnCore(((7.3, 4),), ((4, 7.25),))})}, {"sources": []}
    )
    path.write_text(json.dumps(data))
    found = read(path)
    again = calibration_of(found.facts, "again")
    assert again == found == pickle.loads(pickle.dumps(found))
    assert again.of("zynq7-1").floats["fadd"].seen == ((7.3, 4),)
    assert found.of("zynq7-2").empty


FADD = {"seen": [[7.3, 4]], "delays": [[4, 7.25]]}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"kind": "x"}, 'not of the kind "weft-calibration"'),
        ({"schema_version": 2}, "schema_version is not 1"),
        ({"classes": []}, r"classes is \[\]"),
        ({"classes": {"zynq8-1": {}}}, "no timing class 'zynq8-1'"),
        ({"classes": {"zynq7-1": {"floats": {"fadz": FADD}}}}, "floats has no 'fadz'"),
        ({"classes": {"zynq7-1": {"flots": {}}}}, "has no 'flots'"),
        ({"classes": {"zynq7-1": {"multipliers": {"eight": FADD}}}}, "multipliers has no 'eight'"),
        ({"classes": {"zynq7-1": {"floats": {"fadd": {"seen": [[7.3, 4], [8, 5]]}}}}}, "cannot be"),
        ({"classes": {"zynq7-1": {"floats": {"fadd": {"seen": [[-1, 4]]}}}}}, "cannot be"),
        ({"classes": {"zynq7-1": {"floats": {"fadd": {"seen": [[float("nan"), 4]]}}}}}, "cannot be"),
        ({"classes": {"zynq7-1": {"floats": {"fadd": {"delays": [[4, 1e300]]}}}}}, "cannot be"),
        ({"classes": {"zynq7-1": {"floats": {"fadd": {"delays": [[-4, 1]]}}}}}, "is -4"),
        ({"classes": {"zynq7-1": {"floats": {"fadd": {"delays": [["4", 1]]}}}}}, 'is "4"'),
        ({"classes": {"zynq7-1": {"areas": {"fadd": [[0, 1, 1, 1]]}}}}, "cannot be"),
        ({"classes": {"zynq7-1": {"areas": {"fadd": [[5, 1, 1]]}}}}, "has 3 values"),
        ({"routing": {"lut": {"projects": 2, "median": 9, "least": 1, "most": 2}}}, "cannot be"),
        ({"routing": {"dsp": {"projects": 2, "median": 1, "least": 1, "most": 2}}}, "'dsp' cannot be"),
    ],
)  # fmt: skip
def test_what_is_no_calibration(change: dict[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=why) as caught:
        calibration_of({**document({}, {}), **change}, "own.json")
    assert caught.value.code == "W552"
    assert "weft calibrate PROJECT" in (caught.value.help or "")


@pytest.mark.parametrize(
    "text", ["", "{", "[" * 100_000, "\x00\xff", "3", "null", '{"tool":1,"lut":{},"ff":{}}']
)
def test_a_file_of_something_else(text: str, tmp_path: Path) -> None:
    path = tmp_path / "own.json"
    path.write_text(text)
    with pytest.raises(InputError, match=r"own\.json is no calibration") as caught:
        read(path)
    assert caught.value.code == "W552"


def test_a_file_that_is_not_there_or_far_too_large(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read") as caught:
        read(tmp_path)
    assert caught.value.code == "W512"
    path = tmp_path / "own.json"
    path.write_text(" " * (9 << 20))
    with pytest.raises(InputError, match="far too large"):
        read(path)
