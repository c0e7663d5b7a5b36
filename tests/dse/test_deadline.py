"""Searches that have to end: structures that there is no time for are left out, and a design there is in any case."""

from __future__ import annotations

from itertools import count
from math import inf
from pathlib import Path

import pytest

import weft
from backends.devices import device
from dse.evaluators.model import personality_for
from dse.run.search import options
from dse.space.space import Space, space_of
from dse.strategies.patience import Patience
from polyhedral import deadline
from polyhedral.deadline import DeadlinePassedError, check_deadline, enough, until
from weft import f32

N = 6


@weft.kernel
def scaled(A: f32[N, N], x: f32[N], y: f32[N]):
    for i in range(N):
        y[i] = 0.0
        for j in range(N):
            y[i] += A[i, j] * x[j]
    for i in range(N):
        y[i] = 2.0 * y[i]


def space(ends: float = inf) -> Space:
    return space_of(scaled.program, personality_for(device("xc7z020"), 10.0), True, ends=ends)


@pytest.fixture
def checks(monkeypatch):
    """Time is the number of times that it was asked for."""
    clock = count()

    class Time:
        @staticmethod
        def monotonic() -> int:
            return next(clock)

    monkeypatch.setattr(deadline, "time", Time)
    return clock


def test_a_space_that_was_cut_short_has_the_first_structures(checks) -> None:
    whole = {(v.name, v.steps) for v in space().variants}
    assert next(checks) == 0  # nobody asks where there is no deadline
    sizes = []
    for ends in (0, 25, 50):
        now = next(checks)
        cut = space(now + ends)
        sizes.append(len(cut.variants))
        names = {(v.name, v.steps) for v in cut.variants}
        assert names <= whole or names == {("as written", ())}
        assert all(v.nests for v in cut.variants)
        schedule = cut.schedule(cut.plain(len(cut.variants) - 1))
        assert schedule is not None
        assert "void scaled" in weft.compile(scaled, schedule).hls_cpp
    assert sizes == sorted(sizes)
    assert sizes[0] == 1 < sizes[-1] < len(whole)


def test_a_run_without_any_time_ends_with_the_program_as_it_stands(monkeypatch, tmp_path: Path):
    pytest.importorskip("optuna")
    monkeypatch.setattr(options, "patience_of", lambda *_: Patience(0.0, 0.0, 0.0, 0.0))
    asked = {"device": "xc7z020", "evaluator": "model", "progress": False}
    run = weft.explore(scaled, out=tmp_path, seconds=1, **asked)
    (only,) = run.designs
    assert [step.kind for step in only.schedule] == ["pipeline"] * len(only.schedule)
    assert run.problem is not None
    assert [s.name for s in run.problem.structures] == ["as written"]
    # The structures have other numbers in the whole space: what was found is not taken for another design.
    monkeypatch.undo()
    more = weft.explore(scaled, out=tmp_path, trials=3, resume=True, **asked)
    assert len(more.designs) > 1
    assert more.best().latency < only.latency


def test_an_earlier_deadline_holds(checks) -> None:
    with until(5), until(100):
        next(checks)
        for _ in range(4):
            check_deadline()
        with pytest.raises(DeadlinePassedError):
            check_deadline()
    check_deadline()


def test_nothing_is_not_enough() -> None:
    for found in ([], [1]):
        try:
            with enough(found):
                raise DeadlinePassedError
        except DeadlinePassedError:
            assert not found
        else:
            assert found
