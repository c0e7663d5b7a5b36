"""The two ways to the last write before an access: isl's dataflow analysis, and by exclusion."""

import pytest

import polyhedral.dependences.direct as module
from polyhedral.scop.scop import build_scop
from tests.support.amount import sample
from tests.support.profiles import CONTROL
from tests.support.random_programs import random_program
from tests.support.random_recurrences import random_recurrence


def _both(program, monkeypatch):
    """Sinks by statement, kind, array: by what is chosen, and by exclusion alone."""
    every = []
    for chosen in (True, False):
        with monkeypatch.context() as patch:
            if not chosen:
                patch.setattr(module, "_without_strides", lambda _: False)
            found = module.dependences.__wrapped__(build_scop(program))
        every.append({(d.kind, d.array, d.source.index, d.sink.index): d.pairs for d in found})
    return every


@pytest.mark.parametrize("first", sample([0, 40], 2))
def test_random_programs(first, monkeypatch):
    asked = []
    real = module._dataflow
    monkeypatch.setattr(module, "_dataflow", lambda *a: asked.append(a) or real(*a))
    for seed in range(first, first + 40):
        for program in (
            random_program(seed),
            random_program(seed, CONTROL),
            random_recurrence(seed),
        ):
            chosen, excluded = _both(program, monkeypatch)
            assert chosen.keys() == excluded.keys(), seed
            for key, pairs in chosen.items():
                assert pairs.is_equal(excluded[key]), (seed, key)
    assert len(asked) > 100  # most programs have no strides
