"""Operators of any device at any clock: the law of selection, and what follows for designs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import weft
from backends.devices import DEVICES, device
from dse.estimates.estimation import estimated, setting
from dsl.errors.errors import ToolError
from dsl.kernels.loader import load
from qor_gnn.tools.operators import library
from qor_gnn.tools.operators.at_clock import library_at
from qor_gnn.tools.operators.cells import Cell, Core
from qor_gnn.tools.operators.integers import DIVIDER
from qor_gnn.tools.operators.multipliers import size_of, slices
from qor_gnn.tools.operators.timing import tables, timing_classes
from qor_gnn.tools.personality import at, available, personality, table_of
from tests.support.amount import sample

ROOT = Path(__file__).resolve().parents[2]
CLOCKS = (2.0, 3.33, 4.0, 5.0, 6.67, 8.0, 10.0, 20.0)
CLASSES = sorted(timing_classes())


# ---------------------------------------------------------------------------------------- the law

CORE = Core(
    (Cell(1, 9.0, 9.0, 9.0), Cell(2, 6.0, 5.0, 7.0, False), Cell(3, 4.0, 4.0, 4.0)),
    ((4.5, 3), (8.0, 2)),
)


@pytest.mark.parametrize(
    ("budget", "latency", "least", "most", "origin"),
    [
        (10.0, 1, 1, 1, "derived"),
        (8.0, 2, 2, 2, "measured"),
        (8.5, 2, 2, 2, "extrapolated"),  # the cell itself was never seen
        (6.5, 2, 2, 3, "extrapolated"),
        (5.5, 3, 2, 3, "extrapolated"),
        (4.5, 3, 3, 3, "measured"),
        (4.2, 3, 3, 3, "derived"),
        (1.0, 3, 3, 3, "derived"),  # the deepest there is
    ],
)
def test_the_least_latency_that_fits(
    budget: float, latency: int, least: int, most: int, origin: str
) -> None:
    found = CORE.choose(budget)
    assert (found.latency, found.least, found.most, found.origin) == (latency, least, most, origin)


def test_cells_hold_what_they_are_bounded_by() -> None:
    for core in (*tables().floats.values(), *tables().multipliers.values()):
        assert all(c.low <= c.delay <= c.high for c in core.cells)
        assert [n for _, n in core.seen] == sorted((n for _, n in core.seen), reverse=True)
        for budget, latency in core.seen:
            assert core.choose(budget).latency == latency


@pytest.mark.parametrize("timing", CLASSES)
def test_a_shorter_period_never_takes_fewer_cycles(timing: str) -> None:
    dsp = "DSP48E1" if timing[:-2].endswith("7") else "DSP48E2"
    budgets = [40.0 * 0.9**n for n in range(40)]
    before: dict[str, int] = {}
    for budget in budgets:
        known = library_at(timing, dsp, round(budget, 3))
        found = {
            f"{k} {t}": o.distance for t, ops in known.operators.items() for k, o in ops.items()
        }
        for width in (8, 16, 24, 32, 64, 128):
            found[f"mul {width}"] = known.integers["mul"].operator("mul", width).distance
        for name, states in found.items():
            assert states >= before.get(name, 0), (name, budget)
        before = found


@pytest.mark.parametrize(
    ("part", "clock", "kind", "stages"),
    [
        # Of reports: stages in names of modules.
        *(("xc7z020clg400-1", c, "add", n) for c, n in ((10, 5), (20, 4), (50, 2), (5, 10))),
        *(("xc7z020clg400-1", c, "mul", n) for c, n in ((10, 4), (20, 2), (5, 8))),
        *(("xczu3eg-sbva484-1-e", c, "add", n) for c, n in ((10 / 0.73 * 0.875, 4),)),
        *(("xcu250", c, "add", n) for c, n in ((10, 3), (5, 5), (4, 7), (3.33, 7))),
        *(("xcu250", c, "mul", n) for c, n in ((10, 2), (5, 4), (4, 4), (3.33, 4))),
    ],
)
def test_stages_of_f32(part: str, clock: float, kind: str, stages: int) -> None:
    tool = setting("vitis-2023.2", part, clock).tool
    assert tool.operator(kind, "f32", 32).distance == stages


@pytest.mark.parametrize("width", [8, 17, 32, 64])
@pytest.mark.parametrize("clock", [3.0, 10.0, 50.0])
def test_dividers_have_the_same_stages_everywhere(width: int, clock: float) -> None:
    tool = setting("vitis-2023.2", "xc7z020", clock).tool
    assert tool.operator("div", "int", width).distance == width + DIVIDER + 1


@pytest.mark.parametrize(
    ("a", "b", "result", "side", "dsp"),
    [
        (8, 8, 16, 25, 0), (16, 16, 32, 25, 1), (18, 25, 43, 25, 1), (16, 32, 48, 25, 2),
        (32, 32, 32, 25, 3), (32, 32, 64, 27, 4), (64, 64, 64, 27, 10), (64, 64, 128, 25, 16),
        (48, 32, 48, 27, 5),
    ],
)  # fmt: skip
def test_slices_of_a_product(a: int, b: int, result: int, side: int, dsp: int) -> None:
    assert slices(a, b, result, side) == slices(b, a, result, side) == dsp
    assert size_of(a, b, side) in ("lut", "one", "two", "four", "wide")


@pytest.mark.parametrize(
    ("timing", "budget", "types"),
    [
        ("virtexuplus-2", 2.43, {"f32", "f64"}),
        ("zynquplus-2", 7.3, {"f32"}),
        ("zynquplus-2", 2.92, set()),  # seen at longer periods alone
        ("zynq7-1", 7.3, set()),  # seen on other devices alone
    ],
)
def test_adders_on_fabric_where_reports_show_them(
    timing: str, budget: float, types: set[str]
) -> None:
    assert set(library_at(timing, "DSP48E2", budget).implementations["fabric"]) == types


def test_logic_is_slower_where_the_grade_is() -> None:
    def adder(grade: int) -> float:
        known = library_at(f"zynq7-{grade}", "DSP48E1", 7.3)
        return known.integers["add"].operator("add", 32).delay

    assert adder(1) > adder(2) >= adder(3) * 0.95


# --------------------------------------------------------------------------------------- versions


def test_the_measured_library_stands_where_it_was_measured() -> None:
    for name, place in (
        ("vitis-2022.1-zu9eg-10ns", ("xck26", 10.0)),
        ("vitis-2023.2-u280-3.33ns", ("xcu55c", 3.33)),
        ("vitis-2025.1-u200-4ns", ("xcvu9p", 4.0)),
    ):
        assert setting(name, *place).tool == personality(name)
        assert setting(None, *place).tool == personality(name) or place[0] == "xck26"


def test_a_derived_personality_is_found_by_its_name() -> None:
    for tool in (
        setting(None, "xc7z020", 5.0).tool,
        setting("vitis-2025.1", "xcv80", 2.5).tool,
        setting(None, "ecp5-85k", 7.0).tool,
        setting(None, "xck26", 12.0, 0.125).tool,
    ):
        assert personality(tool.name) == tool
        assert tool.base


@pytest.mark.parametrize("name", ["vitis-2022.1-xc7z021-1-5ns", "vitis-2021.2-xc7z020-1-5ns",
                                  "vitis-2022.1-xc7z020-1-0.2ns", "vitis-2022.1-xc7z020-1-ns"])  # fmt: skip
def test_no_such_target(name: str) -> None:
    with pytest.raises(ToolError, match="W450"):
        personality(name)


def test_a_device_without_uram_has_none() -> None:
    assert setting("vitis-2023.2", "xc7z020", 5.0).tool.memories.storage.uram is None
    assert setting("vitis-2022.1", "xcu280", 5.0).tool.memories.storage.uram is not None


def test_tables_of_classes_are_of_known_devices() -> None:
    wanted = {chip.timing_class for chip in DEVICES.values() if chip.vitis}
    assert wanted <= set(CLASSES)
    for file in (ROOT / "qor_gnn" / "tools" / "operators" / "data").glob("*.json"):
        assert json.loads(file.read_text("utf-8"))["evidence"].strip()


# ------------------------------------------------------------------------------------------ sweep

SWEEP = ("xc7z010", "xc7a35t", "xc7k325t", "xczu3eg", "xcku115", "xcvu9p", "xcu50", "xcv80")


@pytest.mark.parametrize(
    "name", sample(["polybench/jacobi_2d.py:jacobi_2d", "polybench/gemm.py:gemm"], 2)
)
def test_every_device_at_every_clock(name: str) -> None:
    """An estimate, no error, and no fewer cycles at a shorter period."""
    kernel = load(f"{ROOT}/examples/{name}").at("mini")
    schedule = next(iter(kernel.schedules.values()))
    for part in SWEEP:
        before = float("inf")
        for clock in CLOCKS:
            found = estimated(kernel.program, schedule, setting(None, device(part), clock))
            assert sum(found.operators.counts.values()) > 0
            cycles = found.answer.latency.average
            assert cycles <= before, (part, clock)
            before = cycles


@weft.kernel
def products(x: weft.i32[8], y: weft.i32[8], z: weft.i8[8], w: weft.i8[8]):
    for i in range(8):
        x[i] = x[i] * y[i]
        z[i] = z[i] * w[i]


def test_products_that_no_report_shows_are_named_where_they_take_slices() -> None:
    """In no state, too; what is mere logic is one more of the operators that are counted."""
    found = estimated(products.program, weft.Schedule(), setting(None, "xcku5p", 10.0))
    (note,) = (n for n in found.setting.notes if n.startswith("assumed"))
    assert note == "assumed, not measured: mul on int"
    assert found.operators.counts["extrapolated"] >= 2


@pytest.mark.parametrize("name", [n for n in available() if not personality(n).is_open])
def test_a_version_has_the_operators_of_the_law_at_its_own_clock(name: str) -> None:
    """What its own reports do not show is not assumed: at a clock a thousandth away it is the same."""
    tool = personality(name)
    near = at(tool, DEVICES[tool.device], tool.clock_ns * 1.001).library
    shown = library(table_of(name, "operators.json"))
    for type_, row in near.operators.items():
        own = tool.library.operators[type_]
        assert set(own) == set(row)
        for kind in set(row) - set(shown.operators.get(type_, {})):
            assert own[kind].distance == row[kind].distance, f"{type_} {kind}"
    for kind in set(near.integers) - set(shown.integers):
        for width in (8, 24, 32, 64):
            one, other = (
                i[kind].operator(kind, width) for i in (tool.library.integers, near.integers)
            )
            assert (one.distance, one.delay, one.lut) == (other.distance, other.delay, other.lut)


@pytest.mark.parametrize("name", [n for n in available() if not personality(n).is_open])
def test_no_operator_is_faster_at_a_shorter_clock(name: str) -> None:
    """On every class of devices, at the clocks around those that versions were measured at too."""
    clocks = (2.0, 3.0, 3.33, 3.5, 3.99, 4.0, 4.01, 5.0, 8.0, 9.99, 10.0, 10.01, 20.0)
    tool = personality(name)
    classes = {d.timing_class: d for d in DEVICES.values() if d.vitis}
    for chip in classes.values():
        rows = [at(tool, chip, clock).library.operators for clock in clocks]
        for type_, row in rows[0].items():
            for kind in row:
                found = [r[type_][kind].distance for r in rows]
                assert found == sorted(found, reverse=True), f"{chip.name} {type_} {kind}"
