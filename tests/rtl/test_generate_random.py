"""Random programs under random schedules: RTL gives the data of the graph in the cycles predicted."""

from __future__ import annotations

import pytest

from backends.rtl.front.evaluate import evaluate
from backends.rtl.schedule.normal import normalise
from tests.rtl.support.batch import check
from tests.rtl.support.random_designs import random_case
from tests.support.amount import sample

PROGRAMS, TOGETHER = 60, 20


def test_normal_counters_keep_the_meaning():
    seen = 0
    for seed in (7043, *range(2500, 2550)):  # 7043: lower bounds of different phase
        case = random_case(seed)
        if case is not None:
            arrays, scalars = case.sets[0]
            right = evaluate(case.graph, arrays, scalars)
            assert evaluate(normalise(case.graph), arrays, scalars) == right, seed
            seen += 1
    assert seen > 25


@pytest.mark.slow
@pytest.mark.parametrize("first", sample(range(0, PROGRAMS, TOGETHER), 2))
def test_random_designs_keep_data_and_cycles(first, tmp_path, runtime):
    latency = 1 if first == TOGETHER else 2
    seeds = range(2000 + 2 * first, 2000 + 2 * (first + TOGETHER))  # some have no hardware
    found = {seed: case for seed in seeds if (case := random_case(seed, latency)) is not None}
    kept = dict(list(found.items())[:TOGETHER])
    faults = check(list(kept.values()), tmp_path, runtime)
    assert {seed: f for seed, f in zip(kept, faults, strict=True) if f} == {}
    assert len(kept) >= TOGETHER * 3 // 4
