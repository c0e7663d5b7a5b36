"""Finding what a step names: loops, statements, arrays; with errors that help."""

from __future__ import annotations

from typing import get_args

from dsl.errors.errors import ScheduleError, did_you_mean
from dsl.programs.program import Array
from dsl.schedules.loop_requests import NO_REQUESTS
from dsl.schedules.steps import Step, Tail
from polyhedral.scop.scheduled import Dim, LoopId, Piece, ScheduledScop


def find_loop(state: ScheduledScop, ref: str, step: Step) -> LoopId:
    """The identity of the loop called ``ref`` (``i`` or ``S1.i``).

    Raises:
        ScheduleError: W201 there is none; W202 several different loops are called so.
    """
    stmt, _, name = ref.rpartition(".")
    if stmt:
        find_statement(state, stmt, step)
    hits = [
        (piece, dim)
        for piece in state.pieces
        for dim in piece.dims
        if dim.name == name and stmt in ("", piece.name)
    ]
    uids = dict.fromkeys(dim.uid for _, dim in hits)
    if not uids:
        known = state.loop_names()
        if stmt:
            known = tuple(f"{stmt}.{d.name}" for p in state.of_statement(stmt) for d in p.dims)
        raise ScheduleError(
            "W201", f"no loop is called '{ref}'", span=step.span, help=did_you_mean(ref, known)
        )
    if len(uids) > 1:
        options = dict.fromkeys(f"'{piece.name}.{dim.name}'" for piece, dim in hits)
        raise ScheduleError(
            "W202",
            f"'{ref}' names {len(uids)} different loops",
            span=step.span,
            help=f"write {' or '.join(options)}",
        )
    return next(iter(uids))


def find_statement(state: ScheduledScop, name: str, step: Step) -> tuple[Piece, ...]:
    """The pieces of the statement called ``name``; W205 if there is none."""
    pieces = state.of_statement(name)
    if not pieces:
        known = [s.name for s in state.scop.statements]
        if name in known:  # every iteration of it is gone: its domain is empty
            return ()
        raise ScheduleError(
            "W205",
            f"no statement is called '{name}'",
            span=step.span,
            help=did_you_mean(name, known),
        )
    return pieces


def find_array(state: ScheduledScop, name: str, step: Step) -> Array:
    """The array called ``name``; W206 if there is none."""
    for array in state.scop.program.arrays:
        if array.name == name:
            return array
    known = [array.name for array in state.scop.program.arrays]
    raise ScheduleError(
        "W206", f"no array is called '{name}'", span=step.span, help=did_you_mean(name, known)
    )


def with_loop(state: ScheduledScop, uid: LoopId) -> list[tuple[Piece, int]]:
    """Every piece that runs in the loop, and at which level."""
    return [(p, k) for p in state.pieces if (k := p.level(uid)) is not None]


def check_new_name(state: ScheduledScop, uid: LoopId, name: str, step: Step) -> None:
    """W208 unless ``name`` is an identifier that no other loop around the same pieces has."""
    if not name.isidentifier():
        raise ScheduleError("W208", f"'{name}' cannot be the name of a loop", span=step.span)
    for piece, level in with_loop(state, uid):
        taken = [d.name for d in piece.dims[:level] + piece.dims[level + 1 :]]
        if name in taken:
            raise ScheduleError(
                "W208",
                f"{piece.name} already runs in a loop called '{name}'",
                span=step.span,
                help="give the new loop another name",
            )


def dim_of(pieces: list[tuple[Piece, int]]) -> Dim:
    """The loop itself, from any piece in it."""
    piece, level = pieces[0]
    return piece.dims[level]


def check_unannotated(dim: Dim, step: Step) -> None:
    """W214 where a step said how a loop is to be built that another one cuts."""
    asked = (dim.pipeline_ii, dim.unroll, dim.region, dim.sequential, dim.requests)
    if asked != (None, None, None, False, NO_REQUESTS):
        raise ScheduleError(
            "W214",
            f"'{dim.name}' is annotated already",
            span=step.span,
            help="change the loops first, then pipeline and unroll what results",
        )


def check_tail(tail: str, step: Step) -> None:
    """W207 unless there is such a treatment of the last iterations."""
    if tail not in get_args(Tail):
        raise ScheduleError(
            "W207",
            f"no tail is called '{tail}'",
            span=step.span,
            help=did_you_mean(tail, get_args(Tail)) or f"it is {' or '.join(get_args(Tail))}",
        )
