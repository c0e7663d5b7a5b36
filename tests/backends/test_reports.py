"""The tool's reports as values. The samples are small and in the vendor's format."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.vitis.reports import (
    CosimReport,
    LoopReport,
    Resources,
    parse_cosim,
    parse_csynth,
    parse_impl_rpt,
    parse_impl_xml,
)
from dsl.errors.errors import ToolError

SAMPLES = Path(__file__).parent / "reports"
PARSERS = (parse_csynth, parse_cosim, parse_impl_xml, parse_impl_rpt)


def test_csynth() -> None:
    report = parse_csynth(SAMPLES / "csynth.xml")
    assert (report.version, report.part, report.top) == ("2022.2", "xczu9eg-ffvb1156-2-e", "toy")
    assert (report.clock, report.uncertainty, report.estimated_clock) == (10.0, 2.7, 7.256)
    assert (report.latency_min, report.latency_max) == (130, 834)
    assert (report.interval_min, report.interval_max) == (131, 835)
    assert report.used == Resources(lut=1337, ff=1021, dsp=5, bram18=6, uram=0)
    assert report.available == Resources(lut=274080, ff=548160, dsp=2520, bram18=1824, uram=0)


def test_loops_of_csynth() -> None:
    pipelined, steps, taps = parse_csynth(SAMPLES / "csynth.xml").loops
    assert pipelined == LoopReport(
        *("toy_Pipeline_rows_cols", "rows_cols"),
        *(64, 64, 64, 64),
        iteration_latency=None,
        ii=1,
        depth=2,
    )
    assert steps == LoopReport(
        "toy", "steps", 8, 16, 64, 768, iteration_latency=48, ii=None, depth=48
    )
    # What the tool leaves open is None, not 0.
    assert taps == LoopReport(
        "toy", "steps/taps", 5, 5, None, None, iteration_latency=9, ii=None, depth=None
    )


def test_an_undefined_latency_is_none(tmp_path: Path) -> None:
    text = (SAMPLES / "csynth.xml").read_text()
    for tag, value in (("Best-caseLatency", "130"), ("Worst-caseLatency", "834")):
        text = text.replace(f"<{tag}>{value}</{tag}>", f"<{tag}>undef</{tag}>")
    (tmp_path / "r.xml").write_text(text)
    report = parse_csynth(tmp_path / "r.xml")
    assert (report.latency_min, report.latency_max) == (None, None)
    assert report.interval_max == 835


def test_resources_of_older_versions(tmp_path: Path) -> None:
    text = (SAMPLES / "csynth.xml").read_text().replace("<DSP>", "<DSP48E>")
    (tmp_path / "r.xml").write_text(text.replace("</DSP>", "</DSP48E>"))
    assert parse_csynth(tmp_path / "r.xml").used.dsp == 5


def test_cosim() -> None:
    assert parse_cosim(SAMPLES / "toy_cosim.rpt") == CosimReport(True, 128, 130, 133, 129, 134)


def test_a_failed_cosim(tmp_path: Path) -> None:
    text = (SAMPLES / "toy_cosim.rpt").read_text().replace("Pass", "Fail")
    for number in ("128", "130", "133", "129", "131", "134"):
        text = text.replace(f"            {number}|", "             NA|")
    (tmp_path / "r.rpt").write_text(text)
    assert parse_cosim(tmp_path / "r.rpt") == CosimReport(False, None, None, None, None, None)


def test_place_and_route() -> None:
    report = parse_impl_xml(SAMPLES / "export_impl.xml")
    assert (report.clock, report.achieved, report.timing_met) == (10.0, 6.412, True)
    assert report.used == Resources(lut=1004, ff=903, dsp=5, bram18=4, uram=0)
    assert report.available.bram18 == 1824


def test_place_and_route_as_text_says_the_same() -> None:
    xml, text = (
        parse_impl_xml(SAMPLES / "export_impl.xml"),
        parse_impl_rpt(SAMPLES / "export_impl.rpt"),
    )
    assert (text.clock, text.achieved, text.timing_met, text.used) == (
        xml.clock, xml.achieved, xml.timing_met, xml.used,
    )  # fmt: skip


def test_timing_that_is_not_met(tmp_path: Path) -> None:
    xml = (SAMPLES / "export_impl.xml").read_text()
    (tmp_path / "a.xml").write_text(xml.replace("TRUE", "FALSE"))
    assert parse_impl_xml(tmp_path / "a.xml").timing_met is False
    late = xml.replace("<TIMING_MET>TRUE</TIMING_MET>", "").replace(">6.412<", ">10.1<")
    (tmp_path / "b.xml").write_text(late)
    assert parse_impl_xml(tmp_path / "b.xml").timing_met is False
    text = (SAMPLES / "export_impl.rpt").read_text().replace("Timing met", "Timing NOT met")
    (tmp_path / "c.rpt").write_text(text)
    assert parse_impl_rpt(tmp_path / "c.rpt").timing_met is False


@pytest.mark.parametrize("parse", PARSERS)
@pytest.mark.parametrize("text", ["", "<profile/>", "<profile>", "hello", "| a | b |", "\0\xff"])
def test_something_else_is_refused(parse, text: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ToolError) as caught:
        parse(path)
    assert caught.value.code == "W423"
    assert caught.value.render().startswith(f"error[W423]: {path} is not a report of Vitis HLS: ")


@pytest.mark.parametrize("parse", PARSERS)
def test_a_missing_report_is_named(parse, tmp_path: Path) -> None:
    with pytest.raises(ToolError) as caught:
        parse(tmp_path / "none.xml")
    assert caught.value.render() == (
        f"error[W422]: cannot read the report {tmp_path}/none.xml: No such file or directory"
    )


def test_entities_are_refused(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE p [<!ENTITY a "aaaa">]><profile>&a;</profile>'
    (tmp_path / "x.xml").write_text(bomb)
    with pytest.raises(ToolError, match="it declares entities"):
        parse_csynth(tmp_path / "x.xml")
