"""C++ types of the data types, and literals that read back exactly."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from fractions import Fraction
from typing import assert_never

from dsl.errors.errors import IRError
from dsl.expressions.types import DType, FixedType, FloatType, IndexType, IntType, Overflow, Quant
from mlir_passes.dialect.attributes import ArrayInfo
from mlir_passes.emit.cpp import Cpp, call, name, negative_literal


def no_form(what: str, why: str = "", place: str = "") -> IRError:
    """W320: an op or a type that C++ has no form for."""
    return IRError(
        "W320",
        f"{what} has no form in C++" + (f": {why}" if why else ""),
        notes=[f"in {place}"] if place else [],
        help="docs/level3.md says what can be emitted",
    )


_FLOATS = {"f16": "half", "bf16": "weft::bf16", "f32": "float", "f64": "double"}
_DEFAULT_AP_WIDTH = 1024  # AP_INT_MAX_W of the headers


@dataclass(slots=True)
class Needs:
    """What the text needs from outside: filled in while it is made."""

    headers: set[str] = field(default_factory=set)
    width: int = 0

    @property
    def ap_limit(self) -> int | None:
        """The ``AP_INT_MAX_W`` to define, None where the headers' own is enough."""
        return -(-self.width // 1024) * 1024 if self.width > _DEFAULT_AP_WIDTH else None

    def type(self, dtype: DType) -> str:
        """The C++ type's name; its header is needed from now on."""
        match dtype:
            case IntType(width, signed):
                self.headers.add("<ap_int.h>")
                self.width = max(self.width, width)
                return f"ap_{'' if signed else 'u'}int<{width}>"
            case FixedType(width, integer, signed, quant, overflow):
                self.headers.add("<ap_fixed.h>")
                self.width = max(self.width, width)
                modes = ""
                if overflow is not Overflow.WRAP:
                    modes = f", AP_{quant.name}, AP_{overflow.name}"
                elif quant is not Quant.TRN:
                    modes = f", AP_{quant.name}"
                return f"ap_{'' if signed else 'u'}fixed<{width}, {integer}{modes}>"
            case FloatType(text):
                if text in ("f16", "bf16"):
                    self.headers.add("weft_float.h")
                return _FLOATS[text]
            case IndexType():
                return "int"
        assert_never(dtype)

    def element(self, info: ArrayInfo) -> str:
        """That of what an array consists of: elements, or words of a packed argument."""
        element = self.type(info.dtype)
        if not info.axi.lanes:
            return element
        self.headers.add("weft_word.h")
        return f"weft::word<{element}, {info.axi.lanes}>"

    def zero(self, dtype: DType) -> str:
        """No number of that type."""
        if isinstance(dtype, FloatType):
            return self.real(0.0, dtype.name).text
        return f"{self.type(dtype)}(0)"

    def real(self, value: float, dtype: str) -> Cpp:
        """A float constant of the type named ``f16``, ``bf16``, ``f32`` or ``f64``."""
        special = ""
        if math.isnan(value):
            special = "NAN"
        elif math.isinf(value):
            special = "INFINITY"
        if special:
            self.headers.add("<cmath>")
        text = special or _digits(abs(value), dtype)
        negative = math.copysign(1.0, value) < 0 and not math.isnan(value)
        literal = negative_literal(text) if negative else name(text)
        if dtype in ("f16", "bf16"):
            return call(self.type(FloatType("bf16" if dtype == "bf16" else "f16")), literal)
        return literal


def _digits(value: float, dtype: str) -> str:
    """The shortest decimal that reads back as the value, with a point or an exponent."""
    if dtype == "f64":
        text = repr(value)
    else:
        text = next(
            t for t in (f"{value:.{digits}g}" for digits in range(1, 18)) if _reads_back(t, value)
        )
    mantissa, _, exponent = text.partition("e")
    if exponent:
        text = f"{mantissa}e{int(exponent)}"
    elif "." not in text:
        text += ".0"
    return text if dtype == "f64" else f"{text}f"


def _reads_back(text: str, value: float) -> bool:
    """Whether a compiler reads the decimal as this f32: it lies nearer to it than to the next."""
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    exact, read = Fraction(value), Fraction(text)
    if read == exact:
        return True
    neighbours = [_f32(bits + 1)] if bits == 0 else [_f32(bits - 1), _f32(bits + 1)]
    return all(abs(read - exact) < abs(n - exact) / 2 for n in neighbours)


def _f32(bits: int) -> Fraction:
    if bits >= 0x7F800000:  # past the largest number lies what would be the next one
        return Fraction(2) ** 128
    return Fraction(struct.unpack("<f", struct.pack("<I", bits))[0])


def dyadic_decimal(value: Fraction) -> str | None:
    """A double literal that is exactly the value, None where no double is."""
    try:
        as_double = value.numerator / value.denominator
    except OverflowError:
        return None
    if Fraction(as_double) != value:
        return None
    return _digits(abs(as_double), "f64")
