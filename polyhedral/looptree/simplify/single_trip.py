"""Loops of one iteration that nothing is asked of: their bodies say the same."""

from __future__ import annotations

from dsl.expressions.affine import Affine
from dsl.schedules.loop_requests import NO_REQUESTS, LoopRequests
from polyhedral.looptree.bounds import Bounds


def only_value(
    bounds: Bounds,
    ii: int | None,
    unroll: int | None,
    flatten: bool | None,
    requests: LoopRequests = NO_REQUESTS,
) -> Affine | None:
    """What the variable of a loop is that its body can stand for; None where it cannot.

    Args:
        bounds: of the loop.
        ii: the interval that is asked for, None where the loop is not pipelined.
        unroll: the factor that is asked for, None where there is none.
        flatten: None where nothing was said.
        requests: what else is asked of it.
    """
    asked = (ii, unroll, flatten) != (None, None, None) or bool(requests.of_loop())
    # Which of several lower bounds counts may differ from one execution to the next.
    if asked or bounds.trip_count != 1 or len(bounds.lowers) != 1:
        return None
    return bounds.lowers[0]
