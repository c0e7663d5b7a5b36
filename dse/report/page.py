"""The report as one HTML file: no network, no other file, and a policy that forbids both."""

from __future__ import annotations

import base64
import hashlib
from importlib import resources
from typing import Any

from dse.report import sections
from dse.report.axes import default
from dse.report.designs import article, code, front_table
from dse.report.facts import Facts, Told, facts_of, resources_of
from dse.report.markup import Html, el, raw_json, script, style
from dse.report.tables import label
from dse.run.directory import RunDirectory, write_whole

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
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=_policy(program, sheet)),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("title", f"{facts.manifest['kernel']}: exploration report"),
        style(sheet),
    )
    body = el("body", _body(facts), raw_json("data", data_of(facts)), script(program))
    return f"<!doctype html>\n{el('html', head, body, lang='en')}\n"


def _policy(program: str, sheet: str) -> str:
    """Only our script and our style, by their digests; nothing from anywhere."""
    kept = {"script-src": program, "style-src": sheet}
    parts = [f"{kind} 'sha256-{_digest(text)}'" for kind, text in kept.items()]
    return "; ".join(["default-src 'none'", *parts, "base-uri 'none'", "form-action 'none'"])


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _asset(name: str) -> str:
    return resources.files("dse.report").joinpath("assets", name).read_text(encoding="utf-8")


# ------------------------------------------------------------------------------------------ content

_LINKS = (
    ("front", "Front"), ("convergence", "Convergence"), ("choices", "Choices"),
    ("designs", "Designs"), ("bounds", "Bounds"), ("points", "Points"),
    ("provenance", "Provenance"), ("program", "Program"),
)  # fmt: skip


def _body(facts: Facts) -> list[Html]:
    top = el(
        "header",
        el("div", sections.heading(facts), _theme_button(), class_="title"),
        el("nav", [el("a", text, href=f"#{to}") for to, text in _LINKS], aria_label="Sections"),
    )
    main = el(
        "main",
        sections.tiles(facts),
        sections.sources(facts),
        el("noscript", el("p", "The charts need JavaScript; everything else is here without it.")),
        _front(facts),
        _convergence(),
        _choices(facts),
        _designs(facts),
        _section("bounds", "Lower bounds", _BOUNDS, sections.bounds(facts)),
        _section("points", "Points", None, sections.points(facts), sections.space(facts)),
        _section("provenance", "Provenance", None, sections.provenance(facts)),
        _program(facts),
        id="main",
    )
    skip = el("a", "To the results", href="#main", class_="skip")
    return [skip, top, main, el("div", id="tip", role="tooltip", hidden=True)]


def _section(identity: str, title: str, lead: str | None, *children: Html) -> Html:
    text = el("p", lead, class_="lead") if lead else Html()
    return el("section", el("h2", title), text, *children, id=identity)


def _theme_button() -> Html:
    return el("button", "Dark", type="button", id="theme", class_="plain", aria_pressed="false")


_BOUNDS = (
    "No schedule of the program can take fewer cycles than the largest of these, whatever the search "
    "tries."
)


def _front(facts: Facts) -> Html:
    options = [
        el("option", label(name), value=str(n)) for n, name in enumerate(resources_of(facts))
    ]
    controls = el(
        "div",
        el("label", "across ", el("select", options, id="front-x")),
        el("label", el("input", type="checkbox", id="front-log", checked=True), " log"),
        el("span", id="front-legend", class_="legend"),
        el("button", "Zoom out", type="button", id="front-reset", class_="plain", hidden=True),
        class_="controls",
    )
    chart = el("div", id="chart-front", class_="chart tall", tabindex=0, role="group",
               aria_label="Scatter chart of latency against resources. Arrow keys step through the "
               "Pareto front; the front is also a table below.")  # fmt: skip
    card = el("aside", id="card", aria_live="polite", aria_label="The selected design")
    lead = (
        "Every design that was evaluated. Those on the front are not both slower and larger than "
        "another; in the shaded area no design can be. Click a point for its schedule; drag to zoom."
    )
    if facts.designs > len(facts.drawn):
        lead += f" {len(facts.drawn):,} of {facts.designs:,} designs are drawn."
    return _section("front", "Pareto front", lead, controls, el("div", chart, card, class_="split"))


