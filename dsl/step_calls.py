"""The arguments of schedule steps, as they are called or read: of the types that the step says.

The types are those of the fields in `dsl.steps`. Whole numbers may be NumPy's, tuples lists; what
would need a guess (``"2"``, ``2.0``, ``True`` for a number, ``"ij"`` for loops) is refused.
"""

from __future__ import annotations

import difflib
import inspect
import operator
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from functools import cache, update_wrapper
from typing import Any, Concatenate, Literal, ParamSpec, SupportsIndex, TypeVar

from dsl.callsite import caller_span
from dsl.errors import ScheduleError
from dsl.shown import shown
from dsl.steps import STEPS, Step

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")

MAX_NUMBER = 2**31 - 1
"""Factors, amounts and depths are at most that: loops count in 32 bits."""


class UnfitError(Exception):
    """A value is not of the type that is asked for; its text says what is."""


@cache
def field_types(kind: str) -> Mapping[str, Any]:
    """The types of the fields of a step; evaluating them costs more than reading the step."""
    found = typing.get_type_hints(STEPS[kind])
    return {f.name: found[f.name] for f in fields(STEPS[kind]) if f.name != "span"}


def fitted(value: object, hint: Any) -> object:
    """``value`` as the annotated type.

    Raises:
        UnfitError: it is of another type, or a number out of range.
    """
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        options = [a for a in args if a is not type(None)]
        return None if value is None else fitted(value, options[0])
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise UnfitError(_wanted(hint))
        try:
            return tuple(fitted(v, args[0]) for v in value)
        except UnfitError:
            raise UnfitError(_wanted(hint)) from None
    if hint is int:
        return _number(value)
    wanted = str if origin is Literal else hint
    if type(value) is not wanted:
        raise UnfitError(_wanted(hint))
    return value


def _number(value: object) -> int:
    is_bool = isinstance(value, bool) or type(value).__name__ == "bool_"  # NumPy's
    if is_bool or not isinstance(value, SupportsIndex):
        raise UnfitError(_wanted(int))
    try:
        number = operator.index(value)
    except TypeError:  # an array of NumPy's
        raise UnfitError(_wanted(int)) from None
    if abs(number) > MAX_NUMBER:
        raise UnfitError(f"a whole number of at most {MAX_NUMBER}")
    return number


def _wanted(hint: Any, many: bool = False) -> str:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is tuple:
        return f"{'lists' if many else 'a list'} of {_wanted(args[0], many=True)}"
    if origin in (typing.Union, types.UnionType):
        return _wanted(args[0], many)
    if origin is Literal:
        return f"one of {', '.join(map(repr, args))}"
    one, several = {
        int: ("a whole number", "whole numbers"),
        bool: ("True or False", "truth values"),
        str: ("a name", "names"),
    }[hint]
    return several if many else one


def made_step(cls: type[Step], values: tuple[object, ...]) -> Step:
    """The step with these arguments, checked, at the place of the user's call.

    Raises:
        ScheduleError: W196 one of them is of the wrong type.
    """
    found: dict[str, Any] = {}
    for (name, hint), value in zip(field_types(cls.kind).items(), values, strict=True):
        try:
            found[name] = fitted(value, hint)
            _check_choice(cls.kind, name, found[name], hint)
        except UnfitError as e:
            raise ScheduleError(
                "W196",
                f"{cls.kind}: '{name}' is {e}, not {shown(value)}",
                span=caller_span(),
                help=f"write {_written(cls.kind, _methods[cls.kind])}",
            ) from None
    return cls(**found, span=caller_span())


def _near(name: str, known: Iterable[str]) -> str | None:
    """A help line where a known name is near; none with all of them, as `did_you_mean` has."""
    found = difflib.get_close_matches(name, list(known), n=1)
    return f"did you mean '{found[0]}'?" if found else None


