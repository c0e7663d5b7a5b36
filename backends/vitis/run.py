"""Running Vitis HLS on an exported project, where it is installed, and reading what it reports."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from backends.process import Limits, Run, run_limited
from backends.vitis.files import PROJECT, SOLUTION, WORK, ProjectFiles
from backends.vitis.reports import (
    CosimReport,
    CsynthReport,
    ImplReport,
    parse_cosim,
    parse_csynth,
    parse_impl_rpt,
    parse_impl_xml,
)
from dsl.errors.errors import ToolError

Step = Literal["csynth", "cosim", "impl"]
STEPS: tuple[Step, ...] = ("csynth", "cosim", "impl")

# Seconds: synthesis of a large unrolled nest takes minutes, place and route hours.
TIME_LIMITS: dict[Step, float] = {"csynth": 3600, "cosim": 4 * 3600, "impl": 12 * 3600}


@dataclass(frozen=True, slots=True)
class VitisRun:
    """What a run left: the commands, and the reports of its steps (None where not asked for)."""

    tool: str
    runs: tuple[Run, ...]
    csynth: CsynthReport
    cosim: CosimReport | None = None
    impl: ImplReport | None = None

    @property
    def seconds(self) -> float:
        """Wall time of all commands."""
        return sum(run.seconds for run in self.runs)


def run_vitis(
    folder: Path, names: ProjectFiles, step: Step, seconds: float | None = None
) -> VitisRun:
    """Synthesise the project in `folder`, then co-simulate or implement it if `step` says so.

    The classic tool (vitis_hls) is used where it is on PATH, else the unified one (v++, vitis-run).

    Args:
        folder: The project.
        names: Its files.
        step: The last step; csynth always comes first.
        seconds: Limit of each command; see `TIME_LIMITS`.

    Raises:
        ToolError: W420: no such tool is on PATH; W421: it failed or took too long; W422, W423: it
            left no report that could be read.
    """
    folder = folder.resolve()
    limit = seconds or TIME_LIMITS[step]
    if shutil.which("vitis_hls"):
        tool, results = "vitis_hls", folder / PROJECT / SOLUTION
        steps = ["csynth"] if step == "csynth" else ["csynth", step]
        commands = [["vitis_hls", "-f", "run_hls.tcl", *steps]]
    elif shutil.which("v++") and (step == "csynth" or shutil.which("vitis-run")):
        tool, results = "v++", folder / WORK / "hls"
        shared = ["--mode", "hls", "--config", "hls_config.cfg", "--work_dir", WORK]
        commands = [["v++", "-c", *shared]]
        if step != "csynth":
            commands.append(["vitis-run", f"--{step}", *shared])
    else:
        raise ToolError(
            "W420",
            f"Vitis HLS is not on PATH, so --run {step} cannot run: neither vitis_hls, nor v++ "
            "with vitis-run",
            help="source the settings64.sh of your Vitis installation; --csim needs g++ only",
        )
    runs = tuple(_checked(command, folder, limit) for command in commands)
    report = results / "syn" / "report" / "csynth.xml"
    if not report.exists():
        report = report.with_name(f"{names.top}_csynth.xml")
    cosim = impl = None
    if step == "cosim":
        cosim = parse_cosim(results / "sim" / "report" / f"{names.top}_cosim.rpt")
    elif step == "impl":
        impl = impl_report(results / "impl" / "report" / "verilog", names.top)
    return VitisRun(tool, runs, parse_csynth(report), cosim, impl)


def _checked(command: list[str], folder: Path, seconds: float) -> Run:
    """Run it without a limit of memory: the tool needs tens of gigabytes at times."""
    run = run_limited(command, Limits(seconds, memory=0, file_size=0), cwd=folder)
    if not run.ok:
        raise ToolError(
            "W421",
            f"{' '.join(command)} failed: {run.outcome}",
            notes=[line for line in run.log.splitlines() if "ERROR" in line][:5] or run.tail(5),
            help=f"its working directory is {folder}",
        )
    return run


def results_of(folder: Path) -> Path | None:
    """Where the tool left its reports in a project; None where it was not run."""
    places = (folder / PROJECT / SOLUTION, folder / WORK / "hls")
    return next((place for place in places if (place / "syn" / "report").is_dir()), None)


def impl_report(folder: Path, top: str) -> ImplReport:
    """What Vivado reported.

    Raises:
        ToolError: W422: there is no report; W423: it is none.
    """
    for name in ("export_impl.xml", f"{top}_export.xml"):
        if (folder / name).exists():
            return parse_impl_xml(folder / name)
    for name in ("export_impl.rpt", f"{top}_export.rpt"):
        if (folder / name).exists():
            return parse_impl_rpt(folder / name)
    raise ToolError("W422", f"Vivado left no report in {folder}")
