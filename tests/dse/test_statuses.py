"""Every status of a trial comes about in a run, is kept, and is told to the study."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from backends.devices import device
from dse.evaluators.base import Limits, Request, Result, Status
from dse.evaluators.model import ModelEvaluator
from dse.run.folder.cache import ResultCache
from dse.run.folder.codec import key_of
from dse.run.folder.directory import create, open_run
from dse.run.folder.problem import KnownBound, Problem
from dse.run.folder.proven import sound, unsound
from dse.run.results.front import designs, nearest
from dse.run.search.ledger import Ledger, Options
from dse.run.search.session import Session
from dse.run.studies.study import Study
from dse.run.workers.fanout import Fanout, Here, Processes, Several
from dse.run.workers.flights import Flights, StopRequestedError
from dse.space.space import Point, Space, space_of
from dse.views.explore import summary
from dsl.kernels.loader import load_kernels
from dsl.schedules.steps import Interchange
from qor_gnn.tools.personality import personality
from tests.dse.acting import Acting
from tests.dse.commands import ROOT, statuses
from tests.dse.manifest import WHOLE
from tests.dse.test_fanout import Refusing

pytest.importorskip("optuna")
CHIP = device("xczu9eg")
Made = Callable[..., Session]


@pytest.fixture(scope="module")
def space() -> Space:
    kernel = load_kernels(ROOT / "examples/polybench/seidel_2d.py")["seidel_2d"]
    return space_of(kernel.at("mini").program, personality("vitis-2022.1-zu9eg-10ns"))


@pytest.fixture
def made(tmp_path: Path, space: Space) -> Iterator[Made]:
    limits = Limits({"dsp": 60})
    with contextlib.ExitStack() as stack:

        def session(evaluator=None, fanout: Fanout | None = None, **more) -> Session:
            run = create(tmp_path / "run", {**WHOLE, "kernel": "seidel_2d"})
            stack.callback(run.close)
            study = Study(run, ("latency", "dsp"), limits)
            options = Options(CHIP, 10.0, limits, "pom", 10)
            ledger = Ledger(
                run, space, study, evaluator or ModelEvaluator(), options, lambda *_: None, **more
            )
            flights = Flights(fanout or Here(60), lambda: False)
            stack.callback(flights.fanout.close)
            return Session(ledger, flights)

        yield session


def only(session: Session, space: Space) -> Result:
    """What comes of the plain point."""
    results: list[Result] = []
    session.evaluate_all([space.plain()], results.append)
    return results[0]


def test_ok_and_duplicate(made, space, tmp_path):
    session = made()
    session.evaluate_all([space.plain(), space.plain()])
    assert statuses(tmp_path / "run") == {"ok": 1, "duplicate": 1}
    first, second = session.ledger.study.study.trials
    assert first.values == second.values


def test_a_point_that_is_under_way_is_not_begun_again(made, space, tmp_path):
    session = made(Acting("wait"), Processes(2, 60))
    session.evaluate_all([space.plain(), space.plain()])
    assert statuses(tmp_path / "run") == {"infeasible": 1, "duplicate": 1}


def test_illegal(made, space, tmp_path):
    """A space has legal orders only: one is made wrong here, as a fault in it would be."""
    variant = space.variants[0]
    nest = variant.nests[0]
    wrong = replace(nest.orders[0], steps=(Interchange("t", "i"), Interchange("i", "j")))
    broken = replace(nest, orders=(wrong, *nest.orders[1:]))
    variants = (replace(variant, nests=(broken, *variant.nests[1:])), *space.variants[1:])
    session = made()
    session.ledger.space = replace(space, variants=variants)
    result = only(session, space)
    assert (result.status, result.detail) == (Status.ILLEGAL, "W203")
    assert statuses(tmp_path / "run") == {"illegal": 1}
    [trial] = session.ledger.study.study.trials
    assert (trial.state.name, trial.user_attrs["status"]) == ("FAIL", "illegal")


def test_infeasible_has_its_figures_and_says_by_how_much(made, space, tmp_path):
    session = made(Acting("ok"))  # its DSP are the number of a process
    result = only(session, space)
    assert (result.status, result.evaluated) == (Status.INFEASIBLE, True)
    [trial] = session.ledger.study.study.trials
    assert trial.values is not None
    assert trial.constraints["dsp"] > 0
    assert statuses(tmp_path / "run") == {"infeasible": 1}


@pytest.mark.parametrize(
    ("act", "status"), [("hang", "timeout"), ("crash", "tool-error"), ("raise", "tool-error")]
)
def test_timeout_and_tool_error(made, space, tmp_path, act, status):
    session = made(Acting(act), Processes(1, 3))
    result = only(session, space)
    assert (result.status.value, result.evaluated) == (status, False)
    assert statuses(tmp_path / "run") == {status: 1}
    assert session.ledger.study.study.trials[0].state.name == "FAIL"


def test_a_failure_is_known_when_the_run_is_opened_again(made, space, tmp_path):
    session = made(Acting("raise"), Processes(1, 60))
    only(session, space)
    session.ledger.run.close()
    with contextlib.closing(open_run(tmp_path / "run")) as run:
        study = Study(run, ("latency", "dsp"), Limits({"dsp": 60}))
        assert [f.status for f in study.finished.values()] == [Status.TOOL_ERROR]


def test_what_one_part_gives_back_another_does(made, space, tmp_path):
    refusing = Refusing()
    result = only(made(None, Several([refusing, Here(60)])), space)
    assert result.status is Status.OK
    assert refusing.refused == 1
    assert statuses(tmp_path / "run") == {"ok": 1}


# ----------------------------------------------------------------------------------------- stopping


def once(condition: Callable[[], bool]) -> Callable[[], bool]:
    """What stays true from the first time on."""
    asked = False

    def stopping() -> bool:
        nonlocal asked
        asked = asked or condition()
        return asked

    return stopping


def test_a_request_to_stop_waits_for_what_is_under_way(made, space, tmp_path):
    session = made(Acting("wait"), Processes(2, 60))
    points = iter(some_points(space, 4))
    session.flights.stopping = once(lambda: len(session.flights.flying) == 2)
    with pytest.raises(StopRequestedError):
        session.evaluate_all(points)
    assert statuses(tmp_path / "run") == {"infeasible": 2}
    assert len(list(points)) == 2


def test_a_request_to_stop_does_not_wait_for_workers_that_are_not_there(made, space):
    session = made(None, Refusing())
    session.flights.stopping = once(lambda: bool(session.flights.again))
    with pytest.raises(StopRequestedError):
        session.evaluate_all([space.plain()])


def some_points(space: Space, count: int) -> list[Point]:
    plain = space.plain()
    choice, order = plain.choices[0], space.order(plain, 0)
    vectors = [(1,) * (len(order.loops) - 1) + (u,) for u in (1, 2, 3, 4, 5)][:count]
    return [
        replace(plain, choices=(replace(choice, vector=v), *plain.choices[1:])) for v in vectors
    ]


# -------------------------------------------------------------------------------------------- cache


class Counting(ModelEvaluator):
    """Counts what it is asked."""

    asked = 0

    def evaluate(self, request: Request) -> Result:
        Counting.asked += 1
        return super().evaluate(request)


def test_a_result_in_the_cache_is_not_evaluated_again(made, space, tmp_path):
    cache = ResultCache(tmp_path / "cache")
    first = made(Counting(), cache=cache)
    request = first.ledger.job(space.plain()).request
    before = Counting.asked
    result = only(first, space)
    first.ledger.run.close()
    (tmp_path / "run").rename(tmp_path / "old")
    again = only(made(Counting(), cache=cache), space)
    assert again == result
    assert Counting.asked == before + 1
    assert ResultCache(tmp_path / "cache").get(key_of(request, Counting())) == result
    assert statuses(tmp_path / "run") == statuses(tmp_path / "old") == {"ok": 1}


def test_what_may_go_otherwise_elsewhere_is_not_cached(tmp_path):
    cache = ResultCache(tmp_path)
    key = "0" * 32
    cache.put(key, Result(Status.TIMEOUT))
    assert cache.get(key) is None
    cache.put(key, Result(Status.OK, 5.0, {"dsp": 1}))
    assert cache.get(key).latency == 5
    [file] = tmp_path.rglob("*.json")
    file.write_text("{")
    assert cache.get(key) is None


# ------------------------------------------------------------------------------------ under a bound


def problem(cycles: int, curve: tuple[tuple[int, int], ...] = ()) -> Problem:
    """With a recurrence of so many cycles, and fewer cycles the more DSP slices."""
    bounds = (KnownBound("dsp", 10**9, "few units"), KnownBound("recurrence", cycles, "in turn"))
    return Problem("", {}, 0, (), bounds, curve, {}, {}, (), None)


def test_a_point_under_a_proven_bound_is_no_design(made, space, tmp_path):
    session = made(Acting("ok"))  # 2 cycles
    session.ledger.options = replace(session.ledger.options, problem=problem(40))
    result = only(session, space)
    assert (result.status, result.evaluated) == (Status.UNDER_BOUND, False)
    assert result.detail == ("internal error: 2 cycles, where 40 are needed (recurrence: in turn)")
    assert statuses(tmp_path / "run") == {"under-bound": 1}
    assert session.ledger.study.study.trials[0].state.name == "FAIL"
    [key] = session.ledger.run.point_keys()
    assert session.ledger.run.result(key) == result
    assert designs(session.ledger.run) == ()
    assert nearest(session.ledger.run) is None
    assert unsound(session.ledger.run) == (result,)


def test_a_point_at_its_bound_is_a_design(made, space):
    known = only(made(), space)
    cycles = int(known.latency)
    assert sound(known, problem(cycles)) == known
    assert sound(known, problem(cycles + 1)).status is Status.UNDER_BOUND
    assert sound(known, None) == known


def test_the_bound_of_a_budget_does_not_hold_for_a_design_over_it(made, space):
    known = only(made(), space)
    dsp, cycles = known.resources["dsp"], int(known.latency)
    assert dsp > 1
    less, own = problem(0, ((dsp - 1, cycles + 1),)), problem(0, ((dsp, cycles + 1),))
    assert sound(known, less) == known
    found = sound(known, own)
    assert found.detail.endswith(f"(dsp: its operations on {dsp} DSP)")


def test_what_a_cache_holds_is_held_against_the_bounds_too(made, space, tmp_path):
    cache = ResultCache(tmp_path / "cache")
    first = made(cache=cache)
    assert only(first, space).status is Status.OK
    first.ledger.run.close()
    shutil.rmtree(tmp_path / "run")
    second = made(cache=cache)
    second.ledger.options = replace(second.ledger.options, problem=problem(10**9))
    assert only(second, space).status is Status.UNDER_BOUND


def test_the_command_says_how_many_points_were_under_a_bound(made, space):
    session = made(Acting("ok"))
    session.ledger.options = replace(session.ledger.options, problem=problem(40))
    session.evaluate_all(some_points(space, 3))
    lines = summary(session.ledger.run, problem(40), 3, 0.0)
    assert lines[:2] == [
        "explore: 3 trials, 0 feasible designs, 0.0 s",
        "  3 points were estimated under a proven bound and left out, internal error: 2 cycles, "
        "where 40 are needed (recurrence: in turn)",
    ]
