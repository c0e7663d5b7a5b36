"""Random programs of stages that hand arrays on, and random dataflow schedules for them."""

from __future__ import annotations

import random

from dsl.builder.program import ProgramBuilder
from dsl.programs.program import Program
from dsl.schedules.steps import (
    Dataflow,
    Interchange,
    Partition,
    Pipeline,
    Reverse,
    Split,
    Step,
    Stream,
    Tile,
    Unroll,
)
from weft import i32

ROWS, COLUMNS = 4, 6


def random_pipeline(seed: int) -> Program:
    """Two to four stages; each writes a local (the last an argument) of what others wrote.

    Mostly every array is read once, in a random order; sometimes twice, in part, or by two stages.
    """
    rng = random.Random(f"pipeline/{seed}")
    p = ProgramBuilder(f"flow{seed}")
    source = [p.placeholder(f"A{n}", i32, (ROWS, COLUMNS)) for n in range(4)]
    stages = rng.randint(2, 4)
    target = p.placeholder("Z", i32, (ROWS, COLUMNS))
    ready = []
    for n in range(stages):
        last = n == stages - 1
        into = target if last else p.local(f"T{n}", i32, (ROWS, COLUMNS))
        i, j = p.loops(i=ROWS, j=COLUMNS)
        taken = (
            ready
            if last
            else [ready.pop(rng.randrange(len(ready)))]
            if ready and rng.random() < 0.8
            else []
        )
        value = source[n if rng.random() < 0.95 else 0][i, j] * (n + 1)
        for array in taken:
            value = value + _read(rng, array, i, j)
        at = (ROWS - 1 - i, j) if rng.random() < 0.1 else (i, j)
        where = i >= 1 if last and rng.random() < 0.15 else None
        p.compute(f"S{n}", (i, j), into[at], value, where=where)
        if rng.random() < 0.1:
            p.compute(f"U{n}", (i, j), into[at], into[at] + 1, after=(f"S{n}", j))
        if not last:
            ready.append(into)
            if rng.random() < 0.3:  # two ways to where both are read
                other = p.local(f"V{n}", i32, (ROWS, COLUMNS))
                p.compute(f"V{n}_", (i, j), other[i, j], value - 1, after=(f"S{n}", j))
                ready.append(other)
            if rng.random() < 0.1:
                ready.append(into)
    return p.build()


def _read(rng: random.Random, array, i, j):  # type: ignore[no-untyped-def]
    chosen = rng.random()
    if chosen < 0.8:
        return array[i, j]
    if chosen < 0.83:
        return array[ROWS - 1 - i, j]
    if chosen < 0.87:
        return array[i, COLUMNS - 1 - j]
    if chosen < 0.93:
        return array[i, 0] - array[i, j]
    return array[i, j] * array[i, j]


def random_flow_step(rng: random.Random, program: Program, after_dataflow: bool) -> Step:
    """One step; before `Dataflow` a change of loops, after it anything."""
    stmt = rng.choice([s.name for s in program.statements() if s.name.startswith("S")])
    local = rng.choice([a.name for a in program.locals])
    roll = rng.random()
    if after_dataflow and roll < 0.5:
        return Stream(local, rng.choice([1, 2, 3, 6, 12, 24, 24]))
    if roll < 0.62:
        return Interchange(f"{stmt}.i", f"{stmt}.j")
    if roll < 0.7:
        return Tile((f"{stmt}.i", f"{stmt}.j"), (2, rng.choice([2, 3, 4])))
    if roll < 0.76:
        return Split(f"{stmt}.{rng.choice('ij')}", rng.choice([2, 4]))
    if roll < 0.8:
        return Reverse(f"{stmt}.i")
    if roll < 0.84:
        return Pipeline(f"{stmt}.j")
    if roll < 0.87:
        return Unroll(f"{stmt}.j", 2)
    return Partition(local, rng.randrange(2), rng.choice(["cyclic", "block"]), rng.choice([1, 2]))


def random_flow_steps(
    rng: random.Random, program: Program, after_dataflow: bool
) -> tuple[Step, ...]:
    """A step, or streams of several arrays at once: a FIFO beside memories often stops."""
    if after_dataflow and rng.random() < 0.3:
        local = [a.name for a in program.locals]
        chosen = rng.sample(local, rng.randint(1, len(local)))
        return tuple(Stream(array, rng.choice([1, 1, 2, 3, 7])) for array in chosen)
    return (random_flow_step(rng, program, after_dataflow),)


def random_dataflow(rng: random.Random, program: Program) -> Dataflow:
    """A region of all nests, sometimes with two neighbours as one process."""
    names = [s.name for s in program.statements() if s.name.startswith("S")]
    if rng.random() < 0.25:
        first = rng.randrange(len(names) - 1)
        return Dataflow((tuple(names[first : first + 2]),))
    return Dataflow()
