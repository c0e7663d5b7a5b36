"""A module: ports, wires, registers, memories and instances. `build.ModuleBuilder` makes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from backends.rtl.ir.expr import Expr
from backends.rtl.ir.nodes import Ref


class Style(Enum):
    """What a memory is made of, in the word that Yosys' ``ram_style`` has for it."""

    BLOCK = "block"
    DISTRIBUTED = "distributed"
    REGISTERS = "registers"


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """``depth`` words; ``init`` are the first of them at power-up (of a ROM: all)."""

    name: str
    width: int
    depth: int
    style: Style = Style.BLOCK
    init: tuple[int, ...] = ()

    @property
    def addr_width(self) -> int:
        """Bits of an address, at least 1."""
        return max(1, (self.depth - 1).bit_length())


@dataclass(frozen=True, slots=True, eq=False)
class Wire:
    """A named expression; of an output, the port and what drives it."""

    ref: Ref
    expr: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Reg:
    """Takes ``next`` at each clock edge where ``enable`` holds; ``reset`` goes before both."""

    ref: Ref
    next: Expr
    enable: Expr | None = None
    reset: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """A word of a memory: one cycle after its address (``clocked``), or at once.

    A clocked read without ``enable`` keeps its last word. In the cycle of a write of the same
    address, a clocked read gives anything.
    """

    ref: Ref
    memory: Memory
    addr: Expr
    enable: Expr | None = None
    clocked: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Write:
    """Writes a word at the clock edge where ``enable`` holds."""

    memory: Memory
    addr: Expr
    data: Expr
    enable: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """A module used in another; ``clk`` and ``rst`` are connected where it has them."""

    name: str
    module: Module
    inputs: tuple[tuple[str, Expr], ...]
    outputs: tuple[tuple[str, Ref], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """A checked module without anything that no output needs.

    ``wires`` come in an order in which each uses only earlier ones (of the outputs of instances:
    those that follow at once from earlier ones). ``paths`` names for every output the inputs that
    it follows within the cycle.
    """

    name: str
    inputs: tuple[Ref, ...]
    outputs: tuple[Wire, ...]
    wires: tuple[Wire, ...] = ()
    regs: tuple[Reg, ...] = ()
    memories: tuple[Memory, ...] = ()
    reads: tuple[Read, ...] = ()
    writes: tuple[Write, ...] = ()
    instances: tuple[Instance, ...] = ()
    paths: tuple[tuple[str, frozenset[str]], ...] = field(default=(), repr=False)

    @property
    def clocked(self) -> bool:
        """It has a port ``clk``."""
        reads = any(r.clocked for r in self.reads)
        inner = any(i.module.clocked for i in self.instances)
        return bool(self.regs or self.writes) or reads or inner

    @property
    def resets(self) -> bool:
        """It has a port ``rst``."""
        own = any(r.reset is not None for r in self.regs)
        return own or any(i.module.resets for i in self.instances)

    def roots(self) -> Iterator[Expr]:
        """Every expression that stands in it."""
        for w in (*self.wires, *self.outputs):
            yield w.expr
        for r in self.regs:
            yield from _present(r.next, r.enable)
        for read in self.reads:
            yield from _present(read.addr, read.enable)
        for write in self.writes:
            yield from (write.addr, write.data, write.enable)
        for i in self.instances:
            yield from (e for _, e in i.inputs)

    def enables(self) -> Iterator[Expr]:
        """Every expression that says whether something happens."""
        yield from _present(*(r.enable for r in self.regs), *(r.enable for r in self.reads))
        yield from (w.enable for w in self.writes)


def _present(*parts: Expr | None) -> Iterator[Expr]:
    return (p for p in parts if p is not None)
