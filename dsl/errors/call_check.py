"""Calls of methods that users make: what does not fit them is an error with the user's line."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import update_wrapper
from typing import Any, TypeVar, cast

from dsl.errors.callsite import caller_span
from dsl.errors.errors import WeftError

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Calls:
    """Methods of one class: which error a call that does not fit is, and how the class is called.

    Attributes:
        error: the class of the error.
        code: its code.
        receiver: what stands before the method in the text of the help line: ``s.split(...)``.
    """

    error: type[WeftError]
    code: str
    receiver: str
    signatures: dict[str, inspect.Signature] = field(default_factory=dict)

    def checked(self, function: F) -> F:
        """Decorator of a method: arguments that it does not have, or lacks, are the error."""
        name = function.__name__
        signature = inspect.signature(function)
        own = signature.replace(parameters=list(signature.parameters.values())[1:])
        self.signatures[name] = own

        def wrapped(self_: object, /, *args: Any, **kwargs: Any) -> Any:
            try:
                own.bind(*args, **kwargs)
            except TypeError:
                raise self._misfit(name, args, kwargs) from None
            return function(self_, *args, **kwargs)

        return cast(F, update_wrapper(wrapped, function))

    def written(self, name: str) -> str:
        """How a call of the method is written."""
        parts = [_parameter(p) for p in self.signatures[name].parameters.values()]
        return f"{self.receiver}.{name}({', '.join(parts)})"

    def _misfit(
        self, name: str, args: tuple[object, ...], named: Mapping[str, object]
    ) -> WeftError:
        """Why a call does not fit."""
        parameters = self.signatures[name].parameters
        known, how = list(parameters), f"write {self.written(name)}"
        places = [n for n, p in parameters.items() if p.kind not in (p.KEYWORD_ONLY, p.VAR_KEYWORD)]
        given = places[: len(args)]
        unknown = [n for n in named if n not in known]
        if unknown:
            near = nearest(unknown[0], known)
            message = f"{name} has no argument '{unknown[0]}'"
            how = how if near is None else f"{near} {how}"
        elif len(args) > len(places):
            plural = "s" * (len(places) != 1)
            message = f"{name} takes {len(places)} argument{plural}, not {len(args)}"
        elif twice := [n for n in named if n in given]:
            message = f"{name} is given '{twice[0]}' twice"
        else:
            needed = [n for n, p in parameters.items() if p.default is p.empty]
            missing = [n for n in needed if n not in given and n not in named]
            message = f"{name} is called without {' and '.join(map(repr, missing))}"
        return self.error(self.code, message, span=caller_span(), help=how)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """A help line where a known name is near; none with all of them, as `did_you_mean` has."""
    found = difflib.get_close_matches(name, list(known), n=1)
    return f"did you mean '{found[0]}'?" if found else None


def _parameter(p: inspect.Parameter) -> str:
    if p.kind is p.VAR_KEYWORD:
        return "i=8, j=range(1, 9)"
    if p.default is p.empty:
        return p.name
    return f'{p.name}="{p.default}"' if isinstance(p.default, str) else f"{p.name}={p.default!r}"


def takes_one(function: Callable[..., object]) -> bool:
    """Whether the function can be called with one argument."""
    try:
        inspect.signature(function).bind(None)
    except (TypeError, ValueError):
        return False
    return True