def _convergence() -> Html:
    options = [el("option", "trials", value="trials"), el("option", "seconds", value="seconds")]
    controls = el("div", el("label", "over ", el("select", options, id="converge-x")),
                  class_="controls")  # fmt: skip
    chart = el("div", id="chart-converge", class_="chart", role="img",
               aria_label="Latency of the trials, the best so far, and the lower bound")  # fmt: skip
    lead = "The fastest design within the limits so far, next to what no design can beat."
    return _section("convergence", "Convergence", lead, controls, chart)


def _choices(facts: Facts) -> Html:
    kinds = {a.group for a in facts.axes}
    words = {
        "structure": "structure", "order": "loop orders", "copies": "copies", "banks": "banks",
    }  # fmt: skip
    boxes = [
        el(
            "label",
            el("input", type="checkbox", data_group=group, class_="axis-group", checked=True),
            f" {text}",
        )
        for group, text in words.items()
        if group in kinds
    ]
    clear = el("button", "Clear filters", type="button", id="filters", class_="plain", hidden=True)
    controls = el("div", boxes, clear, class_="controls")
    chart = el("div", id="chart-parallel", class_="chart scroll", tabindex=0, role="group",
               aria_label="Parallel coordinates of the choices of each design")  # fmt: skip
    lead = (
        "What the designs are made of, one line each, from the loop orders over copies of each loop "
        "and banks of each array to the cost. The faster a design, the bluer its line. Drag along an "
        "axis to keep a range, in the other charts too; a click on its name keeps what the selected "
        "design has."
    )
    return _section("choices", "Choices", lead, controls, chart)


def _designs(facts: Facts) -> Html:
    if not facts.told:
        return _section("designs", "Designs", "No design was evaluated.")
    lead = "The front, fastest first. A design's name shows its loops and its schedule below."
    found = [el("p", "There is no design within the limits: these are over them.")]
    if facts.fronts:
        found = [front_table(facts)]
    articles = [article(facts, design) for design in facts.told]
    return _section("designs", "Designs", lead, *found, el("div", articles, id="details"))


def _program(facts: Facts) -> Html:
    if facts.problem is None:
        return _section("program", "Program", "This run has kept no program.")
    return _section(
        "program",
        "Program",
        "The kernel as it was understood: sizes put in, calls inlined.",
        code(facts.problem.program, "program"),
    )


# --------------------------------------------------------------------------------------------- data


def data_of(facts: Facts) -> dict[str, Any]:
    """What the charts are drawn from."""
    names = resources_of(facts)
    problem = facts.problem
    statuses = list(dict.fromkeys(t.status for t in facts.trials))
    told = {d.key for d in facts.told}
    curve = problem.curve if problem else ()
    return {
        "kernel": facts.manifest["kernel"],
        "path": facts.path,
        "clock": facts.manifest["clock_ns"],
        "resources": list(names),
        "labels": [label(n) for n in names],
        "limits": [facts.limits.resources.get(n) for n in names],
        "latencyLimit": facts.limits.latency,
        "bound": problem.bound.cycles if problem and problem.bound else None,
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
        "uses": [design.result.resources.get(n) for n in names],
    }
    if design.schedule is not None:
        found["chosen"] = [design.chosen.get(a, default(a)) for a in facts.axes]
    return found


def _trials(facts: Facts, statuses: list[str]) -> list[list[float | int | None]]:
    """Place, seconds, cycles and status of trials: each improvement, and of the rest every so many.

    Their numbers in the study have gaps, of suggestions that were dropped. Seconds are those at work:
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
