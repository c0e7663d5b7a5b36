"""``weft compare``: two runs side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dse.views import console
from dse.views.output import SCHEMA_VERSION, format_option, show

if TYPE_CHECKING:
    from dse.run.folder.directory import RunDirectory
    from dse.run.results.front import Design
    from dse.run.results.versus import Versus

COLUMNS = ("what", "a", "b", "b_to_a")
_INPUTS = (
    "kernel", "size", "device", "clock_ns", "limits", "latency_limit", "objectives", "strategy",
    "seed", "reassociate", "evaluator", "evaluator_version",
)  # fmt: skip


@click.command()
@click.argument("run_a", type=click.Path(path_type=Path))
@click.argument("run_b", type=click.Path(path_type=Path))
@format_option
def command(run_a: Path, run_b: Path, form: str) -> None:
    """Compare two runs: what they were asked for, and what they found.

    \b
    weft compare run_a run_b
    weft compare run_a run_b --format json

    There are four parts: the inputs that differ; what each run found; the best design of each
    within each budget; and the front of both together, with the run that each of its designs is of
    and how many on the other's front it beats. Ratios are of B to A. The hypervolume is the
    part of the box up to the worst of each objective's figures that a front dominates: larger is
    better. Runs of different programs, or with figures of different provenance, are said to be so.
    """
    from dse.run.folder.directory import open_run
    from dse.run.results.versus import versus

    a, b = open_run(run_a, write=False), open_run(run_b, write=False)
    found = versus(a, b)
    rows = [*_inputs(a, b), *_found(found)]
    match form:
        case "json":
            click.echo(_json(rows, found), nl=False)
        case "csv":
            show("compare", COLUMNS, [*rows, *_budgets(found)], form)
        case _:
            show("compare", COLUMNS, [_for_people(row) for row in rows], form)
            _tables(found)
            console.say(f"compare: {verdict(found)}")
    for note in notes(a, b, found):
        console.say(f"note: {note}")


def verdict(found: Versus) -> str:
    """Whose designs beat whose, in a sentence."""
    fronts, beaten = {"a": found.a, "b": found.b}, dict(zip("ab", found.beaten, strict=True))
    if without := [name for name, front in fronts.items() if not front]:
        return ", ".join(f"{name} has no design within its limits" for name in without)
    for mine, other in ("ab", "ba"):
        if not beaten[mine] and beaten[other] == len(fronts[other]):
            return f"every design on {other}'s front is beaten by one of {mine}'s"
    if [d.values for d in found.a] == [d.values for d in found.b]:
        return "both found the same front"
    parts = [
        f"{beaten[mine]} of the {len(fronts[mine])} on {mine}'s front are beaten by {other}'s"
        for mine, other in ("ab", "ba")
    ]
    return ", ".join(parts)


def notes(a: RunDirectory, b: RunDirectory, found: Versus) -> list[str]:
    """What to know before anything is concluded from the figures."""
    said: list[str] = []
    if a.manifest["program"] != b.manifest["program"]:
        said.append("the runs are of different programs")
    if found.provenances[0] != found.provenances[1] and all(found.provenances):
        one, two = (" and ".join(names) for names in found.provenances)
        said.append(f"the figures are of different provenance: a has those of {one}; b of {two}")
    elif a.manifest.get("evaluator_version") != b.manifest.get("evaluator_version"):
        said.append("the evaluators differ in version: they may disagree on the same design")
    if a.manifest["objectives"] != b.manifest["objectives"]:
        said.append(
            f"the runs have different objectives: compared by {', '.join(found.objectives)}"
        )
    return said


def _inputs(a: RunDirectory, b: RunDirectory) -> list[dict[str, Any]]:
    """What differs between the manifests."""
    found: list[dict[str, Any]] = []
    for name in _INPUTS:
        values = [run.manifest.get(name) for run in (a, b)]
        if values[0] != values[1]:
            found.append(
                {"what": name.replace("_", " "), "a": _word(values[0]), "b": _word(values[1])}
            )
    return found


def _word(value: object) -> str:
    match value:
        case dict():
            return " ".join(f"{k}={v}" for k, v in value.items())
        case list():
            return ",".join(map(str, value))
        case None:
            return "-"
        case _:
            return str(value)


def _found(found: Versus) -> list[dict[str, Any]]:
    time = found.objectives[0]
    best = [found.a[0] if found.a else None, found.b[0] if found.b else None]
    rows = [_row("designs within limits", *found.count)]
    rows.append(_row("on the front", len(found.a), len(found.b)))
    rows.append(_row("of these beaten by the other", *found.beaten))
    rows.append(_row(f"best {time}", *(_time(d) for d in best)))
    for name in dict.fromkeys([*found.objectives[1:], "dsp"]):
        uses = (d.result.resources.get(name) if d else None for d in best)
        rows += [_row(f"its {name}", *uses)]
    if len(found.objectives) > 1:
        rows.append(_row("hypervolume", *found.volumes))
    return rows


def _time(design: Design | None) -> float | None:
    return None if design is None else design.values[0]


def _row(what: str, a: float | None, b: float | None) -> dict[str, Any]:
    return {"what": what, "a": a, "b": b, "b_to_a": b / a if a and b is not None else None}


def _budgets(found: Versus) -> list[dict[str, Any]]:
    """The best of each run within each budget."""
    return [
        {
            **_row(f"best within {at.budget:g} {found.objectives[1]}", _time(at.a), _time(at.b)),
            "budget": at.budget,
            "design_a": at.a.key if at.a else None,
            "design_b": at.b.key if at.b else None,
        }
        for at in found.budgets
    ]


def _joint(found: Versus) -> list[dict[str, Any]]:
    """The front of both together."""
    return [
        {
            **dict(zip(found.objectives, joint.design.values, strict=True)),
            "run": " ".join(joint.runs),
            "beats": len(joint.beats),
            "design": joint.design.key,
            "beaten": list(joint.beats),
        }
        for joint in found.joint
    ]


def _tables(found: Versus) -> None:
    if found.budgets:
        time, resource = found.objectives
        click.echo(f"\nthe best {time} within so many {resource}")
        budgets = [{resource: row["budget"], **row} for row in _budgets(found)]
        show("compare", (resource, *COLUMNS[1:]), [_for_people(row) for row in budgets], "table")
    if found.joint:
        click.echo("\nthe front of both together")
        columns = (*found.objectives, "run", "beats", "design")
        show("compare", columns, [_for_people(row) for row in _joint(found)], "table")


def _for_people(row: dict[str, Any]) -> dict[str, Any]:
    """Whole numbers as such, others to four digits; the ratio stays what it is."""

    def cell(value: object) -> object:
        if not isinstance(value, float):
            return value
        return int(value) if value.is_integer() else f"{value:.4g}"

    return {k: v if k == COLUMNS[-1] else cell(v) for k, v in row.items()}


def _json(rows: list[dict[str, Any]], found: Versus) -> str:
    def designs(front: tuple[Design, ...]) -> list[dict[str, Any]]:
        return [
            {"design": d.key, **dict(zip(found.objectives, d.values, strict=True)),
             "provenance": d.result.provenance, "tool": d.result.tool}
            for d in front
        ]  # fmt: skip

    data = {
        "schema_version": SCHEMA_VERSION,
        "command": "compare",
        "rows": rows,
        "objectives": list(found.objectives),
        "budgets": _budgets(found),
        "fronts": {"a": designs(found.a), "b": designs(found.b)},
        "joint_front": _joint(found),
        "provenance": {"a": list(found.provenances[0]), "b": list(found.provenances[1])},
    }
    return json.dumps(data, indent=2) + "\n"
