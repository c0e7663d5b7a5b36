"""What `weft.Program` asks of the arguments of its calls."""

from __future__ import annotations

import keyword

from dsl.builder.terms import LoopVar
from dsl.errors.call_check import Calls
from dsl.errors.callsite import caller_span
from dsl.errors.errors import LanguageError, did_you_mean
from dsl.errors.shown import shown
from dsl.programs.names import NAME

CALLS = Calls(LanguageError, "W115", "p")


def check_fits(
    argument: str, value: object, wanted: type | tuple[type, ...], description: str
) -> None:
    """Refuse an argument that is no instance of what is wanted (W115)."""
    if not isinstance(value, wanted):
        message = f"{argument}= is {shown(value)}, not {description}"
        raise LanguageError("W115", message, span=caller_span())


def checked_name(name: str, what: str) -> str:
    """A name that C++ and the language can have, else W136."""
    if type(name) is not str or not NAME.fullmatch(name) or keyword.iskeyword(name):
        raise LanguageError(
            "W136",
            f"{what} cannot be called {shown(name)}",
            span=caller_span(),
            help="use letters, digits and underscores, and no keyword of Python",
        )
    return name


def check_in_scope(used: set[str], around: set[str], what: str) -> None:
    """Refuse a variable of a loop that is not around (W132)."""
    for name in sorted(used - around):
        message = f"{what} the variable '{name}', which is no loop around"
        raise LanguageError("W132", message, help=did_you_mean(name, around))


def check_after(after: object) -> None:
    """Refuse what is no statement's name with a loop variable or None (W115)."""
    match after:
        case (str(), LoopVar() | None):
            return
    check_fits("after", after, (), 'a statement and a loop variable, such as ("S0", i)')
