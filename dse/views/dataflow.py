"""A dataflow region in an estimate: its processes and channels, as data and as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from dse.estimates.estimation import Estimation
from qor_gnn.area.processes import channel_cost
from qor_gnn.dataflow.region import ChannelTime, ProcessTime, RegionTime
from qor_gnn.memory.storage import StorageCost, storage_rules

PROCESS_HEADS = ("process", "alone", "begins", "ends", "waits", "for")
CHANNEL_HEADS = ("channel", "from", "to", "kind", "words", "first", "last", "LUT", "BRAM18", "URAM")


def region_data(found: Estimation) -> dict[str, Any] | None:
    """The region as JSON; None where the design is none."""
    region = found.answer.region
    if region is None:
        return None
    return {
        "interval": region.interval,
        "processes": [asdict(p) for p in region.processes],
        "channels": [
            {**asdict(c), "kind": kind(c), "resources": _amounts(_cost(found, c.memory))}
            for c in region.channels
        ],
    }


def kind(channel: ChannelTime) -> str:
    """What lies between two processes."""
    return "two halves" if channel.depth is None else "FIFO"


def process_rows(region: RegionTime) -> list[tuple[str, ...]]:
    """Rows of `PROCESS_HEADS`, in cycles."""
    return [_process(p) for p in region.processes]


def _process(p: ProcessTime) -> tuple[str, ...]:
    times = (f"{t:,.0f}" for t in (p.latency, p.start, p.end, p.waited))
    return (p.name, *times, p.waits_for)


def channel_rows(found: Estimation, channels: Sequence[ChannelTime]) -> list[tuple[str, ...]]:
    """Rows of `CHANNEL_HEADS`."""
    rows: list[tuple[str, ...]] = []
    for c in channels:
        cost = _cost(found, c.memory)
        words = "" if c.depth is None else f"{c.depth:,}"
        when = (f"{c.first:,.0f}", f"{c.last:,.0f}")
        rows.append((c.memory, c.producer, c.consumer, kind(c), words, *when, *_texts(cost)))
    return rows


def _cost(found: Estimation, memory: str) -> StorageCost:
    regions = found.regions
    own = next(c for c in regions.channels if c.memory == memory)
    both = frozenset(found.answer.both_ports)
    return channel_cost(regions, own, storage_rules(found.setting.tool.name), both)


def _texts(cost: StorageCost) -> tuple[str, str, str]:
    return f"{cost.lut:,}", f"{cost.bram18:,}", f"{cost.uram:,}"


def _amounts(cost: StorageCost) -> dict[str, int]:
    return {"lut": cost.lut, "ff": cost.ff, "bram18": cost.bram18, "uram": cost.uram}
