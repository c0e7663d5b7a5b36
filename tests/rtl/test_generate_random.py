"""Random programs under random schedules: RTL gives the data of the graph in the cycles predicted."""

from __future__ import annotations

import pytest

from tests.rtl.support.batch import check
from tests.rtl.support.random_designs import random_case

PROGRAMS, TOGETHER = 60, 20


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, PROGRAMS, TOGETHER))
def test_random_designs_keep_data_and_cycles(first, tmp_path, runtime):
    latency = 2 if first == TOGETHER else 1
    seeds = range(2000 + 2 * first, 2000 + 2 * (first + TOGETHER))  # some have no hardware
    found = {seed: case for seed in seeds if (case := random_case(seed, latency)) is not None}
    kept = dict(list(found.items())[:TOGETHER])
    faults = check(list(kept.values()), tmp_path, runtime)
    assert {seed: f for seed, f in zip(kept, faults, strict=True) if f} == {}
    assert len(kept) >= TOGETHER * 3 // 4
