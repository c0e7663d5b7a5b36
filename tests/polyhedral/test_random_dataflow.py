"""Random stages: what is accepted is right and never stops, what is refused is wrong indeed."""

from __future__ import annotations

import random
import re
from collections import Counter

import pytest

from dsl.errors.errors import ScheduleError
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Dataflow, Step
from polyhedral.dataflow.deadlock import Deadlock
from polyhedral.dataflow.processes import SharedArray
from polyhedral.dataflow.streams import CountWitness, NotAStream, OrderWitness
from polyhedral.schedule import apply
from polyhedral.transforms.registry import carried_out
from tests.support.amount import sample
from tests.support.flow_oracle import (
    is_stream,
    runs_to_its_end,
    shared_fault,
    swapped,
    uses_of,
)
from tests.support.levels import Case, check_levels
from tests.support.random_pipelines import random_dataflow, random_flow_steps, random_pipeline

PROGRAMS, STEPS = 60, 7


def walk(seed: int, told: Counter[str]) -> tuple[Case, bool]:
    """A random schedule; every verdict on the way is compared with brute force."""
    rng = random.Random(seed)
    program = random_pipeline(seed)
    schedule = Schedule()
    begins = rng.choice([0, 0, 1, 2])
    for n in range(STEPS):
        region = any(isinstance(s, Dataflow) for s in schedule)
        steps = (
            (random_dataflow(rng, program),)
            if n == begins
            else random_flow_steps(rng, program, region)
        )
        longer = schedule.then(*steps)
        try:
            state = apply(program, longer)
        except ScheduleError as error:
            told[type(error).__name__] += 1
            confirm(seed, schedule, steps, error)
            continue
        schedule = longer
        if state.dataflow is not None:
            told["accepted"] += 1
            uses = uses_of(state, state.dataflow.processes)
            assert shared_fault(program, uses) is None
            assert all(is_stream(state, uses, s.array) for s in state.streams)
            assert runs_to_its_end(state, uses, {s.array: s.depth for s in state.streams})
            told["streams"] += len(state.streams)
    return Case(seed, program, schedule), any(isinstance(s, Dataflow) for s in schedule)


def confirm(seed: int, before: Schedule, steps: tuple[Step, ...], error: ScheduleError) -> None:
    """A refusal of processes or streams is one that brute force sees too."""
    if not isinstance(error, SharedArray | NotAStream | Deadlock):
        return
    assert error.render()
    state = unchecked(seed, before, steps)
    assert state.dataflow is not None
    uses = uses_of(state, state.dataflow.processes)
    match error:
        case SharedArray():
            own = [u for u in uses if u.array == error.array]
            assert {u.process for u in own if u.write} == {
                n for n, use in error.uses.items() if use.writers
            }
            assert {u.process for u in own} == set(error.uses)
            assert shared_fault(state.scop.program, uses) is not None
        case NotAStream(witness=OrderWitness() as witness):
            own = [u for u in uses if u.array == witness.array]
            put = {u.element: u.event for u in own if u.write}
            got = {u.element: u.event for u in own if not u.write}
            assert (witness.first, witness.second) in set(swapped(state, witness.array, put, got))
        case NotAStream(witness=CountWitness() as witness):
            own = [u for u in uses if (u.array, u.element) == (witness.array, witness.element)]
            writes, reads = (sum(u.write == w for u in own) for w in (True, False))
            within = {u.process for u in own if u.write} & {u.process for u in own if not u.write}
            assert (writes, reads) != (1, 1) or within
        case Deadlock():
            depths = {s.array: s.depth for s in state.streams}
            assert not runs_to_its_end(state, uses, depths)
            assert error.help is not None
            larger = re.findall(r'stream\("(\w+)", depth=(\d+)\)', error.help)
            assert error.array in dict(larger)
            depths |= {array: int(depth) for array, depth in larger}
            assert runs_to_its_end(state, uses, depths)
            if len(larger) == 1:  # the least that is enough
                depths[larger[0][0]] -= 1
                assert not runs_to_its_end(state, uses, depths)


def unchecked(seed: int, before: Schedule, steps: tuple[Step, ...]):  # type: ignore[no-untyped-def]
    """The state after steps that are refused as a region."""
    state = apply(random_pipeline(seed), before)
    for step in steps:
        state = carried_out(state, step)
    return state


@pytest.mark.parametrize("first", sample(range(0, PROGRAMS, 20), 3))
def test_verdicts_are_true_and_results_the_same(first: int) -> None:
    told: Counter[str] = Counter()
    cases = []
    for seed in range(first, first + 20):
        case, is_region = walk(seed, told)
        if is_region:
            cases.append(case)
    assert told["accepted"] > 10
    assert told["streams"] > 2
    assert told["NotAStream"] > 2
    assert check_levels(cases) == []
