"""``weft export``: a complete Vitis HLS project, checked with g++ or run with Vitis if asked for."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dse import console
from dse.kernels import target, target_options
from dse.output import format_option, show

if TYPE_CHECKING:
    from backends.vitis.files import ProjectFiles
    from backends.vitis.run import VitisRun


@click.command()
@click.argument("kernel", metavar="FILE.py:KERNEL|RUN")
@click.option("--out", "folder", required=True, type=click.Path(path_type=Path), metavar="DIR",
              help="The project's folder.")  # fmt: skip
@target_options
@click.option("--best", is_flag=True,
              help="Take the best design of RUN, a folder of weft explore.")  # fmt: skip
@click.option("--point", metavar="KEY", help="Take that design of RUN.")
@click.option("--device", "device_name", default="xczu9eg", show_default=True, metavar="NAME|PART",
              help="xc7z020, xczu9eg, xcu50, xcu200, xcu250, xcu280, xcu55c, or a full part "
              "number of one of them.")  # fmt: skip
@click.option("--clock", type=float, default=10.0, show_default=True, metavar="NS",
              help="The target clock period.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True,
              metavar="N", help="Of the testbench's inputs.")  # fmt: skip
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
    point: str | None,
    device_name: str,
    clock: float,
    seed: int,
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

    Exits with 1 when the testbench finds a difference.
    """
    from backends.devices import device
    from backends.vitis.project import export

    if best or point is not None:
        from dse.run.chosen import chosen

        design_of = chosen(Path(kernel), point)
        kernel, size, schedule = design_of.source, design_of.size, design_of.schedule
        device_name, clock = design_of.device, design_of.clock
    chip = device(device_name)
    what = target(kernel, schedule, size)
    from mlir_passes.pipeline import compile_design

    design = compile_design(what.program, what.schedule)
    maker = what.kernel.make_inputs
    from dse.estimation import prediction

    extra, notes = prediction(design, chip, clock)
    made = export(
        design, folder, chip, clock, seed=seed, force=force, make_inputs=maker, extra=extra
    )
    console.say(f"export: {len(made.files)} files in {folder}")
    for note in (*made.notes, *notes):
        console.say(f"note: {note}")
    rows: list[dict[str, Any]] = [{"what": "export", "status": "ok", "detail": str(folder)}]
    if best or point is not None:
        from dse.run.chosen import verified

        rows.append(verified(what.kernel, what.schedule))
    if run_csim:
        rows.append(_csim_row(folder, made.names))
    if step is not None:
        from backends.vitis.run import run_vitis

        console.say(f"{step}: running Vitis HLS in {folder}")
        rows += _vitis_rows(run_vitis(folder, made.names, step, timeout))
    if form != "table" or len(rows) > 1:
        columns = ["what", "status", "seconds", "latency_max", "detail"]
        if form == "table" and step is None:
            columns.remove("latency_max")  # only Vitis knows it
        show("export", columns, rows, form)
    return int(any(row["status"] != "ok" for row in rows))


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
