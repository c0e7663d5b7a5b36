"""Does a program that divides by numbers without dividers compute the same? Asked of `polyhedral.legality.divided`, which says how."""

from __future__ import annotations

from dsl.programs.program import Program
from polyhedral.equivalence.refutation import Refutation
from polyhedral.legality.divided import divides_otherwise


def check_divisions(before: Program, after: Program, name: str) -> Refutation | None:
    """Compare a program with what it is without the dividers of a statement."""
    wrong = divides_otherwise(before, after)
    if wrong is None:
        return None
    return Refutation("W339", f"divisions of {name}: {wrong}", before.span, ())
