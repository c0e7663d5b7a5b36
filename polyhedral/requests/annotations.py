"""Do the annotations make sense together? Asked after each step, on the loops as they then are."""

from __future__ import annotations

from collections.abc import Iterable

from dsl.errors.errors import ScheduleError
from dsl.schedules.steps import Step
from polyhedral.scop.ranges import constant_interval
from polyhedral.scop.scheduled import Dim, Piece

_REWRITE = "let it run to a constant, its bounds in an 'if' around the statement"


def check_annotations(pieces: Iterable[Piece], step: Step) -> None:
    """W212: a loop to be unrolled completely has a variable trip count; W213: nested pipelines,
    or a request for a loop that is unrolled completely.
    """
    for piece in pieces:
        pipelined: str | None = None
        for level, dim in enumerate(piece.dims):
            if pipelined is not None and dim.pipeline_ii is not None:
                raise ScheduleError(
                    "W213",
                    f"'{dim.name}' is inside the pipelined loop '{pipelined}'",
                    span=step.span,
                    help="a pipelined loop unrolls all loops inside: pipeline only one of them",
                )
            if pipelined is not None:
                _check_inside(dim, pipelined, step)
            if (pipelined is not None or dim.unroll == 0) and constant_interval(
                piece, level
            ) is None:
                raise _variable(piece, level, pipelined, step)
            if dim.pipeline_ii is not None:
                if dim.unroll == 0:
                    raise ScheduleError(
                        "W213",
                        f"'{dim.name}' cannot be both pipelined and unrolled completely",
                        span=step.span,
                    )
                pipelined = dim.name
            if (asked := dim.requests.of_loop()) and dim.unroll == 0:
                raise _no_loop(dim, asked[0], "is unrolled completely", step)
            if dim.requests.leaving is not None and (dim.requests.rewind or dim.flatten):
                raise _ends_early(dim, step)
            if dim.sequential and (pipelined is not None or dim.unroll == 0):
                raise _not_sequential(dim, pipelined, step)


def _no_loop(dim: Dim, asked: str, why: str, step: Step) -> ScheduleError:
    return ScheduleError(
        "W213",
        f"'{dim.name}' cannot be asked for {asked}: it {why}",
        span=step.span,
        help="ask it of a loop around that stays a loop, or leave one of the two out",
    )


def _ends_early(dim: Dim, step: Step) -> ScheduleError:
    asked = "rewound" if dim.requests.rewind else "flattened"
    return ScheduleError(
        "W213",
        f"'{dim.name}' cannot be {asked}: it ends early, so that its trip count varies",
        span=step.span,
        help="leave one of the two out",
    )


def _not_sequential(dim: Dim, pipelined: str | None, step: Step) -> ScheduleError:
    why = "it is unrolled completely"
    if pipelined is not None:
        inside = f"inside the pipelined loop '{pipelined}', which unrolls it completely"
        why = f"it is {'pipelined' if pipelined == dim.name else inside}"
    return ScheduleError(
        "W213",
        f"the iterations of '{dim.name}' cannot run one after the other: {why}",
        span=step.span,
        help="leave one of the two out",
    )


def _check_inside(dim: Dim, pipelined: str, step: Step) -> None:
    """The loops inside of a pipelined one are gone: nothing else can be asked of them."""
    if requests := dim.requests.of_loop():
        why = f"is inside the pipelined loop '{pipelined}', which unrolls it completely"
        raise _no_loop(dim, requests[0], why, step)
    asked = f"unrolled by {dim.unroll}" if dim.unroll else "flattened" if dim.flatten else None
    if asked is not None:
        raise ScheduleError(
            "W213",
            f"'{dim.name}' cannot be {asked}: it is inside the pipelined loop '{pipelined}', "
            "which unrolls it completely",
            span=step.span,
            help=f"split '{dim.name}' and pipeline its outer loop, or leave one of the two out",
        )


def unrolled_levels(piece: Piece) -> tuple[int, ...]:
    """The loops that are unrolled completely: by a request, or inside of a pipelined loop."""
    first = next(
        (k for k, d in enumerate(piece.dims) if d.pipeline_ii is not None), len(piece.dims)
    )
    return tuple(k for k, d in enumerate(piece.dims) if k > first or d.unroll == 0)


def _variable(piece: Piece, level: int, pipelined: str | None, step: Step) -> ScheduleError:
    name = piece.dims[level].name
    if pipelined is None:
        return ScheduleError(
            "W212",
            f"'{name}' has a variable trip count, so it cannot be unrolled completely",
            span=step.span,
            help=f"unroll it by a factor, or {_REWRITE}",
        )
    return ScheduleError(
        "W212",
        f"'{name}', inside the pipelined loop '{pipelined}', has a variable trip count",
        span=step.span,
        help=f"a pipelined loop unrolls all loops inside: pipeline '{name}' instead, or {_REWRITE}",
    )
