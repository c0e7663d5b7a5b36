"""What is known of an integer or fixed-point expression: its C++, its static type, its bounds."""

from __future__ import annotations

from dataclasses import dataclass

from dsl.expressions.numeric import bounds, frac_of
from dsl.expressions.types import FixedType, IndexType, IntType
from mlir_passes.emit.cpp import Cpp


@dataclass(frozen=True, slots=True)
class Bool:
    """The C++ type ``bool``; `dsl.expressions.types.IndexType` stands for ``int``."""


BOOL, INT = Bool(), IndexType()
CType = IntType | FixedType | IndexType | Bool
_INT_LOW, _INT_HIGH = -(2**31), 2**31 - 1


@dataclass(frozen=True, slots=True)
class Exact:
    """A C++ expression and its value times ``2**scale``, an integer from ``low`` to ``high``.

    ``type`` is the expression's static type. ``cpp`` is None for a constant, which is printed as
    its place wants it. ``bare`` is the operand where the expression is a conversion to ``type``.
    ``is_result``: an operator of ``ap_int`` or ``ap_fixed`` makes it, so that its C++ type is
    ``ap_int_base`` or ``ap_fixed_base``, from which those types are derived.
    """

    cpp: Cpp | None
    type: CType
    low: int
    high: int
    scale: int = 0
    bare: Cpp | None = None
    is_result: bool = False

    @property
    def bits(self) -> int:
        """Bits of the raw value without its sign."""
        return max((n if n >= 0 else ~n).bit_length() for n in (self.low, self.high))

    @property
    def const(self) -> int | None:
        """The raw value of a constant."""
        return self.low if self.cpp is None else None


def result(cpp: Cpp, dtype: CType, low: int, high: int, scale: int = 0) -> Exact:
    """What an operator makes of its operands."""
    return Exact(cpp, dtype, low, high, scale, is_result=not is_c(dtype))


def constant(raw: int, scale: int = 0, dtype: CType = INT) -> Exact:
    """A constant of value ``raw / 2**scale``; a fixed ``dtype`` is how it is printed."""
    return Exact(None, dtype, raw, raw, scale)


def of_type(cpp: Cpp, dtype: CType) -> Exact:
    """An expression of which only the type is known."""
    if isinstance(dtype, Bool):
        return Exact(cpp, dtype, 0, 1)
    low, high = bounds(dtype)
    return Exact(cpp, dtype, low, high, frac_of(dtype))


def ap_type(dtype: CType) -> IntType | FixedType:
    """What an operand of this type counts as next to an ``ap_int`` or ``ap_fixed``; no modes."""
    match dtype:
        case IndexType():
            return IntType(32)
        case Bool():
            return IntType(1, signed=False)
        case FixedType(width, integer, signed):
            return FixedType(width, integer, signed)
        case IntType():
            return dtype


def is_c(dtype: CType) -> bool:
    """``int`` or ``bool``, whose arithmetic is that of ``int``."""
    return isinstance(dtype, IndexType | Bool)


def fits_int(*numbers: int) -> bool:
    """Whether a C++ ``int`` holds them."""
    return all(_INT_LOW <= n <= _INT_HIGH for n in numbers)
