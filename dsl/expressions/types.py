"""Data types of the language: integers of any width, fixed point, floats, and arrays of them.

The names and the meaning are those of Vitis HLS: ``i8`` is ``ap_int<8>``, ``u3`` is
``ap_uint<3>``, ``fixed[16, 8]`` is ``ap_fixed<16, 8>`` (16 bits, 8 of them left of the point).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from dsl.errors.callsite import caller_span
from dsl.errors.errors import LanguageError
from dsl.errors.shown import shown

MAX_WIDTH = 4096


class Quant(Enum):
    """What happens to the bits right of the point that do not fit (``ap_q_mode``)."""

    TRN = "trn"
    TRN_ZERO = "trn_zero"
    RND = "rnd"
    RND_ZERO = "rnd_zero"
    RND_INF = "rnd_inf"
    RND_MIN_INF = "rnd_min_inf"
    RND_CONV = "rnd_conv"


class Overflow(Enum):
    """What happens to a value out of range (``ap_o_mode``)."""

    WRAP = "wrap"
    SAT = "sat"
    SAT_ZERO = "sat_zero"
    SAT_SYM = "sat_sym"


class _Subscriptable:
    """``dtype[200, 240]`` is an array type of that element type; ``dtype(x)`` converts a term."""

    __slots__ = ()
    __iter__ = None  # by subscripts it would never end

    def __getitem__(self, shape: int | tuple[int, ...]) -> ArrayType:
        return ArrayType(self, shape if isinstance(shape, tuple) else (shape,))  # type: ignore[arg-type]

    def __call__(self, value: object) -> object:
        """A term of a `weft.Program` converted to this type; in a kernel it is read, not called.

        A term converts itself, by its method ``__weft_cast__``.

        Raises:
            LanguageError: W112 for what is no term.
        """
        cast = getattr(type(value), "__weft_cast__", None)
        if cast is None:
            raise LanguageError(
                "W112",
                f"{self}({shown(value)}) has a meaning inside of a kernel only",
                span=caller_span(),
                help="in a weft.Program it converts terms",
            )
        return cast(value, self)


@dataclass(frozen=True, slots=True)
class IntType(_Subscriptable):
    """Two's-complement integer of ``width`` bits, 1 to 4096; wraps on assignment."""

    width: int
    signed: bool = True

    def __post_init__(self) -> None:
        if not 1 <= self.width <= MAX_WIDTH:
            raise ValueError(f"an integer has 1 to {MAX_WIDTH} bits, not {shown(self.width)}")

    def __str__(self) -> str:
        return f"{'i' if self.signed else 'u'}{self.width}"


@dataclass(frozen=True, slots=True)
class FixedType(_Subscriptable):
    """Fixed point: the integer ``raw`` of ``width`` bits stands for ``raw / 2**frac``.

    ``integer`` is the number of bits left of the point, the sign included; it may be negative
    or larger than ``width``, as in ``ap_fixed``.
    """

    width: int
    integer: int
    signed: bool = True
    quant: Quant = Quant.TRN
    overflow: Overflow = Overflow.WRAP

    def __post_init__(self) -> None:
        if not 1 <= self.width <= MAX_WIDTH:
            found = shown(self.width)
            raise ValueError(f"a fixed-point number has 1 to {MAX_WIDTH} bits, not {found}")

    @property
    def frac(self) -> int:
        """Bits right of the binary point."""
        return self.width - self.integer

    def __str__(self) -> str:
        modes = ""
        if (self.quant, self.overflow) != (Quant.TRN, Overflow.WRAP):
            modes = f', "{self.quant.value}", "{self.overflow.value}"'
        return f"{'' if self.signed else 'u'}fixed[{self.width}, {self.integer}{modes}]"


@dataclass(frozen=True, slots=True)
class FloatType(_Subscriptable):
    """IEEE 754 binary16/32/64 (round to nearest even) or bfloat16."""

    name: Literal["f16", "bf16", "f32", "f64"]

    @property
    def width(self) -> int:
        """Bits of the storage."""
        return {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}[self.name]

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class IndexType:
    """The type of loop variables; in arithmetic on data it counts as ``i32``."""

    def __str__(self) -> str:
        return "index"


DType = IntType | FixedType | FloatType | IndexType
DTYPES = (IntType, FixedType, FloatType, IndexType)


@dataclass(frozen=True, slots=True)
class ArrayType:
    """``dtype[shape]``; an empty shape is a scalar."""

    dtype: DType
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]" if self.shape else str(self.dtype)


@dataclass(frozen=True, slots=True)
class ConstType:
    """``const[f32[8]]``: an argument that the kernel only reads; writing it is an error."""

    inner: ArrayType | DType


class _FixedFactory:
    """``fixed[16, 8]`` or ``fixed[16, 8, "rnd", "sat"]``."""

    __slots__ = ("_signed",)
    __iter__ = None

    def __init__(self, signed: bool) -> None:
        self._signed = signed

    def __getitem__(self, params: tuple[int | str, ...]) -> FixedType:
        if type(params) is not tuple or not 2 <= len(params) <= 4:
            raise TypeError('write fixed[width, integer] or fixed[width, integer, "rnd", "sat"]')
        width, integer, *modes = params
        if isinstance(integer, int) and abs(integer) > MAX_WIDTH:
            raise ValueError(
                f"the point of a fixed-point number is at most {MAX_WIDTH} bits from its first bit, "
                f"not {shown(abs(integer))}"
            )
        quant = Quant(modes[0]) if modes else Quant.TRN
        overflow = Overflow(modes[1]) if len(modes) > 1 else Overflow.WRAP
        return FixedType(int(width), int(integer), self._signed, quant, overflow)


class _ConstFactory:
    __slots__ = ()
    __iter__ = None

    def __getitem__(self, inner: ArrayType | DType) -> ConstType:
        return ConstType(inner)


f16, bf16, f32, f64 = FloatType("f16"), FloatType("bf16"), FloatType("f32"), FloatType("f64")
index = IndexType()
boolean = IntType(1, signed=False)
fixed, ufixed = _FixedFactory(signed=True), _FixedFactory(signed=False)
const = _ConstFactory()

_INT_NAME = re.compile(r"([iu])([1-9][0-9]{0,3})")


def int_type_named(name: str) -> IntType | None:
    """The integer type called ``i<width>`` or ``u<width>``, of any width, else None."""
    match = _INT_NAME.fullmatch(name)
    if match is None or int(match[2]) > MAX_WIDTH:
        return None
    return IntType(int(match[2]), match[1] == "i")