def _check_choice(kind: str, name: str, value: object, hint: Any) -> None:
    """Refuse a word that is none of those that the argument may be (W207)."""
    choices = typing.get_args(hint) if typing.get_origin(hint) is Literal else ()
    if choices and value not in choices:
        raise ScheduleError(
            "W207",
            f"{kind}: '{name}' is {_wanted(hint)}, not {shown(value)}",
            span=caller_span(),
            help=_near(str(value), choices),
        )


# ------------------------------------------------------------------------------------- calls

_methods: dict[str, inspect.Signature] = {}
"""How each step is called, by its name: filled where the methods are defined."""


def step_method(function: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """A method that adds a step: a call that does not fit it is an error of the schedule.

    The method raises ScheduleError W195 for arguments that it does not have, or that are missing.
    """
    name = function.__name__
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())[1:]
    _methods[name] = signature.replace(parameters=parameters)

    def wrapped(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            _methods[name].bind(*args, **kwargs)
        except TypeError:
            raise _misfit(name, _methods[name], args, kwargs) from None
        return function(self, *args, **kwargs)

    update_wrapper(wrapped, function)
    return wrapped


def takes_one(function: Callable[..., object]) -> bool:
    """Whether the function can be called with one argument."""
    try:
        inspect.signature(function).bind(None)
    except (TypeError, ValueError):
        return False
    return True


def _written(name: str, signature: inspect.Signature) -> str:
    parts = [
        p.name if p.default is p.empty else f"{p.name}={_default(p.default)}"
        for p in signature.parameters.values()
    ]
    return f"s.{name}({', '.join(parts)})"


def _default(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _misfit(
    name: str, signature: inspect.Signature, args: tuple[object, ...], named: Mapping[str, object]
) -> ScheduleError:
    """Why a call does not fit a step."""
    known = list(signature.parameters)
    needed = [n for n, p in signature.parameters.items() if p.default is p.empty]
    how = f"write {_written(name, signature)}"
    unknown = [n for n in named if n not in known]
    given = known[: len(args)]
    if unknown:
        near = _near(unknown[0], known)
        message = f"{name} has no argument '{unknown[0]}'"
        if near is not None:
            how = f"{near} {how}"
    elif len(args) > len(known):
        message = f"{name} takes {len(known)} argument{'s' * (len(known) > 1)}, not {len(args)}"
    elif twice := [n for n in named if n in given]:
        message = f"{name} is given '{twice[0]}' twice"
    else:
        missing = [n for n in needed if n not in given and n not in named]
        message = f"{name} is called without {' and '.join(repr(n) for n in missing)}"
    return ScheduleError("W195", message, span=caller_span(), help=how)


_OTHER_NAMES = {
    "bank": "partition",
    "array_partition": "partition",
    "bind": "bind_op",
    "cache": "stream",
    "compute_at": "fuse",
    "concurrent": "dataflow",
    "fifo": "stream",
    "fission": "distribute",
    "loop_flatten": "flatten",
    "merge": "fuse",
    "parallel": "unroll",
    "parallelize": "unroll",
    "permute": "reorder",
    "reshape": "partition",
    "resource": "bind_storage",
    "stripmine": "split",
    "swap": "interchange",
    "tree_reduce": "partial_sums",
    "vectorize": "unroll",
}
"""What steps are called elsewhere."""


def nearest_step(name: str) -> str:
    """A help line for a name that no step has: the nearest one's, also of what others call it."""
    found = difflib.get_close_matches(name, [*STEPS, *_OTHER_NAMES], n=1)
    if not found:
        return "docs/guide/schedules.md shows the steps"
    return f"did you mean '{_OTHER_NAMES.get(found[0], found[0])}'?"


class NoSuchStepError(ScheduleError, AttributeError):
    """W200: the builder has no step of that name."""

    def __init__(self, name: str) -> None:
        super().__init__(
            "W200",
            f"no step is called {shown(name)}",
            span=caller_span(),
            help=nearest_step(name),
        )
