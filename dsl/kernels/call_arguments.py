"""Arguments of the functions of `weft`: a wrong type is said where it is given, with what is meant."""

from __future__ import annotations

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
    "jobs": ((Integral,), "a whole number"),
    "folder": ((str, os.PathLike), "a path"),
}
_MOST_FREE = 0.9  # of a period: nothing would fit into what is left


def check_call(function: str, *, optional: Collection[str] = (), **given: Any) -> None:
    """Check the types of some arguments.

    Args:
        function: what is called.
        optional: those that may be None.
        given: arguments by name.

    Raises:
        InputError: W509, one of another type.
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
    for name in ("trials", "jobs"):
        if given.get(name, 1) < 1:
            raise InputError(
                "W509", f"{name} of weft.{function} is less than 1", help="use 1 or more"
            )
