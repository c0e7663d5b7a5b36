"""A module as bits: functions of bits between registers, adders, multipliers, memories, instances."""

from __future__ import annotations

from dataclasses import dataclass, field

from backends.rtl.area.net import Net
from backends.rtl.ir.module import Memory, Module

Bits = list[int]
"""Literals, the lowest bit first."""


@dataclass(frozen=True, slots=True, eq=False)
class Adder:
    """A sum or difference on a carry chain, all of one width."""

    lhs: Bits
    rhs: Bits
    subtract: bool
    total: Bits


@dataclass(frozen=True, slots=True, eq=False)
class Comparator:
    """A carry chain of which only the end counts: ``lhs < rhs``, or ``<=`` where ``equal``."""

    lhs: Bits
    rhs: Bits
    signed: bool
    equal: bool
    result: int


@dataclass(frozen=True, slots=True, eq=False)
class Multiplier:
    """A product; ``signed`` says of either operand whether its top bit is a sign."""

    lhs: Bits
    rhs: Bits
    signed: tuple[bool, bool]
    product: Bits


@dataclass(frozen=True, slots=True, eq=False)
class Port:
    """A port of a memory: ``word`` is what is read, of a port that writes nothing."""

    memory: Memory
    inputs: Bits
    word: Bits
    clocked: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """An instance, its ports in their module's order; ``fixed`` are bits of inputs that are constant."""

    module: Module
    inputs: Bits
    outputs: Bits
    fixed: Fixed


Fixed = tuple[tuple[str, tuple[int | None, ...] | str], ...]
"""What is known of input ports: their bits, 0, 1 or None, the lowest first; or an earlier port that
has the same bits.
"""

Dropped = frozenset[int]
"""Positions among the bits of a module's output ports: those that nothing needs where it is used."""


@dataclass(frozen=True, slots=True, eq=False)
class Flop:
    """A bit of a register; ``reset`` (0: never) makes it a constant, whether it is enabled or not."""

    next: int
    enable: int
    out: int
    reset: int = 0


Hard = Adder | Comparator | Multiplier | Port | Part | Flop
"""What no table of inputs is."""


@dataclass(slots=True)
class Netlist:
    """All of a module; ``inputs`` and ``outputs`` are the literals of its ports, in their order."""

    net: Net = field(default_factory=Net)
    hard: list[Hard] = field(default_factory=list)
    inputs: Bits = field(default_factory=list)
    outputs: Bits = field(default_factory=list)


def inputs_of(hard: Hard) -> Bits:
    """The literals that it takes."""
    match hard:
        case Adder() | Comparator() | Multiplier():
            return hard.lhs + hard.rhs
        case Port() | Part():
            return hard.inputs
        case Flop():
            return [hard.next, hard.enable, hard.reset]


def outputs_of(hard: Hard) -> Bits:
    """The literals that it makes."""
    match hard:
        case Adder():
            return hard.total
        case Comparator():
            return [hard.result]
        case Multiplier():
            return hard.product
        case Port():
            return hard.word
        case Part():
            return hard.outputs
        case Flop():
            return [hard.out]
