"""``weft report``: the report of a run, made again from what its folder holds."""

from __future__ import annotations

from pathlib import Path

import click

from dse.views import console
from dse.views.output import format_option, show

COLUMNS = ("kernel", "trials", "designs", "feasible", "on_front", "best_latency", "report")


@click.command()
@click.argument("run_folder", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Where to write it. Default: report.html in the run's folder.")  # fmt: skip
@format_option
def command(run_folder: Path, out: Path | None, form: str) -> None:
    """Write the report of a run: one HTML file that needs no network.

    \b
    weft report run
    weft report run --out gemm.html

    It has the Pareto front, what the designs are made of, how the search went, the lower bounds,
    and each of the best designs with its loops, its schedule in Python and where its figures come
    from. weft explore writes it as well when it ends; this makes it anew, also while a search is
    under way or after one was killed.
    """
    from dse.commands.compile import write_file
    from dse.report.facts import facts_of
    from dse.report.page import NAME, page
    from dse.run.folder.directory import open_run
    from dse.run.results.history import log_of

    run = open_run(run_folder, write=False)
    if damaged := log_of(run).damaged:
        console.say(f"note: {damaged} lines of {run_folder / 'events.jsonl'} cannot be read")
    facts = facts_of(run)
    path = out if out is not None else run_folder / NAME
    write_file(path, page(facts))
    best = facts.best
    row = {
        "kernel": facts.manifest["kernel"],
        "trials": len(facts.trials),
        "designs": facts.designs,
        "feasible": facts.feasible,
        "on_front": len(facts.fronts),
        "best_latency": round(best.cycles) if best else None,
        "report": str(path),
    }
    if form == "table":
        console.say(f"report: {path}")
    else:
        show("report", COLUMNS, [row], form)
