"""The functions of the language: names that have a meaning inside of a kernel.

In a `weft.Program` they are ordinary functions of its terms.
"""

from __future__ import annotations

import builtins
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

from dsl.errors.callsite import caller_span
from dsl.errors.errors import LanguageError


@dataclass(frozen=True, slots=True)
class Intrinsic:
    """A function of the language; ``signature`` is how it is written."""

    name: str
    signature: str

    def __call__(self, *args: object) -> object:
        """Apply it to terms of a `weft.Program`, by the method ``__weft_apply__`` of the first.

        Raises:
            LanguageError: W112 where no argument is a term.
        """
        for argument in args:
            apply = getattr(type(argument), "__weft_apply__", None)
            if apply is not None:
                return apply(argument, self, args)
        raise LanguageError(
            "W112",
            f"weft.{self.name} has a meaning inside of a kernel only",
            span=caller_span(),
            help=f"write {self.signature} in a function under @weft.kernel, which is read and "
            "not executed",
        )


grid = Intrinsic("grid", "for i, j in weft.grid(n, m):")
stmt = Intrinsic("stmt", 'with weft.stmt("name"):')
select = Intrinsic("select", "weft.select(condition, a, b)")
minimum = Intrinsic("min", "weft.min(a, b)")
maximum = Intrinsic("max", "weft.max(a, b)")
absolute = Intrinsic("abs", "weft.abs(x)")
sqrt = Intrinsic("sqrt", "weft.sqrt(x)")
exp = Intrinsic("exp", "weft.exp(x)")
log = Intrinsic("log", "weft.log(x)")
tanh = Intrinsic("tanh", "weft.tanh(x)")
sin = Intrinsic("sin", "weft.sin(x)")
cos = Intrinsic("cos", "weft.cos(x)")

INTRINSICS = {
    i.name: i
    for i in (grid, stmt, select, minimum, maximum, absolute, sqrt, exp, log, tanh, sin, cos)
}

_PYTHON: dict[Callable[..., object], Intrinsic] = {
    builtins.min: minimum,
    builtins.max: maximum,
    builtins.abs: absolute,
    math.fabs: absolute,
    math.sqrt: sqrt,
    math.exp: exp,
    math.log: log,
    math.tanh: tanh,
    math.sin: sin,
    math.cos: cos,
}
_NUMPY = {
    "minimum": minimum,
    "maximum": maximum,
    "abs": absolute,
    "absolute": absolute,
    "sqrt": sqrt,
    "exp": exp,
    "log": log,
    "tanh": tanh,
    "sin": sin,
    "cos": cos,
    "where": select,
}


def intrinsic_of(function: object) -> Intrinsic | None:
    """The function of the language that a Python function stands for, by its identity."""
    if isinstance(function, Intrinsic):
        return function
    if not callable(function):
        return None
    for python, intrinsic in _PYTHON.items():
        if function is python:
            return intrinsic
    name = getattr(function, "__name__", "")
    numpy = sys.modules.get("numpy")
    if numpy is not None and name in _NUMPY and function is getattr(numpy, name, None):
        return _NUMPY[name]
    return None
