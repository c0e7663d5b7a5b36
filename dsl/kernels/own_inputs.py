"""Inputs of a kernel that its own function makes: called, completed at random, and checked."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dsl.arrays.inputs import (
    Value,
    check_inputs,
    out_of_range,
    quantize,
    random_inputs,
    storage_dtype,
)
from dsl.errors.callsite import line_span, raised_in
from dsl.errors.errors import InputError, Span
from dsl.expressions.numeric import bounds
from dsl.expressions.types import FixedType, FloatType
from dsl.programs.program import Array, Program

K = TypeVar("K")
"""The kernel's class: it is handed on to the function."""


def own_inputs(
    program: Program, function: Callable[[K, int], Mapping[str, Any]], kernel: K, seed: int
) -> dict[str, Value]:
    """What `function` makes, in the storage of the arguments; the arguments it leaves out random.

    Numbers are converted where nothing but rounding is lost: any floats to a float or fixed-point
    argument, integers of another width to an integer argument (or raw fixed point) if they fit.

    Args:
        program: Of the kernel, at its size.
        function: From `Kernel.inputs`.
        kernel: At its size; the function is given it, and the seed.
        seed: Of the random numbers.

    Raises:
        InputError: W541 to W544 for an argument that is not there, misshapen, of another type or
            out of range; W545 where the function raises, or returns no dict.
    """
    given = _called(program, function, kernel, seed)
    values: dict[str, Any] = {**random_inputs(program, seed)}
    try:
        values |= {n: _converted(program, n, value) for n, value in given.items()}
        checked = check_inputs(program, values)
    except InputError as error:
        raise InputError(
            error.code,
            f"{_name(function)} makes wrong inputs for '{program.name}': {error.message}",
            span=_place(function),
            help=error.help,
        ) from error
    # Copies: the arrays may be the function's own, and a call of the kernel changes them in place.
    return {n: np.array(v) if v.shape else v[()] for n, v in checked.items()}


def _called(
    program: Program, function: Callable[[K, int], Mapping[str, Any]], kernel: K, seed: int
) -> Mapping[str, object]:
    name, where = _name(function), _place(function)
    try:
        with contextlib.redirect_stdout(sys.stderr):  # what it prints is no result of ours
            given = function(kernel, seed)
    except Exception as error:
        inner = raised_in(error, where.file) if where is not None else None
        raise InputError(
            "W545",
            f"{name} makes no inputs for '{program.name}': {type(error).__name__}: {error}",
            span=inner or where,
            help="it is called with the kernel, at its size, and a seed",
        ) from error
    if isinstance(given, Mapping):
        return given
    raise InputError(
        "W545",
        f"{name} returns a {type(given).__name__}, not a dict of inputs for '{program.name}'",
        span=where,
        help='return {"A": array, ...}; arguments that are not in it are random',
    )


def _converted(program: Program, name: str, value: object) -> object:
    array = next((a for a in program.arguments if a.name == name), None)
    if array is None or not isinstance(value, np.ndarray | np.generic | int | float):
        return value  # check_inputs says what is wrong with it
    found = np.asarray(value)
    if isinstance(array.dtype, FloatType) and found.dtype.kind in "iuf":
        return quantize(array.dtype, found)
    if isinstance(array.dtype, FixedType) and found.dtype.kind == "f":
        return quantize(array.dtype, found)
    if not isinstance(array.dtype, FloatType) and found.dtype.kind in "iu":
        return _resized(array, found)
    return value


def _resized(array: Array, found: NDArray[Any]) -> NDArray[Any]:
    """Integers in the storage of the argument."""
    assert not isinstance(array.dtype, FloatType)
    low, high = bounds(array.dtype)
    for value in (found.min(initial=0), found.max(initial=0)):
        if not low <= int(value) <= high:
            raise out_of_range(array, value)
    return found.astype(storage_dtype(array.dtype))


def _name(function: Callable[..., object]) -> str:
    return getattr(function, "__name__", "inputs")


def _place(function: Callable[..., object]) -> Span | None:
    while isinstance(function, functools.partial):
        function = function.func
    code = getattr(function, "__code__", None)
    return line_span(code.co_filename, code.co_firstlineno) if code is not None else None
