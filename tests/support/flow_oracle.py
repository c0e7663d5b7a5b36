"""Processes and streams by brute force: event after event, on plain integers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dsl.programs.program import Program, Storage
from dsl.schedules.steps import Partition
from polyhedral.scop.scheduled import ScheduledScop
from tests.support.enumeration import Toucher, program_events
from tests.support.timestamps import order_of, rows_of, times_of

Element = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Use:
    """An access in the order of the schedule: who, what, and which event it belongs to."""

    process: int
    array: str
    element: Element
    write: bool
    event: int


def uses_of(state: ScheduledScop, groups: Sequence[Sequence[str]]) -> list[Use]:
    """Every access in the order in which the schedule runs them; reads of an event come first."""
    program = state.scop.program
    rows = rows_of(state)
    number = _processes({k: r.place[0] for k, r in rows.items()}, groups)
    events = {e.key: e for e in program_events(program)}
    toucher = Toucher(program)
    found = []
    for at, key in enumerate(order_of(times_of(rows))):
        for touch in sorted(toucher.touches(events[key]), key=lambda t: t.is_write):
            array, _, element = touch.element
            found.append(Use(number[key[0]], array, element, touch.is_write, at))
    return found


def _processes(places: dict, groups: Sequence[Sequence[str]]) -> dict[str, int]:  # type: ignore[type-arg]
    """Which process each statement is in: nests of one statement or group are together."""
    nests = sorted(set(places.values()))
    rank = {place: n for n, place in enumerate(nests)}
    spans: dict[object, list[int]] = {}
    for (name, _), place in places.items():
        owner = next((tuple(g) for g in groups if name in g), name)
        for key in {name, owner}:
            spans.setdefault(key, []).append(rank[place])
    border = [True] * (len(nests) + 1)
    for own in spans.values():
        for n in range(min(own) + 1, max(own) + 1):
            border[n] = False
    count, process = -1, []
    for n in range(len(nests)):
        count += border[n]
        process.append(count)
    return {name: process[rank[place]] for (name, _), place in places.items()}


def shared_fault(program: Program, uses: Sequence[Use]) -> str | None:
    """An array that processes share as the tool does not allow."""
    for array in program.arrays:
        own = [u for u in uses if u.array == array.name]
        writers = {u.process for u in own if u.write}
        everyone = {u.process for u in own}
        if len(everyone) < 2:
            continue
        if array.storage is Storage.ARGUMENT or len(writers) > 1 or len(everyone) > 2:
            return array.name
    return None


def banks(state: ScheduledScop, array: str, element: Element) -> tuple[int, ...]:
    """In which memory an element lies."""
    shape = state.scop.program.array(array).shape
    found = []
    for dim, x in enumerate(element):
        for p in state.partitions:
            if (p.array, p.dim) == (array, dim):
                found.append(_bank(p, x, shape[dim]))
    return tuple(found)


def _bank(p: Partition, x: int, extent: int) -> int:
    match p.scheme:
        case "complete":
            return x
        case "block":
            return x // -(-extent // p.factor)
        case _:
            return x % p.factor


def is_stream(state: ScheduledScop, uses: Sequence[Use], array: str) -> bool:
    """Each element once in and once out, by two processes, in the same order in each memory."""
    own = [u for u in uses if u.array == array]
    writes, reads = [u for u in own if u.write], [u for u in own if not u.write]
    if {u.process for u in writes} & {u.process for u in reads}:
        return False
    put, got = {u.element: u.event for u in writes}, {u.element: u.event for u in reads}
    if len(put) != len(writes) or len(got) != len(reads) or put.keys() != got.keys():
        return False
    return not any(True for _ in swapped(state, array, put, got))


def swapped(
    state: ScheduledScop, array: str, put: dict[Element, int], got: dict[Element, int]
) -> Iterator[tuple[Element, Element]]:
    """Pairs in one memory that do not come out as they went in."""
    for a, first in put.items():
        for b, second in put.items():
            same = banks(state, array, a) == banks(state, array, b)
            if same and first < second and got[a] >= got[b]:
                yield a, b


def runs_to_its_end(state: ScheduledScop, uses: Sequence[Use], depths: dict[str, int]) -> bool:
    """All processes together, each in its own order, with FIFOs of these depths: none gets stuck."""
    count = 1 + max(u.process for u in uses)
    queues = [[u for u in uses if u.process == n] for n in range(count)]
    position = [0] * count
    filled: dict[tuple[str, tuple[int, ...]], int] = {}
    writer = {u.array: u.process for u in uses if u.write}
    crossing = {u.array for u in uses if writer.get(u.array, u.process) != u.process}
    moved = True
    while moved:
        moved = False
        for n, queue in enumerate(queues):
            while position[n] < len(queue) and _may(
                state, queue[position[n]], depths, filled, queues, position, crossing, writer
            ):
                use = queue[position[n]]
                if use.array in depths:
                    memory = use.array, banks(state, use.array, use.element)
                    filled[memory] = filled.get(memory, 0) + (1 if use.write else -1)
                position[n] += 1
                moved = True
    return all(p == len(q) for p, q in zip(position, queues, strict=True))


def _may(state, use, depths, filled, queues, position, crossing, writer) -> bool:  # type: ignore[no-untyped-def]
    if position[use.process] == 0 and not _begins(
        use.process, depths, queues, position, crossing, writer
    ):
        return False

    def level(u: Use) -> int:
        return filled.get((u.array, banks(state, u.array, u.element)), 0)

    if use.array in depths and use.write:
        return level(use) < depths[use.array]
    # An iteration takes all that it reads at once.
    coming = queues[use.process][position[use.process] :]
    together = itertools.takewhile(lambda u: u.event == use.event and not u.write, coming)
    return all(level(u) > 0 for u in together if u.array in depths)


def _begins(process, depths, queues, position, crossing, writer) -> bool:  # type: ignore[no-untyped-def]
    """A memory of two halves has to be written, all of it, before a process that reads it begins."""
    read = {u.array for u in queues[process] if not u.write} & (crossing - depths.keys())
    before = {writer[array] for array in read} - {process}
    return all(position[m] == len(queues[m]) for m in before)
