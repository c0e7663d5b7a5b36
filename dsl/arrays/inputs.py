"""Inputs of a program: what they must look like, random ones, and fixed point to and from floats."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsl.arrays import exact, floats
from dsl.arrays.storage import storage_dtype, stored
from dsl.errors.errors import InputError, did_you_mean
from dsl.expressions.expr import Binary, BinaryOp, Expr, Unary, UnaryOp, loads, walk
from dsl.expressions.numeric import bounds, width_of
from dsl.expressions.types import DType, FixedType, FloatType, IntType, Overflow
from dsl.programs.program import Array, Program

__all__ = [
    "InputMaker",
    "Value",
    "check_inputs",
    "dequantize",
    "quantize",
    "random_inputs",
    "storage_dtype",
]

Value = NDArray[Any] | np.generic | int | float
"""An array for an array argument, a number for a scalar one."""

InputMaker = Callable[[int], Mapping[str, Value]]
"""From a seed: every argument by name, as `check_inputs` wants them."""

_SMALL = 7
_GRID_BITS = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}


# ----------------------------------------------------------------------------------- conversion


def quantize(dtype: DType, values: NDArray[Any] | float) -> NDArray[Any]:
    """Real numbers as elements of a type, as an assignment in the language converts them.

    Fixed point quantises and overflows by its modes, integers cut towards zero and wrap, floats
    round to nearest even.

    Args:
        dtype: the element type.
        values: floats or integers, any shape.

    Returns:
        The same shape, in `storage_dtype`; raws for fixed point.

    Raises:
        InputError: W544 for an infinity or a NaN that would become an integer or fixed point.
    """
    array = np.asarray(values)
    if isinstance(dtype, FloatType):
        return floats.round_to(array.astype(np.float64), dtype)
    if array.dtype.kind in "iubO":
        return stored(exact.convert(array.astype(object), _integers_of(array), dtype), dtype)
    try:
        return stored(exact.from_float(array, dtype), dtype)
    except exact.ArrayFault as fault:
        where = tuple(int(n) for n in np.argwhere(fault.where)[0])
        raise InputError(
            "W544", f"element {where} is {array[where]}, not a number of {dtype}"
        ) from fault


def _integers_of(array: NDArray[Any]) -> IntType:
    """An integer type that holds every element."""
    largest = max((abs(int(v)).bit_length() for v in array.ravel().tolist()), default=1)
    return IntType(largest + 1)


def dequantize(dtype: DType, raws: NDArray[Any]) -> NDArray[np.float64]:
    """Elements of a type as float64; rounded where they have more than 53 digits."""
    array = np.asarray(raws)
    if isinstance(dtype, FloatType):
        return array.astype(np.float64)
    return exact.to_float(exact.settle(array, dtype), dtype, FloatType("f64"))


# --------------------------------------------------------------------------------------- checks


def check_inputs(program: Program, inputs: Mapping[str, Value]) -> dict[str, NDArray[Any]]:
    """Every argument as an array of its `storage_dtype` and shape (() for scalars).

    Raises:
        InputError: W540 an argument is missing, W541 there is no such argument, W542 the shape is
            wrong, W543 the dtype is wrong, W544 a value is out of the range of the type.
    """
    known = [array.name for array in program.arguments]
    for name in inputs:
        if name not in known:
            raise InputError(
                "W541",
                f"{program.name} has no argument '{name}'",
                help=did_you_mean(name, known),
            )
    missing = [name for name in known if name not in inputs]
    if missing:
        raise InputError(
            "W540",
            f"no value for {', '.join(missing)}",
            help=f"{program.name} takes {', '.join(known)}",
        )
    return {array.name: _checked(array, inputs[array.name]) for array in program.arguments}


def _checked(array: Array, value: Value) -> NDArray[Any]:
    found = _number(array, value) if not array.shape else value
    if not isinstance(found, np.ndarray):
        raise InputError(
            "W542", f"'{array.name}' is {array.type}: give a NumPy array of that shape"
        )
    if found.shape != array.shape:
        raise InputError(
            "W542", f"'{array.name}' is {array.type}, but the array's shape is {found.shape}"
        )
    wanted = storage_dtype(array.dtype)
    if found.dtype == np.bool_ and wanted == np.uint8:
        found = found.astype(np.uint8)
    if found.dtype != wanted:
        raise _wrong_dtype(array, found.dtype, wanted)
    _check_range(array, found)
    return found


def _number(array: Array, value: Value) -> Value:
    """A scalar as an array without dimensions; Python numbers take its type."""
    wanted = storage_dtype(array.dtype)
    whole = isinstance(value, int | np.integer | np.bool_)
    if isinstance(array.dtype, FloatType) and (whole or isinstance(value, float)):
        return floats.round_to(np.asarray(float(value), dtype=np.float64), array.dtype)
    if not isinstance(array.dtype, FloatType) and whole:
        low, high = bounds(array.dtype)
        if not low <= int(value) <= high:
            raise out_of_range(array, int(value))
        return np.array(int(value), dtype=wanted)
    if isinstance(value, np.ndarray):
        return value
    return np.asarray(value)


def _wrong_dtype(array: Array, found: np.dtype[Any], wanted: np.dtype[Any]) -> InputError:
    help_line = None
    if isinstance(array.dtype, FixedType) and found.kind == "f":
        help_line = (
            f"fixed point is held as raw integers: quantize({array.dtype}, values) makes them"
        )
    elif wanted.kind in "iufO" and found.kind in "iuf":
        name = "object" if wanted.hasobject else f"np.{wanted.name}"
        help_line = f"convert it with astype({name})"
    held = "Python integers (dtype object)" if wanted.hasobject else str(wanted)
    return InputError(
        "W543",
        f"'{array.name}' is {array.type}, held as {held}, but the array is {found}",
        help=help_line,
    )


def out_of_range(array: Array, value: object) -> InputError:
    """W544 for one value of an argument."""
    assert not isinstance(array.dtype, FloatType)
    low, high = bounds(array.dtype)
    what = "raw value" if isinstance(array.dtype, FixedType) else "value"
    return InputError(
        "W544", f"'{array.name}' is {array.type}, but the {what} {value} is not in {low}..{high}"
    )


def _check_range(array: Array, values: NDArray[Any]) -> None:
    dtype = array.dtype
    if isinstance(dtype, FloatType):
        if dtype.name == "bf16" and (values.view(np.uint32) & np.uint32(0xFFFF)).any():
            raise InputError(
                "W544",
                f"'{array.name}' has values that are not bf16",
                help=f"quantize(bf16, {array.name}) rounds them",
            )
        return
    if values.dtype.hasobject and not all(isinstance(v, int) for v in values.ravel().tolist()):
        raise InputError("W543", f"'{array.name}' is {array.type}: give Python integers")
    low, high = bounds(dtype)
    if width_of(dtype) in (8, 16, 32, 64) or values.size == 0:
        return
    for value in (values.min(), values.max()):
        if not low <= int(value) <= high:
            raise out_of_range(array, value)


# --------------------------------------------------------------------------------------- random


_MOST_ELEMENTS = 2**36
"""Half a terabyte of integers: NumPy itself refuses more in other ways than for want of memory."""


def random_inputs(program: Program, seed: int = 0) -> dict[str, Value]:
    """Random values for all arguments; the same for the same program and seed.

    Floats are uniform in [-2, 2), on a grid that makes them exact and never denormal. Integers and
    fixed point take any value that an assignment can give them. What is divided by or shifted by is a small positive
    integer (floats and fixed point: any positive value), and what is under a square root or a
    logarithm is positive. What a local was computed from counts like the local.
    """
    rng = np.random.default_rng(seed)
    small, positive = _roles(program)
    values: dict[str, Value] = {}
    for array in program.arguments:
        if prod(array.shape) > _MOST_ELEMENTS:
            raise MemoryError(f"{array.name} has {prod(array.shape):,} elements")
        if isinstance(array.dtype, FloatType):
            found = _random_floats(array, array.dtype, array.name in small | positive, rng)
        elif array.name in small and not isinstance(array.dtype, FixedType):
            low, high = bounds(array.dtype)
            found = _integers(array, min(1, high) if high else low, min(_SMALL, high), rng)
        else:
            low, high = bounds(array.dtype)
            if isinstance(array.dtype, FixedType) and array.dtype.overflow is Overflow.SAT_SYM:
                low = max(low, -high)  # an assignment never leaves the value below that
            low = min(1, high) if array.name in small | positive else low
            found = _integers(array, low, high, rng)
        values[array.name] = found if array.shape else found[()]
    return values


def _random_floats(
    array: Array, dtype: FloatType, positive: bool, rng: np.random.Generator
) -> NDArray[Any]:
    scale = _GRID_BITS[dtype.name]
    one = 1 << scale
    grid = rng.integers(one // 2 if positive else -2 * one, 2 * one, size=array.shape)
    return np.ldexp(np.asarray(grid, dtype=np.float64), -scale).astype(storage_dtype(dtype))


def _integers(array: Array, low: int, high: int, rng: np.random.Generator) -> NDArray[Any]:
    """Uniform in ``low..high``, whatever the width."""
    wanted = storage_dtype(array.dtype)
    if not wanted.hasobject:
        return np.asarray(rng.integers(low, high, size=array.shape, dtype=wanted, endpoint=True))
    span = high - low + 1
    count = int(np.prod(array.shape, dtype=np.int64))
    size = (span.bit_length() + 7) // 8 + 8
    data = rng.bytes(count * size)
    result = np.empty(count, dtype=object)
    result[:] = [low + int.from_bytes(data[n * size : (n + 1) * size]) % span for n in range(count)]
    return result.reshape(array.shape)


def _roles(program: Program) -> tuple[set[str], set[str]]:
    """Arrays that are divided or shifted by, and those that must be positive."""
    small: set[str] = set()
    positive: set[str] = set()
    for stmt in program.statements():
        for expr in walk(stmt.value):
            match expr:
                case Binary(
                    op=BinaryOp.DIV
                    | BinaryOp.FLOORDIV
                    | BinaryOp.MOD
                    | BinaryOp.SHL
                    | BinaryOp.SHR,
                    rhs=rhs,
                ):
                    small.update(_read(rhs))
                case Unary(op=UnaryOp.SQRT | UnaryOp.LOG, operand=x):
                    positive.update(_read(x))
                case _:
                    pass
    return _with_sources(program, small), _with_sources(program, positive)


def _read(expr: Expr) -> Iterator[str]:
    return (access.array for access in loads(expr))


def _with_sources(program: Program, names: set[str]) -> set[str]:
    """With the arrays that locals among them are computed from."""
    local = {array.name for array in program.locals}
    todo = [name for name in names if name in local]
    found = set(names)
    while todo:
        name = todo.pop()
        for stmt in program.statements():
            if stmt.target.array == name:
                new = set(_read(stmt.value)) - found
                found |= new
                todo += [n for n in new if n in local]
    return found
