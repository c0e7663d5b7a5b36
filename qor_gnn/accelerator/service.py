"""A design whose memory outside is not always ready: its ports with the latency and the rates of a real one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from qor_gnn.design.port import Port
from qor_gnn.design.region import Kernel, Memory


@dataclass(frozen=True, slots=True)
class Service:
    """How memory serves a port.

    Attributes:
        latency: cycles from a request to its first word; -1: as the port has it.
        read: cycles from a word that is read to the next; at least 1.
        write: the same of words that are written.
        stall: cycles that a word waits beside that.
    """

    latency: int = -1
    read: float = 1.0
    write: float = 1.0
    stall: float = 0.0


def served(kernel: Kernel, service: Callable[[Memory, Port], Service]) -> Kernel:
    """The design with memory outside that serves each array as is said."""
    memories = tuple(
        memory if memory.port is None else _served(memory, memory.port, service)
        for memory in kernel.memories
    )
    return replace(kernel, memories=memories)


def _served(memory: Memory, port: Port, service: Callable[[Memory, Port], Service]) -> Memory:
    by = service(memory, port)
    latency = port.latency if by.latency < 0 else by.latency
    pace = max(1.0, by.read), max(1.0, by.write)
    return replace(memory, port=replace(port, latency=latency, pace=pace, stall=by.stall))
