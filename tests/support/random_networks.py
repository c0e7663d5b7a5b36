"""Random networks of processes whose arrays are all streams: diamonds, ways that meet, rates."""

from __future__ import annotations

import random

from dsl.builder.program import ProgramBuilder
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Dataflow, Step, Stream
from weft import i32

ROWS, COLUMNS = 2, 3


def random_network(seed: int) -> tuple[Program, Schedule]:
    """Two to four processes; arrays go from one to a later one, written and read row by row.

    A process touches its arrays element by element in turns, or row by row, or one array after the
    other, so that one may be far ahead of another. Some arrays stay memories.
    """
    rng = random.Random(f"network/{seed}")
    p = ProgramBuilder(f"net{seed}")
    count = rng.randint(2, 4)
    edges = [(n, n + 1) for n in range(count - 1)]
    for _ in range(rng.randint(1, 3)):
        low, high = sorted(rng.sample(range(count), 2))
        edges.append((low, high))
    rng.shuffle(edges)
    arrays = [p.local(f"T{n}", i32, (ROWS, COLUMNS)) for n in range(len(edges))]
    groups = []
    for n in range(count):
        read = [a for a, (_, to) in zip(arrays, edges, strict=True) if to == n]
        write = [a for a, (by, _) in zip(arrays, edges, strict=True) if by == n]
        groups.append(_process(p, rng, n, read, write))
    steps: list[Step] = [Dataflow(tuple(groups))]
    for n in range(len(edges)):
        if rng.random() < 0.9:
            steps.append(Stream(f"T{n}", rng.choice([1, 1, 1, 2, 3, 4, 6])))
    return p.build(), Schedule(tuple(steps))


def _process(p, rng, n, read, write):  # type: ignore[no-untyped-def]
    """Statements of one process: each reads what is left of its arrays, or a source of its own."""
    source = p.placeholder(f"A{n}", i32, (ROWS, COLUMNS))
    sinks = [p.local(f"W{n}_{k}", i32, (ROWS, COLUMNS)) for k in range(len(read))]
    last = p.placeholder(f"Z{n}", i32, (ROWS, COLUMNS))
    work = [(array, None) for array in write]
    for array, sink in zip(read, sinks, strict=True):
        if work and rng.random() < 0.5:
            at = rng.randrange(len(work))
            if work[at][1] is None:
                work[at] = (work[at][0], array)
                continue
        work.append((sink, array))
    work.append((last, None))
    rng.shuffle(work)
    shape = rng.choice(["apart", "rows", "together", "together"])
    names: list[str] = []
    first = p.loops(i=ROWS, j=COLUMNS)
    for k, (into, taken) in enumerate(work):
        own = p.loops(i=ROWS, j=COLUMNS)
        i, j = {"apart": own, "rows": (first[0], own[1]), "together": first}[shape]
        inside = {"apart": None, "rows": i, "together": j}[shape]
        value = source[i, j] + k if taken is None else source[i, j] + taken[i, j]
        after = (names[0], inside) if names and inside is not None else None
        names.append(p.compute(f"S{n}_{k}", (i, j), into[i, j], value, after=after))
    return tuple(names)
