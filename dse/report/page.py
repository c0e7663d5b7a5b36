"""The report as one HTML file: no network, no other file, and a policy that forbids both."""

from __future__ import annotations

import base64
import hashlib
from importlib import resources
from typing import Any

from markupsafe import Markup

from dse.report import designs, sections
from dse.report.axes import default
from dse.report.facts import Facts, Told, facts_of, resources_of, told_apart_by
from dse.report.numbers import label
from dse.report.render import render
from dse.run.folder.directory import RunDirectory, write_whole

NAME = "report.html"
_SCRIPTS = ("core.js", "front.js", "converge.js", "parallel.js", "page.js")
_TRIALS = 4_000  # in the chart of convergence, improvements apart


def write_report(run: RunDirectory) -> Facts:
    """Make ``report.html`` in a run's folder anew.

    Raises:
        InputError: W523 Optuna is not installed.
    """
    facts = facts_of(run)
    write_whole(run.path / NAME, page(facts))
    return facts


def page(facts: Facts) -> str:
    """The whole document."""
    sheet = _asset("report.css")
    program = "(() => {\n" + "\n".join(_asset(name) for name in _SCRIPTS) + "})();\n"
    context = {
        "facts": facts,
        "policy": _policy(program, sheet),
        "program": Markup(program),
        "sheet": Markup(sheet),
        "data": data_of(facts),
        "resources": resources_of(facts),
        "across": told_apart_by(facts, resources_of(facts)),
        "groups": _groups(facts),
        "told": {d.key for d in facts.told},
        "short": designs.SHORT,
        "sections": sections,
        "designs": designs,
    }
    return render("report.html", context)


def _policy(program: str, sheet: str) -> str:
    """Only our script and our style, by their digests; nothing from anywhere."""
    kept = {"script-src": program, "style-src": sheet}
    parts = [f"{kind} 'sha256-{_digest(text)}'" for kind, text in kept.items()]
    return "; ".join(["default-src 'none'", *parts, "base-uri 'none'", "form-action 'none'"])


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _asset(name: str) -> str:
    return resources.files("dse.report").joinpath("assets", name).read_text(encoding="utf-8")


_GROUPS = {"structure": "structure", "order": "loop orders", "copies": "copies", "banks": "banks"}


def _groups(facts: Facts) -> dict[str, str]:
    """Groups of the axes that the designs differ in, and their names."""
    kinds = {axis.group for axis in facts.axes}
    return {group: text for group, text in _GROUPS.items() if group in kinds}


# --------------------------------------------------------------------------------------------- data


def data_of(facts: Facts) -> dict[str, Any]:
    """What the charts are drawn from."""
    names = resources_of(facts)
    problem = facts.problem
    statuses = list(dict.fromkeys(t.status for t in facts.trials))
    told = {d.key for d in facts.told}
    # Bounds are of all trips: next to cycles of those that are expected there is no place for them.
    early = any(d.result.longest is not None for d in facts.drawn)
    curve = problem.curve if problem and not early else ()
    return {
        "kernel": facts.manifest["kernel"],
        "path": facts.path,
        "makes": designs.makes(facts),
        "clock": facts.manifest["clock_ns"],
        "resources": list(names),
        "labels": [label(n) for n in names],
        "limits": [facts.limits.resources.get(n) for n in names],
        "latencyLimit": facts.limits.latency,
        "bound": problem.bound.cycles if problem and problem.bound and not early else None,
        "curve": [p for n, p in enumerate(curve) if n == 0 or curve[n - 1][1] != p[1]],
        "plain": problem.plain.latency if problem and problem.plain else None,
        "axes": [{"key": a.key, "label": a.label, "group": a.group} for a in facts.axes],
        "designs": [_drawn(facts, d, names, d.key in told) for d in facts.drawn],
        "statuses": statuses,
        "trials": _trials(facts, statuses),
    }


def _drawn(facts: Facts, design: Told, names: tuple[str, ...], told: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "key": design.key,
        "trial": design.trial,
        "ok": design.feasible,
        "front": design.front,
        "told": told,
        "why": design.wrong or design.result.detail,
        "latency": design.cycles,
        "uses": [facts.limits.shown(design.result).get(n) for n in names],
    }
    if design.schedule is not None:
        found["chosen"] = [design.chosen.get(a, default(a)) for a in facts.axes]
    return found


def _trials(facts: Facts, statuses: list[str]) -> list[list[float | int | None]]:
    """Place, seconds, cycles and status of trials: each improvement, and of the rest every so many.

    Seconds are those at work:
    pauses of more than a minute between two trials are left out.
    """
    every = max(1, -(-len(facts.trials) // _TRIALS))
    found: list[list[float | int | None]] = []
    best, idle, before = float("inf"), 0.0, 0.0
    for n, trial in enumerate(facts.trials):
        if trial.seconds - before > 60:
            idle += trial.seconds - before
        before = trial.seconds
        latency = facts.figures.get(trial.key)
        better = trial.status == "ok" and latency is not None and latency < best
        if better and latency is not None:
            best = latency
        if better or n % every == 0:
            seconds = round(trial.seconds - idle, 3)
            found.append([n, seconds, latency, statuses.index(trial.status)])
    return found
