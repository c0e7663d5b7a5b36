"""``weft calibrate``: fit the LUT and FF coefficients of a tool personality to labelled designs."""

from __future__ import annotations

import os
from pathlib import Path

import click

from dse.views import console
from dse.views.output import format_option, show
from dsl.errors.errors import InputError


@click.command()
@click.option("--tool", required=True, metavar="NAME", help="The tool personality.")
@click.option("--data", "folder", required=True, type=click.Path(path_type=Path), metavar="DIR",
              help="The folder of labelled designs.")  # fmt: skip
@click.option("--out", required=True, type=click.Path(path_type=Path, dir_okay=False),
              metavar="FILE", help="The JSON file of coefficients to write.")  # fmt: skip
@format_option
def command(tool: str, folder: Path, out: Path, form: str) -> None:
    """Fit the LUT and FF coefficients of a tool personality to labelled designs.

    Shows each term's coefficient, and the error of the fit with each kernel left out.
    """
    from dse.commands.compile import write_file
    from qor_gnn.area.resources import written
    from qor_gnn.area.terms import FF_TERMS, LUT_TERMS
    from qor_gnn.fit.calibrate import calibrate, left_out
    from qor_gnn.fit.labels import SOURCES, labelled

    def progress(done: int, total: int) -> None:
        if done % 1000 == 0 or done == total:
            console.say(f"calibrate: {done} of {total} designs")

    _check_place(out)
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
