"""Is a program with a search what the rule of searches makes of the program without?

The rule says which iteration decides (`polyhedral.legality.matches`); that it holds is its own argument, and
random programs are run to test it. Here it is applied to the program as it was written, and nothing else may
have changed.
"""

from __future__ import annotations

from dsl.programs.located import with_position
from dsl.programs.program import Program
from polyhedral.equivalence.refutation import Refutation
from polyhedral.legality.matches import NoMatchError, match_of


def check_locating(before: Program, after: Program, name: str, level: int) -> Refutation | None:
    """Compare a program with what the search for a statement's deciding iteration made of it.

    Args:
        before: the program.
        after: the other one.
        name: the statement.
        level: of its loops, the outermost that is searched.
    """
    span = next(s.span for s in before.statements() if s.name == name)
    try:
        match = match_of(before, name, level)
    except NoMatchError as error:
        return Refutation("W339", f"search for {name}: {error}", span, ())
    if with_position(before, name, level, match).program == after:
        return None
    return Refutation("W339", f"search for {name}: something else has changed, too", span, ())
