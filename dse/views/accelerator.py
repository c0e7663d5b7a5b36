"""Csynth's view, emulation and the board, next to each other: as text, as data and as rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from backends.deploy.boards import Board
from dse.accelerator.figures import Accelerator, accelerator_of
from dse.accelerator.summary import milliseconds
from dse.estimates.estimation import Estimation
from dse.views.estimate import Style
from dse.views.estimate_data import exact
from dsl.programs.program import Program
from qor_gnn.accelerator.channels import ChannelUse
from qor_gnn.accelerator.interval import Interval
from qor_gnn.result.text import aligned

SOURCES = {
    "csynth": "model: memory that is always ready",
    "emulation": "model, waits fitted to RTL emulation",
    "board": "model, data of the board's memory",
    "clock": "fitted to routed designs",
    "host": "data of the board's host",
}
"""Where each kind of figure comes from."""


def view(found: Accelerator | str, board: str, style: Style) -> str:
    """The figures with their ranges and provenance, the channels, and what limits the design.

    Args:
        found: the figures, or why there are none.
        board: its name.
        style: with or without colours.
    """
    if isinstance(found, str):
        return f"on {board}: {found}\n"
    heads = (f"on {board}", "expected", "range", "from")
    lines = aligned(heads, _rows(found), "lrrl")
    parts = [style.head(lines[0]), *lines[1:], "", str(found.kept), roofline(found), ""]
    channels = aligned(
        ("channel", "ports", "read", "written", "busy", "share"),
        [_channel(c) for c in found.board.channels],
        "llrrrr",
    )
    parts += [style.head(channels[0]), *channels[1:]]
    return "\n".join([*parts, *(f"note: {note}" for note in found.notes)]) + "\n"


def roofline(found: Accelerator) -> str:
    """What limits the design, and how far it is from that."""
    told = ", ".join(f"{roof.name} {roof.cycles:,.0f} cycles" for roof in found.roofs)
    times = found.board.cycles / found.roofs[0].cycles
    return f"roofline: {told}; the kernel takes {times:.2f} x the largest"


def _rows(found: Accelerator) -> list[tuple[str, str, str, str]]:
    on = found.board
    return [
        ("csynth, cycles", f"{found.csynth:,.0f}", "", SOURCES["csynth"]),
        ("emulation, cycles", f"{found.emulation.value:,.0f}",
         f"{found.emulation.low:,.0f} .. {found.emulation.high:,.0f}", SOURCES["emulation"]),
        ("board, cycles", f"{on.cycles:,.0f}", "", SOURCES["board"]),
        ("clock", f"{on.period_ns.value:.2f} ns",
         f"{on.period_ns.low:.2f} .. {on.period_ns.high:.2f}", SOURCES["clock"]),
        ("kernel", *_times(on.kernel_ms), SOURCES["board"]),
        ("transfers", *_times(on.transfer_ms), SOURCES["host"]),
        ("launch", *_times(on.launch_ms), SOURCES["host"]),
        ("time to solution", *_times(on.total_ms), ""),
    ]  # fmt: skip


def _times(ms: Interval) -> tuple[str, str]:
    return milliseconds(ms.value), f"{milliseconds(ms.low)} .. {milliseconds(ms.high)}"


def _channel(use: ChannelUse) -> tuple[str, ...]:
    return (
        use.channel, " ".join(use.bundles), f"{use.read:,.0f}", f"{use.written:,.0f}",
        milliseconds(use.busy_ms), f"{100 * use.share:.0f}%",
    )  # fmt: skip


def as_data(found: Accelerator | str, board: str) -> dict[str, Any]:
    """The same as JSON; where there are no figures, ``why`` says why."""
    if isinstance(found, str):
        return {"board": board, "why": found}
    on = asdict(found.board)
    return {
        "board": on.pop("board"),
        "csynth_cycles": found.csynth,
        "emulation_cycles": asdict(found.emulation),
        "board_cycles": on.pop("cycles"),
        **{key: on[key] for key in ("period_ns", "kernel_ms", "transfer_ms", "launch_ms")},
        "total_ms": asdict(found.board.total_ms),
        "memory_ms": on["memory_ms"],
        "compute_ms": on["compute_ms"],
        "roofline": [asdict(roof) for roof in found.roofs],
        "channels": on["channels"],
        "notes": list(found.notes),
        "provenance": SOURCES,
    }


def as_rows(found: Accelerator | str, design: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows beside those of `dse.views.estimate_data.as_rows`: cycles of emulation and on the board, with their ranges.

    Args:
        found: the figures, or why there are none.
        design: the row of the design, as the model has it.
    """
    if isinstance(found, str):
        return []
    kept = {name: design.get(name) for name in ("name", "tool", "device", "clock_ns")}
    emulation = found.emulation
    return [
        {
            "row": "emulation", **kept, "provenance": SOURCES["emulation"],
            "latency_min": exact(emulation.low), "latency_max": exact(emulation.high),
            "latency_avg": exact(emulation.value),
        },
        {
            "row": "board", **kept, "provenance": SOURCES["board"],
            "latency_avg": exact(found.board.cycles), "period_ns": found.board.period_ns.value,
        },
    ]  # fmt: skip


def beside(program: Program, board: Board | None) -> Callable[[Estimation], dict[str, Any]]:
    """What ``qor.json`` of a project for a board says besides.

    Args:
        program: without its schedule.
        board: None where there is none.
    """
    if board is None:
        return lambda _: {}
    return lambda found: {
        "accelerator": as_data(accelerator_of(found, program, board.name), board.name)
    }


def expected(files: Mapping[str, str]) -> str:
    """A section of a README, of the ``qor.json`` among the files of a project; empty where there are no figures.

    Args:
        files: texts by name.
    """
    on = json.loads(files.get("qor.json", "{}")).get("accelerator", {})
    if "total_ms" not in on:
        return ""
    rows = [
        ("csynth", f"{on['csynth_cycles']:,.0f} cycles", ""),
        ("emulation", f"{on['emulation_cycles']['value']:,.0f} cycles",
         f"{on['emulation_cycles']['low']:,.0f} to {on['emulation_cycles']['high']:,.0f}"),
        *(
            (what, milliseconds(on[key]["value"]),
             f"{milliseconds(on[key]['low'])} to {milliseconds(on[key]['high'])}")
            for what, key in (("kernel", "kernel_ms"), ("transfers", "transfer_ms"),
                              ("launch", "launch_ms"), ("in all", "total_ms"))
        ),
    ]  # fmt: skip
    channels = [
        f"{c['channel']} ({' '.join(c['bundles'])}): {c['read']:,.0f} bytes read, {c['written']:,.0f} written, "
        f"{100 * c['share']:.0f}% of the kernel's time"
        for c in on["channels"]
    ]
    lines = [
        "",
        "## What to expect",
        "",
        "Estimated; nothing was run (`../qor.json` says what from).",
        "",
    ]
    lines += [
        "| | expected | range |",
        "|---|---|---|",
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
    ]
    return "\n".join([*lines, *(f"- {text}" for text in (*channels, *on["notes"])), ""])
