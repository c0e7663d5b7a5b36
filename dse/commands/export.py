"""``weft export``: a complete Vitis HLS project, checked with g++ or run with Vitis if asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dse.commands.of_run import no_run, nothing_but_the_run
from dse.kernels.device import (
    calibration_option,
    device_for,
    device_options,
    tool_option,
    uncertainty_option,
)
from dse.kernels.target import Target, target, target_options
from dse.views import console
from dse.views.output import SCHEMA_VERSION, format_option, show

if TYPE_CHECKING:
    from backends.deploy.boards import Board
    from backends.devices import Device
    from backends.equivalence import Equivalence
    from backends.vitis.files import ProjectFiles
    from backends.vitis.run import VitisRun
    from mlir_passes.pipeline import Design
    from qor_gnn.tools.operators.calibration import Calibration

_CHECKS = "verification.json"
# What a run says already.
_OWN = ("schedule", "size", "device_name", "board", "clock", "tool", "uncertainty", "calibration")
_FINE = ("ok", "skipped", "proven", "not proven")


@click.command()
@click.argument("kernel", metavar="FILE.py:KERNEL|RUN")
@click.option("--out", "folder", required=True, type=click.Path(path_type=Path), metavar="DIR",
              help="The project's folder.")  # fmt: skip
@target_options
@click.option("--best", is_flag=True,
              help="Take the best design of RUN, a folder of weft explore.")  # fmt: skip
@click.option("--best-supported", is_flag=True,
              help="Take the best design of RUN that labels of the tool show.")  # fmt: skip
@click.option("--point", metavar="KEY", help="Take that design of RUN.")
@click.option("--deploy", metavar="BOARD",
              help="Bring it to a board: arrays go to memory outside, and deploy/ has a host program and what "
              "builds the bitstream. Boards: weft devices.")  # fmt: skip
@click.option("--kernel", "spec", metavar="FILE.py:KERNEL",
              help="Run this file for the kernel of RUN. Default: RUN has it as data.")  # fmt: skip
@device_options("A device of weft devices, or a full part number of one.", default="xczu9eg")
@click.option("--clock", type=float, default=10.0, show_default=True, metavar="NS",
              help="The target clock period.")  # fmt: skip
@tool_option
@uncertainty_option
@calibration_option
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True,
              metavar="N", help="Of the testbench's inputs.")  # fmt: skip
@click.option("--no-equivalence", "unproven", is_flag=True,
              help="Leave out the proof that the design's loops do what the kernel says.")  # fmt: skip
@click.option("--csim", "run_csim", is_flag=True,
              help="Compile the project with g++ and run its testbench.")  # fmt: skip
@click.option("--run", "step", type=click.Choice(["csynth", "cosim", "impl"]),
              help="Run Vitis HLS on it, as far as that step.")  # fmt: skip
@click.option("--timeout", type=click.FloatRange(min=1), metavar="S",
              help="Seconds for each command of Vitis. Default: 1 h, 4 h, 12 h.")  # fmt: skip
@click.option("--force", is_flag=True,
              help="Write into a folder that has other contents.")  # fmt: skip
@format_option
def command(
    kernel: str,
    folder: Path,
    schedule: str | None,
    size: str | None,
    best: bool,
    best_supported: bool,
    point: str | None,
    deploy: str | None,
    spec: str | None,
    device_name: str,
    clock: float,
    tool: str | None,
    uncertainty: float | None,
    calibration: Calibration | None,
    seed: int,
    unproven: bool,
    run_csim: bool,
    step: Any,
    timeout: float | None,
    force: bool,
    form: str,
) -> int:
    """Write a complete Vitis HLS project with a self-checking testbench.

    \b
    weft export gemm.py:gemm --schedule tiled --out gemm_hls --csim
    weft export gemm.py:gemm --out gemm_hls --device xcu280 --clock 3.33
    weft export RUN --best --out gemm_hls
    weft export RUN --best --deploy pynq-z2 --out gemm_on_board
    weft export RUN --point 10582a87 --out gemm_hls

    The loops that the C++ is made of are proven to do what the kernel says, without running
    anything (see weft verify --equivalence); what is refuted is not written.

    RUN is a folder of weft explore. A design of it is checked before it is written: that it is
    legal, and, at a reduced size, that JIT-compiled MLIR and the project compiled with g++ compute
    what the kernel says. The run's report goes into the project. No Python of the folder is run.

    Exits with 1 when a check or the testbench finds a difference.
    """
    rows: list[dict[str, Any]] = []
    extra: dict[str, str] = {}
    if best or best_supported or point is not None:
        if best + best_supported + (point is not None) > 1:
            raise click.UsageError("--best, --best-supported and --point: one of them")
        nothing_but_the_run(_OWN)
        run = Path(kernel)
        kernel, what, place, checks, extra = _of_run(run, point, spec, inside=best_supported)
        rows += checks
    else:
        no_run(kernel, spec, "--best, --best-supported or --point KEY")
        place = _place(
            device_for(deploy, "device_name") or device_name, clock, tool, uncertainty, calibration
        )
        what = target(kernel, schedule, size)
    onto = None if deploy is None else _board(deploy, place)
    if onto is not None:
        what = _outside(what, onto, place.clock)
    if not any(row["status"] == "failed" for row in rows):
        design, proof = _design(what, unproven)
        if proof is not None:
            rows.append(_proof_row(proof))
            extra = _with_proof(extra, proof)
        names = _written(kernel, what, design, proof, folder, place, seed, force, extra, onto)
        rows.append({"what": "export", "status": "ok", "detail": str(folder)})
        if run_csim:
            rows.append(_csim_row(folder, names))
        if step is not None:
            from backends.vitis.run import run_vitis

            console.say(f"{step}: running Vitis HLS in {folder}")
            rows += _vitis_rows(run_vitis(folder, names, step, timeout))
    else:
        console.say("the design is wrong: nothing was written. This is a fault in Weft; please "
                    f"report it to {console.REPORT_TO}")  # fmt: skip
    _show(rows, form, measured=step is not None)
    return int(any(row["status"] not in _FINE for row in rows))


def _show(rows: list[dict[str, Any]], form: str, *, measured: bool) -> None:
    """What was checked, as a table where there is more than that the project was written."""
    if form != "table" or len(rows) > 1:
        columns = ["what", "status", "seconds", "latency_max", "detail"]
        if form == "table" and not measured:
            columns.remove("latency_max")  # only Vitis knows it
        show("export", columns, rows, form)


@dataclass(frozen=True, slots=True)
class _Place:
    """What a project is for: a device, a clock period in ns, a personality if one was asked for, own measurements."""

    device: Device
    clock: float
    tool: str | None
    calibration: Calibration | None = None


def _board(deploy: str, place: _Place) -> Board:
    from backends.deploy.boards import board_of

    return board_of(deploy, place.device)


def _outside(what: Target, board: Board, clock: float) -> Target:
    """The design with its arrays in the board's memory."""
    from backends.deploy.whole_copies import brought_to

    moved = brought_to(what.program, what.schedule, board)
    if len(moved.steps) != len(what.schedule.steps):
        console.say(f"export: arrays are in the memory of {board.name}, and copied to the chip")
    if remark := board.remark(clock):
        console.say(f"note: {remark}")
    return replace(what, schedule=moved)


