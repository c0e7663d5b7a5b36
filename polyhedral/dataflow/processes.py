"""Processes: which nests run as one, and whether they can be run at the same time.

In a dataflow region each array has at most one process that writes it and one that reads what it
wrote: the tool puts a memory of two halves between the two, or a FIFO. An argument that is an array
belongs to one process (HLS 200-977, "it can only be used in one process"); scalars are free. (UG1399,
"Dataflow optimization limitations".)
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from dsl.errors.errors import ScheduleError
from dsl.programs.program import Array, Storage
from dsl.schedules.steps import Dataflow, Step
from polyhedral.scop.lookup import find_statement
from polyhedral.scop.scheduled import Piece, ScheduledScop


@dataclass(frozen=True, slots=True)
class Channel:
    """A local array from the process that writes it to the one that reads it, by number."""

    array: str
    producer: int
    consumer: int


@dataclass(frozen=True, slots=True)
class Use:
    """How a process touches an array: the statements that write it and those that read it."""

    writers: tuple[str, ...] = ()
    readers: tuple[str, ...] = ()


class SharedArray(ScheduleError):
    """W217: processes would share an array that they cannot share; ``uses`` says which."""

    def __init__(
        self, array: Array, uses: dict[int, Use], state: ScheduledScop, step: Step
    ) -> None:
        super().__init__("W217", _told(array, uses), span=step.span)
        self.array = array.name
        self.uses = uses
        self._state = state

    def render(self) -> str:
        """The full message, with the statements and what would help."""
        self.notes = tuple(_use_notes(self.array, self.uses, self._state))
        self.help = _advice(self.array, self.uses, self._state)
        return super().render()


def process_names(state: ScheduledScop) -> tuple[tuple[str, ...], ...]:
    """The statements of each process, in the order in which the nests stand.

    Raises:
        ScheduleError: W220, statements that were asked to be one process have others between.
    """
    if state.dataflow is None:
        return ()
    return tuple(tuple(dict.fromkeys(p.name for p in own)) for own in process_pieces(state))


def process_pieces(state: ScheduledScop) -> list[list[Piece]]:
    """The pieces of each process; one process where there is no dataflow region."""
    if state.dataflow is None:
        return [list(state.pieces)]
    return grouped(state.pieces, 0, state.dataflow)


def grouped(pieces: Sequence[Piece], level: int, step: Dataflow) -> list[list[Piece]]:
    """The pieces of each process of a region.

    Args:
        pieces: all that is in it, in execution order.
        level: loops around it.
        step: what asks for it.

    Raises:
        ScheduleError: W220, as `process_names`.
    """
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for p in pieces:
        first.setdefault(p.name, p.place[level])
        last[p.name] = p.place[level]
    intervals = [(first[name], last[name], frozenset[str]()) for name in first]
    for group in step.processes:
        known = [name for name in group if name in first]
        if known:
            low, high = min(first[n] for n in known), max(last[n] for n in known)
            intervals.append((low, high, frozenset(known)))
    found: list[list[Piece]] = []
    end = -1
    for piece in pieces:
        at = piece.place[level]
        if at > end:
            found.append([])
            end = at
        found[-1].append(piece)
        while (further := _reach(intervals, at, end)) > end:
            end = further
    for _, _, group_names in intervals:
        _check_group(group_names, found, step, level)
    return found


def _reach(intervals: list[tuple[int, int, frozenset[str]]], low: int, end: int) -> int:
    """How far what begins between ``low`` and ``end`` goes."""
    return max((high for first, high, _ in intervals if low <= first <= end), default=end)


def _check_group(
    group: frozenset[str], found: list[list[Piece]], step: Dataflow, level: int
) -> None:
    for pieces in found if group else ():
        names = dict.fromkeys(p.name for p in pieces)
        if not group & names.keys():
            continue
        asked = {name for one in step.processes if group & set(one) for name in one}
        nests = {p.place[level] for p in pieces if p.name in asked}
        between = [p.name for p in pieces if p.place[level] not in nests]
        if between:
            raise ScheduleError(
                "W220",
                f"{' and '.join(sorted(group))} cannot be one process without {between[0]}, "
                "which stands between",
                span=step.span,
                help=f"dataflow(processes=[{_group(names)}]{_at(step)})",
            )


def uses_of(state: ScheduledScop, array: str) -> dict[int, Use]:
    """The processes that touch an array, by number."""
    return uses_in(process_pieces(state), array)


def uses_in(processes: Sequence[Sequence[Piece]], array: str) -> dict[int, Use]:
    """Those of the given processes that touch an array, by number."""
    found: dict[int, Use] = {}
    for number, pieces in enumerate(processes):
        writers = {p.name: None for p in pieces if p.statement.stmt.target.array == array}
        readers = {p.name: None for p in pieces if any(a.array == array for a in p.statement.reads)}
        if writers or readers:
            found[number] = Use(tuple(writers), tuple(readers))
    return found


def has_two_pointers(state: ScheduledScop, array: Array, uses: dict[int, Use]) -> bool:
    """Whether one process reads an array outside and a later one writes it, each by a pointer of its own."""
    return is_in_and_out(uses) and any(
        s.reads for s in state.interfaces if s.argument == array.name
    )


def is_in_and_out(uses: dict[int, Use]) -> bool:
    """Whether one process reads an array, and another one behind it writes it."""
    first, last = min(uses), max(uses)
    return len(uses) == 2 and not uses[first].writers and not uses[last].readers


def channels(state: ScheduledScop, step: Step) -> tuple[Channel, ...]:
    """The arrays that go from one process to another.

    Raises:
        SharedArray: an array is shared in a way that the tool refuses.
    """
    found: list[Channel] = []
    for array in state.scop.program.arrays:
        uses = uses_of(state, array.name)
        writing = [n for n, use in uses.items() if use.writers]
        if len(uses) < 2 or (array.storage is Storage.ARGUMENT and not array.shape):
            continue
        if has_two_pointers(state, array, uses):
            continue
        if array.storage is not Storage.LOCAL or len(writing) > 1 or len(uses) > 2:
            raise SharedArray(array, uses, state, step)
        consumer = next(n for n in uses if n != writing[0])
        found.append(Channel(array.name, writing[0], consumer))
    return tuple(found)


def _told(array: Array, uses: dict[int, Use]) -> str:
    writing = [n for n, use in uses.items() if use.writers]
    if len(writing) > 1:
        return f"'{array.name}' is written by {len(writing)} processes of a dataflow region"
    if array.storage is Storage.ARGUMENT and not writing:
        return f"the argument '{array.name}' is read by {len(uses)} processes of a dataflow region"
    if array.storage is not Storage.LOCAL:
        what = "argument" if array.storage is Storage.ARGUMENT else "memory outside"
        return f"the {what} '{array.name}' is written by one process and read by another"
    return f"'{array.name}' is read by {len(uses) - 1} processes that do not write it"


def _use_notes(array: str, uses: dict[int, Use], state: ScheduledScop) -> Iterator[str]:
    for number, use in uses.items():
        for names, does in ((use.writers, "writes"), (use.readers, "reads")):
            new = [n for n in names if does == "writes" or n not in use.writers]
            for name in new[:1]:
                stmt = state.scop.statement(name).stmt
                place = f" at {stmt.span}" if stmt.span is not None else ""
                source = f": {stmt.source}" if stmt.source else ""
                yield f"process {number} {does} it: {name}{place}{source}"


def _advice(array: str, uses: dict[int, Use], state: ScheduledScop) -> str | None:
    """One process for all that touch the array, if that is legal, else a copy for each reader."""
    writing = [n for n, use in uses.items() if use.writers]
    storage = state.scop.program.array(array).storage
    if storage is Storage.SCRATCH:
        return f"leave interface of '{array}' out: on the chip it is a channel between processes"
    local = storage is Storage.LOCAL
    if local and len(writing) == 1:
        return f"write a copy of '{array}' for each process that reads it"
    if not local and not writing:
        return f"pass '{array}' once for each process that reads it"
    assert state.dataflow is not None
    low, high = min(uses), max(uses)
    names = process_names(state)
    group = tuple(name for one in names[low : high + 1] for name in one)
    rest = tuple(one for one in state.dataflow.processes if not set(one) & set(group))
    merged = replace(state.dataflow, processes=(group, *rest))
    joined = replace(state, dataflow=merged)
    try:
        channels(joined, merged)
    except ScheduleError:
        return None
    if len(process_names(joined)) < 2:
        return "leave dataflow out: only one process could be made of them"
    listed = ", ".join(map(_group, merged.processes))
    return f"dataflow(processes=[{listed}]) makes one process of them"


def _at(step: Dataflow) -> str:
    return f', at="{step.at}"' if step.at else ""


def _group(names: Iterable[str]) -> str:
    return f"[{', '.join(map(json.dumps, names))}]"


def check_names(state: ScheduledScop, step: Dataflow) -> None:
    """W205 a group names no statement; W220 it is empty, or a statement is named twice."""
    seen: set[str] = set()
    for group in step.processes:
        if not group:
            raise ScheduleError("W220", "a process has no statements", span=step.span)
        for name in group:
            find_statement(state, name, step)
            if name in seen:
                raise ScheduleError(
                    "W220", f"{name} is named in two places of the processes", span=step.span
                )
            seen.add(name)
