"""The strategies as samplers in studies of one's own: points once, by seed, and on from any moment."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import weft
from dsl.errors.errors import InputError
from weft import f32

optuna = pytest.importorskip("optuna")
STRATEGIES = ("auto", "pom", "tpe", "nsga2", "random")


@weft.kernel
def product(A: f32[6, 8], B: f32[8, 5], C: f32[6, 5]):
    for i, j, k in weft.grid(6, 5, 8):
        C[i, j] += A[i, k] * B[k, j]


@weft.kernel
def vector(x: f32[12], y: f32[12]):
    for i in range(12):
        y[i] = 2.0 * x[i]


@weft.kernel
def single(x: f32[1], y: f32[1]):
    y[0] = 2.0 * x[0]


@pytest.fixture(autouse=True)
def quiet():
    optuna.logging.set_verbosity(optuna.logging.ERROR)


def made(kernel=product, **options) -> weft.Objective:
    return weft.Objective(kernel, **{"device": "xczu9eg", "dsp": 60, **options})


def begun(objective: weft.Objective, strategy: str, seed: int = 0, **where):
    return optuna.create_study(
        directions=objective.directions, sampler=weft.sampler(objective, strategy, seed), **where
    )


def points(study, objective: weft.Objective) -> list:
    return [objective.schedule(trial) for trial in study.trials]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_each_trial_is_of_another_point_that_its_parameters_say(strategy):
    objective = made()
    study = begun(objective, strategy)
    assert isinstance(study.sampler, optuna.samplers.BaseSampler)
    study.optimize(objective, n_trials=12)
    assert all(t.state is optuna.trial.TrialState.COMPLETE for t in study.trials)
    schedules = points(study, objective)
    assert (
        len(set(schedules)) == len(schedules) == (12 if strategy != "pom" else len(schedules)) > 1
    )
    for trial in study.trials:
        assert trial.params
        fixed = objective.schedule(again(objective, trial.params))
        assert fixed == objective.schedule(trial)


def again(objective: weft.Objective, parameters: dict):
    """A trial that is told the parameters of another."""
    study = optuna.create_study(directions=objective.directions)
    study.enqueue_trial(parameters)
    study.optimize(objective, n_trials=1)
    return study.trials[0]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_same_seed_gives_the_same_trials(strategy):
    objective = made()
    runs = []
    for _ in range(2):
        study = begun(objective, strategy, 7)
        study.optimize(objective, n_trials=9)
        runs.append([(t.params, t.values) for t in study.trials])
    assert runs[0] == runs[1]


@pytest.mark.parametrize("strategy", ["auto", "pom", "exhaustive"])
def test_another_process_goes_on_where_the_study_is(strategy, tmp_path):
    objective = made(vector) if strategy == "exhaustive" else made()
    whole = begun(objective, strategy)
    whole.optimize(objective, n_trials=4)
    place = optuna.storages.JournalStorage(
        optuna.storages.journal.JournalFileBackend(str(tmp_path / "journal"))
    )
    where = {"study_name": "parts", "storage": place, "load_if_exists": True}
    for n in range(4):
        study = begun(made(vector) if strategy == "exhaustive" else made(), strategy, **where)
        if n == 2:
            begun(objective, strategy, **where).ask()  # by a process that is killed
        study.optimize(objective, n_trials=1)
    parts = [t for t in study.trials if t.state.is_finished()]
    assert [t.params for t in parts][: len(whole.trials)] == [t.params for t in whole.trials]


def test_what_is_the_same_in_weft_explore(tmp_path):
    run = weft.explore(
        product,
        device="xczu9eg",
        dsp=60,
        trials=9,
        evaluator="model",
        out=tmp_path,
        progress=False,
    )
    objective = made()
    study = begun(objective, "auto")
    study.optimize(objective, n_trials=9)
    theirs = {(d.latency, d.resources["dsp"]) for d in run.designs}
    assert {tuple(t.values) for t in study.trials if feasible(t)} == theirs


def feasible(trial) -> bool:
    return all(over <= 0 for over in trial.constraints.values())


def test_a_study_stops_when_there_is_nothing_left():
    objective = made(vector)
    study = begun(objective, "exhaustive")
    study.optimize(objective, n_trials=100)
    assert len(study.trials) == len(set(points(study, objective))) == 5
    study = begun(objective, "random")
    study.optimize(objective, n_trials=100)
    assert len(set(points(study, objective))) in (len(study.trials), len(study.trials) - 1)
    assert len(study.trials) < 20


@pytest.mark.parametrize("strategy", ["auto", "pom", "random", "exhaustive"])
def test_a_space_of_one_point(strategy):
    objective = made(single)
    study = begun(objective, strategy)
    study.optimize(objective, n_trials=5)
    assert 1 <= len(study.trials) <= 2


def test_trials_of_ones_own_are_learned_from_and_not_repeated():
    objective = made()
    first = begun(objective, "auto")
    first.optimize(objective, n_trials=6)
    study = begun(objective, "auto")
    for trial in first.trials[1:3]:
        study.enqueue_trial(trial.params)
    study.optimize(objective, n_trials=6)
    assert len(set(points(study, objective))) == 6
    assert {str(t.params) for t in first.trials[:3]} <= {str(t.params) for t in study.trials}


def test_trials_at_once_are_of_different_points():
    objective = made()
    for strategy in ("auto", "pom", "tpe"):
        study = begun(objective, strategy)
        asked = [study.ask() for _ in range(4)]
        values = [objective(trial) for trial in asked]
        assert len({objective.schedule(trial) for trial in asked}) == 4
        for trial, found in zip(asked, values, strict=True):
            study.tell(trial, found)
        study.optimize(objective, n_trials=3)
        schedules = points(study, objective)
        assert len(set(schedules)) == len(schedules)


def test_two_samplers_share_a_study():
    objective, other = made(), made()
    storage = optuna.storages.InMemoryStorage()
    one = begun(objective, "auto", study_name="s", storage=storage)
    two = begun(other, "auto", study_name="s", storage=storage, load_if_exists=True)
    for _ in range(4):
        mine = one.ask()
        found = objective(mine)  # under way: its parameters are known
        theirs = two.ask()
        two.tell(theirs, other(theirs))
        one.tell(mine, found)
    # What runs as a sampler is made may be left from a process that was killed: it is tried again.
    assert len(set(points(one, objective))) == 7


def test_a_trial_that_comes_to_nothing_is_tried_once_more():
    objective = made()
    study = begun(objective, "pom")
    points_of = []
    for _ in range(3):
        trial = study.ask()
        point = {name: trial.suggest_int(name, 0, 10**6) for name in ("none of its own",)}
        assert point
        points_of.append(study.sampler.infer_relative_search_space(study, study.trials[-1]))
        study.tell(trial, state=optuna.trial.TrialState.FAIL)
    assert points_of[0] == points_of[1]


def test_other_samplers_do_with_the_objective_too():
    objective = made(objectives=("seconds", "lut"), limits={"lut": "10%"})
    assert objective.names == ("seconds", "lut")
    study = optuna.create_study(
        directions=objective.directions, sampler=optuna.samplers.RandomSampler(seed=0)
    )
    study.optimize(objective, n_trials=30)
    states = {t.state.name for t in study.trials}
    assert states <= {"COMPLETE", "PRUNED"}
    for trial in study.trials:
        result = objective.result(trial)
        assert (trial.values is not None) == result.evaluated
        assert (result.status.value == "ok") == (result.evaluated and feasible(trial))


def test_one_objective_alone():
    objective = made(objectives="latency")
    study = begun(objective, "auto")
    study.optimize(objective, n_trials=8)
    assert study.best_value == min(t.value for t in study.trials if feasible(t))
    assert weft.verify(product, objective.schedule(study.best_trial)).ok


def test_what_is_wrong_is_said():
    objective = made()
    study = optuna.create_study()
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=1)
    for wrong in (
        lambda: weft.sampler(product),
        lambda: weft.sampler(objective, "aut"),
        lambda: weft.sampler(objective, seed="one"),
        lambda: objective.schedule(study.trials[0]),
        lambda: objective.result(3),
        lambda: weft.Objective(3),
        lambda: made(objectives=("dsp",)),
        lambda: made(evaluator="rtl"),
    ):
        with pytest.raises(InputError, match="W509"):
            wrong()
    with pytest.raises(InputError, match="W524"):
        weft.sampler(weft.Objective(twice), "exhaustive")


@weft.kernel
def twice(A: f32[200, 200], B: f32[200, 200], C: f32[200, 200]):
    for i, j, k in weft.grid(200, 200, 200):
        C[i, j] += A[i, k] * B[k, j]
    for i, j, k in weft.grid(200, 200, 200):
        A[i, j] += C[i, k] * B[k, j]


def test_another_studys_trials_do_not_harm():
    objective = made()
    study = begun(objective, "auto")
    study.add_trial(optuna.trial.create_trial(values=[1.0, 2.0]))
    study.add_trial(
        optuna.trial.create_trial(
            values=[1.0, 2.0], user_attrs={"weft": {"point": {"variant": 99, "choices": []}}}
        )
    )
    study.optimize(objective, n_trials=3)
    assert len(study.trials) == 5


def test_optunas_private_names_are_used_in_one_file():
    """Attributes of its objects, and modules of it, whose names begin with an underscore."""
    private = re.compile(r"\.(_trial_id|_study_id|_storage|_system_attrs)\b|optuna[.\w]*\._")
    root = Path(weft.__file__).parent / "dse"
    found = {path.name for path in root.rglob("*.py") if private.search(path.read_text())}
    # Of our own classes, which keep a storage.
    assert found == {"marking.py", "offers.py"}
    assert not re.search(r"[^f]\._storage", (root / "run/workers/offers.py").read_text())
