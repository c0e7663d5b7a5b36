"""Random statements under conditions in a box of loops, and schedules that unroll some of them."""

from __future__ import annotations

import random

from dsl.builder.program import ProgramBuilder
from dsl.builder.terms import Condition
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Pipeline, Split, Step, Unroll
from weft import i32

EXTENTS = {"i": 5, "j": 4, "k": 3}


def random_conditions(seed: int) -> Program:
    """``x = 3*x + c`` under conditions of up to three loops: any change of order shows."""
    rng = random.Random(f"conditions/{seed}")
    p = ProgramBuilder(f"conditions{seed}")
    x = p.placeholder("x", i32, (5, 4))
    i, j, k = p.loops(**EXTENTS)
    previous = None
    for n in range(rng.randint(1, 3)):
        where = _condition(rng, (i, j, k))
        for _ in range(rng.randint(0, 2)):
            other = _condition(rng, (i, j, k))
            where = where & other if rng.random() < 0.6 else where | other
        after = None if previous is None else (previous, k)
        at = x[i, j] if rng.random() < 0.7 else x[0, 0]
        previous = p.compute(f"S{n}", (i, j, k), at, at * 3 + (n + 1), where=where, after=after)
    return p.build()


def _condition(rng: random.Random, loops) -> Condition:  # type: ignore[no-untyped-def]
    value = sum(rng.choice((-1, 1, 1, 2)) * v for v in rng.sample(loops, rng.randint(1, 3)))
    bound = rng.randint(0, 6)
    match rng.randrange(4):
        case 0:
            return value < bound
        case 1:
            return value >= bound
        case 2:
            return value % rng.choice((2, 3)) == 0
        case _:
            return value != bound


def random_unrolling(seed: int) -> Schedule:
    """Loops cut with guarded tails, then one pipelined or some unrolled."""
    rng = random.Random(f"unrolling/{seed}")
    steps: list[Step] = []
    loops = ["i", "j", "k"]
    match rng.randrange(3):
        case 0:
            loop = rng.choice(loops)
            steps.append(Split(loop, rng.choice((2, 3)), tail="guard"))
            at = loops.index(loop)
            loops[at : at + 1] = [f"{loop}_0", f"{loop}_1"]
        case 1:
            steps += [Split("j", 3, tail="guard"), Split("k", 2, tail="guard")]
            loops = ["i", "j_0", "j_1", "k_0", "k_1"]
        case _:
            pass
    if rng.random() < 0.7:
        steps.append(Pipeline(rng.choice(loops[:-1])))
    else:
        steps += [Unroll(loop) for loop in rng.sample(loops, rng.randint(1, 2))]
    return Schedule(tuple(steps))
