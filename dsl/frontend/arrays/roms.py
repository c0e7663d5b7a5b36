"""Captured tables that are too large for a choice among their entries: read-only memories on the chip.

The type of their elements is that of a NumPy array; of a list of integers the narrowest that holds all. Python's floats, and
NumPy's of 64 bits, have the type of a conversion around, ``fixed[18, 2](SINE[k])``, or else that of the floats that the
kernel has as arguments.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from dsl.arrays.tables import raw_words
from dsl.errors.errors import LanguageError
from dsl.expressions.elements import element, is_subscript
from dsl.expressions.expr import Gather, Load
from dsl.expressions.literals import literal_type
from dsl.expressions.result_types import common_type
from dsl.expressions.types import DType, IndexType, IntType, boolean
from dsl.expressions.values import Value, plain
from dsl.frontend.arrays.from_end import from_end
from dsl.frontend.capture import numpy_type
from dsl.frontend.context import Context
from dsl.frontend.operands import float_of_arguments
from dsl.frontend.syntax.bases import base_of
from dsl.programs.names import NAME

MAX_WORDS = 1 << 18
MAX_WORD = 64
"""Bits of an entry."""


def rom_entry(
    ctx: Context, table: object, keys: Sequence[Value], node: ast.Subscript
) -> Load | Gather:
    """The element of the memory that a table becomes.

    Raises:
        LanguageError: W113 it is no table of numbers, or has other dimensions than subscripts; W165 it is too large, or
            the type of its entries is not clear.
    """
    data = _numbers(table)
    text = ctx.source.text(base_of(node))
    if data is None or data.ndim != len(keys):
        what = "no table of numbers with rows of one length"
        if data is not None:
            what = f"a table of {data.ndim} dimensions, and is given {len(keys)} subscripts"
        message = f"{text} is {what}"
        raise ctx.error("W113", message, node, "write one subscript for each of its dimensions")
    if data.size > MAX_WORDS:
        message = f"the captured table {text} has {data.size} entries, more than {MAX_WORDS}"
        raise ctx.error("W165", message, node, "pass it as an argument of type weft.const[...]")
    dtype = _type(ctx, data, table, node)
    numbers = [plain(x) for x in data.reshape(-1).tolist()]
    try:
        words = raw_words(numbers, dtype)  # type: ignore[arg-type]
    except LanguageError as error:
        error.span = ctx.span(node)
        raise
    base = base_of(node)
    name = getattr(base, "id", None) or getattr(base, "attr", "table")
    name = name if NAME.fullmatch(str(name)) else "table"
    array = ctx.names.table(str(name), dtype, data.shape, words, ctx.span(base))
    if data.dtype == object:
        ctx.names.of_numbers.add(array.name)
    places = [_place(ctx, key, extent, node) for key, extent in zip(keys, data.shape, strict=True)]
    return element(array.name, dtype, places, ctx.span(node))


def _place(ctx: Context, key: Value, extent: int, node: ast.Subscript) -> Value:
    if not is_subscript(key):
        message = f"a subscript of {ctx.source.text(base_of(node))} is no integer"
        raise ctx.error("W140", message, node, "convert it: weft.i32(...)")
    return from_end(ctx, key, extent, ctx.span(node))


def _numbers(table: object) -> Any | None:
    """The table as an array of NumPy, of objects where its numbers are Python's; None where it is none."""
    try:
        data = np.asarray(table) if hasattr(table, "__array__") else np.array(table, dtype=object)
    except ValueError:
        return None
    if data.dtype == object:
        good = all(isinstance(plain(x), int | float) for x in data.reshape(-1))
    else:
        good = data.dtype.kind in "buif"
    return data if good else None


def _type(ctx: Context, data: Any, table: object, node: ast.Subscript) -> DType:
    asked = ctx.converted.get(node)
    if asked is not None:
        found: DType | None = asked
    elif data.dtype != object and data.dtype != np.float64:
        found = numpy_type(data.dtype.type)
    elif data.dtype != object or any(isinstance(plain(x), float) for x in data.reshape(-1)):
        found = float_of_arguments(ctx)
    else:
        found = _narrowest(data)
    if found is None:
        message = f"the type of the entries of {ctx.source.text(base_of(node))} is not clear"
        instead = (
            f"convert them, as in f32({ctx.source.text(node)}), or make it an array of np.float32"
        )
        raise ctx.error("W165", message, node, instead)
    assert not isinstance(found, IndexType)
    width = found.width
    if width > MAX_WORD:
        message = f"the entries of {ctx.source.text(base_of(node))} have {width} bits, more than {MAX_WORD}"
        raise ctx.error("W165", message, node, "split it into two tables")
    return found


def _narrowest(data: Any) -> DType:
    low, high = int(data.min()), int(data.max())
    if data.dtype == object and all(isinstance(x, bool) for x in data.reshape(-1)):
        return boolean
    found = common_type(literal_type(low), literal_type(high))
    assert isinstance(found, IntType)
    return found
