"""Arguments of the functions of `weft`: a wrong type is said where it is given, with what is meant."""

from __future__ import annotations

import math
import os
from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

from dsl.errors.errors import InputError
from dsl.errors.shown import shown
from dsl.kernels.kernel import Kernel

_MEANT: dict[str, tuple[tuple[type, ...], str]] = {
    "kernel": ((Kernel,), "a kernel: a function under @weft.kernel"),
    "size": ((str,), "the name of one of the kernel's sizes"),
    "device": ((str,), "the name of a device"),
    "board": ((str,), "the name of a board"),
    "tool": ((str,), "the name of a tool personality"),
    "clock": ((Real,), "a number of nanoseconds"),
    "uncertainty": ((Real,), "a share of the period, from 0 to 0.9"),
    "calibration": ((str, os.PathLike), "the path of a file of weft calibrate"),
    "seed": ((Integral,), "a whole number"),
    "trials": ((Integral,), "a whole number"),
    "seconds": ((Real,), "a number of seconds"),
    "jobs": ((Integral,), "a whole number"),
    "dsp": ((Integral,), "a number of slices"),
    "max_latency": ((Real,), "a number of cycles"),
    "objectives": ((list, tuple), "a list of names, as in ['latency', 'dsp']"),
    "fix": ((list, tuple), "a list of what is fixed, as in ['partition']"),
    "folder": ((str, os.PathLike), "a path"),
}
_LEAST = {"trials": 1, "seconds": 1, "jobs": 1, "seed": 0, "dsp": 0, "max_latency": 1}
_LARGEST_SEED = (1 << 32) - 1  # of NumPy's generators
_MOST_FREE = 0.9  # of a period: nothing would fit into what is left


def check_call(function: str, *, optional: Collection[str] = (), **given: Any) -> None:
    """Check the types of some arguments.

    Args:
        function: what is called.
        optional: those that may be None.
        given: arguments by name.

    Raises:
        InputError: W509, one of another type or out of its range; W405 a clock period that is none.
    """
    for name, value in given.items():
        kinds, meant = _MEANT[name]
        if value is None and name in optional:
            continue
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise InputError(
                "W509",
                f"{name} of weft.{function} is {shown(value)}, of type {type(value).__name__}",
                help=f"it is {meant}" + (", or None" if name in optional else ""),
            )
    if not 0 <= (given.get("uncertainty") or 0.0) <= _MOST_FREE:
        raise InputError(
            "W509",
            f"uncertainty of weft.{function} is {given['uncertainty']}",
            help="it is a share of the period, from 0 to 0.9: 0.27 of Vitis HLS",
        )
    for name, least in _LEAST.items():
        value = given.get(name)
        if value is not None and not least <= value:
            text = f"{name} of weft.{function} is less than {least}"
            raise InputError("W509", text, help=f"use {least} or more")
    if given.get("seed", 0) > _LARGEST_SEED:
        text = f"seed of weft.{function} is more than {_LARGEST_SEED:,}"
        raise InputError("W509", text, help="use a smaller one")
    clock = given.get("clock")
    if clock is not None and not 0 < clock < math.inf:
        text = f"a clock period of {clock:g} ns is none"
        raise InputError("W405", text, help="it is a number of nanoseconds above 0, such as 10")
