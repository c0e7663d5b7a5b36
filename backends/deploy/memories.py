"""What memory outside passes and how soon it answers, and what a host takes to start a kernel: with ranges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from backends.tables import fault, parsed, table

_FILE = Path(__file__).parent / "memories.json"

Range = tuple[float, float, float]
"""The least, what is expected, and the most."""


@dataclass(frozen=True, slots=True)
class MemoryKind:
    """Memory outside of the chip.

    Attributes:
        name: what people call it.
        read: GB/s that a channel passes in long bursts.
        write: the same.
        latency: ns from a request to its first word.
        evidence: where the figures come from.
    """

    name: str
    read: Range
    write: Range
    latency: Range
    evidence: str


@dataclass(frozen=True, slots=True)
class Host:
    """What starts a kernel.

    Attributes:
        name: what data pass on their way to the memory of the kernel.
        gigabytes: GB/s of that way; beside a processor, of its caches being flushed.
        launch: ms that a call takes beside the kernel.
        evidence: where the figures come from.
    """

    name: str
    gigabytes: Range
    launch: Range
    evidence: str


@dataclass(frozen=True, slots=True)
class _Kinds:
    memories: Mapping[str, MemoryKind]
    hosts: Mapping[str, Host]


@cache
def _kinds() -> _Kinds:
    data, where = table(_FILE, None)
    found = parsed(_Kinds, data, where)
    for name, kind in found.memories.items():
        for values in (kind.read, kind.write, kind.latency):
            _check(values, f"{where}.{name}")
    for name, host in found.hosts.items():
        for values in (host.gigabytes, host.launch):
            _check(values, f"{where}.{name}")
    return found


def _check(values: Range, where: str) -> None:
    if not 0 < values[0] <= values[1] <= values[2]:
        raise fault(where, f"has {values}, which is no range above 0")


def memory_kind(name: str) -> MemoryKind:
    """The kind of memory of that name: ``hbm2``, ``ddr4``, ``zynq7``, ``zynqmp``."""
    return _kinds().memories[name]


def host(flow: str) -> Host:
    """What starts a kernel under a flow of `backends.deploy.boards`."""
    return _kinds().hosts[flow]
