"""Memory outside: what a loop waits for it, and the adapters of its ports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Adapter:
    """What the adapter of a port takes."""

    bram18: int
    lut: int
    ff: int


@dataclass(frozen=True, slots=True)
class Outside:
    """Arguments behind ``m_axi`` ports, in the view of the tool: memory is always ready.

    Attributes:
        latency: states in which a port is taken to answer where nothing is asked for.
        read: states besides that of a loop that reads, from its request to its first iteration.
        write: the same of one that writes, from its last iteration to the response.
        adapters: by bits of the data bus.
    """

    latency: int
    read: int
    write: int
    adapters: Mapping[str, Adapter] = field(hash=False)
