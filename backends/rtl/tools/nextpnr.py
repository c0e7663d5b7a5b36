"""Placement and routing on an ECP5 by nextpnr."""

from __future__ import annotations

import json
import re
from pathlib import Path

from backends.process import Limits
from backends.rtl.tools.find import Tool
from backends.rtl.tools.result import Outcome, Resources, Routing
from backends.rtl.tools.yosys import NETLIST, not_whole

REPORT = "report.json"
LIMITS = Limits(seconds=1800)
DEVICES = {
    "ecp5-25k": ("--25k", "--package", "CABGA381"),
    "ecp5-45k": ("--45k", "--package", "CABGA554"),
    "ecp5-85k": ("--85k", "--package", "CABGA756"),
}
SPEED = "6"

_NO_FIT = re.compile(
    r"no Bels remaining|[Uu]nable to (find (legal )?placement|place)|failed to place|"
    r"exceed|too many|[Nn]o (more )?(free|available)|Unable to find a placement location|"
    r"[Ff]ailed to (find|expand)|placer.*fail",
)


def route(
    tool: Tool,
    folder: Path,
    device: str,
    *,
    seed: int = 1,
    mhz: float = 100.0,
    limits: Limits = LIMITS,
    pins: bool = True,
) -> Routing:
    """Place and route ``netlist.json`` of a folder that `yosys.synthesise` has worked in.

    Args:
        tool: From `find.find_nextpnr`.
        folder: Where it works.
        device: One of `DEVICES`; speed grade 6.
        seed: Of the placer; the same seed gives the same result.
        mhz: What it strives for; the result says what it reached.
        limits: Of the run; 1,800 s by default.
        pins: Its ports are pins; else they end inside of the device, as those of a part of a larger design do.
    """
    options = (*arguments(device, mhz, pins=pins), "--seed", str(seed))
    files = ("--json", NETLIST, "--report", REPORT, "--timing-allow-fail", "--quiet")
    run = tool.run([*options, *files], folder, limits)
    message = "\n".join(run.tail(6))
    if run.timed_out:
        return Routing(Outcome.TIMEOUT, None, None, seed, run.seconds, message)
    if not run.ok:
        errors = [line for line in run.log.splitlines() if line.startswith("ERROR")]
        full = any(_NO_FIT.search(line) for line in errors)
        outcome = Outcome.NO_FIT if full else Outcome.FAILED
        text = "\n".join((run.outcome, *errors)) if errors else f"{run.outcome}\n{message}"
        return Routing(outcome, None, None, seed, run.seconds, text)
    try:
        return parse_report((folder / REPORT).read_text(encoding="utf-8"), seed, run.seconds)
    except (OSError, json.JSONDecodeError):
        return Routing(Outcome.FAILED, None, None, seed, run.seconds, not_whole(REPORT))


def arguments(device: str, mhz: float, *, pins: bool = True) -> tuple[str, ...]:
    """What nextpnr is told of the device and the clock, and whether ports are pins."""
    inside = () if pins else ("--out-of-context",)
    return (*DEVICES[device], "--speed", SPEED, "--freq", f"{mhz:g}", *inside)


def parse_report(text: str, seed: int, seconds: float) -> Routing:
    """The figures of nextpnr's ``--report``; ``fmax`` is that of the slowest clock."""
    report = json.loads(text)
    used = {name: int(row["used"]) for name, row in report["utilization"].items()}
    resources = Resources(
        used["TRELLIS_COMB"], used["TRELLIS_FF"], used["MULT18X18D"], used["DP16KD"]
    )
    clocks = [float(row["achieved"]) for row in report["fmax"].values()]
    return Routing(Outcome.OK, resources, min(clocks, default=None), seed, seconds)


def to_json(r: Routing) -> object:
    """What the cache keeps of one; `from_json` reads it."""
    u = r.resources
    used = None if u is None else [u.lut, u.ff, u.dsp, u.bram]
    return {
        "outcome": r.outcome.value,
        "resources": used,
        "fmax": r.fmax,
        "seconds": r.seconds,
        "message": r.message,
    }


def from_json(data: dict[str, object], seed: int) -> Routing:
    """What `to_json` kept."""
    used, fmax, seconds = data["resources"], data["fmax"], data["seconds"]
    assert isinstance(fmax, float | None)
    assert isinstance(seconds, float)
    resources = Resources(*used) if isinstance(used, list) else None
    outcome = Outcome(data["outcome"])
    return Routing(outcome, resources, fmax, seed, seconds, str(data["message"]))
