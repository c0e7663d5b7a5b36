"""What a kernel may know from outside: the names that its function captured.

Names resolve as in Python (the enclosing functions, the module, the builtins), after the sizes
that `Kernel.at` overrides. They are looked up, never evaluated.
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from dsl.expressions.intrinsics import Intrinsic
from dsl.expressions.types import (
    DTYPES,
    ArrayType,
    ConstType,
    DType,
    IntType,
    boolean,
    f16,
    f32,
    f64,
)
from dsl.expressions.values import plain
from dsl.kernels.kernel import Kernel

Number = bool | int | float | Fraction
"""A constant that is known when the kernel is compiled."""

TYPES = (*DTYPES, ArrayType, ConstType)


class Missing:
    """The type of `MISSING`."""


MISSING = Missing()
"""What a lookup gives where there is no such name: ``None`` is a value."""


@dataclass(frozen=True, slots=True)
class Environment:
    """The namespaces around a kernel, innermost first."""

    overrides: Mapping[str, object]
    enclosing: Mapping[str, object]
    module: Mapping[str, object]

    def lookup(self, name: str) -> object:
        """The captured object of that name (numbers as Python's own), or `MISSING`."""
        for space in (self.overrides, self.enclosing, self.module):
            if name in space:
                return plain(space[name])
        return getattr(builtins, name, MISSING)

    def names(self) -> Iterator[str]:
        """Names worth suggesting for a misspelt one: what could be used as a value or a call."""
        for space in (self.overrides, self.enclosing, self.module):
            yield from (n for n in space if not n.startswith("__"))


def environment(
    function: types.FunctionType, local: Mapping[str, object], overrides: Mapping[str, object]
) -> Environment:
    """The names around ``function``; ``local`` are the caller's where it was decorated.

    Annotations are not part of a closure, so a size that is a local of the function around the
    kernel is known from ``local`` only.
    """
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    closed: dict[str, object] = {}
    for name, cell in cells.items():
        try:
            closed[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return Environment(overrides, {**closed, **local}, function.__globals__)


def is_number(value: object) -> bool:
    """Whether it is a constant of the language (see `Number`)."""
    return isinstance(value, (bool, int, float, Fraction))


def is_dtype(value: object) -> bool:
    """Whether it is a data type of the language."""
    return isinstance(value, DTYPES)


def describe(value: object) -> str:
    """What a captured object is, in a few words, for messages."""
    match value:
        case int() if value.bit_length() > 100:
            return "a number"
        case bool() | int() | float() | Fraction():
            return f"the number {value}"
        case types.ModuleType():
            return f"the module {value.__name__}"
        case str():
            return "a string"
        case ArrayType() | ConstType():
            return f"the type {value}"
        case None:
            return "None"
        case Kernel():
            return f"the kernel '{value.name}'"
        case Intrinsic():
            return f"the function weft.{value.name}"
        case types.FunctionType() | types.BuiltinFunctionType():
            return f"the Python function {value.__name__}"
        case type():
            return f"the class {value.__name__}"
    if is_dtype(value):
        return f"the type {value}"
    if callable(value) and type(value).__module__.split(".")[0] == "numpy":
        return f"the function np.{getattr(value, '__name__', 'of this name')}"
    kind = type(value)
    return f"a {kind.__name__}" if kind.__module__ in ("builtins", "numpy") else f"{kind.__name__}"


_NUMPY: dict[str, DType] = {
    "bool": boolean,
    "float16": f16,
    "float32": f32,
    "float64": f64,
    **{f"{u}int{w}": IntType(w, not u) for u in ("", "u") for w in (8, 16, 32, 64)},
}


def numpy_type(value: object) -> DType | None:
    """The data type of the name of a class of NumPy's scalars, such as ``np.float32``, else None."""
    if not isinstance(value, type) or value.__module__ != "numpy":
        return None
    return _NUMPY.get(value.__name__.removesuffix("_"))


def dtype_of(value: object) -> DType | None:
    """The data type that ``value`` is, else None."""
    return value if isinstance(value, DTYPES) else None
