"""How long the operations of a block take: what scheduling asks of the operator library.

Times inside of a cycle are in ns from the clock edge. An operation of latency 0 is combinational
and chains with others as long as they fit in the period; one with latency takes its operands
``delay_in`` before an edge and has its result ``delay_out`` after one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from backends.rtl.graph import FLOATS, Block, Graph, Kind, Memory, Op
from backends.rtl.operators.library import Key, Spec

ANYTIME = frozenset({Kind.CONST, Kind.INPUT, Kind.INDEX, Kind.HOLDS})
"""What has no cycle: it is there whenever an iteration needs it."""

FLOAT_BITS = 32

_BY_CONSTANT = frozenset({Kind.MUL, Kind.DIV, Kind.FLOORDIV, Kind.REM})
"""What has cheaper hardware where an operand is a constant."""

SpecOf = Callable[[Key], Spec]


@dataclass(frozen=True, slots=True)
class Timed:
    """Latency in cycles and delays in ns; see `backends.rtl.operators.library.Spec`."""

    latency: int = 0
    delay_in: float = 0.0
    delay_out: float = 0.0


@dataclass(frozen=True, slots=True)
class Fabric:
    """Delays in ns of what is no operator, and the cycles that a RAM takes to read.

    Attributes:
        read_latency: 1, or 2 with an output register.
        address: from a register through the logic of an address to the pins of a RAM, set up.
        ram_out: from the clock edge to the data of a block RAM without output register, and on
            (DP16KD: 5.83 ns after routing, of which ``margin`` covers what a register has as well).
        write: from a value through the multiplexer of a port to the pins of a RAM, set up.
        choose: through a multiplexer of as many inputs as a LUT has select lines.
        logic: of one conjunction of comparisons of counters.
        margin: of every cycle, for clock-to-output, set-up and skew.
        share: through the multiplexer in front of an operator that several operations share.
    """

    read_latency: int = 1
    address: float = 2.0
    ram_out: float = 6.0
    write: float = 1.0
    choose: float = 1.0
    logic: float = 2.0
    margin: float = 1.0
    share: float = 2.0


def key_of(block: Block, op: Op) -> Key:
    """What the operator library knows an operation by."""
    if op.kind in FLOATS or op.kind is Kind.FROM_FLOAT:
        operands = tuple((FLOAT_BITS, False) for _ in op.operands)
    else:
        operands = tuple((block.ops[use.op].width, use.signed) for use in op.operands)
    constants: tuple[int | None, ...] = ()
    made = [block.ops[use.op] for use in op.operands]
    if op.kind in _BY_CONSTANT and any(o.kind is Kind.CONST for o in made):
        constants = tuple(o.value if o.kind is Kind.CONST else None for o in made)
    return Key(op.kind, op.width, operands, op.fixed, constants)


def is_wire(block: Block, op: Op) -> bool:
    """Whether an operation costs neither time nor logic."""
    if op.kind is Kind.RESIZE:
        return True
    shifts = op.kind in (Kind.SHL, Kind.SHR)
    return shifts and block.ops[op.operands[1].op].kind is Kind.CONST


def timed(graph: Graph, block: Block, op: Op, fabric: Fabric, spec: SpecOf) -> Timed:
    """The timing of one operation."""
    match op.kind:
        case Kind.CONST | Kind.INPUT:
            return Timed()
        case Kind.INDEX | Kind.HOLDS:
            return Timed(0, fabric.logic, 0.0)
        case Kind.LOAD:
            return _load(graph, op, fabric)
        case Kind.STORE:
            return Timed(0, fabric.write, 0.0)
    if is_wire(block, op):
        return Timed()
    found = spec(key_of(block, op))
    return Timed(found.latency, found.delay_in_ns, found.delay_out_ns)


WORTH_SHARING = 150
"""Tables that an operator takes, a multiplier counting as so many, for which a multiplexer in front
of it is no waste."""


def in_shared_unit(own: Timed, fabric: Fabric) -> Timed:
    """The timing of an operation whose operands are chosen into registers of a shared operator."""
    return Timed(own.latency + 1, fabric.share, own.delay_out)


def worth_sharing(spec: Spec) -> bool:
    """Whether operations should share an operator where they can."""
    return spec.latency > 0 and spec.lut + spec.dsp * WORTH_SHARING >= WORTH_SHARING


def _load(graph: Graph, op: Op, fabric: Fabric) -> Timed:
    place = op.place
    assert place is not None
    array = graph.array(place.array)
    levels = 0 if place.bank is not None else max(1, -(-(array.banks - 1).bit_length() // 2))
    chosen = levels * fabric.choose
    if array.memory is Memory.REGISTERS:
        return Timed(0, chosen, 0.0)
    if array.memory is Memory.LUTRAM:  # a table, then a register
        return Timed(fabric.read_latency, fabric.address + fabric.choose, chosen)
    out = fabric.ram_out if fabric.read_latency == 1 else 0.0
    return Timed(fabric.read_latency, fabric.address, out + chosen)
