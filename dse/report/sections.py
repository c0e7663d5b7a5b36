"""What the parts of the page around the charts say: findings, bounds, points, provenance."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from dse.estimates.routed import UPPER_ENDS
from dse.report.designs import speed_up, to_bound
from dse.report.facts import Facts
from dse.report.numbers import NONE, cycles, duration, label, percent, times
from dse.run.folder.problem import ONE_POINT

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
_BOUNDS = {"dsp": "DSP slices", "lut": "LUTs", "ports": "memory ports", "recurrence": "recurrence"}


class Tile(NamedTuple):
    """A finding that comes first: what of, the figure, and a line that explains it."""

    name: str
    value: str
    hint: str


class BoundRow(NamedTuple):
    """A lower bound. `tight`: it is the largest of them. `share`: of the fastest design's cycles."""

    name: str
    tight: bool
    cycles: int
    ratio: str
    share: float | None
    reason: str


class StatusRow(NamedTuple):
    """How many trials ended with a status, out of all, and what the status means."""

    status: str
    trials: int
    share: float
    meaning: str


class SourceRow(NamedTuple):
    """Where some of the numbers come from, and how many designs have theirs from there."""

    numbers: str
    provenance: str
    of: str
    designs: str


def heading(facts: Facts) -> list[str]:
    """What the run was asked for, in a line under the title."""
    manifest = facts.manifest
    device = facts.problem.device["name"] if facts.problem else manifest["device"]
    return [
        *([f"size {manifest['size']}"] if manifest.get("size") else []),
        f"{device} at {manifest['clock_ns']:g} ns",
        f"strategy {manifest['strategy']}",
        f"{len(facts.trials):,} trials, {facts.ending}",
    ]


def one_point(facts: Facts) -> str:
    """That there was nothing to search; empty where there was."""
    if facts.problem is None or facts.problem.points != 1:
        return ""
    return f"{ONE_POINT[0].upper()}{ONE_POINT[1:]}."


def tiles(facts: Facts) -> list[Tile]:
    """The findings that come first."""
    best = facts.best
    if best is None:
        text = "No design keeps to the limits."
        hint = "The points that come nearest are below; a larger budget may help."
        return [Tile("result", text, hint)]
    period = best.result.period_at(facts.manifest["clock_ns"])
    counts = facts.limits.shown(best.result)
    tight = max(
        ((n, counts.get(n, 0) / limit) for n, limit in facts.limits.resources.items()
         if limit), key=lambda use: use[1], default=None,
    )  # fmt: skip
    longest = best.result.longest
    most = "" if longest is None else f" of the trips that are expected; at most {cycles(longest)}"
    text = f"cycles = {duration(best.cycles, period)}{most}"
    found = [Tile("fastest design", cycles(best.cycles), text)]
    bound = facts.problem.bound if facts.problem else None
    if bound:
        trips = "" if longest is None else " of all trips"
        hint = f"no design takes fewer than {cycles(bound.cycles)} cycles{trips}"
        found.append(Tile(f"of the lower bound{trips}", to_bound(facts, best), hint))
    if speed_up(facts, best) != NONE:
        found.append(Tile("speed-up", speed_up(facts, best), "over the program as it stands"))
    if best.result.board is not None:
        on = best.result.board
        passing, computing = _time(on.memory_ms), _time(on.compute_ms)
        hint = f"memory {passing}, compute {computing}; {_time(on.ms_low)} to {_time(on.ms_high)} in all"
        found.append(Tile(f"time on the board ({on.board})", _time(on.ms), hint))
    if tight:
        name, share = tight
        used, limit = counts.get(name, 0), facts.limits.resources[name]
        hint = f"{used:,} of {limit:,}: its fullest resource"
        found.append(Tile(f"of the {label(name)}", percent(share), hint))
    within = "design keeps" if facts.feasible == 1 else "designs keep"
    hint = f"{facts.feasible:,} of {facts.designs:,} {within} to the limits"
    found.append(Tile("on the front", f"{len(facts.fronts):,}", hint))
    return found


