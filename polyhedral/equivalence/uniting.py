"""Is a program with one statement in the place of two the program? Asked the other way round: is the program that one in other loops?"""

from __future__ import annotations

from dsl.programs.program import Program
from dsl.programs.united import NotUnitedError
from polyhedral.equivalence.loops import Origin, check_loops
from polyhedral.equivalence.refutation import Refutation
from polyhedral.transforms.loops.unite import in_one


def check_uniting(before: Program, after: Program, one: str, other: str) -> Refutation | None:
    """Compare a program with what one statement in the place of two made of it.

    Args:
        before: the program; all of its loops count up by 1.
        after: the other one.
        one, other: the statements.
    """
    try:
        found = in_one(before, one, other)
    except NotUnitedError as error:
        return Refutation("W339", f"{one} and {other} as one: {error}", before.span, ())
    origins = {n: Origin(*at) for n, at in found.origins.items()}
    return check_loops(after, before, origins, frozenset(), found.locals)
