"""An estimate as text for a person: a table of loops, the total next to the device, reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from dse.estimates.estimation import Estimation
from dse.estimates.outcomes import Outcome
from dse.estimates.suggest import RESOURCES, Suggestion, shares, worth
from dse.estimates.support import intervals_of, marks_of
from dse.estimates.words import clock_text, limit_lines, path_rows, why
from dse.views.dataflow import CHANNEL_HEADS, PROCESS_HEADS, channel_rows, process_rows
from qor_gnn.dataflow.region import RegionTime
from qor_gnn.result.qor_estimate import Cycles, LoopEstimate, QorEstimate
from qor_gnn.result.text import aligned, loop_name, plain, seconds, trips
from qor_gnn.support.error_sources import SOURCES
from qor_gnn.support.intervals import SURE_PCT
from qor_gnn.tools.personality import personality

LABELS = {"dsp": "DSP", "lut": "LUT", "ff": "FF", "bram18": "BRAM18", "uram": "URAM"}

INTERVALS = {"latency": "cycles", **LABELS}

WIDTH = 100  # columns of the lines that give reasons


@dataclass(frozen=True, slots=True)
class Style:
    """How marked words are written; plain text unless the terminal has colours."""

    colour: bool = False

    def head(self, text: str) -> str:
        """A heading."""
        return self._in("1", text)

    def dim(self, text: str) -> str:
        """What is there for completeness."""
        return self._in("2", text)

    def bad(self, text: str) -> str:
        """A budget that is not kept."""
        return self._in("31", text)

    def code(self, text: str) -> str:
        """What can be pasted."""
        return self._in("36", text)

    def _in(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour else text


def view(
    title: str,
    found: Estimation,
    style: Style,
    suggested: Sequence[Suggestion] | None = None,
    told: Sequence[Outcome] = (),
) -> str:
    """The whole text.

    Args:
        title: the kernel, its schedule and size.
        found: the estimate; with ``suggested`` one that was explained.
        style: with or without colours.
        suggested: what would help; None where no explanation is wanted.
        told: what there is to say of the schedule's directives.
    """
    answer = found.answer
    parts = [_heading(title, found, style)]
    if answer.loops:
        parts.append(_loops(answer, style))
    if answer.region is not None:
        parts.append(_region(found, answer.region, style))
    parts.append(_total(found, style, suggested is not None))
    if told:
        parts.append("\n".join(line for outcome in told for line in _told(outcome, style)))
    if suggested is not None:
        tried = worth(answer)
        for n, loop in enumerate(answer.loops):
            if loop.kind != "nest":
                parts.append(_explained(loop, style))
                own = [s for s in suggested if s.loop == n]
                parts += [_suggested(answer, s, style) for s in own]
                if n in tried and not own:
                    parts.append("  no single change of order, copies or banks that helps")
    return "\n\n".join(parts) + "\n"


def source(answer: QorEstimate, tool: str) -> str:
    """Where the numbers come from."""
    return f"{answer.provenance} of {tool}, on {answer.device} at {answer.clock_ns:g} ns"


def _heading(title: str, found: Estimation, style: Style) -> str:
    tool = found.setting.tool
    where = source(found.answer, f"{tool.tool} {tool.version}")
    lines = [style.head(title), f"{where}: an estimate, the tool was not run"]
    lines += [found.operators.line] if found.operators.line else []
    lines += [f"note: {note}" for note in found.setting.notes]
    marks = marks_of(found)
    if marks is not None and marks.why:
        lines.append(f"beyond labels: {marks.why}")
    return "\n".join(lines)


# ----------------------------------------------------------------------------------------- tables


def _loops(answer: QorEstimate, style: Style) -> str:
    heads = ("loop", "trips", "II", "asked", "depth", "latency", "share", "DSP", "why")
    rows = [
        (
            loop_name(loop),
            trips(loop.trips),
            f"{loop.ii:,.0f}" if loop.overlaps else "",
            _asked(loop),
            f"{loop.depth:,.0f}",
            f"{loop.latency.average:,.0f}",
            f"{100 * part:.1f}%",
            str(loop.dsp) if loop.kind != "nest" else "",
            why(loop),
        )
        for loop, part in zip(answer.loops, shares(answer), strict=True)
    ]
    lines = aligned(heads, rows, "lrrrrrrrl")
    return "\n".join([style.head(lines[0]), *lines[1:]])


def _asked(loop: LoopEstimate) -> str:
    if loop.kind != "pipeline":
        return ""
    return "auto" if loop.asked is None else str(loop.asked)


def _region(found: Estimation, region: RegionTime, style: Style) -> str:
    processes = aligned(PROCESS_HEADS, process_rows(region), "lrrrrl")
    lines = [style.head(processes[0]), *processes[1:]]
    if region.channels:
        rows = channel_rows(found, region.channels)
        channels = aligned(CHANNEL_HEADS, rows, "llllrrrrrr")
        lines += ["", style.head(channels[0]), *channels[1:]]
    return "\n".join([*lines, "", f"a call every {region.interval:,.0f} cycles"])


def _total(found: Estimation, style: Style, explain: bool) -> str:
    answer = found.answer
    rows = []
    over = set()
    for name in RESOURCES:
        used, limit = getattr(answer, name), getattr(found.setting.device, name)
        if used is None:
            rows.append((LABELS[name], "-", f"{limit:,}", "not estimated"))
            continue
        share = f"{100 * used / limit:.1f}%" if limit else ""
        if used > limit:
            over.add(len(rows))
            share += " too many"
        rows.append((LABELS[name], f"{used:,}", f"{limit:,}", share))
    lines = aligned(("total", "used", "available", "share"), rows, "lrrl")
    body = [style.bad(line) if n in over else line for n, line in enumerate(lines[1:])]
    if answer.bram18_range is not None:
        least, most = answer.bram18_range
        body.append(f"BRAM18 is {least:,} to {most:,} by the ports that the tool gives each array")
    body += _intervals(found)
    return "\n".join([_latency(answer), *_period(answer, explain), "", style.head(lines[0]), *body])


def _intervals(found: Estimation) -> list[str]:
    """What the tool's report is expected to hold, and what makes that uncertain."""
    of = intervals_of(found)
    if of is None:
        return []
    ends = [f"{INTERVALS[name]} {_ends(*ends)}" for name, ends in of.ends.items()]
    why = [SOURCES[name] for name in of.sources]
    text = f"{SURE_PCT}% intervals: {', '.join(ends)}"
    if of.unseen:
        text += f"; the widest, for what no label has: {', '.join(of.unseen)}"
    elif why:
        text += f"; wider for {', '.join(why)}"
    return wrap(text, WIDTH, subsequent_indent="    ", break_on_hyphens=False)


