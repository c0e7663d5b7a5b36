"""Does one process write an array only when another one has read what was there?

Between two processes that access one memory outside by a pointer each there is nothing that makes one wait
for the other, but what goes from process to process. A memory of two halves does: its reader begins an
iteration when its writer has ended it. Through a FIFO a value is read when it has been written, and no more
is known; then each write has to be computed from what the element's read handed on, or from what was done by a
process that began when the one that reads had ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import islpy as isl

from dsl.errors.errors import ScheduleError
from dsl.programs.program import Storage
from dsl.schedules.steps import Interface
from polyhedral.dataflow.element_times import sample_element
from polyhedral.dataflow.processes import process_pieces, uses_in
from polyhedral.dependences.direct import Dependence, DepKind, array_dependences, array_flows
from polyhedral.legality.loop_regions import loop_regions
from polyhedral.scop.scheduled import Piece, ScheduledScop
from polyhedral.scop.scop import union_of


@dataclass(frozen=True, slots=True)
class _Link:
    """A local array from one process to another, by number; ``halves``: as a memory of two halves."""

    array: str
    producer: int
    consumer: int
    halves: bool


def check_write_after_read(state: ScheduledScop) -> None:
    """Of arrays with a second pointer, in every region of processes.

    Raises:
        ScheduleError: W231 a process may write an element before another one has read it.
    """
    regions = [] if state.dataflow is None else [process_pieces(state)]
    for step in state.interfaces:
        if step.reads:
            for processes in (*regions, *(r.processes for r in loop_regions(state))):
                found = _unordered_write(state, processes, step.argument)
                if found is not None:
                    raise _refused(state, step, found)


def _refused(state: ScheduledScop, step: Interface, found: Dependence) -> ScheduleError:
    name = step.argument
    written = state.scop.access_map(found.sink, found.sink.stmt.target)
    element = sample_element(found.pairs.range().apply(written), state.scop.program.array(name))
    at = ", ".join(map(str, element))
    reader, writer = found.source.name, found.sink.name
    return ScheduleError(
        "W231",
        f"'{name}' cannot be read through a pointer of its own: {writer} may write {name}[{at}] "
        f"before {reader}, in a process beside it, has read it",
        span=step.span,
        help=f"make one process of {reader} and {writer}, or let an array that is no stream go from the "
        "process that reads to the one that writes",
    )


def _unordered_write(
    state: ScheduledScop, processes: Sequence[Sequence[Piece]], array: str
) -> Dependence | None:
    """A read of an array and a later write of the element by another process that nothing holds back.

    Args:
        state: what the processes are of.
        processes: those of one region, in execution order.
        array: what one process reads, and another one behind it writes.

    Returns:
        The dependence, its pairs those that may come in the other order; None where there is none.
    """
    numbers = {p.name: n for n, own in enumerate(processes) for p in own}
    links = _links(state, processes)
    for found in array_dependences(state.scop, array):
        reader, writer = (numbers.get(s.name) for s in (found.source, found.sink))
        if found.kind is not DepKind.ANTI or reader is None or writer is None or reader == writer:
            continue
        later = _begun_after(links, reader)
        if writer in later:
            continue
        handed = _handed_on(state, links, numbers)
        begun = union_of(
            s.domain.identity() for s in state.scop.statements if numbers.get(s.name) in later
        )
        pairs = isl.UnionMap.from_map(found.pairs).subtract(handed)
        pairs = pairs.subtract_range(handed.intersect_domain(begun.domain()).range())
        if not pairs.is_empty():
            left = isl.Map.from_union_map(pairs)
            return Dependence(found.kind, array, found.source, found.sink, left)
    return None


def _links(state: ScheduledScop, processes: Sequence[Sequence[Piece]]) -> list[_Link]:
    """What goes from one process to another. An array of one element is no memory of two halves for sure: tools
    make a register or a FIFO of it, as of a scalar.
    """
    streams = {s.array for s in state.streams}
    found = []
    for local in state.scop.program.arrays:
        uses = uses_in(processes, local.name) if local.storage is Storage.LOCAL else {}
        producer = next((n for n, use in uses.items() if use.writers), None)
        halves = prod(local.shape) > 1 and local.name not in streams
        found += [
            _Link(local.name, producer, n, halves)
            for n in uses
            if producer is not None and n > producer
        ]
    return found


def _begun_after(links: Iterable[_Link], process: int) -> set[int]:
    """The processes that memories of two halves lead to from a process: each begins when that has ended."""
    reached = {process}
    for link in sorted(links, key=lambda one: one.producer):  # a process comes behind its producers
        if link.halves and link.producer in reached:
            reached.add(link.consumer)
    return reached - {process}


def _handed_on(
    state: ScheduledScop, links: Sequence[_Link], numbers: Mapping[str, int]
) -> isl.UnionMap:
    """Pairs of iterations, of two processes, of which the later one computes with what the earlier one did."""
    step = union_of(
        d.pairs
        for name in dict.fromkeys(link.array for link in links)
        for d in array_flows(state.scop, name)
        if numbers.get(d.source.name) != numbers.get(d.sink.name)
    )
    found = reached = step
    for _ in range(max(numbers.values()) - 1):
        reached = reached.apply_range(step)
        found = found.union(reached)
    return found
