"""Tables of operators out of facts: what of a report is a fact, and what is made of few of them."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pytest

from qor_gnn.fit.operators.cores import Fact, cores_of
from qor_gnn.fit.operators.distil import distilled, written
from qor_gnn.fit.operators.rows import float_core, operator_rows, timing_class, usable
from qor_gnn.tools.operators.timing import timing_classes

COLUMNS = [
    "source",
    "tool",
    "version",
    "family",
    "part",
    "clock_ns",
    "uncertainty_ns",
    "op",
    "widths",
    "impl",
    "core",
    "stages",
    "latency",
    "ii",
    "delay_ns",
    "dsp",
    "ff",
    "lut",
    "bram",
    "count",
    "n_repos",
    "repo",
    "path",
]


def facts(folder: Path, *rows: dict[str, str]) -> None:
    usual = {
        "source": "core", "tool": "vitis", "version": "2022.1", "family": "zynq",
        "part": "xc7z020-clg400-1", "clock_ns": "10.00", "uncertainty_ns": "2.70", "op": "fadd",
        "core": "FAddSub_fulldsp", "latency": "4", "delay_ns": "7.25", "repo": "a/b",
    }  # fmt: skip
    for name in ("operators.csv.gz", "expressions.csv.gz"):
        with gzip.open(folder / name, "wt", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, COLUMNS)
            table.writeheader()
            for row in rows if name.startswith("op") else ():
                table.writerow({**dict.fromkeys(COLUMNS, ""), **usual, **row})


@pytest.mark.parametrize(
    ("family", "part", "timing"),
    [
        ("zynq", "xc7z020-clg400-1", "zynq7-1"),
        ("azynq", "xa7z020-clg400-1I", "zynq7-1"),
        ("artix7l", "xc7a35t-ftg256-2l", "artix7-2"),
        ("zynquplus", "xck26-sfvc784-2LV-c", "zynquplus-2"),
        ("virtexuplushbm", "xcu280-fsvh2892-2L-e", "virtexuplus-2"),
        ("versalaicore", "xcvc1902-vsva2197-2MP-e-S", "versal-2"),
        ("spartan6 spartan6_fpv6", "xc6slx45-csg324-3", None),
        ("zynq", "xc7z020", None),
        ("", "", None),
    ],
)
def test_timing_class_of_a_report(family: str, part: str, timing: str | None) -> None:
    assert timing_class(family, part) == timing
    assert timing is None or timing in timing_classes()


def test_what_is_no_fact_about_the_tools_own_choice(tmp_path: Path) -> None:
    facts(
        tmp_path,
        {},
        {"tool": "vivado", "latency": "0", "delay_ns": "5.5"},  # printed too small
        {"latency": "0", "delay_ns": "52.7"},  # demanded against the clock
        {"family": "virtexuplus", "part": "xcvu9p-flga2104-2-i", "version": "2018.2"},
        {"source": "filename", "delay_ns": ""},
        {"clock_ns": "0.10", "uncertainty_ns": "27.0"},
        {"clock_ns": "", "uncertainty_ns": ""},
        {"core": "FAddSub_meddsp"},
    )
    rows = list(operator_rows(tmp_path))
    kept = [r for r in rows if (core := float_core(r)) is not None and usable(r, core)]
    assert [(r.timing, r.budget, r.latency, r.delay) for r in kept] == [("zynq7-1", 7.3, 4, 7.25)]


def test_products_of_functions_whose_names_end_in_mul_are_no_fused_ones(tmp_path: Path) -> None:
    files = (
        "dct_mul_mul_13s_16s_29_4_1.v",
        "matrixmul_mul_8s_8s_16_1_1.vhd",
        "mmul_mul_16s_16s_16_2_1.vhd",
    )
    named = {"source": "filename", "op": "mul_mul", "latency": ""}
    facts(tmp_path, *({**named, "stages": file[-4], "path": f"syn/{file}"} for file in files))
    assert len(list(operator_rows(tmp_path))) == 1


def test_bounds_of_a_cell_that_no_report_shows() -> None:
    """9 at 4.09 ns and 4 at 7.3 ns: stages of 5 to 8 are longer than 4.09 and no longer than 7.25."""
    shown = [
        Fact("fadd", "zynq7-1", 7.3, 4, 7.25, "a"),
        Fact("fadd", "zynq7-1", 4.09, 9, 3.35, "b"),
        Fact("fadd", "kintex7-1", 8.75, 3, 7.71, "c"),
    ]
    core = cores_of(shown, {"fadd": tuple(range(12))}, short=True)["zynq7-1", "fadd"]
    for cell in core.cells[5:9]:
        assert 4.09 < cell.low <= cell.delay <= cell.high <= 7.25
        assert not cell.known
    assert core.choose(7.3).latency == 4
    assert core.choose(5.0).least >= 5
    assert core.choose(5.0).most <= 9


def test_short_latencies_follow_from_each_other() -> None:
    core = cores_of(
        [Fact("fmul", "x-2", 14.6, 1, 8.4, "a")], {"fmul": tuple(range(6))}, short=True
    )["x-2", "fmul"]
    assert [(c.latency, c.delay, c.known) for c in core.cells[:3]] == [
        (0, 35.0, True), (1, 8.4, True), (2, 7.0, True),
    ]  # fmt: skip


def test_a_choice_that_contradicts_better_supported_ones_is_left_out() -> None:
    shown = [Fact("fadd", "x-1", 8.0, 3, None, r) for r in "abc"]
    shown += [Fact("fadd", "x-1", 12.0, 9, None, "d"), Fact("fadd", "x-1", 5.0, 6, 4.5, "a")]
    core = cores_of(shown, {"fadd": tuple(range(12))}, short=True)["x-1", "fadd"]
    assert core.seen == ((5.0, 6), (8.0, 3))


def test_no_facts_no_tables(tmp_path: Path) -> None:
    facts(tmp_path)
    found = distilled(list(operator_rows(tmp_path)))
    assert not found.floats
    assert not found.areas


def test_tables_are_written_as_they_are_read(tmp_path: Path) -> None:
    facts(tmp_path, {}, {"source": "inst", "op": "fadd", "impl": "fulldsp", "dsp": "2", "ff": "205",
                         "lut": "390", "delay_ns": ""})  # fmt: skip
    found = distilled(list(operator_rows(tmp_path)))
    written(found, tmp_path)
    assert found.areas["fadd", "series7", 5] == (2, 205, 390)
    assert '"fadd"' in (tmp_path / "zynq7-1.json").read_text("utf-8")
