"""The arguments of schedule steps, as they are called or read: of the types that the step says.

The types are those of the fields in `dsl.schedules.steps`. Whole numbers may be NumPy's, tuples lists; what
would need a guess (``"2"``, ``2.0``, ``True`` for a number, ``"ij"`` for loops) is refused.
"""

from __future__ import annotations

import difflib
import operator
import types
import typing
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from typing import Any, Literal, SupportsIndex

from dsl.errors.call_check import Calls
from dsl.errors.callsite import caller_span
from dsl.errors.errors import ScheduleError
from dsl.errors.shown import shown
from dsl.schedules.steps import STEPS, Step

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
        except UnfitError as e:
            raise ScheduleError(
                "W196",
                f"{cls.kind}: '{name}' is {e}, not {shown(value)}",
                span=caller_span(),
                help=f"write {_CALLS.written(cls.kind)}",
            ) from None
    return cls(**found, span=caller_span())


_CALLS = Calls(ScheduleError, "W195", "s")
step_method = _CALLS.checked
"""A method that adds a step: arguments that it does not have, or that are missing, are W195."""


def nearest_step(name: str) -> str:
    """A help line for a name that no step has: the nearest one's, also of what others call it."""
    kinds = {known: kind for kind, cls in STEPS.items() for known in (kind, *cls.other_names)}
    found = difflib.get_close_matches(name, kinds, n=1)
    if not found:
        return "docs/guide/schedules.md shows the steps"
    return f"did you mean '{kinds[found[0]]}'?"


class NoSuchStepError(ScheduleError, AttributeError):
    """W200: the builder has no step of that name."""

    def __init__(self, name: str) -> None:
        super().__init__(
            "W200",
            f"no step is called {shown(name)}",
            span=caller_span(),
            help=nearest_step(name),
        )
