"""What some steps promise a tool of loops, proven of the whole schedule: exit checks that are not needed, calls that may
overlap, pipelines that may run free.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

import islpy as isl

from dsl.errors.errors import ScheduleError
from dsl.schedules.steps import Pipeline, Step, Unroll
from polyhedral.dataflow.processes import process_pieces
from polyhedral.isl.text import set_of
from polyhedral.scop.lookup import with_loop
from polyhedral.scop.ranges import common_interval, constant_interval, loop_copies, outer_hull
from polyhedral.scop.scheduled import LoopId, Piece, ScheduledScop


def check_promised(state: ScheduledScop) -> None:
    """Each promise of the schedule.

    Raises:
        ScheduleError: W207 a factor that does not divide every trip count; W213 a loop that is not all of its function
            or process, or an array that it reads and writes, where it is rewound; W215 memory outside in a pipeline
            that runs free.
    """
    if not state.promised:
        return
    # A loop may have another identity than it had: what is asked of it is in its annotations.
    loops = dict.fromkeys((d.uid, d.requests) for p in state.pieces for d in p.dims)
    for uid, asked in loops:
        if asked.skip_exit_check:
            _check_exits(state, uid, _asking(state, uid, Unroll))
        if asked.rewind:
            _check_rewind(state, with_loop(state, uid), _asking(state, uid, Pipeline))
        if asked.style == "frp":
            _check_free(state, with_loop(state, uid), _asking(state, uid, Pipeline))


S = TypeVar("S", bound=Step)


def _asking(state: ScheduledScop, uid: LoopId, kind: type[S]) -> S:
    """The step that asked for it: of this loop, or else of one that has become it."""
    steps = [(loop, step) for loop, step in state.promised if isinstance(step, kind)]
    return next((step for loop, step in steps if loop == uid), steps[0][1])


# ------------------------------------------------------------------------------------- exit checks


def _check_exits(state: ScheduledScop, uid: LoopId, step: Unroll) -> None:
    """W207 unless every execution of each copy of the loop has a multiple of its factor iterations."""
    for members in loop_copies(state, uid):
        factor = members[0][0].dims[members[0][1]].unroll
        if not factor:
            continue
        interval = common_interval(members)
        if interval is not None:
            short: int | None = interval.extent if interval.extent % factor else None
        else:
            short = _odd_count(members, factor)
        if short is not None:
            raise ScheduleError(
                "W207",
                f"the exit checks of '{step.loop}' are needed: a factor of {factor} does not divide {short} "
                "iterations",
                span=step.span,
                help="leave skip_exit_check out",
            )


def _odd_count(members: Sequence[tuple[Piece, int]], factor: int) -> int | None:
    """A trip count that the factor does not divide."""
    level = members[0][1]
    loops = outer_hull(*members[0])
    for piece, _ in members[1:]:
        loops = loops.union(outer_hull(piece, level))
    kind = isl.dim_type
    runs = isl.Map.from_range(loops).move_dims(kind.in_, 0, kind.out, 0, level)
    # The last iteration less the first, in each execution: one less than its count.
    spans = runs.lexmax().sum(runs.lexmin().neg()).range()
    odd = spans.subtract(set_of(f"{{ [x] : (x + 1) mod {factor} = 0 }}"))
    if odd.is_empty():
        return None
    return int(odd.sample_point().get_coordinate_val(kind.set, 0).to_python()) + 1


# --------------------------------------------------------------------------------------- rewinding


def _check_rewind(
    state: ScheduledScop, members: Sequence[tuple[Piece, int]], step: Pipeline
) -> None:
    """W213 unless the loop, with a perfect nest around it, is all that runs between two calls."""
    whole = _beside(state, members)
    piece, level = members[0]
    inside = {id(p) for p, _ in members}
    why: str | None = None
    for other in whole:
        if id(other) not in inside or other.place[: level + 1] != piece.place[: level + 1]:
            why = f"{other.name} runs beside it"
            break
    if why is None and any(
        constant_interval(p, k) is None for p, n in members for k in range(n + 1)
    ):
        why = "its trip count, or that of a loop around it, varies"
    if why is None and any(p.dims[level].flatten is False for p, _ in members) and level:
        why = "it is not to be flattened into the loop around it"
    if why is None:
        both = next(_updated(state, [p for p, _ in members]), None)
        if both is not None:
            why = f"it reads and writes '{both}', and the next call would read what this one still writes"
    if why is not None:
        raise ScheduleError(
            "W213",
            f"'{step.loop}' cannot be rewound: {why}",
            span=step.span,
            help="a loop is rewound that is all of the function, or of a process of dataflow()",
        )


def _beside(state: ScheduledScop, members: Sequence[tuple[Piece, int]]) -> list[Piece]:
    """All that the function runs, or the process that the loop is in."""
    if state.dataflow is None:
        return list(state.pieces)
    inside = {id(p) for p, _ in members}
    return [p for one in process_pieces(state) if any(id(p) in inside for p in one) for p in one]


def _updated(state: ScheduledScop, pieces: Sequence[Piece]) -> Iterator[str]:
    """Arrays that are both read and written, but for those that each iteration has of its own."""
    written = {p.statement.stmt.target.array for p in pieces}
    read = {a.array for p in pieces for a in p.statement.reads}
    for name in sorted(written & read):
        if not state.scop.program.array(name).scope_depth:
            yield name


# ------------------------------------------------------------------------------------ running free


def _check_free(state: ScheduledScop, members: Sequence[tuple[Piece, int]], step: Pipeline) -> None:
    """W215 where the loop accesses memory outside, which no free-running pipeline does (UG1448)."""
    outside = {i.argument for i in state.interfaces if i.mode == "m_axi"}
    for piece, _ in members:
        for access in (piece.statement.stmt.target, *piece.statement.reads):
            if access.array in outside:
                raise ScheduleError(
                    "W215",
                    f"'{step.loop}' accesses '{access.array}' in memory outside, so its pipeline cannot run free",
                    span=step.span,
                    help=f'buffer("{access.array}") copies it, or let the pipeline flush: style flp',
                )
