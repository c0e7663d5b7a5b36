"""A function that is a pipeline: a tool unrolls all of its loops, so that nothing else can be asked of them."""

from __future__ import annotations

from dsl.errors.errors import ScheduleError
from dsl.schedules.steps import Pipeline
from polyhedral.scop.ranges import constant_interval
from polyhedral.scop.scheduled import Dim, ScheduledScop


def check_whole_pipeline(state: ScheduledScop, step: Pipeline) -> None:
    """What a pipeline of the function needs of the schedule as a whole.

    Raises:
        ScheduleError: W212 a loop whose trip count varies; W213 processes, banks that follow from unrolled loops, or
            requests for a loop, none of which is left.
    """
    if state.dataflow is not None or state.overlaps:
        raise _excluded(step, "it has processes, which run at the same time anyway")
    if state.auto_partitions:
        array = state.auto_partitions[0].array
        raise _excluded(step, f"the banks of '{array}' are to follow from loops that are unrolled")
    for piece in state.pieces:
        for level, dim in enumerate(piece.dims):
            if (asked := _asked(dim)) is not None:
                raise _excluded(step, f"'{dim.name}' is {asked}, and all loops are unrolled in it")
            if constant_interval(piece, level) is None:
                raise ScheduleError(
                    "W212",
                    f"'{dim.name}', in the pipelined function, has a variable trip count",
                    span=step.span,
                    help="a pipeline unrolls all loops inside: pipeline loops instead",
                )
    if step.style == "frp":
        outside = next((i.argument for i in state.interfaces if i.mode == "m_axi"), None)
        if outside is not None:
            raise _excluded(step, f"it runs free, and '{outside}' is in memory outside")


def _asked(dim: Dim) -> str | None:
    if dim.pipeline_ii is not None:
        return "pipelined"
    if dim.sequential:
        return "not to be pipelined"
    if dim.unroll:
        return f"unrolled by {dim.unroll}"
    if dim.flatten is not None:
        return "flattened, or not to be"
    requests = dim.requests.of_loop()
    return f"asked for {requests[0]}" if requests else None


def _excluded(step: Pipeline, why: str) -> ScheduleError:
    return ScheduleError(
        "W213",
        f"the function cannot be a pipeline: {why}",
        span=step.span,
        help="leave one of the two out",
    )
