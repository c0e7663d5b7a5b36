"""Is a program with products by a reciprocal the one with quotients? Asked of `polyhedral.legality.kept_divisors`, which says how."""

from __future__ import annotations

from dsl.programs.program import Program
from polyhedral.equivalence.refutation import Refutation
from polyhedral.legality.kept_divisors import divides_otherwise
from polyhedral.scop.scop import build_scop


def check_reciprocal(before: Program, after: Program, name: str) -> Refutation | None:
    """Compare a program with what a reciprocal of a divisor made of it.

    Args:
        before: the program.
        after: the other one.
        name: the statement whose divisor it is.
    """
    known = {s.name for s in before.statements()}
    added = [s.name for s in after.statements() if s.name not in known]
    text = "the statements are other ones"
    if len(added) == 1:
        wrong = divides_otherwise(build_scop(before), build_scop(after), added[0])
        if wrong is None:
            return None
        text = wrong
    return Refutation("W339", f"reciprocal of a divisor of {name}: {text}", before.span, ())
