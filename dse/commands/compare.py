"""``weft compare``: two runs side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dse import console
from dse.output import format_option, show

if TYPE_CHECKING:
    from dse.run.directory import RunDirectory

COLUMNS = ("what", "a", "b", "b_to_a")
_INPUTS = ("kernel", "size", "device", "clock_ns", "strategy", "seed", "evaluator", "limits")


@click.command()
@click.argument("run_a", type=click.Path(path_type=Path))
@click.argument("run_b", type=click.Path(path_type=Path))
@format_option
def command(run_a: Path, run_b: Path, form: str) -> None:
    """Compare two runs: what they were asked for, and what they found.

    The last column is B relative to A. The hypervolume is the part of the box up to the worse of
    each objective's figures that a front dominates: larger is better.
    """
    from dse.run.directory import open_run

    a, b = open_run(run_a, write=False), open_run(run_b, write=False)
    show("compare", COLUMNS, [*_inputs(a, b), *_found(a, b)], form)
    if a.manifest["program"] != b.manifest["program"]:
        console.say("note: the runs are of different programs")
    if a.manifest["evaluator"] != b.manifest["evaluator"]:
        console.say("note: the figures of the runs are of different provenance")


def _inputs(a: RunDirectory, b: RunDirectory) -> list[dict[str, Any]]:
    """What differs between the manifests."""
    found: list[dict[str, Any]] = []
    for name in _INPUTS:
        values = [run.manifest.get(name) for run in (a, b)]
        if values[0] != values[1]:
            found.append({"what": name, "a": str(values[0]), "b": str(values[1])})
    return found


def _found(a: RunDirectory, b: RunDirectory) -> list[dict[str, Any]]:
    from dse.run.front import designs, front, hypervolume

    all_found = [designs(run) for run in (a, b)]
    fronts = [front(found) for found in all_found]
    rows = [_row("designs within limits", *(len(found) for found in all_found))]
    rows.append(_row("on the front", *(len(found) for found in fronts)))
    best = [found[0].result if found else None for found in all_found]
    rows.append(_row("best latency", *(r.latency if r else None for r in best)))
    rows.append(_row("its dsp", *(r.resources.get("dsp") if r else None for r in best)))
    if a.manifest["objectives"] == b.manifest["objectives"]:
        points = [[d.values for d in found] for found in fronts]
        worst = tuple(map(max, zip(*points[0], *points[1], strict=True)))
        rows.append(_row("hypervolume", *(hypervolume(p, worst) for p in points)))
    return rows


def _row(what: str, a: float | None, b: float | None) -> dict[str, Any]:
    ratio = b / a if a and b is not None else None
    return {"what": what, "a": a, "b": b, "b_to_a": ratio}
