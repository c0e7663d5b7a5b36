"""Floats taken apart and put together in integers: conversions with one rounding, of any width."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dsl.expressions.types import FloatType
from mlir_passes.cpu.bits import Bits, build, integer

_EXPONENT_WIDTH = 32  # the width that exponents are computed in


@dataclass(frozen=True, slots=True)
class Format:
    """An IEEE 754 interchange format: a significand of ``precision`` bits in ``width`` bits."""

    width: int
    precision: int

    @property
    def stored(self) -> int:
        """Significand bits that are stored: all but the leading one."""
        return self.precision - 1

    @property
    def exponent_mask(self) -> int:
        """The biased exponent of infinities."""
        return (1 << (self.width - self.precision)) - 1

    @property
    def bias(self) -> int:
        """What is added to an exponent."""
        return self.exponent_mask >> 1


_FORMATS = {
    "f16": Format(16, 11),
    "bf16": Format(16, 8),
    "f32": Format(32, 24),
    "f64": Format(64, 53),
}


def format_of(dtype: FloatType) -> Format:
    """The format of a float type of the language."""
    return _FORMATS[dtype.name]


@dataclass(frozen=True, slots=True)
class Decoded:
    """A float as ``significand * 2**exponent`` with its sign (1 bit).

    ``special`` is one bit: an infinity or a NaN, whose significand is not 0 for a NaN.
    """

    sign: Bits
    significand: Bits
    exponent: Bits
    special: Bits
    payload: Bits


def decode(value: Any, dtype: FloatType) -> Decoded:
    """Take a float apart; exact for all finite numbers, subnormal ones included."""
    fmt = format_of(dtype)
    bits = Bits(build("arith.bitcast", [value], integer(fmt.width)), fmt.width)
    field = bits.shift_unsigned(fmt.stored) & fmt.exponent_mask
    payload = bits & ((1 << fmt.stored) - 1)
    normal = field.differs(0)
    leading = normal.resize(fmt.width) << fmt.stored
    exponent = (field + normal.equals(0).resize(fmt.width)).resize(_EXPONENT_WIDTH)
    return Decoded(
        sign=bits.shift_unsigned(fmt.width - 1).resize(1),
        significand=(payload | leading).resize(fmt.precision),
        exponent=exponent - (fmt.bias + fmt.stored),
        special=field.equals(fmt.exponent_mask),
        payload=payload,
    )


def encode(sign: Bits, magnitude: Bits, exponent: Bits, dtype: FloatType) -> Bits:
    """The bits of ``±magnitude * 2**exponent`` rounded to nearest, ties to even.

    Too large is infinite, too small subnormal or zero. ``magnitude`` is unsigned, ``exponent`` of
    32 bits.
    """
    fmt = format_of(dtype)
    digits = max(magnitude.width, fmt.precision + 1)
    width = digits + 2
    wide = magnitude.resize(width)
    zeros = wide.leading_zeros()
    # The highest bit is moved to digits - 1; at least one bit is dropped below the significand.
    normed = wide << (zeros - 2)
    top = Bits.constant(width - 1, _EXPONENT_WIDTH) - zeros.resize(_EXPONENT_WIDTH)
    biased = exponent + top + fmt.bias
    below = (Bits.constant(1, _EXPONENT_WIDTH) - biased).clamp_signed(0, fmt.precision + 1)
    drop = (below + (digits - fmt.precision)).resize(width)
    kept = normed.shift_unsigned(drop)
    rest = normed - (kept << drop)
    half = Bits.constant(1, width) << (drop - 1)
    tie_up = rest.equals(half) & (kept & 1).resize(1)
    up = rest.greater_unsigned(half) | tie_up
    rounded = (kept + up.resize(width)).resize(max(width, fmt.width)).resize(fmt.width)
    # A significand that reached the next power of two carries into the exponent by itself.
    field = (biased - 1).clamp_signed(0, fmt.exponent_mask - 1).resize(fmt.width)
    bits = (field << fmt.stored) + rounded
    infinity = Bits.constant(fmt.exponent_mask << fmt.stored, fmt.width)
    bits = bits.greater_unsigned(infinity).choose(infinity, bits)
    bits = magnitude.equals(0).choose(Bits.constant(0, fmt.width), bits)
    return bits | (sign.resize(fmt.width) << (fmt.width - 1))


def narrow(value: Any, source: FloatType, target: FloatType) -> Bits:
    """The bits of a float rounded once to a narrower type; a NaN stays one."""
    parts = decode(value, source)
    fmt = format_of(target)
    finite = encode(parts.sign, parts.significand, parts.exponent, target)
    infinity = Bits.constant(fmt.exponent_mask << fmt.stored, fmt.width)
    quiet = Bits.constant(1 << (fmt.stored - 1), fmt.width)
    unusual = parts.payload.differs(0).choose(infinity | quiet, infinity)
    signed = unusual | (parts.sign.resize(fmt.width) << (fmt.width - 1))
    return parts.special.choose(signed, finite)
