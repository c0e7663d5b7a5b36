"""Fixed-point operations of the ``hls`` dialect as integer arithmetic: `dsl.expressions.numeric` on `Val`s."""

from __future__ import annotations

from typing import assert_never

from backends.rtl.front.values.builder import Builder
from backends.rtl.front.values.val import Val, constant, signed_range
from backends.rtl.graph import Kind
from dsl.expressions.numeric import division_width
from dsl.expressions.types import FixedType, Overflow, Quant


def cast(b: Builder, x: Val, src: FixedType, dst: FixedType) -> Val:
    """``hls.fixed_cast``: quantise to the fraction of ``dst``, then handle overflow."""
    x = b.signed(x, src.width) if src.signed else b.unsigned(x, src.width)
    drop = src.frac - dst.frac
    if drop <= 0:
        # More zeros than dst has bits leave nothing but that it overflows.
        return _limit(b, b.shl_const(x, min(-drop, dst.width + 1)), dst)
    drop = min(drop, x.width + 2)  # what is dropped is less than a half anyway
    floor = b.shr(x, constant(drop))
    up = _rounds_up(b, x, floor, drop, dst.quant)
    return _limit(b, floor if up is None else b.add(floor, up), dst)


def _rounds_up(b: Builder, x: Val, floor: Val, drop: int, mode: Quant) -> Val | None:
    """One bit: the quotient is the floor plus one; None: never."""
    if mode is Quant.TRN:
        return None
    half = 1 << (drop - 1)
    rest = b.bitwise(Kind.AND, x, constant((1 << drop) - 1), max(x.width, drop + 1))
    negative = b.compare(Kind.LT, x, constant(0))
    if mode is Quant.TRN_ZERO:
        return _both(b, negative, b.compare(Kind.NE, rest, constant(0)))
    if mode is Quant.RND:
        return b.compare(Kind.LE, constant(half), rest)
    more = b.compare(Kind.LT, constant(half), rest)
    tie = b.compare(Kind.EQ, rest, constant(half))
    match mode:
        case Quant.RND_ZERO:
            return _either(b, more, _both(b, tie, negative))
        case Quant.RND_INF:
            return _either(b, more, _both(b, tie, b.bitwise(Kind.XOR, negative, constant(1), 1)))
        case Quant.RND_MIN_INF:
            return more
        case Quant.RND_CONV:
            return _either(b, more, _both(b, tie, b.unsigned(floor, 1)))
        case _:
            assert_never(mode)


def _both(b: Builder, x: Val, y: Val) -> Val:
    return b.bitwise(Kind.AND, x, y, 1)


def _either(b: Builder, x: Val, y: Val) -> Val:
    return b.bitwise(Kind.OR, x, y, 1)


def _limit(b: Builder, x: Val, dst: FixedType) -> Val:
    """A number brought into the range of ``dst`` by its overflow mode."""
    low, high = signed_range(dst.width) if dst.signed else (0, (1 << dst.width) - 1)
    if dst.overflow is Overflow.WRAP:
        return b.signed(x, dst.width) if dst.signed else b.unsigned(x, dst.width)
    if dst.overflow is Overflow.SAT_SYM and dst.signed:
        low |= 1
    if low <= x.low and x.high <= high:
        return x
    below = b.compare(Kind.LT, x, constant(low))
    above = b.compare(Kind.LT, constant(high), x)
    inside = _clipped(b, x, low, high)
    if dst.overflow is Overflow.SAT_ZERO:
        return b.select(_either(b, below, above), constant(0), inside)
    return b.select(below, constant(low), b.select(above, constant(high), inside))


def _clipped(b: Builder, x: Val, low: int, high: int) -> Val:
    """``x`` where it is known to be in ``low..high``: its low bits say all."""
    if low <= x.low and x.high <= high:
        return x
    if low < 0:
        return b.signed(x, max((~low).bit_length(), high.bit_length()) + 1)
    return b.unsigned(x, max(1, high.bit_length()))


def divide(b: Builder, x: Val, lhs: FixedType, y: Val, rhs: FixedType, dst: FixedType) -> Val:
    """``hls.fixed_div``: the quotient truncated towards zero to the fraction of ``dst``.

    A signed quotient has the bits that ``ap_fixed`` divides in (see `division_width`).
    """
    up = dst.frac + rhs.frac - lhs.frac
    x = b.signed(x, lhs.width) if lhs.signed else b.unsigned(x, lhs.width)
    y = b.signed(y, rhs.width) if rhs.signed else b.unsigned(y, rhs.width)
    x, y = b.shl_const(x, max(up, 0)), b.shl_const(y, max(-up, 0))
    quotient = b.divide(Kind.DIV, x, y, max(x.width, y.width) + 2)
    if lhs.signed or rhs.signed:
        quotient = b.signed(quotient, division_width(lhs, rhs))
    return quotient
