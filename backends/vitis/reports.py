"""Vitis HLS's own reports as values: synthesis, co-simulation, place and route.

What a report leaves open (``undef``, ``-``, ``?``) is None here, never 0. BRAM is counted in 18 kbit
blocks in all of them.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from backends.vitis.numbers import REAL, real, whole
from dsl.errors.errors import ToolError

_DEEPEST = 100  # loops in loops: no design has as many


@dataclass(frozen=True, slots=True)
class Resources:
    """Counts of a report; None where it does not say."""

    lut: int | None = None
    ff: int | None = None
    dsp: int | None = None
    bram18: int | None = None
    uram: int | None = None


@dataclass(frozen=True, slots=True)
class LoopReport:
    """One loop: cycles, ``ii`` and ``depth`` where it is pipelined.

    ``name`` is the path of labels from the outermost loop of its module, joined by ``/``.
    """

    module: str
    name: str
    trip_min: int | None
    trip_max: int | None
    latency_min: int | None
    latency_max: int | None
    iteration_latency: int | None
    ii: int | None
    depth: int | None


@dataclass(frozen=True, slots=True)
class CsynthReport:
    """C synthesis: estimates of the tool. Latency and interval in cycles, periods in ns."""

    version: str
    part: str
    top: str
    clock: float | None
    uncertainty: float | None
    estimated_clock: float | None
    latency_min: int | None
    latency_max: int | None
    interval_min: int | None
    interval_max: int | None
    used: Resources
    available: Resources
    loops: tuple[LoopReport, ...]


@dataclass(frozen=True, slots=True)
class CosimReport:
    """Co-simulation of the RTL: whether the testbench passed, and cycles per call."""

    passed: bool
    latency_min: int | None
    latency_avg: int | None
    latency_max: int | None
    interval_min: int | None
    interval_max: int | None


@dataclass(frozen=True, slots=True)
class ImplReport:
    """Vivado, after place and route (or after synthesis, as the flow says). Periods in ns."""

    clock: float | None
    achieved: float | None
    timing_met: bool | None
    used: Resources
    available: Resources


def _broken(path: Path, why: str) -> ToolError:
    return ToolError("W423", f"{path} is not a report of Vitis HLS: {why}")


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as e:
        raise ToolError("W422", f"cannot read the report {path}: {e.strerror}") from e


def _xml(path: Path) -> ET.Element:
    text = _read(path)
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise _broken(path, "it declares entities")
    try:
        return ET.fromstring(text)
    except ET.ParseError as e:
        raise _broken(path, str(e)) from e


def _int(text: str | None) -> int | None:
    told = (text or "").strip().removeprefix("~")
    if (number := whole(told)) is not None:
        return number
    match = re.match(r"\s*(\d{1,18})\b(?![.,'])", told)
    return int(match[1]) if match else None


def _float(text: str | None) -> float | None:
    return real(text or "")


def _range(element: ET.Element | None) -> tuple[int | None, int | None]:
    """``7``, ``1 ~ 7`` or ``<range><min>1</min><max>7</max></range>``."""
    if element is None:
        return None, None
    inner = element.find("range")
    if inner is not None:
        return _int(inner.findtext("min")), _int(inner.findtext("max"))
    low, tilde, high = (element.text or "").partition("~")
    first = _int(low)
    return first, (_int(high) if tilde else first)


def _resources(element: ET.Element | None) -> Resources:
    if element is None:
        return Resources()

    def count(*names: str) -> int | None:
        return next((v for n in names if (v := _int(element.findtext(n))) is not None), None)

    return Resources(
        lut=count("LUT"),
        ff=count("FF"),
        dsp=count("DSP", "DSP48E"),
        bram18=count("BRAM_18K", "BRAM"),
        uram=count("URAM"),
    )


def _loops(
    module: str, summary: ET.Element, path: Path, prefix: str = "", depth: int = 0
) -> Iterator[LoopReport]:
    if depth > _DEEPEST:
        raise _broken(path, f"it has loops {depth} deep")
    for element in summary:
        if element.find("TripCount") is None and element.find("PipelineII") is None:
            continue
        name = prefix + (element.findtext("Name") or element.tag)
        trip, latency = _range(element.find("TripCount")), _range(element.find("Latency"))
        yield LoopReport(
            module,
            name,
            *trip,
            *latency,
            iteration_latency=_range(element.find("IterationLatency"))[1],
            ii=_int(element.findtext("PipelineII")),
            depth=_int(element.findtext("PipelineDepth")),
        )
        yield from _loops(module, element, path, f"{name}/", depth + 1)


def parse_csynth(path: Path) -> CsynthReport:
    """``syn/report/csynth.xml`` (the whole design) or ``<top>_csynth.xml`` (one module).

    Raises:
        ToolError: W422: it cannot be read; W423: it is something else.
    """
    root = _xml(path)
    estimates, user = root.find("PerformanceEstimates"), root.find("UserAssignments")
    if estimates is None or user is None:
        raise _broken(path, "no PerformanceEstimates or UserAssignments")
    top = user.findtext("TopModelName", "").strip()
    loops: list[LoopReport] = []
    for module in root.iterfind("ModuleInformation/Module"):
        summary = module.find("PerformanceEstimates/SummaryOfLoopLatency")
        if summary is not None:
            loops += _loops(module.findtext("Name", "").strip(), summary, path)
    own = estimates.find("SummaryOfLoopLatency")
    if own is not None and not loops:
        loops += _loops(top, own, path)
    overall = estimates.find("SummaryOfOverallLatency")
    find = overall.findtext if overall is not None else (lambda _: None)
    timing = "SummaryOfTimingAnalysis/EstimatedClockPeriod"
    return CsynthReport(
        version=root.findtext("ReportVersion/Version", "").strip(),
        part=user.findtext("Part", "").strip(),
        top=top,
        clock=_float(user.findtext("TargetClockPeriod")),
        uncertainty=_float(user.findtext("ClockUncertainty")),
        estimated_clock=_float(estimates.findtext(timing)),
        latency_min=_int(find("Best-caseLatency")),
        latency_max=_int(find("Worst-caseLatency")),
        interval_min=_int(find("Interval-min")),
        interval_max=_int(find("Interval-max")),
        used=_resources(root.find("AreaEstimates/Resources")),
        available=_resources(root.find("AreaEstimates/AvailableResources")),
        loops=tuple(loops),
    )


def parse_cosim(path: Path) -> CosimReport:
    """``sim/report/<top>_cosim.rpt``: the row of the simulated language.

    Raises:
        ToolError: W422: it cannot be read; W423: it is something else.
    """
    for line in _read(path).splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) >= 8 and cells[0] in ("Verilog", "VHDL") and cells[1] != "NA":
            numbers = [_int(cell) for cell in cells[2:8]]
            low, average, high, interval, _, longest = numbers
            return CosimReport(cells[1] == "Pass", low, average, high, interval, longest)
    raise _broken(path, "no row with a result")


def parse_impl_xml(path: Path) -> ImplReport:
    """``impl/report/verilog/export_impl.xml`` (``<top>_export.xml`` before 2021).

    Raises:
        ToolError: W422: it cannot be read; W423: it is something else.
    """
    root = _xml(path)
    timing = root.find("TimingReport")
    if timing is None:
        raise _broken(path, "no TimingReport")
    clock, achieved = (
        _float(timing.findtext(n)) for n in ("TargetClockPeriod", "AchievedClockPeriod")
    )
    said = timing.findtext("TIMING_MET", "").strip().upper()
    met = {"TRUE": True, "FALSE": False}.get(said)
    if met is None and clock is not None and achieved is not None:
        met = achieved <= clock
    return ImplReport(
        clock,
        achieved,
        met,
        _resources(root.find("AreaReport/Resources")),
        _resources(root.find("AreaReport/AvailableResources")),
    )


def parse_impl_rpt(path: Path) -> ImplReport:
    """The same as text: ``export_impl.rpt``, ``<top>_export.rpt``. It does not say what there is.

    Raises:
        ToolError: W422: it cannot be read; W423: it is something else.
    """
    text = _read(path)

    def number(label: str) -> str | None:
        match = re.search(rf"^\s*{label}:\s*({REAL})\s*$", text, re.MULTILINE)
        return match[1] if match else None

    achieved = _float(number("CP achieved post-implementation"))
    if achieved is None:
        achieved = _float(number("CP achieved post-synthesis"))
    counts = {name: _int(number(name)) for name in ("LUT", "FF", "DSP", "BRAM", "URAM")}
    if achieved is None and counts["LUT"] is None:
        raise _broken(path, "neither a clock period nor a number of LUT")
    met: bool | None = None
    if re.search(r"^Timing (not|was NOT) met", text, re.MULTILINE | re.IGNORECASE):
        met = False
    elif re.search(r"^Timing met", text, re.MULTILINE):
        met = True
    used = Resources(*(counts[name] for name in ("LUT", "FF", "DSP", "BRAM", "URAM")))
    return ImplReport(_float(number("CP required")), achieved, met, used, Resources())