def _time(milliseconds: float) -> str:
    return duration(milliseconds * 1e6, 1.0)


def sources(facts: Facts) -> str:
    """In a few words, where the figures of the page come from."""
    found = dict.fromkeys((d.result.provenance, d.result.tool) for d in facts.drawn)
    lines = [f"{provenance} of {tool.partition(';')[0]}" for provenance, tool in found]
    if facts.limits.routed is not None:
        lines.append(f"next to the budget {UPPER_ENDS}")
    return "; ".join(lines)


def bounds(facts: Facts) -> list[BoundRow]:
    """What no schedule can beat, and how far the fastest design is from each."""
    if facts.problem is None:
        return []
    best = facts.best
    return [
        BoundRow(
            _BOUNDS.get(bound.kind, bound.kind),
            bound is facts.problem.bound,
            bound.cycles,
            times(best.result.of_all_trips / bound.cycles) if best and bound.cycles else NONE,
            bound.cycles / best.result.of_all_trips if best and best.cycles else None,
            bound.reason,
        )
        for bound in facts.problem.bounds
    ]


def statuses(facts: Facts) -> list[StatusRow]:
    """What came of the trials."""
    total = max(1, sum(facts.statuses.values()))
    return [
        StatusRow(status, count, count / total, MEANINGS.get(status, ""))
        for status, count in facts.statuses.items()
    ]


def evaluated(facts: Facts) -> str:
    """How much of the space was evaluated."""
    share = facts.designs / max(1, facts.problem.points if facts.problem else 1)
    return percent(share) if share >= 0.001 or not share else f"one in {round(1 / share):,}"


def provenance(facts: Facts) -> list[SourceRow]:
    """Where each kind of number comes from."""
    counts = Counter((d.result.provenance, d.result.tool) for d in facts.drawn)
    found = [
        SourceRow("latency, II, depth, DSP, LUT, FF, BRAM18", source, tool, f"{n:,} designs")
        for (source, tool), n in counts.most_common()
    ]
    again = Counter((name, r.tool or r.status.value) for d in facts.drawn
                    for name, r in d.promoted.items())  # fmt: skip
    found += [
        SourceRow("designs evaluated again", name, tool, f"{n:,} designs")
        for (name, tool), n in again.most_common()
    ]
    found.append(
        SourceRow("lower bounds", "proof", "operations, ports and chains of the program, with the "
                  "operators of the same tool", "")
    )  # fmt: skip
    if facts.problem and facts.problem.plain:
        plain = facts.problem.plain
        found.append(
            SourceRow("the program as it stands", plain.provenance, plain.tool, "1 design")
        )
    found.append(SourceRow("trials, their order and times", "recorded", "the run's study", ""))
    return found


def asked(facts: Facts) -> list[tuple[str, str]]:
    """What the run was asked for."""
    left_out = ("versions", "schema_version")
    return [
        (key.replace("_", " "), _calibration(value) if key == "calibration" else _plain(value))
        for key, value in facts.manifest.items()
        if key not in left_out
    ]


def _calibration(value: Any) -> str:
    """The timing classes that it is of: its figures are in the run's manifest."""
    classes = value.get("classes", {}) if isinstance(value, Mapping) else {}
    return f"own measurements of {', '.join(map(str, classes))}" if classes else NONE


def versions(facts: Facts) -> list[tuple[str, str]]:
    """What the run was made with."""
    return [(name, str(v)) for name, v in dict(facts.manifest.get("versions", {})).items()]


def command(facts: Facts) -> str:
    """The command line that makes the page anew."""
    return shlex.join(["weft", "report", facts.path])


def _plain(value: Any) -> str:
    match value:
        case None:
            return NONE
        case bool():
            return "yes" if value else "no"
        case Mapping():
            return ", ".join(f"{k} {_plain(v)}" for k, v in value.items()) or NONE
        case list() | tuple():
            return ", ".join(map(_plain, value)) or NONE
        case str() | int() | float():
            return f"{value:,}" if isinstance(value, int) else str(value)
        case _:
            return json.dumps(value)
