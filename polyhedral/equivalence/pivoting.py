"""Is a program that reads copies of its pivot rows and columns the program? Asked of `polyhedral.legality.recomputed`, which says how."""

from __future__ import annotations

from collections.abc import Mapping

from dsl.programs.program import Program
from polyhedral.equivalence.loops import Origin
from polyhedral.equivalence.refutation import Refutation
from polyhedral.legality.recomputed import differs


def check_pivoting(
    before: Program, after: Program, again: Mapping[str, Origin]
) -> Refutation | None:
    """Compare a program with what copies of pivots made of it.

    Args:
        before: the program.
        after: the other one.
        again: what statements of the other one compute again.
    """
    text = differs(before, after, {n: (o.stmt, o.iteration) for n, o in again.items()})
    if text is None:
        return None
    return Refutation("W339", f"copies of pivots: {text}", before.span, ())
