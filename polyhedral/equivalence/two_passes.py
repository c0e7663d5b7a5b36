"""Is a program with two passes what the rule of rescaled sums makes of the program without?

The rule says that the running extremum cancels out (`polyhedral.legality.rescaled`); it is algebra on the statements, and
random programs are run to test it. Here it is applied to the program as it was written, and nothing else may
have changed.
"""

from __future__ import annotations

from collections.abc import Sequence

from dsl.programs.program import Program
from dsl.programs.two_pass import with_two_passes
from polyhedral.equivalence.refutation import Refutation
from polyhedral.legality.rescaled import NotRescaledError, rescaled


def check_two_passes(
    before: Program, after: Program, names: Sequence[str], level: int
) -> Refutation | None:
    """Compare a program with what two passes in the place of one loop made of it.

    Args:
        before: the program.
        after: the other one.
        names: a statement of each sum.
        level: of its loops, the one that becomes two.
    """
    span = next(s.span for s in before.statements() if s.name == names[0])
    try:
        found = rescaled(before, names, level)
    except NotRescaledError as error:
        return Refutation("W339", f"two passes of {names[0]}: {error}", span, ())
    if with_two_passes(before, names[0], found) == after:
        return None
    return Refutation("W339", f"two passes of {names[0]}: something else has changed", span, ())
