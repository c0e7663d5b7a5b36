"""The designs of a run on the page: the table of the front, and all there is to say about each."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from dse.evaluators.base import LoopReport, Result
from dse.report.facts import Facts, Told, resources_of
from dse.report.markup import Child, Html, el
from dse.report.tables import bar, cycles, duration, label, pairs, percent, table, times

SHORT = 8  # digits of a key that are shown


def front_table(facts: Facts) -> Html:
    """The front, fastest first; a row's button shows its design."""
    names = resources_of(facts)
    heads = ["design", "cycles", "time", "speed-up", "× bound", "× bound of its DSP"]
    promoted = tuple(dict.fromkeys(name for d in facts.fronts for name in d.promoted))
    heads += [*map(label, names), *promoted, "trial"]
    told = {design.key for design in facts.told}
    rows: list[list[Child]] = []
    for design in facts.fronts:
        shown = design.key in told
        key = design.key[:SHORT]
        name = el("button", key, type="button", class_="pick", data_key=design.key)
        row: list[Child] = [name if shown else el("code", key), cycles(design.cycles)]
        row += [duration(design.cycles, facts.manifest["clock_ns"])]
        row += [speed_up(facts, design), to_bound(facts, design), to_own_bound(facts, design)]
        row += [f"{design.result.resources[n]:,}" if n in design.result.resources else "–"
                for n in names]  # fmt: skip
        row += [verdict(design.promoted[n]) if n in design.promoted else "–" for n in promoted]
        row.append("–" if design.trial is None else str(design.trial))
        rows.append(row)
    numbers = "l" + "r" * (len(heads) - 1)
    return table(heads, rows, numbers, "The Pareto front, fastest design first", id="front-table")


def speed_up(facts: Facts, design: Told) -> str:
    """Over the program as it stands, where both figures come from the same place."""
    plain = facts.problem.plain if facts.problem else None
    if plain is None or not plain.latency or not design.cycles:
        return "–"
    same = plain.provenance == design.result.provenance and plain.tool == design.result.tool
    return times(plain.latency / design.cycles) if same else "–"


def to_bound(facts: Facts, design: Told) -> str:
    """Cycles over the lower bound for the whole budget."""
    bound = facts.problem.bound if facts.problem else None
    return times(design.cycles / bound.cycles) if bound else "–"


def to_own_bound(facts: Facts, design: Told) -> str:
    """Cycles over the lower bound for as many DSP as it has."""
    used = design.result.resources.get("dsp")
    fewest = facts.problem.fewest(used) if facts.problem and used is not None else None
    return times(design.cycles / fewest) if fewest else "–"


def article(facts: Facts, design: Told) -> Html:
    """Everything about one design."""
    result = design.result
    period = facts.manifest["clock_ns"]
    place = "on the Pareto front" if design.front else "behind the Pareto front"
    trial = "" if design.trial is None else f", trial {design.trial}"
    if not design.feasible:
        place = design.wrong or result.detail
    figures = pairs(
        [
            ("latency", f"{cycles(design.cycles)} cycles = {duration(design.cycles, period)}"),
            ("to the bound of the budget", to_bound(facts, design)),
            ("to the bound of its own DSP", to_own_bound(facts, design)),
            ("speed-up over no schedule", speed_up(facts, design)),
            ("figures from", f"{result.provenance}: {result.tool}"),
        ]
    )
    return el(
        "article",
        el(
            "h3",
            "Design ",
            el("code", design.key[:SHORT]),
            el("small", f" {place}{trial}"),
            id=f"h-{design.key}",
        ),
        el("div", figures, _usage(facts, design), class_="halves"),
        el("h4", "Loops"),
        _loops(result.loops),
        *_promotions(design),
        *_schedule(facts, design),
        id=f"d-{design.key}",
        class_="design",
        aria_labelledby=f"h-{design.key}",
    )