def _place(
    device_name: str,
    clock: float,
    tool: str | None,
    uncertainty: float | None,
    calibration: Calibration | None,
) -> _Place:
    from backends.devices import device
    from dse.estimates.estimation import setting

    chip = device(device_name)
    if tool is None and uncertainty is None:
        return _Place(chip, clock, None, calibration)
    where = setting(tool, chip, clock, uncertainty, calibration)
    return _Place(chip, clock, where.tool.name, calibration)


def _of_run(
    path: Path, point: str | None, spec: str | None, *, inside: bool
) -> tuple[str, Target, _Place, list[dict[str, Any]], dict[str, str]]:
    """A design of a run: its kernel's name and all of it, what for, its checks, files to add."""
    from backends.devices import device
    from dse.report.facts import facts_of
    from dse.report.page import NAME, page
    from dse.run.chosen import chosen, of_run, verified

    design = chosen(path, point, inside=inside)
    place = _Place(device(design.device), design.clock, design.tool, design.calibration)
    what = of_run(design, spec)
    console.say(f"export: checking design {design.key[:12]}")
    checks = verified(what.kernel, what.schedule, place.device, place.clock)
    rows = [
        {"what": c.name, "status": c.status, "seconds": c.seconds,
         "detail": c.detail or c.tool, "tool": c.tool}
        for c in checks
    ]  # fmt: skip
    told = [{k: v for k, v in asdict(c).items() if k != "seconds"} for c in checks]
    proof = {"schema_version": SCHEMA_VERSION, "design": design.key, "checks": told}
    extra = {
        _CHECKS: json.dumps(proof, indent=2) + "\n",
        NAME: page(facts_of(design.run)),
    }
    return design.source, what, place, rows, extra


