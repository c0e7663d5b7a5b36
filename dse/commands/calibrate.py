"""``weft calibrate``: a calibration to a user's own projects, or the coefficients of a tool to labelled designs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from dse.views import console
from dse.views.output import format_option, show
from dsl.errors.errors import InputError


@click.command()
@click.argument("projects", nargs=-1, type=click.Path(path_type=Path), metavar="[PROJECT]...")
@click.option("--out", required=True, type=click.Path(path_type=Path, dir_okay=False),
              metavar="FILE", help="The JSON file to write.")  # fmt: skip
@click.option("--tool", metavar="NAME",
              help="Without projects: the tool personality whose coefficients are fitted.")  # fmt: skip
@click.option("--data", "folder", type=click.Path(path_type=Path), metavar="DIR",
              help="Without projects: the folder of labelled designs.")  # fmt: skip
@format_option
def command(
    projects: tuple[Path, ...], out: Path, tool: str | None, folder: Path | None, form: str
) -> None:
    """Calibrate estimates to what your own Vitis HLS projects show, and say how much that helps.

    \b
    weft calibrate gemm_prj fir_prj --out own.json
    weft estimate gemm.py:gemm --calibration own.json
    weft calibrate --tool vitis-2022.1-zu9eg-10ns --data DIR --out area.json

    PROJECT is the folder of a project of Vitis HLS or Vivado HLS that was synthesised, or of many.
    Its reports are read, nothing in it is run. What they show of products and of operators on
    floats, in their timing class, wins over what comes with Weft. Each project is left out in
    turn, and what makes estimates of it worse, or no better, is not saved.

    With --tool and --data it fits the LUT and FF coefficients of a tool personality to labelled
    designs instead, and shows each term's coefficient, and the error with each kernel left out.
    """
    if bool(projects) == (tool is not None or folder is not None):
        raise click.UsageError("name projects, or --tool and --data")
    _check_place(out)
    if projects:
        _projects(projects, out, form)
    elif tool is None or folder is None:
        raise click.UsageError("--tool and --data: both of them")
    else:
        _labels(tool, folder, out, form)


# --------------------------------------------------------------------------------------- projects

_SHOWN = 10  # remarks on what is left out


def _projects(projects: tuple[Path, ...], out: Path, form: str) -> None:
    from dse.commands.compile import write_file
    from dse.views.calibrate import COLUMNS, rows, summary
    from qor_gnn.fit.projects.calibrate import calibrated_to, judged_pieces
    from qor_gnn.fit.projects.facts import facts_of

    remarks: list[str] = []
    facts = facts_of(projects, remarks.append)
    for remark in remarks[:_SHOWN]:
        console.say(f"note: {remark}")
    if len(remarks) > _SHOWN:
        console.say(f"note: {len(remarks) - _SHOWN} more are left out")
    count = len(facts.projects)
    many = "1 project" if count == 1 else f"{count} projects"
    console.say(f"calibrate: {many}, {len(facts.rows):,} facts about operators")
    verdicts = judged_pieces(facts)
    show("calibrate", COLUMNS, rows(verdicts, facts), form)
    found = calibrated_to(facts, verdicts)
    write_file(out, json.dumps(found.document, indent=1) + "\n")
    for line in summary(found, facts):
        console.say(line)
    console.say(f"calibrate: {out}: use it by --calibration {out}")


# ----------------------------------------------------------------------------------------- labels


def _labels(tool: str, folder: Path, out: Path, form: str) -> None:
    from dse.commands.compile import write_file
    from qor_gnn.area.resources import written
    from qor_gnn.area.terms import FF_TERMS, LUT_TERMS
    from qor_gnn.fit.calibrate import calibrate, left_out
    from qor_gnn.fit.labels import SOURCES, labelled

    def progress(done: int, total: int) -> None:
        if done % 1000 == 0 or done == total:
            console.say(f"calibrate: {done} of {total} designs")

    designs = labelled(tool, folder, progress)
    weight = sum(d.weight for d in designs)
    held = list(zip(designs, left_out(designs), strict=True))
    errors = {
        "left_out_lut_mape_pct": sum(d.weight * abs(p.lut / d.lut - 1) for d, p in held),
        "left_out_ff_mape_pct": sum(d.weight * abs(p.ff / d.ff - 1) for d, p in held),
    }
    source = {**SOURCES[tool], **{k: round(100 * v / weight, 3) for k, v in errors.items()}}
    found = calibrate(designs, tool, source)
    write_file(out, written(found))
    console.say(f"calibrate: {out}: {dict(found.source)}")
    rows = [
        {"resource": resource, "term": t.name, "coefficient": round(costs[t.name], 4),
         "counts": t.text}
        for resource, terms, costs in (("lut", LUT_TERMS, found.lut), ("ff", FF_TERMS, found.ff))
        for t in terms
    ]  # fmt: skip
    columns = ("resource", "term", "coefficient", "counts")
    show("calibrate", columns, rows, form)


def _check_place(out: Path) -> None:
    """That the result can be written, before the work.

    Raises:
        InputError: W508: it cannot.
    """
    if not out.parent.is_dir():
        raise InputError("W508", f"cannot write {out}: {out.parent} is no folder")
    if not os.access(out if out.exists() else out.parent, os.W_OK):
        raise InputError("W508", f"cannot write {out}: Permission denied")