def _usage(facts: Facts, design: Told) -> Html:
    """What it uses of what it may have, and of the device."""
    device = facts.problem.device if facts.problem else {}
    rows: list[list[Child]] = []
    for name, used in design.result.resources.items():
        limit = facts.limits.resources.get(name)
        share = used / limit if limit else None
        whole = device.get(name)
        rows.append(
            [
                label(name),
                f"{used:,}",
                "–" if limit is None else f"{limit:,}",
                "–" if share is None else percent(share),
                None if share is None else bar(share, f"{percent(share)} of the {label(name)}"),
                f"{whole:,}" if isinstance(whole, int) else "–",
            ]
        )
    heads = ("resource", "used", "budget", "share", "", "device")
    return table(heads, rows, "lrrrlr", "Use of the budget")


def _loops(loops: tuple[LoopReport, ...]) -> Html:
    """Loop by loop: the interval and what it comes from."""
    if not loops:
        return el("p", "The evaluator reported no loops.", class_="muted")
    columns: list[tuple[str, str, Callable[[LoopReport], Child]]] = [
        ("loop", "l", _loop_name),
        ("statements", "l", lambda loop: " ".join(loop.statements)),
        ("kind", "l", lambda loop: loop.kind),
        ("trips", "r", lambda loop: cycles(loop.trips)),
        ("copies", "r", lambda loop: f"{loop.unroll:,}"),
        ("II", "r", lambda loop: f"{loop.ii:,.0f}" if loop.kind == "pipeline" else "–"),
        ("depth", "r", lambda loop: cycles(loop.depth)),
        ("cycles", "r", lambda loop: cycles(loop.latency)),
        ("DSP", "r", lambda loop: f"{loop.dsp:,}" if loop.kind != "nest" else "–"),
        ("what sets the interval", "l", _reason),
    ]
    if all(loop.unroll == 1 for loop in loops):
        columns = [c for c in columns if c[0] != "copies"]
    heads, kinds, cells = zip(*columns, strict=True)
    rows = [[cell(loop) for cell in cells] for loop in loops]
    return table(heads, rows, "".join(kinds), "Loops of the design")


def _loop_name(loop: LoopReport) -> Html:
    copies = f" × {loop.copies:,}" if loop.copies > 1 else ""
    return el(
        "span", el("code", ", ".join(loop.loops)), copies, class_=f"level-{min(loop.level, 6)}"
    )


def _reason(loop: LoopReport) -> str:
    if loop.kind == "pipeline" and loop.why == "as asked":
        return f"II {loop.ii:,.0f} was asked for and is reached"
    return loop.why


def verdict(result: Result) -> str:
    """What a promotion came to: of a check its status, else that of the evaluation."""
    return result.checks[0].status if result.checks else result.status.value


def _promotions(design: Told) -> list[Html]:
    """What costlier evaluators found: their checks and their figures."""
    rows: list[list[Child]] = []
    for name, result in design.promoted.items():
        found = [(c.status, c.tool, c.detail) for c in result.checks]
        for status, tool, detail in found or [(result.status.value, result.tool, result.detail)]:
            figures = f"{cycles(result.latency)} cycles" if result.latency is not None else "–"
            source = f" ({result.provenance})" if result.provenance else ""
            rows.append([name, status, figures + source, tool, detail or "–"])
    if not rows:
        return []
    heads = ("evaluator", "verdict", "figures", "by", "detail")
    return [
        el("h4", "Evaluated again"),
        table(heads, rows, "lllll", "What costlier evaluators found"),
    ]


def _schedule(facts: Facts, design: Told) -> list[Html]:
    """The schedule as Python, and the command that exports it."""
    kernel = str(facts.manifest["kernel"])
    command = shlex.join(
        ["weft", "export", facts.path, "--point", design.key, "--out", f"{kernel}_hls"]
    )
    found = [el("h4", "Vitis HLS project"), code(command, "command")]
    if design.schedule is not None:
        text = design.schedule.to_python(f"design_{design.key[:SHORT]}", kernel)
        found = [
            el("h4", "Schedule, to be pasted under the kernel"),
            code(text, "schedule"),
            *found,
        ]
    return found


def code(text: str, what: str) -> Html:
    """Text to copy."""
    return el(
        "div",
        el("button", "Copy", type="button", class_="copy", aria_label=f"Copy the {what}"),
        el("pre", el("code", text.rstrip("\n")), tabindex=0),
        class_="code",
    )
