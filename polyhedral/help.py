"""What would make a refused step legal, where that is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsl.steps import Fuse, Interchange, Reorder, Step, Tile
from polyhedral.scheduled import ScheduledScop

if TYPE_CHECKING:
    from polyhedral.legality import Violation


def suggestion(before: ScheduledScop, step: Step, violation: Violation) -> str | None:
    """A help line for an `IllegalStep`, or None."""
    name = violation.sink.name
    if violation.is_reduction:
        return f'reassociate("{name}") allows its reduction in any order (on floats it rounds anew)'
    if isinstance(step, (Interchange, Reorder, Tile)):
        return _skew_help(before, violation)
    if isinstance(step, Fuse) and violation.source.statement is not violation.sink.statement:
        return f'shift("{name}", ...) by the distance in the fused nest may make it legal'
    return None


def _skew_help(before: ScheduledScop, violation: Violation) -> str | None:
    """A distance (1, -d) becomes (1, 0) when the inner loop is skewed by d."""
    if violation.source.statement is not violation.sink.statement:
        return None
    distance = violation.witness.distance
    loops = violation.source.statement.variables
    present = {d.name for p in before.pieces for d in p.dims}
    for inner, back in enumerate(distance):
        for outer in range(inner):
            if back < 0 < distance[outer] and {loops[outer], loops[inner]} <= present:
                factor = -(back // distance[outer])
                a, b = loops[outer], loops[inner]
                return f'skew("{a}", "{b}", {factor}) first makes the distance nonnegative'
    return None