def _ends(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _latency(answer: QorEstimate) -> str:
    cycles = answer.latency
    time = seconds(cycles.average * answer.clock_ns * 1e-9)
    text = f"latency  {cycles.average:,.0f} cycles = {time} at {answer.clock_ns:g} ns"
    return text + _range(cycles)


def _range(cycles: Cycles) -> str:
    if cycles.minimum == cycles.maximum:
        return ""
    return f", {cycles.minimum:,} to {cycles.maximum:,} by trip counts"


def _period(answer: QorEstimate, explain: bool) -> list[str]:
    if answer.period_ns is None:
        return []
    if personality(answer.tool).is_open:
        mhz = 1000 / answer.period_ns
        return [f"period   {answer.period_ns:.2f} ns ({mhz:.0f} MHz) is expected after routing"]
    if answer.clock is None or not answer.clock.estimate_ns:
        return []
    return wrap(clock_text(answer.clock, explain), WIDTH, subsequent_indent="         ")


# ---------------------------------------------------------------------------------------- reasons


def _told(outcome: Outcome, style: Style) -> list[str]:
    lines = wrap(str(outcome), WIDTH, subsequent_indent="    ", break_on_hyphens=False)
    return [lines[0].replace(outcome.step, style.code(outcome.step), 1), *lines[1:]]


def _explained(loop: LoopEstimate, style: Style) -> str:
    name = ", ".join(map(plain, loop.loops))
    lines = [style.head(f"{name} ({', '.join(loop.statements)})") + f": {_verdict(loop)}"]
    if loop.limits:
        for text in limit_lines(loop.limits, loop.asked or 1):
            lines += wrap(
                text, WIDTH, initial_indent="  ", subsequent_indent="      ", break_on_hyphens=False
            )
    if loop.path:
        lines.append("  critical path of an iteration:")
        rows = path_rows(loop.path)
        table = aligned(("at", "states", "operation", "statement"), rows, "rrll")
        lines += [style.dim(f"    {table[0]}"), *(f"    {line}" for line in table[1:])]
    return "\n".join(lines)


def _verdict(loop: LoopEstimate) -> str:
    if loop.kind == "sequential":
        return f"not pipelined, {loop.depth:,.0f} states an iteration"
    asked = "the tool pipelines it" if loop.asked is None else f"asked for II {loop.asked}"
    asked += f", and unrolls {', '.join(map(plain, loop.unrolled))}" if loop.unrolled else ""
    return f"II {loop.ii:,.0f} ({asked})"


def _suggested(before: QorEstimate, s: Suggestion, style: Style) -> str:
    old, new = before.latency.average, s.answer.latency.average
    times = f" ({old / new:.3g}x)" if new else ""  # a design without states has no latency
    lines = [f"  would help: latency {old:,.0f} -> {new:,.0f}{times}, {_changes(before, s.answer)}"]
    lines += [style.code(f"    {line}") for line in s.python]
    return "\n".join(lines)


def _changes(before: QorEstimate, now: QorEstimate) -> str:
    parts = []
    for name in RESOURCES:
        old, new = getattr(before, name), getattr(now, name)
        if old is not None and new is not None and (old != new or name == "dsp"):
            parts.append(f"{LABELS[name]} {old:,} -> {new:,}")
    return ", ".join(parts)
