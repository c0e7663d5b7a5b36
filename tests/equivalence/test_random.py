"""Random programs under random schedules: level 3 is proven to be the program, never refuted."""

from __future__ import annotations

import random

import pytest

from backends.equivalence import equivalence
from dsl.errors.errors import ScheduleError
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from mlir_passes.pipeline import compile_design
from polyhedral.schedule import apply
from polyhedral.scop.scheduled import build
from tests.support.amount import programs
from tests.support.profiles import BALANCED, FAST
from tests.support.random_programs import random_program
from tests.support.random_schedules import EVERY, random_step

STEPS = 5


@pytest.mark.parametrize(
    "first",
    [0, *(pytest.param(n, marks=pytest.mark.slow) for n in programs(60)[20::20])],
)
def test_random_designs_are_proven(first: int) -> None:
    for seed in range(first, first + 20):
        program = random_program(seed, BALANCED if seed % 2 else FAST)
        for schedule in (Schedule(), random_schedule(program, random.Random(seed))):
            found = equivalence(compile_design(program, schedule))
            assert found.verdict == "proven", (seed, schedule, found.detail)


def random_schedule(program: Program, rng: random.Random) -> Schedule:
    """Those of some random steps that are accepted."""
    state, schedule = build(program), Schedule()
    for _ in range(STEPS):
        longer = schedule.then(random_step(rng, state, {**EVERY, "reuse": 6}))
        try:
            state = apply(program, longer)
        except ScheduleError:
            continue
        schedule = longer
    return schedule
