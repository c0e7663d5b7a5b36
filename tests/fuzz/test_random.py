"""Random programs under random schedules: every level agrees, every refusal is true.

``benchmarks/fuzz.py`` does the same with thousands.
"""

import pytest

from tests.support.amount import programs
from tests.support.diagnosis import shrunk
from tests.support.legality_checks import Verdict
from tests.support.levels import Case, check_levels
from tests.support.profiles import BALANCED, FAST
from tests.support.trial import run_trial

PER_SHARD, SCHEDULES = 9, 3

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("first", programs(PER_SHARD)[::PER_SHARD])
def test_all_levels_agree(first):
    """Oracle's order, loop tree, JIT and compiled C++ against the interpreter."""
    cases, failures, verdicts = [], [], 0
    for seed in range(first, first + PER_SHARD):
        trial = run_trial(seed, BALANCED if seed % 2 else FAST, SCHEDULES)
        failures += trial.failures
        cases += [Case(seed, trial.program, schedule) for schedule in trial.schedules]
        verdicts += sum(trial.verdicts[v] for v in (Verdict.ACCEPTED, Verdict.REFUSED))
    failures += check_levels(cases)
    if failures:
        pytest.fail("\n\n".join(shrunk(f, seconds=20).report() for f in failures[:3]))
    assert len(cases) == PER_SHARD * SCHEDULES
    assert verdicts > PER_SHARD  # steps were decided, not only turned away
