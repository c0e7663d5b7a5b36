"""Dataflow regions of loops: the nests in a loop are processes, and an iteration of the loop begins before
the one before it is done.

What one process hands to another lives in one iteration of the loop: the tool keeps two of it, so that
the next iteration may be written while this one is read. Anything else belongs to one process, whose
iterations follow each other as they did. So nothing that depends on something else is moved past it.
(UG1399, "Canonical forms of dataflow": a loop of a constant number of iterations, whose body is calls of
functions and declarations of what goes between them.)
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dsl.errors.errors import ScheduleError
from dsl.programs.program import Array, Storage
from dsl.schedules.steps import Dataflow, Step
from polyhedral.dataflow.processes import Use, grouped, has_two_pointers, is_in_and_out, uses_in
from polyhedral.legality.lifetimes import components
from polyhedral.scop.ranges import constant_interval
from polyhedral.scop.scheduled import LoopId, Piece, ScheduledScop


@dataclass(frozen=True, eq=False)
class LoopRegion:
    """A copy of a loop whose body is a region: ``level`` loops are around it, ``pieces`` in it."""

    level: int
    step: Dataflow
    pieces: tuple[Piece, ...]

    @property
    def processes(self) -> list[list[Piece]]:
        """The pieces of each process, in execution order."""
        return grouped(self.pieces, self.level + 1, self.step)


def region_at(state: ScheduledScop, piece: Piece, level: int) -> tuple[tuple[str, ...], ...]:
    """The statements of each process of the loop that the piece runs in at that level; none where its body is
    no region.
    """
    if piece.dims[level].region is None:
        return ()
    place = piece.place[: level + 1]
    return next(
        names_of(region.processes)
        for region in loop_regions(state)
        if region.level == level and region.pieces[0].place[: level + 1] == place
    )


def loop_regions(state: ScheduledScop) -> Iterator[LoopRegion]:
    """The loops of a schedule whose bodies are regions, every copy of them."""
    copies: dict[tuple[int, ...], list[Piece]] = {}
    for piece in state.pieces:
        for level, dim in enumerate(piece.dims):
            if dim.region is not None:
                copies.setdefault(piece.place[: level + 1], []).append(piece)
    for place, pieces in copies.items():
        level = len(place) - 1
        step = pieces[0].dims[level].region
        assert step is not None, "that is how it was found"
        yield LoopRegion(level, step, tuple(pieces))


def names_of(processes: Sequence[Sequence[Piece]]) -> tuple[tuple[str, ...], ...]:
    """The statements of each process."""
    return tuple(tuple(dict.fromkeys(p.name for p in own)) for own in processes)


def most_processes(state: ScheduledScop, uid: LoopId) -> tuple[tuple[str, ...], ...]:
    """The statements of as many processes as the body of a loop can have: those that share what processes cannot
    share are one. Fewer than two where it can be no region; whether the loop can is not asked.
    """
    groups: tuple[tuple[str, ...], ...] = ()
    while True:
        asked = Dataflow(groups)
        members = [p for p in state.pieces if p.level(uid) is not None]
        level = members[0].level(uid) if members else None
        copies = {p.place[: level + 1] for p in members} if level is not None else set()
        if level is None or len(copies) != 1:
            return ()
        region = LoopRegion(level, asked, tuple(members))
        names = names_of(region.processes)
        if len(names) < 2:
            return names
        bad = next(_badly_shared(state, region), None)
        if bad is None:
            return names
        first, last = _to_join(bad[1])
        joined = tuple(name for one in names[first : last + 1] for name in one)
        groups = (*names[:first], joined, *names[last + 1 :])


def _to_join(uses: dict[int, Use]) -> tuple[int, int]:
    """Two processes that share what they cannot: of one that writes and several that read, the first that read."""
    first, second, *more = sorted(uses)
    alone = uses[first].writers and not any(uses[n].writers for n in (second, *more))
    return (second, more[0]) if alone and more else (first, second)


def check_loop_regions(state: ScheduledScop, step: Step) -> None:
    """Are the bodies of loops still regions?

    Raises:
        ScheduleError: W217 an array is in two processes that cannot share it; W220 the loop is none that can be
            one, or there is one process.
    """
    for region in loop_regions(state):
        _check_loop(state, region, step)
        processes = region.processes
        if len(processes) < 2:
            names = ", ".join(dict.fromkeys(p.name for p in region.pieces))
            raise _refused(
                region,
                step,
                f"there is one process ({names}), and nothing that it could run beside",
                "buffer what it reads or writes in this loop, or distribute its statements",
            )
        for array, uses in _badly_shared(state, region):
            raise _shared(state, region, array, uses, step)


def _check_loop(state: ScheduledScop, region: LoopRegion, step: Step) -> None:
    """It is a loop of constant bounds that stays one."""
    level = region.level
    if state.dataflow is not None:
        raise _refused(
            region, step, "the function is a dataflow region itself", "leave one of the two out"
        )
    for piece in region.pieces:
        for k, dim in enumerate(piece.dims[: level + 1]):
            if dim.pipeline_ii is not None or dim.unroll is not None:
                what = "pipelined" if dim.pipeline_ii is not None else "unrolled"
                where = "it is" if k == level else f"the loop '{dim.name}' around it is"
                raise _refused(region, step, f"{where} {what}", "leave one of the two out")
    intervals = [constant_interval(piece, level) for piece in region.pieces]
    known = [i for i in intervals if i is not None]
    # A process may be idle in some iterations, as what completes the words at a border.
    is_one = bool(known) and min(i.first for i in known) == max(i.last for i in known)
    if is_one or len(known) < len(intervals):
        why = "there is one iteration" if is_one else "its trip count varies"
        help_ = "tile or split a loop of constant bounds, with tail='guard'"
        raise _refused(region, step, why, help_)


def _refused(region: LoopRegion, step: Step, why: str, help_: str) -> ScheduleError:
    loop = region.pieces[0].dims[region.level].name
    return ScheduleError(
        "W220", f"the iterations of '{loop}' cannot overlap: {why}", span=step.span, help=help_
    )


def _badly_shared(
    state: ScheduledScop, region: LoopRegion
) -> Iterator[tuple[Array, dict[int, Use]]]:
    """The arrays of several processes that do not go from one to one other, in one iteration."""
    processes = region.processes
    for array in state.scop.program.arrays:
        uses = uses_in(processes, array.name)
        if len(uses) < 2 or not (array.shape or array.storage is Storage.LOCAL):
            continue
        if has_two_pointers(state, array, uses):
            continue
        writing = [n for n, use in uses.items() if use.writers]
        if len(writing) != 1 or len(uses) > 2 or not _lives_inside(state, region, array):
            yield array, uses


def _shared(
    state: ScheduledScop, region: LoopRegion, array: Array, uses: dict[int, Use], step: Step
) -> ScheduleError:
    """W217, with what would make it a region."""
    writing = [n for n, use in uses.items() if use.writers]
    loop = region.pieces[0].dims[region.level].name
    if not writing:
        text = f"'{array.name}' is read by {len(uses)} processes of a dataflow region"
    elif len(writing) > 1:
        text = f"'{array.name}' is written by {len(writing)} processes of a dataflow region"
    elif len(uses) > 2:
        text = f"'{array.name}' is read by {len(uses) - 1} processes that do not write it"
    else:
        text = f"'{array.name}' is in two processes, and is not of one iteration of '{loop}' alone"
    return ScheduleError("W217", text, span=step.span, help=_advice(state, region, array, uses))


def _advice(state: ScheduledScop, region: LoopRegion, array: Array, uses: dict[int, Use]) -> str:
    outside = [s for s in state.interfaces if s.argument == array.name and s.mode == "m_axi"]
    if outside and is_in_and_out(uses):
        return f'interface("{array.name}", "m_axi", ..., reads=BUNDLE) gives it a second pointer, for reads'
    names = most_processes(state, region.pieces[0].dims[region.level].uid)
    if len(names) < 2:
        return "leave dataflow out: only one process could be made of the loop's body"
    groups = ", ".join(json.dumps(list(one)) for one in names if len(one) > 1)
    return f'dataflow(processes=[{groups}], at="{region.step.at}")'


def _lives_inside(state: ScheduledScop, region: LoopRegion, array: Array) -> bool:
    """Whether each iteration of the loop has one of its own."""
    if array.storage is not Storage.LOCAL or not array.scope_depth:
        return False
    groups = components(state, array)
    return groups is not None and all(shared > region.level for _, shared in groups)
