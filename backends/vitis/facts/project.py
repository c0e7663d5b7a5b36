"""What the reports of one solution say: operators by module, and totals before and after routing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from backends.vitis.facts.heading import Heading, heading
from backends.vitis.facts.schedule import scheduled
from backends.vitis.facts.tables import Reported, reported
from backends.vitis.facts.tree import Remark, Solution, lines
from backends.vitis.reports import (
    CsynthReport,
    ImplReport,
    Resources,
    parse_csynth,
    parse_impl_rpt,
    parse_impl_xml,
)
from dsl.errors.errors import ToolError


@dataclass(frozen=True, slots=True)
class Module:
    """The operators that a report shows, each once, and what it is about."""

    heading: Heading
    operators: tuple[Reported, ...]


@dataclass(frozen=True, slots=True)
class Totals:
    """A design that was placed and routed: what csynth said of it, and what it was; periods in ns."""

    top: str
    part: str
    version: str
    clock: float | None
    estimated: Resources
    routed: Resources
    achieved: float | None


def modules(solution: Solution, remark: Remark = lambda _: None) -> Iterator[Module]:
    """The operators of a solution by report.

    Args:
        solution: whose reports are read.
        remark: is told of reports that are left out.
    """
    clocks: dict[str, Heading] = {}
    for path in solution.modules:
        if (found := _module(path, reported, remark)) is not None:
            clocks[found.heading.module] = found.heading
            yield found
    for path in solution.schedules:
        if (found := _module(path, scheduled, remark)) is not None:
            yield found
    for path in solution.summaries:
        found = _module(path, reported, remark)
        if found is None or not found.operators:
            continue
        top = clocks.get(found.heading.module)
        if top is None:
            remark(f"{path} is left out: no report of its top says at which clock it is")
            continue
        told = replace(found.heading, clock=top.clock, uncertainty=top.uncertainty)
        yield replace(found, heading=told)


def _module(
    path: Path, read: Callable[[Iterator[str]], Iterator[Reported]], remark: Remark
) -> Module | None:
    try:
        about = heading(lines(path))
        if about is None:
            remark(
                f"{path} is left out: it is no report of Vitis HLS or Vivado HLS, or half of one"
            )
            return None
        return Module(about, tuple(dict.fromkeys(read(lines(path)))))
    except OSError as error:
        remark(f"{path} is left out: {error.strerror}")
        return None


def totals(solution: Solution, remark: Remark = lambda _: None) -> Totals | None:
    """What csynth said of the top, beside what came of it; None where there is only one of them.

    Args:
        solution: whose reports are read.
        remark: is told of reports that are left out.
    """
    routed = next(filter(None, (_impl(path, remark) for path in solution.routed)), None)
    if routed is None:
        return None
    top = {path.name.rpartition("_export.")[0] for path in solution.routed}
    said = [
        path for path in solution.totals
        if path.name == "csynth.xml" or path.name.removesuffix("_csynth.xml") in top
    ]  # fmt: skip
    csynth = next(filter(None, (_csynth(path, remark) for path in said)), None)
    if csynth is None:
        return None
    return Totals(
        csynth.top, csynth.part, csynth.version, csynth.clock, csynth.used, routed.used,
        routed.achieved,
    )  # fmt: skip


def _impl(path: Path, remark: Remark) -> ImplReport | None:
    parse = parse_impl_xml if path.suffix == ".xml" else parse_impl_rpt
    try:
        found = parse(path)
    except ToolError as error:
        remark(f"{path} is left out: {error.message}")
        return None
    return found if found.used.lut is not None else None


def _csynth(path: Path, remark: Remark) -> CsynthReport | None:
    try:
        return parse_csynth(path)
    except ToolError as error:
        remark(f"{path} is left out: {error.message}")
        return None