def _design(what: Target, unproven: bool) -> tuple[Design, Equivalence | None]:
    """The design, and the proof of its level 3 if it is asked for.

    Raises:
        IRError: W326 to W328, W336 to W339: the proof fails.
    """
    from backends.equivalence import not_refuted
    from mlir_passes.pipeline import compile_design

    design = compile_design(what.program, what.schedule)
    if unproven:
        return design, None
    proof = not_refuted(design)
    if proof.verdict == "not proven":
        console.say(f"note: not proven to do what the kernel says: {proof.detail}")
    return design, proof


def _too_much(qor: str) -> Iterator[str]:
    """What of the device the design needs more than there is of."""
    from dse.views.estimate import LABELS

    for name, row in json.loads(qor)["resources"].items():
        if row["used"] is not None and row["used"] > row["available"]:
            yield (
                f"it needs {row['used']:,} {LABELS[name]} and there are {row['available']:,}: explore with "
                "--deploy, which counts the copies (docs/guide/deploy.md)"
            )


def _proof_row(proof: Equivalence) -> dict[str, Any]:
    return {
        "what": "equivalence",
        "status": proof.verdict,
        "seconds": round(proof.seconds, 3),
        "detail": proof.detail,
    }


def _with_proof(extra: dict[str, str], proof: Equivalence) -> dict[str, str]:
    """The files to add to a design of a run, with the proof among what was checked."""
    if _CHECKS not in extra:
        return extra
    told = json.loads(extra[_CHECKS])
    check = {"name": "equivalence", "status": proof.verdict, "detail": proof.detail, "tool": "isl"}
    told["checks"].append(check)
    return {**extra, _CHECKS: json.dumps(told, indent=2) + "\n"}


def _written(
    spec: str,
    what: Target,
    design: Design,
    proof: Equivalence | None,
    folder: Path,
    place: _Place,
    seed: int,
    force: bool,
    more: dict[str, str],
    board: Board | None,
) -> ProjectFiles:
    """Make the project."""
    from backends.deploy.files import deployment
    from backends.vitis.project import export
    from dse.labels.project_kernels import origin
    from dse.views.accelerator import beside, expected
    from dse.views.estimate_data import only_asked, qor_json
    from qor_gnn.tools.targets import told_uncertainty

    extra, notes = qor_json(
        design,
        place.device,
        place.clock,
        place.tool,
        place.calibration,
        beside(what.program, board),
    )
    with console.patience(
        "export: what the testbench expects is computed by the interpreter, statement by statement "
        "where loops depend on each other (a smaller --size takes less)"
    ):
        made = export(
            design, folder, place.device, place.clock, uncertainty=told_uncertainty(place.tool),
            only_asked=only_asked(place.tool, place.device, place.clock, place.calibration), seed=seed, force=force, make_inputs=what.kernel.make_inputs,
            extra={**extra, **more}, origin=origin(spec, what), proof=proof,
            deploy=None if board is None else lambda names, data, behind: deployment(
                names, data, behind, what.schedule, board, expected(extra)
            ),
        )  # fmt: skip
    console.say(f"export: {len(made.files)} files in {folder}")
    if board is not None and "qor.json" in extra:
        notes = (*notes, *_too_much(extra["qor.json"]))
    for note in (*made.notes, *notes):
        console.say(f"note: {note}")
    return made.names


def _csim_row(folder: Path, names: ProjectFiles) -> dict[str, Any]:
    """Compile the project with g++, run its testbench, and say what came of it."""
    from backends.vitis.csim import csim

    console.say("csim: compiling the project with g++ and running its testbench")
    result = csim(folder, names)
    status = "ok" if result.passed else "failed"
    if not result.passed:
        console.say("\n".join(result.testbench.tail()))
    detail = "" if result.testbench.returncode in (0, 1) else result.testbench.outcome
    return {"what": "csim", "status": status, "seconds": result.seconds, "detail": detail}


def _vitis_rows(run: VitisRun) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [
        {
            "what": "csynth",
            "status": "ok",
            "tool": run.tool,
            "seconds": run.seconds,
            "latency_max": run.csynth.latency_max,
            "detail": "",
            "report": asdict(run.csynth),
        }
    ]
    if run.cosim is not None:
        rows.append(
            {
                "what": "cosim",
                "status": "ok" if run.cosim.passed else "failed",
                "latency_max": run.cosim.latency_max,
                "detail": "",
                "report": asdict(run.cosim),
            }
        )
    if run.impl is not None:
        met = {True: "timing met", False: "timing not met", None: ""}[run.impl.timing_met]
        rows.append({"what": "impl", "status": "ok", "detail": met, "report": asdict(run.impl)})
    return rows
