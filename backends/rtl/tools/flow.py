"""Synthesis, then placement and routing with each of several seeds, through one cache."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from backends.process import Limits
from backends.rtl.tools import nextpnr, yosys
from backends.rtl.tools.cache import Cache
from backends.rtl.tools.find import Tool
from backends.rtl.tools.result import Outcome, Routing, Synthesis


@dataclass(frozen=True, slots=True)
class Implementation:
    """A design's synthesis, and its routing with each seed (none where synthesis failed)."""

    synthesis: Synthesis
    routings: tuple[Routing, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """OK where every step was; else the first that was not."""
        steps = (self.synthesis.outcome, *(r.outcome for r in self.routings))
        return next((s for s in steps if s is not Outcome.OK), Outcome.OK)

    @property
    def fmax(self) -> float | None:
        """The median over the seeds, in MHz."""
        found = [r.fmax for r in self.routings if r.fmax is not None]
        return statistics.median(found) if found else None


def implement(
    tools: tuple[Tool, Tool],
    verilog: str,
    top: str,
    device: str,
    folder: Path,
    *,
    seeds: Sequence[int] = (1,),
    mhz: float = 100.0,
    limits: tuple[Limits, Limits] = (yosys.LIMITS, nextpnr.LIMITS),
    cache: Cache | None = None,
    pins: bool = True,
    heard: Callable[[str], None] = lambda _: None,
) -> Implementation:
    """Take a design through Yosys and nextpnr; what the cache has is not run again.

    Args:
        tools: Yosys and nextpnr.
        verilog: The whole text.
        top: Its top module.
        device: One of `nextpnr.DEVICES`.
        folder: Where the tools work.
        seeds: Of the placer, one routing each.
        mhz: What nextpnr strives for.
        limits: Of synthesis and of each routing.
        cache: Where results are kept.
        pins: See `nextpnr.route`.
        heard: Told of each stage as it begins.
    """
    heard("synthesise")
    synth, place = tools
    options = " ".join(nextpnr.arguments(device, mhz, pins=pins))
    command = yosys.COMMANDS["ecp5"]
    base = ("implement", synth.version, command, place.version, options, top, verilog)
    known = {s: cache.get((*base, str(s))) if cache is not None else None for s in seeds}
    ready = all(k is not None for k in known.values())
    synthesis = yosys.synthesise(
        *(synth, verilog, top, "ecp5", folder),
        limits=limits[0],
        cache=cache,
        netlist=not ready,
    )
    if synthesis.outcome is not Outcome.OK:
        return Implementation(synthesis)
    routings: list[Routing] = []
    for seed, kept in known.items():
        if kept is not None:
            routings.append(nextpnr.from_json(kept, seed))
            continue
        heard(f"place and route, seed {seed}")
        found = nextpnr.route(
            *(place, folder, device), seed=seed, mhz=mhz, limits=limits[1], pins=pins
        )
        if cache is not None and found.outcome in (Outcome.OK, Outcome.NO_FIT):
            cache.put((*base, str(seed)), nextpnr.to_json(found))
        routings.append(found)
        if found.outcome is Outcome.NO_FIT:
            break
    return Implementation(synthesis, tuple(routings))
