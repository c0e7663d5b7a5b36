"""The parts of the page around the charts: what was found, bounds, points, where numbers are from."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Mapping
from typing import Any

from dse.report.designs import speed_up, to_bound
from dse.report.facts import Facts
from dse.report.markup import Child, Html, el
from dse.report.tables import bar, cycles, duration, label, pairs, percent, table, times

MEANINGS = {
    "ok": "evaluated, and within the limits",
    "infeasible": "over a limit, or no partition of the arrays serves all nests",
    "illegal": "the schedule breaks a dependence or does not fit the program",
    "timeout": "no answer in time",
    "tool-error": "the evaluator or its tool failed",
    "under-bound": "an internal error: fewer cycles than are proven to be needed",
    "duplicate": "the same schedule was evaluated before",
    "running": "not ended when this page was made",
    "lost": "its process ended first; tried again after --resume",
}


def heading(facts: Facts) -> Html:
    """The title and what the run was asked for, in a line."""
    manifest = facts.manifest
    device = facts.problem.device["name"] if facts.problem else manifest["device"]
    parts = [
        *([f"size {manifest['size']}"] if manifest.get("size") else []),
        f"{device} at {manifest['clock_ns']:g} ns",
        f"strategy {manifest['strategy']}",
        f"{len(facts.trials):,} trials, {facts.ending}",
    ]
    return el("hgroup", el("h1", manifest["kernel"]), el("p", " · ".join(parts)))


def tiles(facts: Facts) -> Html:
    """The findings that come first."""
    best = facts.best
    if best is None:
        text = "No design keeps to the limits."
        hint = "The points that come nearest are below; a larger budget may help."
        return el("div", _tile("result", text, hint), class_="tiles")
    period = facts.manifest["clock_ns"]
    tight = max(
        ((n, best.result.resources.get(n, 0) / limit) for n, limit in facts.limits.resources.items()
         if limit), key=lambda use: use[1], default=None,
    )  # fmt: skip
    found = [
        _tile("fastest design", cycles(best.cycles), f"cycles = {duration(best.cycles, period)}")
    ]
    bound = facts.problem.bound if facts.problem else None
    if bound:
        hint = f"no design takes fewer than {cycles(bound.cycles)} cycles"
        found.append(_tile("of the lower bound", to_bound(facts, best), hint))
    if speed_up(facts, best) != "–":
        found.append(_tile("speed-up", speed_up(facts, best), "over the program as it stands"))
    if tight:
        name, share = tight
        used, limit = best.result.resources.get(name, 0), facts.limits.resources[name]
        hint = f"{used:,} of {limit:,}: its fullest resource"
        found.append(_tile(f"of the {label(name)}", percent(share), hint))
    within = "design keeps" if facts.feasible == 1 else "designs keep"
    hint = f"{facts.feasible:,} of {facts.designs:,} {within} to the limits"
    found.append(_tile("on the front", f"{len(facts.fronts):,}", hint))
    return el("div", found, class_="tiles")


def sources(facts: Facts) -> Html:
    """In a line, where the figures of the page come from."""
    found = dict.fromkeys((d.result.provenance, d.result.tool) for d in facts.drawn)
    names = "; ".join(f"{provenance} of {tool.partition(';')[0]}" for provenance, tool in found)
    link = el("a", "where every number comes from", href="#provenance")
    return el("p", "Figures: ", names or "none", ". Lower bounds: proofs. See ", link, ".",
              class_="muted sources")  # fmt: skip


def _tile(name: str, value: str, hint: str) -> Html:
    return el("div", el("b", value), el("span", name), el("small", hint), class_="tile")


def bounds(facts: Facts) -> Html:
    """What no schedule can beat, and how far the fastest design is from each."""
    if facts.problem is None:
        return el("p", "This run has kept no bounds.", class_="muted")
    best = facts.best
    names = {"dsp": "DSP slices", "ports": "memory ports", "recurrence": "recurrence"}
    rows: list[list[Child]] = []
    for bound in facts.problem.bounds:
        ratio = times(best.cycles / bound.cycles) if best and bound.cycles else "–"
        tight = bound is facts.problem.bound
        name = names.get(bound.kind, bound.kind)
        share = bar(bound.cycles / best.cycles, f"{name} bound") if best and best.cycles else None
        rows.append(
            [
                el("b", name) if tight else name,
                cycles(bound.cycles),
                ratio,
                share,
                bound.reason,
            ]
        )
    heads = ("bound", "at least, cycles", "the fastest takes", "", "because of")
    return table(heads, rows, "lrrll", "Lower bounds")


def points(facts: Facts) -> Html:
    """What came of the trials."""
    total = max(1, sum(facts.statuses.values()))
    rows: list[list[Child]] = [
        [
            el("span", status, class_=f"status {status}"),
            f"{count:,}",
            percent(count / total),
            bar(count / total, percent(count / total)),
            MEANINGS.get(status, ""),
        ]
        for status, count in facts.statuses.items()
    ]
    found = [table(("status", "trials", "share", "", "meaning"), rows, "lrrll", "Trials by status")]
    if facts.failures:
        reasons = [[status, f"{n:,}", reason or "–"] for status, reason, n in facts.failures]
        head = ("status", "trials", "reason")
        found += [el("h3", "Why points were not good enough")]
        found += [table(head, reasons, "lrl", "Reasons of the points that are not ok")]
    return el("div", found)


def space(facts: Facts) -> Html:
    """The space that was searched."""
    problem = facts.problem
    if problem is None:
        return el("p", "This run has kept no description of its space.", class_="muted")
    rows: list[list[Child]] = [
        [s.name, ", ".join(f"{{{nest}}}" for nest in s.nests), f"{s.orders:,}", f"{s.points:,}"]
        for s in problem.structures
    ]
    heads = ("structure", "nests, by statements", "loop orders", "points")
    share = facts.designs / max(1, problem.points)
    part = percent(share) if share >= 0.001 or not share else f"one in {round(1 / share):,}"
    text = (
        f"The space has {problem.points:,} points: every legal structure, loop order and set of "
        f"unroll factors. {facts.designs:,} of them were evaluated, {part}."
    )
    found = table(heads, rows, "llrr", "Structures of the space")
    return el("div", el("h3", "The space"), el("p", text), found)


def provenance(facts: Facts) -> Html:
    """Where each kind of number comes from, and with what it was made."""
    counts = Counter((d.result.provenance, d.result.tool) for d in facts.drawn)
    manifest = facts.manifest
    sources: list[list[Child]] = [
        ["latency, II, depth, DSP, LUT, FF, BRAM18", source, tool, f"{n:,} designs"]
        for (source, tool), n in counts.most_common()
    ]
    again = Counter((name, r.tool or r.status.value) for d in facts.drawn
                    for name, r in d.promoted.items())  # fmt: skip
    sources += [
        ["designs evaluated again", name, tool, f"{n:,} designs"]
        for (name, tool), n in again.most_common()
    ]
    sources.append(
        ["lower bounds", "proof", "operations, ports and chains of the program, with the operators "
         "of the same tool", ""]
    )  # fmt: skip
    if facts.problem and facts.problem.plain:
        plain = facts.problem.plain
        sources.append(["the program as it stands", plain.provenance, plain.tool, "1 design"])
    sources.append(["trials, their order and times", "recorded", "the run's study", ""])
    notes = facts.problem.notes if facts.problem else ()
    kept = {k: v for k, v in manifest.items() if k not in ("versions", "schema_version")}
    return el(
        "div",
        table(("numbers", "provenance", "of", ""), sources, "llll", "Where numbers come from"),
        [el("p", f"Note: {note}.", class_="note") for note in notes],
        el("h3", "What the run was asked for"),
        pairs([(key.replace("_", " "), _plain(value)) for key, value in kept.items()]),
        el("h3", "Versions"),
        pairs([(name, str(v)) for name, v in dict(manifest.get("versions", {})).items()]),
        el("p", "Figures of different provenance are not comparable. This page was made by ",
           el("code", shlex.join(["weft", "report", facts.path])), ".", class_="muted"),
    )  # fmt: skip


def _plain(value: Any) -> str:
    match value:
        case None:
            return "–"
        case bool():
            return "yes" if value else "no"
        case Mapping():
            return ", ".join(f"{k} {_plain(v)}" for k, v in value.items()) or "–"
        case list() | tuple():
            return ", ".join(map(_plain, value)) or "–"
        case str() | int() | float():
            return f"{value:,}" if isinstance(value, int) else str(value)
        case _:
            return json.dumps(value)
