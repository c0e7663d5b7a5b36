"""Fixed-point ops of the ``hls`` dialect as plain integer arithmetic: `dsl.expressions.numeric` in MLIR."""

from __future__ import annotations

from typing import Any, assert_never

from dsl.expressions.numeric import division_width
from dsl.expressions.types import FixedType, FloatType, Overflow, Quant
from mlir_passes.cpu.bits import Bits, build
from mlir_passes.cpu.float_bits import decode, encode, format_of
from mlir_passes.dialect.element_types import mlir_type


def cast(x: Bits, src: FixedType, dst: FixedType) -> Bits:
    """``hls.fixed_cast``: quantise to the fraction of ``dst``, then handle overflow."""
    return requantize(x.resize(x.width + 1, src.signed), src.frac - dst.frac, dst)


def requantize(x: Bits, drop: int, dst: FixedType) -> Bits:
    """The raw of ``dst`` for the value ``x / 2**drop`` of a signed ``x``, in units of its last bit.

    Shifts beyond what can matter are cut short: dropping more bits than ``x`` has leaves less than
    a half, and more zeros than ``dst`` has bits leave nothing of ``x`` but that it overflows.
    """
    if drop <= 0:
        up = min(-drop, dst.width + 1)
        return _limit(x.resize(x.width + up, signed=True) << up, dst)
    drop = min(drop, x.width + 2)
    wide = x.resize(max(x.width, drop) + 2, signed=True)
    floor = wide.shift_signed(drop)
    rest = wide & ((1 << drop) - 1)
    round_up = _rounds_up(wide, floor, rest, 1 << (drop - 1), dst.quant)
    return _limit(floor if round_up is None else floor + round_up.resize(floor.width), dst)


def _rounds_up(x: Bits, floor: Bits, rest: Bits, half: int, mode: Quant) -> Bits | None:
    """One bit: the quotient is the floor plus one; None: never."""
    more = rest.greater_unsigned(half)
    match mode:
        case Quant.TRN:
            return None
        case Quant.TRN_ZERO:
            return x.less_signed(0) & rest.differs(0)
        case Quant.RND:
            return more | rest.equals(half)
        case Quant.RND_ZERO:
            return more | (rest.equals(half) & x.less_signed(0))
        case Quant.RND_INF:
            return more | (rest.equals(half) & ~x.less_signed(0))
        case Quant.RND_MIN_INF:
            return more
        case Quant.RND_CONV:
            return more | (rest.equals(half) & floor.resize(1))
        case _:
            assert_never(mode)


def _limit(x: Bits, dst: FixedType) -> Bits:
    """A signed number brought into the range of ``dst`` by its overflow mode."""
    if dst.overflow is Overflow.WRAP:
        return x.resize(dst.width, signed=True)
    low, high = (
        (-(1 << (dst.width - 1)), (1 << (dst.width - 1)) - 1)
        if dst.signed
        else (
            0,
            (1 << dst.width) - 1,
        )
    )
    if dst.overflow is Overflow.SAT_SYM and dst.signed:
        low |= 1
    wide = x.resize(max(x.width, dst.width + 1), signed=True)
    if dst.overflow is not Overflow.SAT_ZERO:
        return wide.clamp_signed(low, high).resize(dst.width)
    outside = wide.less_signed(low) | wide.greater_signed(high)
    return outside.choose(Bits.constant(0, wide.width), wide).resize(dst.width)


def from_float(value: Any, source: FloatType, dst: FixedType) -> Bits:
    """``hls.fixed_from_float`` of a finite float: its exact value quantised, then overflow."""
    precision = format_of(source).precision
    parts = decode(value, source)
    # In units of 2**-spare of the last bit of dst. Smaller numbers than that are less than a half
    # however small, larger ones than dst can hold overflow however large.
    spare = precision + 2
    shift = (parts.exponent + dst.frac).clamp_signed(-spare, dst.width + 1) + spare
    width = precision + dst.width + 1 + spare + 1
    magnitude = parts.significand.resize(width) << shift.resize(width)
    return requantize(parts.sign.choose(-magnitude, magnitude), spare, dst)


def to_float(x: Bits, src: FixedType, target: FloatType) -> Any:
    """``hls.fixed_to_float``: the nearest float, ties to even."""
    zero = Bits.constant(0, 1)
    sign = x.less_signed(0) if src.signed else zero
    magnitude = sign.choose(-x, x) if src.signed else x
    bits = encode(sign, magnitude, Bits.constant(-src.frac, 32), target)
    return build("arith.bitcast", [bits.value], mlir_type(target))


def divide(a: Bits, lhs: FixedType, b: Bits, rhs: FixedType, dst: FixedType) -> Bits:
    """``hls.fixed_div``: the quotient truncated towards zero to the fraction of ``dst``.

    A signed quotient has the bits that ``ap_fixed`` divides in (see `division_width`).
    """
    up = dst.frac + rhs.frac - lhs.frac
    width = max(a.width + max(up, 0), b.width + max(-up, 0)) + 2
    numerator = a.resize(width, lhs.signed) << max(up, 0)
    denominator = b.resize(width, rhs.signed) << max(-up, 0)
    quotient = numerator.divide_signed(denominator)
    if lhs.signed or rhs.signed:
        quotient = quotient.resize(min(division_width(lhs, rhs), width))
    return quotient.resize(dst.width, signed=True)
