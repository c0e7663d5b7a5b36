"""The result of RTL generation: a module, its ports, and the cycles that it takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from backends.rtl.graph import Graph, Memory
from backends.rtl.ir import Module, to_verilog
from backends.rtl.schedule.result import ScheduledGraph


@dataclass(frozen=True, slots=True)
class BankPort:
    """How a bank of an argument is reached: names of ports of the module, None where it has none.

    A RAM bank (`Memory.BRAM`, `Memory.LUTRAM`) lies outside of the module. In a cycle with ``re``
    it takes ``raddr``, and ``rdata`` is the word `RtlDesign.read_latency` cycles later, and stays
    until ``re`` is set again; a write of a cycle with ``we`` is seen by reads of later cycles. A
    bank of `Memory.REGISTERS` has one element, whose value stands at ``rdata`` all the time.

    Attributes:
        array: name of the argument.
        bank: number of the bank (`Array.bank`).
        depth: words.
        width: bits of a word.
        addr_width: bits of ``raddr`` and ``waddr``.
        memory: what it is meant to be made of.
    """

    array: str
    bank: int
    depth: int
    width: int
    addr_width: int
    memory: Memory
    raddr: str | None = None
    re: str | None = None
    rdata: str | None = None
    waddr: str | None = None
    we: str | None = None
    wdata: str | None = None

    @property
    def reads(self) -> bool:
        """The kernel reads it."""
        return self.rdata is not None

    @property
    def writes(self) -> bool:
        """The kernel writes it."""
        return self.we is not None


@dataclass(frozen=True, slots=True)
class ScalarPort:
    """A scalar argument: an input that must not change from start to done."""

    name: str
    port: str
    width: int


@dataclass(frozen=True, slots=True)
class RegionReport:
    """One region that does work, for reports.

    Attributes:
        loops: names of the loops around it and of its own, outermost first.
        kind: ``pipeline`` or ``straight``.
        depth: cycles of one iteration.
        ii: initiation interval; 0 of straight code.
        asked: the interval that was asked for.
        why: what made it longer, else empty.
        operations: number of operations.
    """

    loops: tuple[str, ...]
    kind: str
    depth: int
    ii: int
    asked: int
    why: str
    operations: int


@dataclass(frozen=True)
class RtlDesign:
    """A kernel as RTL.

    Ports besides those of banks and scalars: ``clk``; ``rst``, synchronous, for at least one
    cycle before the first start; ``start``, looked at while the kernel is idle, for a cycle or
    held until ``done``; ``done``, high for one cycle. With ``start`` first high in cycle 0,
    ``done`` is high in cycle `cycles`; by then every write has been made. The next start may be
    in the cycle after.

    Attributes:
        name: of the kernel.
        top: the module.
        graph: what it computes, counters normalised.
        scheduled: with cycles.
        banks: ports of arrays.
        scalars: ports of scalars.
        cycles: from start to done, exact.
        read_latency: of all RAM.
        regions: what was scheduled.
        begins: names of regions, and the output that is high in the cycle before one of them starts.
    """

    name: str
    top: Module
    graph: Graph
    scheduled: ScheduledGraph
    banks: tuple[BankPort, ...]
    scalars: tuple[ScalarPort, ...]
    cycles: int
    read_latency: int
    regions: tuple[RegionReport, ...]
    start: str = "start"
    done: str = "done"
    begins: tuple[tuple[str, str], ...] = ()

    @cached_property
    def verilog(self) -> str:
        """Verilog-2005 of the module and all it uses."""
        return to_verilog(self.top)

    def banks_of(self, array: str) -> Iterator[BankPort]:
        """The ports of one argument, in the order of its banks."""
        return (port for port in self.banks if port.array == array)
