"""Is a program with choices the one with a condition? Asked of `polyhedral.legality.chosen_otherwise`, which says how."""

from __future__ import annotations

from dsl.programs.program import Program
from polyhedral.equivalence.refutation import Refutation
from polyhedral.legality.chosen_otherwise import chosen_otherwise
from polyhedral.scop.scop import build_scop


def check_choices(before: Program, after: Program, name: str) -> Refutation | None:
    """Compare a program with what choices in the place of a condition made of it.

    Args:
        before: the program.
        after: the other one.
        name: the statement whose condition it is.
    """
    wrong = chosen_otherwise(build_scop(before), build_scop(after))
    if wrong is None:
        return None
    text = f"choices for the condition around {name}: {wrong}"
    return Refutation("W339", text, before.span, ())
