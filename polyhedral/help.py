"""What would make a refused step legal, where that is known."""

from __future__ import annotations

from dsl.steps import Fuse, Interchange, Reorder, Step, Tile
from polyhedral.dependences import Dependence
from polyhedral.legality import Violation
from polyhedral.scheduled import ScheduledScop


def suggestion(before: ScheduledScop, step: Step, violation: Violation) -> str | None:
    """A help line for an `IllegalStep`, or None."""
    dep = violation.dependence
    if dep.reduction:
        return (
            f'reassociate("{dep.sink.name}") allows its reduction in any order '
            "(on floats the rounding changes)"
        )
    if isinstance(step, (Interchange, Reorder, Tile)):
        return _skew_help(before, dep)
    if isinstance(step, Fuse) and dep.source is not dep.sink:
        return _shift_help(dep)
    return None


def _skew_help(before: ScheduledScop, dep: Dependence) -> str | None:
    """A distance (1, -d) becomes (1, 0) when the inner loop is skewed by d."""
    if dep.source is not dep.sink:
        return None
    loops = dep.source.loops
    for inner, (low, _) in enumerate(dep.ranges):
        if low is None or low >= 0:
            continue
        for outer in range(inner):
            ahead = dep.ranges[outer][0]
            if ahead is not None and ahead >= 1:
                factor = -(low // ahead)
                a, b = loops[outer].var, loops[inner].var
                if {a, b} <= {d.name for p in before.pieces for d in p.dims}:
                    return f'skew("{a}", "{b}", {factor}) first makes the distance nonnegative'
    return None


def _shift_help(dep: Dependence) -> str:
    name = dep.sink.name
    return f'shift("{name}", ...) by the distance in the fused nest may make it legal'
