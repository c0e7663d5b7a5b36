"""The operator library: how long an operation takes, and its hardware.

`spec` chooses a number of pipeline stages for a clock period by what was measured (`measured`), and
`instantiate` makes the hardware: an expression where it takes no cycle, else an instance of a
module that takes new operands every cycle.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache

from backends.rtl.graph import FLOATS, Kind
from backends.rtl.ir import Expr, Module, ModuleBuilder, Ref, lit, mux
from backends.rtl.operators import integers
from backends.rtl.operators.constants import divide_by, remainder_by, times, value_of
from backends.rtl.operators.delays import dsps, luts
from backends.rtl.operators.floats import float_operator
from backends.rtl.operators.integers import Operand
from backends.rtl.operators.measured import OVERHEAD, Scale, scale_of
from backends.rtl.operators.pipeline import (
    Network,
    Plan,
    critical,
    network,
    pipelined,
    plan,
    registers,
    stages_for,
)
from dsl.expressions.types import FixedType

MARGIN = OVERHEAD
"""ns of a period that no operator may use: from the clock to a register's output, and set-up."""

DEEPEST = 160
"""Stages at most: beyond, a longer cycle is taken."""


@dataclass(frozen=True, slots=True)
class Key:
    """An operation: ``operands`` are widths and whether they are signed.

    ``width`` is that of the result. ``fixed`` is the type of `Kind.TO_FLOAT` and `Kind.FROM_FLOAT`.
    ``constants`` may say which operands are always the same: the raw bits, None for the others.
    """

    kind: Kind
    width: int
    operands: tuple[tuple[int, bool], ...]
    fixed: FixedType | None = None
    constants: tuple[int | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Spec:
    """Time and cost of an operation in cycles, ns and cells of an ECP5.

    With ``latency`` 0 it is combinational and ``delay_in_ns`` is all of it. Else ``delay_in_ns`` is
    from the operands to the first register, ``delay_out_ns`` from the last one to the result. The
    registers' own times (clock to output, set-up) are not in them.
    """

    latency: int
    delay_in_ns: float
    delay_out_ns: float
    lut: int
    ff: int
    dsp: int


@lru_cache(maxsize=4096)
def spec(key: Key, period_ns: float, device: str = "ecp5-85k") -> Spec:
    """The fewest stages with which an operation keeps a clock period.

    Args:
        key: The operation.
        period_ns: Clock period.
        device: Of the measured data; every ECP5 of speed grade 6 is alike, and others are
            scheduled as if they were one.

    Raises:
        ValueError: There is no hardware for the kind.
    """
    del device
    budget = max(period_ns - MARGIN, 0.5)
    whole = at_depth(key, 0)
    if whole.delay_in_ns <= budget:
        return whole
    return at_depth(key, _depth(key, budget / _scale(key, 1).time))


def at_depth(key: Key, depth: int) -> Spec:
    """An operation with a given number of stages, whatever period that keeps."""
    scale, net = _scale(key, depth), _network(key, depth > 0)
    lut = round(sum(luts(e) for e in net.nodes) * scale.lut)
    dsp = sum(dsps(e) for e in net.nodes)
    if depth == 0:
        return Spec(0, critical(net) * scale.time, 0.0, lut, 0, dsp)
    cut = _plan(key, depth)
    return Spec(depth, cut.first * scale.time, 0.0, lut, registers(net, cut), dsp)


def _scale(key: Key, depth: int) -> Scale:
    widest = max((width for width, _ in key.operands), default=key.width)
    return scale_of(key.kind, widest, pipelined=depth > 0)


def model_cost(key: Key, depth: int) -> tuple[float, float]:
    """The longest stage in ns and the LUTs by the model alone, not scaled by measurements."""
    net = _network(key, depth > 0)
    period = _plan(key, depth).period if depth else critical(net)
    return period, sum(luts(e) for e in net.nodes)


def instantiate(
    builder: ModuleBuilder, key: Key, spec: Spec, operands: tuple[Expr, ...], name: str
) -> Expr:
    """The hardware of an operation in a module that is being built.

    Args:
        builder: Of that module.
        key: The operation.
        spec: From `spec`.
        operands: In their own widths.
        name: Of the instance, where there is one.

    Returns:
        The result, ``spec.latency`` cycles after the operands.
    """
    given = tuple((e.width, signed) for e, (_, signed) in zip(operands, key.operands, strict=True))
    if given != key.operands:
        raise ValueError(f"{key.kind.value} of {key.operands}, given {given}")
    if spec.latency == 0:
        return expression(key, operands, split=False)
    module = _module(key, spec.latency)
    inputs = {f"x{i}": e for i, e in enumerate(operands)}
    wanted = {ref.name: inputs[ref.name] for ref in module.inputs}
    return builder.instance(module, name, wanted)["y"]


def expression(key: Key, operands: tuple[Expr, ...], *, split: bool) -> Expr:
    """An operation as one expression; ``split`` breaks long carry chains for a pipeline.

    Raises:
        ValueError: There is no hardware for the kind.
    """
    kind, width = key.kind, key.width
    if kind in FLOATS or kind in (Kind.TO_FLOAT, Kind.FROM_FLOAT):
        return float_operator(kind, operands, key.operands[0][1], key.fixed)
    uses = [Operand(e, signed) for e, (_, signed) in zip(operands, key.operands, strict=True)]
    if kind in _COMPARISONS:
        return _compare(kind, uses[0], uses[1])
    match kind:
        case Kind.ADD | Kind.SUB:
            subtract = kind is Kind.SUB
            return integers.add(uses[0], uses[1], width, subtract=subtract, split=split)
        case Kind.MUL | Kind.DIV | Kind.FLOORDIV | Kind.REM if (
            constant := _by_constant(kind, uses, width)
        ) is not None:
            return constant
        case Kind.MUL:
            return integers.multiply(uses[0], uses[1], width)
        case Kind.DIV | Kind.FLOORDIV:
            return integers.quotient(uses[0], uses[1], width, floor=kind is Kind.FLOORDIV)
        case Kind.REM:
            return integers.remainder(uses[0], uses[1], width)
        case Kind.AND:
            return uses[0].to(width) & uses[1].to(width)
        case Kind.OR:
            return uses[0].to(width) | uses[1].to(width)
        case Kind.XOR:
            return uses[0].to(width) ^ uses[1].to(width)
        case Kind.SHL:
            return integers.shift_left(uses[0], uses[1].bits, width)
        case Kind.SHR:
            return integers.shift_right(uses[0], uses[1].bits, width)
        case Kind.RESIZE:
            return uses[0].to(width)
        case Kind.SELECT:
            return mux(uses[0].bits, uses[1].to(width), uses[2].to(width))
        case _:
            raise ValueError(f"{kind.value} is no operator")


def _by_constant(kind: Kind, uses: list[Operand], width: int) -> Expr | None:
    """A product with a constant, or a division by one; None where there is none."""
    if kind is Kind.MUL and value_of(uses[0]) is not None:
        uses = uses[::-1]
    constant = value_of(uses[1])
    if constant is None:
        return None
    match kind:
        case Kind.MUL:
            return times(uses[0], constant, width)
        case Kind.REM:
            return remainder_by(uses[0], constant, width)
        case _:
            return divide_by(uses[0], constant, width, floor=kind is Kind.FLOORDIV)


_COMPARISONS = frozenset({Kind.EQ, Kind.NE, Kind.LT, Kind.LE})


def _compare(kind: Kind, a: Operand, b: Operand) -> Expr:
    x, y, signed = integers.common(a, b)
    match kind:
        case Kind.EQ:
            return x.eq(y)
        case Kind.NE:
            return x.ne(y)
        case Kind.LT:
            return x.lt(y, signed=signed)
        case _:
            return x.le(y, signed=signed)


@cache
def _operands(key: Key) -> tuple[Expr, ...]:
    """Ports, and the operands that are constants."""
    constants = key.constants or (None,) * len(key.operands)
    return tuple(
        Ref(f"x{i}", width) if constant is None else lit(constant, width)
        for i, ((width, _), constant) in enumerate(zip(key.operands, constants, strict=True))
    )


@lru_cache(maxsize=2048)
def _output(key: Key, split: bool) -> Expr:
    return expression(key, _operands(key), split=split)


@lru_cache(maxsize=2048)
def _network(key: Key, split: bool) -> Network:
    return network([_output(key, split)])


@lru_cache(maxsize=2048)
def _plan(key: Key, depth: int) -> Plan:
    return plan(_network(key, True), depth)


@lru_cache(maxsize=2048)
def _module(key: Key, depth: int) -> Module:
    parts = [key.kind.value, f"w{key.width}"]
    parts += [f"{'s' if signed else 'u'}{w}" for w, signed in key.operands]
    if key.fixed is not None:
        parts += [str(key.fixed)]
    parts += [f"c{c}" for c in key.constants if c is not None]
    name = "_".join((*parts, f"d{depth}"))
    ports = tuple(e for e in _operands(key) if isinstance(e, Ref))
    return pipelined(name, ports, _output(key, True), _network(key, True), _plan(key, depth))


def _depth(key: Key, period: float) -> int:
    """The fewest stages that keep a period of the model; the deepest where none does."""
    net = _network(key, True)
    return min(DEEPEST, stages_for(net, max(period, *net.delays)))
