"""Is a program with a running sum in blocks what the rule makes of the program without?

That the rule holds is the argument of `polyhedral.legality.scans`, and random programs are run to test it. Here it is
applied to the program as it was written, and nothing else may have changed.
"""

from __future__ import annotations

from dsl.programs.program import Program
from dsl.programs.scanned import with_scan
from polyhedral.equivalence.refutation import Refutation
from polyhedral.legality.recurrences import NoScanError
from polyhedral.legality.scans import running
from polyhedral.scop.scop import build_scop


def check_scanning(
    before: Program, after: Program, name: str, level: int, factor: int, guarded: bool = False
) -> Refutation | None:
    """Compare a program with what running sums in blocks of one of its statements made of it.

    Args:
        before: the program.
        after: the other one.
        name: the statement.
        level: of its loops, the one in blocks.
        factor: iterations of a block.
        guarded: the last block may have fewer of them.
    """
    span = next(s.span for s in before.statements() if s.name == name)
    try:
        found = running(build_scop(before), name, level, factor)
    except NoScanError as error:
        return Refutation("W339", f"running sum of {name}: {error}", span, ())
    if with_scan(before, name, found, factor, guarded) == after:
        return None
    return Refutation("W339", f"running sum of {name}: something else has changed, too", span, ())
