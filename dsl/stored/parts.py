"""The pieces that stored programs are made of: texts, types, affine expressions and numbers.

Each ``…_data`` makes JSON of a piece, each ``…_of`` makes the piece of JSON that somebody may have
written by hand: anything else raises a `Malformed`.
"""

from __future__ import annotations

import keyword
import math
import re
import unicodedata
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from dsl.expressions.affine import Affine, FloorDiv
from dsl.expressions.expr import Const
from dsl.expressions.numeric import bounds, round_float
from dsl.expressions.types import (
    DType,
    FixedType,
    FloatType,
    IndexType,
    Overflow,
    Quant,
    int_type_named,
)
from dsl.expressions.values import MAX_COEFFICIENT
from dsl.programs.names import NAME

MAX_TEXT = 4000
"""Characters of a line of source."""

_MAX_NAME = 1000
_MAX_FLOORS = 100  # divisions inside of one another
_FIXED = re.compile(r'(u?)fixed\[(\d{1,4}), (-?\d{1,6})(?:, "(\w+)", "(\w+)")?\]')
_FLOATS = ("f16", "bf16", "f32", "f64")
_NO_TEXT = ("Cc", "Cs", "Zl", "Zp")  # control characters, halves of characters, ends of lines


class Malformed(Exception):
    """What is read is not the form of a stored program, or no program."""


def fields_of(data: object, names: Sequence[str], what: str) -> list[Any]:
    """The values of an object with exactly these fields."""
    if not isinstance(data, dict) or set(data) != set(names):
        raise Malformed(f"{what} is no object with the fields {', '.join(names)}")
    return [data[name] for name in names]


def list_of(data: object, what: str, length: int | None = None) -> list[Any]:
    """A list, of that length if one is given."""
    if not isinstance(data, list) or length not in (None, len(data)):
        raise Malformed(f"{what} is no list{'' if length is None else f' of {length}'}")
    return data


def integer_of(data: object, what: str, low: int, high: int) -> int:
    """An integer from ``low`` to ``high``; true and 1.0 are none."""
    if type(data) is not int or not low <= data <= high:
        raise Malformed(f"{what} is no integer from {low} to {high}")
    return data


def name_of(data: object, what: str) -> str:
    """A name that the language allows."""
    good = isinstance(data, str) and len(data) <= _MAX_NAME and NAME.fullmatch(data)
    if not good or keyword.iskeyword(str(data)):
        raise Malformed(f"{what} is no name: {str(data)[:40]!r}")
    return str(data)


def text_of(data: object, what: str) -> str:
    """One line of text that can be shown in a terminal and written into a comment of C++."""
    if not isinstance(data, str) or data != shown(data):
        raise Malformed(f"{what} is no line of text")
    return data


def shown(text: str) -> str:
    """The text as `text_of` takes it: no control characters, which a terminal would obey."""
    kept = "".join(
        " " if c != "\t" and unicodedata.category(c) in _NO_TEXT else c for c in text[:MAX_TEXT]
    )
    return kept.replace(
        "??/", "?? /"
    )  # a backslash to older compilers: it would end a comment late


# ---------------------------------------------------------------------------------------- types


def dtype_of(data: object) -> DType:
    """The type that a text names as ``str`` of a type does."""
    if data == "index":
        return IndexType()
    if isinstance(data, str) and data in _FLOATS:
        return FloatType(data)  # type: ignore[arg-type] # one of the four
    found = int_type_named(data) if isinstance(data, str) else None
    if found is not None:
        return found
    match = _FIXED.fullmatch(data) if isinstance(data, str) else None
    if match is None:
        raise Malformed(f"there is no type {str(data)[:60]!r}")
    unsigned, width, integer, quant, overflow = match.groups()
    try:
        modes = () if quant is None else (Quant(quant), Overflow(overflow))
        return FixedType(int(width), int(integer), not unsigned, *modes)
    except ValueError as error:
        raise Malformed(f"there is no type {data!r}") from error


def element_type_of(data: object) -> DType:
    """A type that an array or a constant can have: any but that of loop variables."""
    found = dtype_of(data)
    if isinstance(found, IndexType):
        raise Malformed("'index' is the type of loop variables only")
    return found


# -------------------------------------------------------------------------------------- affine


def affine_data(affine: Affine) -> Any:
    """An integer, the name of a variable, or ``[constant, [coefficient, atom], …]``.

    An atom is a variable's name or ``[affine, divisor]``, their quotient rounded down.
    """
    if not affine.terms:
        return affine.const
    if not affine.const and len(affine.terms) == 1:
        atom, coefficient = affine.terms[0]
        if isinstance(atom, str) and coefficient == 1:
            return atom
    terms = [
        [c, a if isinstance(a, str) else [affine_data(a.numerator), a.denominator]]
        for a, c in affine.terms
    ]
    return [affine.const, *terms]


def affine_of(data: object, what: str, floors: int = 0) -> Affine:
    """What `affine_data` made, in the one form that arithmetic on such expressions gives."""
    if isinstance(data, str):
        return Affine.of(name_of(data, what))
    if not isinstance(data, list):
        return Affine.of(_coefficient(data, what))
    if not data or floors > _MAX_FLOORS:
        raise Malformed(f"{what} is no affine expression")
    terms = [list_of(term, what, 2) for term in data[1:]]
    pairs = tuple((_atom(a, what, floors), _coefficient(c, what)) for c, a in terms)
    found = Affine(pairs, _coefficient(data[0], what))
    if Affine.collected(dict(pairs), found.const) != found:
        raise Malformed(f"{what} is an affine expression in another form than Weft's")
    return found


def _atom(data: object, what: str, floors: int) -> str | FloorDiv:
    if isinstance(data, str):
        return name_of(data, what)
    numerator, divisor = list_of(data, what, 2)
    inner = affine_of(numerator, what, floors + 1)
    divisor = integer_of(divisor, f"a divisor in {what}", 2, MAX_COEFFICIENT)
    match (inner // divisor).terms:
        case ((FloorDiv() as atom, 1),) if (inner // divisor).const == 0:
            if atom == FloorDiv(inner, divisor):
                return atom
    raise Malformed(f"{what} is an affine expression in another form than Weft's")


def _coefficient(data: object, what: str) -> int:
    return integer_of(data, f"a number in {what}", -MAX_COEFFICIENT, MAX_COEFFICIENT)


# ----------------------------------------------------------------------------------- constants


def const_data(const: Const) -> int | str:
    """The value: an integer, the raw integer of fixed point, the digits of a float in base 16."""
    match const.value, const.dtype:
        case Fraction() as value, FixedType() as dtype:
            return int(value * Fraction(2) ** dtype.frac)
        case value, FloatType():
            return float(value).hex()
        case value, _:
            return int(value)


def const_of(data: object, dtype: DType) -> Const:
    """The constant of a type; one that the type can hold."""
    if isinstance(dtype, FloatType):
        return Const(_float_of(data, dtype), dtype)
    low, high = bounds(dtype)
    if type(data) is not int or not low <= data <= high:
        raise Malformed(f"a constant is no {dtype}")
    if isinstance(dtype, FixedType):
        return Const(Fraction(data) / Fraction(2) ** dtype.frac, dtype)
    return Const(data, dtype)


def _float_of(data: object, dtype: FloatType) -> float:
    try:
        value = float.fromhex(data) if isinstance(data, str) and len(data) < 40 else None
    except (ValueError, OverflowError):
        value = None
    if value is None or not (math.isnan(value) or round_float(value, dtype) == value):
        raise Malformed(f"a constant is no {dtype}")
    return value
