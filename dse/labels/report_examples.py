"""Exported projects that Vitis HLS was run on as examples: its reports are the labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from backends.vitis.manifest import NAME as MANIFEST
from backends.vitis.reports import (
    CosimReport,
    CsynthReport,
    ImplReport,
    parse_cosim,
    parse_csynth,
)
from backends.vitis.run import impl_report, results_of
from dse.estimates.estimation import estimated, setting
from dse.inside import inside
from dse.labels.project_kernels import program_of
from dse.labels.trusted import Trusted
from dse.run.folder.json_text import json_in
from dsl.errors.errors import InputError, LanguageError, ScheduleError, ToolError
from dsl.schedules.schedule import Schedule
from qor_gnn.design.directives import written_unrolls
from qor_gnn.gnn.examples.convert import Origin, example
from qor_gnn.gnn.examples.example import Example
from qor_gnn.gnn.examples.targets import ROUTED
from qor_gnn.schedule.automatic_directives import automatic


@dataclass(frozen=True, slots=True)
class Project:
    """A folder that `weft export` wrote, and what the tool reported in it; ``facts`` is its manifest."""

    folder: Path
    facts: Mapping[str, Any]
    kernel: str
    device: str
    clock_ns: float
    schedule: Schedule
    csynth: CsynthReport
    cosim: CosimReport | None
    impl: ImplReport | None


def projects(folder: Path) -> Iterator[Project]:
    """The projects in a folder, at any depth, that have a report of synthesis.

    Raises:
        InputError: W511, W512, W548: a manifest or a schedule is not what it should be, or a file is
            a link that leads out of its project.
        ToolError: W423: a report is none.
    """
    for manifest in sorted(folder.rglob(MANIFEST)):
        facts = _facts(inside(manifest, folder))
        place = manifest.parent
        results = _results(place)
        top = facts["kernel"]
        csynth = _csynth(results, top) if results is not None else None
        if results is None or csynth is None:
            continue
        cosim = results / "sim" / "report" / f"{top}_cosim.rpt"
        yield Project(
            place,
            facts,
            top,
            facts["device"],
            float(facts["clock_ns"]),
            Schedule.load(inside(place / "schedule.json", place)),
            csynth,
            parse_cosim(cosim) if cosim.exists() else None,
            _impl(results, top),
        )


def _results(place: Path) -> Path | None:
    """Where the tool's reports are in a project, all of which lie in it.

    Raises:
        InputError: W548: one does not.
    """
    results = results_of(place)
    if results is not None:
        for kind in ("syn/report", "impl/report/verilog", "sim/report"):
            for report in (results / kind, *(results / kind).glob("*")):
                inside(report, place)
    return results


def _facts(manifest: Path) -> Mapping[str, Any]:
    try:
        facts = json_in(manifest)
        if not all(isinstance(facts[name], str) for name in ("kernel", "device")):
            raise TypeError("a name that is no text")
        float(facts["clock_ns"])
    except OSError as error:
        raise InputError("W512", f"cannot read {manifest}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError("W511", f"{manifest} does not describe a project: {error}") from error
    if not facts["kernel"].isidentifier():
        raise InputError("W511", f"{manifest}: '{facts['kernel']}' is no name of a kernel")
    return dict(facts)


def _csynth(results: Path, top: str) -> CsynthReport | None:
    for name in ("csynth.xml", f"{top}_csynth.xml"):
        path = results / "syn" / "report" / name
        if path.exists():
            found = parse_csynth(path)
            if found.top != top:
                raise ToolError("W423", f"{path} is a report of '{found.top}', not of '{top}'")
            return found
    return None


def _impl(results: Path, top: str) -> ImplReport | None:
    try:
        return impl_report(results / "impl" / "report" / "verilog", top)
    except ToolError as error:
        if error.code == "W422":  # it was not placed and routed
            return None
        raise


def report_examples(
    folder: Path, trusted: Trusted, remark: Callable[[str], None] = lambda _: None
) -> list[Example]:
    """The projects in a folder as examples.

    Args:
        folder: with projects in it, at any depth.
        trusted: what the user named of kernels.
        remark: is told of projects that are left out, and of those that do not say at which size they
            were exported.

    Raises:
        InputError: W532: there is no project with a report; W503, W506, W536, W547: the kernel of one
            is not there, or not what it was.
        WeftError: A schedule or a report is not what it should be.
    """
    found = list(projects(folder))
    unreported = sum(1 for _ in folder.rglob(MANIFEST)) - len(found)
    if unreported:
        every = len(found) + unreported
        remark(f"{folder}: {unreported} of {every} projects are left out: no report of synthesis")
    if not found:
        message = f"{folder} holds no exported project with a report of synthesis"
        raise InputError("W532", message, help="weft export --run csynth makes one")
    silent = [project.folder for project in found if "size" not in project.facts]
    if silent:
        first = f"{silent[0]}{f' and {len(silent) - 1} more' if len(silent) > 1 else ''}"
        remark(f"{first}: the size is not in weft.json, so it is taken to be the kernel's own")
    return [_example(project, trusted) for project in found]


def _example(project: Project, trusted: Trusted) -> Example:
    program = program_of(project.folder, project.facts, trusted)
    where = setting(None, project.device, project.clock_ns)
    try:
        got = estimated(program, project.schedule, where)
    except (ScheduleError, LanguageError, ToolError) as error:
        raise error.at(str(project.folder)) from error
    tool = got.setting.tool
    seen = automatic(got.regions, tool, written_unrolls(project.schedule))
    target = tool.name + (ROUTED if project.impl is not None else "")
    origin = Origin(project.kernel, project.kernel, name=project.folder.name, target=target)
    return example(got.regions, seen, got.answer, labels_of(project), origin)


def labels_of(project: Project) -> dict[str, float]:
    """What the best of a project's reports say: co-simulated cycles, routed resources and clock."""
    csynth, impl = project.csynth, project.impl
    cycles = csynth.latency_max
    if project.cosim is not None and project.cosim.passed:
        cycles = project.cosim.latency_max
    period = impl.achieved if impl is not None else csynth.estimated_clock
    used = impl.used if impl is not None else csynth.used
    label = {"latency": cycles, "period_ns": period, **asdict(used)}
    return {name: float(value) for name, value in label.items() if value is not None}
