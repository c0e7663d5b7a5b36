"""Random programs that access memory at subscripts that are data: every level agrees under random schedules."""

from __future__ import annotations

import pytest

from dsl.expressions.expr import Gather, Scatter, walk
from tests.support.diagnosis import shrunk
from tests.support.levels import Case, check_levels
from tests.support.profiles import GATHER, SCATTER
from tests.support.trial import run_trial

SEEDS = range(8)


def test_all_levels_agree() -> None:
    cases, failures, gathers, scatters = [], [], 0, 0
    for seed in SEEDS:
        trial = run_trial(seed, SCATTER if seed % 2 else GATHER, 2)
        failures += trial.failures
        cases += [Case(seed, trial.program, schedule) for schedule in trial.schedules]
        values = [s.value for s in trial.program.statements()]
        scatters += any(isinstance(value, Scatter) for value in values)
        gathers += any(isinstance(e, Gather) for value in values for e in walk(value))
    failures += check_levels(cases, cxx=False)
    if failures:
        pytest.fail("\n\n".join(shrunk(f, seconds=20).report() for f in failures[:3]))
    assert gathers >= len(SEEDS) // 2
    assert scatters
