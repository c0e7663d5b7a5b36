"""What an argument in memory outside is behind."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Port:
    """What an argument in memory outside is behind.

    Attributes:
        bundle: arguments of one share a port.
        width: bits of the data bus.
        latency: states in which it is taken to answer; -1: as the tool does.
        lanes: elements of a word of a packed argument; 0: it is accessed by elements.
        reads: the bundle of a second pointer, through which it is read.
        also: those of further pointers, which `qor_gnn.design.spread` makes memories of, each with its array in ``of``.
        burst: beats of its longest burst; 0: as the tool does.
        outstanding: requests that may be on their way; 0: as the tool does.
        bank: what it is connected to outside; ``""`` where nothing is said.
        pace: cycles from a word to the next that memory passes, when it is read and when it is written: 1 in the
            view of the tool, in which memory is always ready.
        stall: cycles that a word waits beside that, whatever the interval of its loop.
    """

    bundle: str
    width: int
    latency: int = -1
    lanes: int = 0
    reads: str = ""
    burst: int = 0
    outstanding: int = 0
    bank: str = ""
    pace: tuple[float, float] = (1.0, 1.0)
    stall: float = 0.0
    also: tuple[str, ...] = ()
    of: str = ""
