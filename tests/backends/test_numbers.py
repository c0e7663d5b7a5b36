"""Numbers of reports that went through a spreadsheet, an editor or another locale."""

from __future__ import annotations

import pytest

from backends.vitis.facts.heading import heading
from backends.vitis.facts.schedule import scheduled
from backends.vitis.facts.tables import reported
from backends.vitis.numbers import real, whole
from backends.vitis.reports import parse_impl_rpt
from tests.support.hls_reports import ADDER, CORES, Made, module_report, schedule_report
from tests.support.hls_reports import heading as heading_text

REALS = {
    "10.00": 10.0, "10,00": 10.0, " 7,256 ": 7.256, "1.234,5": 1234.5, "1,234.5": 1234.5, "1 234,5": 1234.5,
    "1\u00a0234.50": 1234.5, "1'234.5": 1234.5, "1,234,567": 1234567.0, ".5": 0.5, "-2,5": -2.5, "1e3": 1000.0,
}  # fmt: skip
WHOLES = {"1234": 1234, "12,345": 12345, "12.345": 12345, "1 234 567": 1234567, "1\u202f234": 1234}


@pytest.mark.parametrize(("text", "number"), REALS.items())
def test_real(text: str, number: float) -> None:
    assert real(text) == number


@pytest.mark.parametrize(("text", "number"), WHOLES.items())
def test_whole(text: str, number: int) -> None:
    assert whole(text) == number


@pytest.mark.parametrize(
    "text", ["", "-", "?", "nan", "inf", "1,2,3", "1,23.4", "12,34.5", "--1", "1..2", "\u0661"]
)
def test_what_is_no_number(text: str) -> None:
    assert real(text) is None
    assert whole(text) is None


def test_a_whole_number_has_no_decimals_and_one_separator() -> None:
    assert [whole(t) for t in ("10.00", "1,234.567", "1,2345", "0x10")] == [None] * 4


def _with_commas(text: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(n.replace(".", ",") if "ns" in n or "Delay" in n else n for n in lines)


def test_a_clock_with_a_decimal_comma() -> None:
    plain = heading_text(Made("gemm"), "top")
    told, other = heading(plain.splitlines()), heading(_with_commas(plain).splitlines())
    assert told is not None
    assert told.clock is not None
    assert told == other


def test_delays_of_cores_with_a_decimal_comma() -> None:
    plain = schedule_report(Made("gemm"), "top", CORES)
    commas = [line.replace(".", ",") if "<Delay" in line else line for line in plain.splitlines()]
    assert [f.delay for f in scheduled(commas)] == [f.delay for f in scheduled(plain.splitlines())]


def test_counts_with_separators() -> None:
    plain = module_report(Made("gemm"), "top", [ADDER])
    (adder,) = [f for f in reported(plain.splitlines()) if f.source == "inst"]
    text = plain.replace(f" {adder.lut}|", f"1,{adder.lut}|")
    assert text != plain
    (other,) = [f for f in reported(text.splitlines()) if f.source == "inst"]
    assert other.lut == 1000 + (adder.lut or 0)


def test_a_report_of_routing(tmp_path) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "export_impl.rpt"
    file.write_text(
        "LUT:  12,345\nFF:  1\u00a0234\nDSP: 3\nCP required: 10,000\nCP achieved post-implementation: 7,256\n"
    )
    found = parse_impl_rpt(file)
    assert (found.clock, found.achieved, found.used.lut) == (10.0, 7.256, 12345)
