"""A database that goes away during a run: it is waited for, and nothing is lost or done twice."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Iterator

import pytest

from dse.run.studies.storage import clock, database
from dsl.errors.errors import InputError
from tests.dse.commands import begin, begin_exploring, end, kept, statuses, wait_for_points
from tests.dse.lossy import Lossy, lossy
from tests.dse.postgres import SECRET, Server, program, restartable
from tests.support.amount import sample

optuna = pytest.importorskip("optuna")
pytest.importorskip("psycopg")
WAITING, RUNNING = optuna.trial.TrialState.WAITING, optuna.trial.TrialState.RUNNING
COMPLETE, FAIL = optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.FAIL


@pytest.fixture(scope="module")
def postgres() -> Iterator[Server]:
    if program("initdb") is None:
        pytest.skip("PostgreSQL's server is not installed (Debian: postgresql)")
    with restartable() as made:
        yield made


@contextlib.contextmanager
def through(server: Server) -> Iterator[tuple[str, Lossy]]:
    """The URL of the server behind a relay."""
    head, _, port = server.url.rpartition(":")
    number, _, name = port.partition("/")
    with lossy(int(number)) as relay:
        yield f"{head}:{relay.port}/{name}", relay


def trials_of(server: Server, name: str) -> list[optuna.trial.FrozenTrial]:
    with database(server.url) as storage:
        return optuna.load_study(study_name=name, storage=storage).trials


@pytest.mark.parametrize("how", sample(["immediate", "fast"], 2))
def test_a_search_waits_for_a_server_that_restarts(postgres, tmp_path, how):
    folder, name = tmp_path / "run", f"restart-{how}"
    words = ["--strategy", "random", "--study", name, "--storage", postgres.url]
    process = begin_exploring(folder, *words, "--trials", "40")
    wait_for_points(folder, process, 3)
    for _ in range(2):
        with postgres.away(how):
            time.sleep(1.0)
        before = len(kept(folder))
        wait_for_points(folder, process, min(before + 2, 16))
    code, out, err = end(process)
    assert code == 0, err
    assert "the database does not answer; waiting up to 300 s for it" in err
    assert "the database answers again" in err
    assert SECRET not in out + err
    trials = trials_of(postgres, name)
    assert all(t.state.is_finished() for t in trials)
    told = [t.user_attrs["design"]["key"] for t in trials if "status" in t.user_attrs]
    assert len(told) == 40 == sum(statuses(folder).values())
    assert set(told) == kept(folder)


def test_a_server_that_stays_away_ends_the_run_which_goes_on_later(postgres, tmp_path):
    folder = tmp_path / "run"
    words = ["--strategy", "random", "--study", "away", "--storage", postgres.url]
    process = begin_exploring(folder, *words, "--trials", "400", "--storage-wait", "1")
    wait_for_points(folder, process, 3)
    with postgres.away():
        begun = time.monotonic()
        code, out, err = end(process)
        assert time.monotonic() - begun < 60
    assert code == 1
    assert "error[W529]: the database postgresql://weft:***@" in err
    assert "help: what has ended is kept: weft explore --resume" in err
    assert "Traceback" not in err
    assert SECRET not in out + err
    before = kept(folder)
    count = len([t for t in trials_of(postgres, "away") if "status" in t.user_attrs])
    code, _, err = end(begin_exploring(folder, *words, "--trials", str(count + 2), "--resume"))
    assert code == 0, err
    trials = trials_of(postgres, "away")
    assert sum("status" in t.user_attrs for t in trials) == count + 2
    assert before <= {t.user_attrs["design"]["key"] for t in trials if t.values is not None}


def test_a_worker_waits_too(postgres, tmp_path):
    folder = tmp_path / "run"
    words = ["--strategy", "random", "--trials", "8", "--study", "both"]
    worker = begin("worker", "--study", "both", "--idle", "60", WEFT_STORAGE=postgres.url)
    explorer = begin_exploring(folder, *words, "--jobs", "0", WEFT_STORAGE=postgres.url)
    wait_for_points(folder, explorer, 2)
    with postgres.away():
        time.sleep(1.0)
    code, _, err = end(explorer)
    assert code == 0, err
    code, _, said = end(worker)
    assert code == 0, said
    assert sum(statuses(folder).values()) == 8
    results = [json.loads(p.read_text()) for p in folder.glob("points/*/result.json")]
    assert all("lost" not in r.get("detail", "") for r in results)


# ------------------------------------------------------------- commits that nobody hears of


def test_what_was_committed_unheard_is_not_done_twice(postgres):
    heard: list[str] = []
    with through(postgres) as (url, relay), database(url, 30, heard.append) as storage:

        def unheard() -> None:
            relay.cut = 1

        unheard()
        study = storage.create_new_study([optuna.study.StudyDirection.MINIMIZE], "unheard")
        unheard()
        running = storage.create_new_trial(study)
        assert [t.state for t in storage.get_all_trials(study)] == [RUNNING]
        unheard()
        storage.set_trial_user_attr(running, "design", {"key": "k"})
        unheard()
        storage.set_trial_param(running, "x", 1.0, optuna.distributions.IntDistribution(0, 3))
        unheard()
        assert storage.set_trial_state_values(running, COMPLETE, [2.0])
        template = optuna.trial.create_trial(state=WAITING, user_attrs={"key": "w"})
        unheard()
        waiting = storage.create_new_trial(study, template)
        unheard()
        assert storage.set_trial_state_values(waiting, RUNNING)  # taken, by us
        assert not storage.set_trial_state_values(waiting, RUNNING)  # by nobody else then
        unheard()
        assert storage.set_trial_state_values(waiting, FAIL)
        unheard()
        storage.set_study_user_attr(study, "open", True)
        assert relay.lost == 9
        assert heard.count("the database answers again") == 7  # Optuna creates trials again itself
        first, second = storage.get_all_trials(study)
    assert (first.state, first.values, first.params) == (COMPLETE, [2.0], {"x": 1})
    assert first.user_attrs == {"design": {"key": "k"}}
    assert (second.state, second.user_attrs) == (FAIL, {"key": "w"})


def test_a_connection_may_break_before_any_statement(postgres):
    """Not only between two questions: each is asked of the database in several statements."""
    sqlalchemy = pytest.importorskip("sqlalchemy")
    left = 0  # statements until the connection is broken; none where negative
    heard: list[str] = []
    killer = sqlalchemy.create_engine(
        postgres.url.replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT"
    )

    def broken(connection, *_):
        nonlocal left
        left -= 1
        if left == 0:
            number = connection.connection.dbapi_connection.info.backend_pid
            with killer.connect() as other:
                other.exec_driver_sql(f"SELECT pg_terminate_backend({number}, 5000)")

    with database(postgres.url, 30, heard.append) as storage:
        study = storage.create_new_study([optuna.study.StudyDirection.MINIMIZE], "statements")
        trial = storage.create_new_trial(study)
        sqlalchemy.event.listen(storage.engine, "before_cursor_execute", broken)
        asked = [
            lambda: [t.number for t in storage._get_trials(study, None, {trial}, -1)],
            lambda: [t.number for t in storage._get_trials(study, None, {trial}, 0)],
            lambda: storage.get_trial(trial).state,
            lambda: storage.set_trial_user_attr(trial, "a", 1),
            lambda: storage.set_trial_system_attr(trial, "a", 1),
            lambda: storage.set_trial_param(
                trial, "x", 1.0, optuna.distributions.IntDistribution(0, 3)
            ),
            lambda: storage.set_study_user_attr(study, "a", 1),
            lambda: storage.get_all_studies()[0].study_name,
        ]
        for ask in asked:
            expected = ask()
            at, broke = 1, True
            while broke:  # before the first statement, the second, … until there are no more
                left = at
                assert ask() == expected
                broke, at = left <= 0, at + 1
            left = 0
        found = storage.create_new_trial(study, optuna.trial.create_trial(state=WAITING))
        assert [t.number for t in storage.get_all_trials(study)] == [0, 1]
        assert storage.get_trial(found).state == WAITING
        assert heard.count("the database answers again") > len(asked)
    killer.dispose()


def test_only_one_takes_a_trial_whoever_hears_of_it(postgres):
    with (
        through(postgres) as (url, relay),
        database(url, 30) as ours,
        database(postgres.url) as theirs,
    ):
        study = ours.create_new_study([optuna.study.StudyDirection.MINIMIZE], "taken")
        waiting = optuna.trial.create_trial(state=WAITING)
        numbers = [ours.create_new_trial(study, waiting) for _ in range(2)]
        assert theirs.set_trial_state_values(numbers[0], RUNNING)
        assert not ours.set_trial_state_values(numbers[0], RUNNING)
        relay.cut = 1
        assert ours.set_trial_state_values(numbers[1], RUNNING)
        assert not theirs.set_trial_state_values(numbers[1], RUNNING)
        assert relay.lost == 1


def test_what_is_wrong_stays_wrong_however_often_it_is_asked(postgres):
    with through(postgres) as (url, relay), database(url, 30) as storage:
        minimize = [optuna.study.StudyDirection.MINIMIZE]
        study = storage.create_new_study(minimize, "wrong")
        with pytest.raises(optuna.exceptions.DuplicatedStudyError):
            storage.create_new_study(minimize, "wrong")
        trial = storage.create_new_trial(study)
        storage.set_trial_state_values(trial, COMPLETE, [1.0])
        with pytest.raises(optuna.exceptions.UpdateFinishedTrialError):
            storage.set_trial_state_values(trial, COMPLETE, [1.0])
        with pytest.raises(KeyError):
            storage.get_trial(10**6)
        relay.cut = 1
        storage.delete_study(study)
        with pytest.raises(KeyError):
            storage.delete_study(study)


def test_waiting_stops_the_clock_and_ends(postgres):
    heard: list[str] = []
    with database(postgres.url, 1.5, heard.append) as storage:
        study = storage.create_new_study([optuna.study.StudyDirection.MINIMIZE], "clock")
        with postgres.away():
            for _ in range(2):  # the second time it is not waited for again
                begun = time.monotonic()
                with pytest.raises(InputError) as caught:
                    storage.get_all_trials(study)
                spent = time.monotonic() - begun
                assert caught.value.code == "W529"
                assert caught.value.__suppress_context__
        assert spent < 1.0
        assert heard == ["the database does not answer; waiting up to 1.5 s for it"]
        assert storage.get_all_trials(study) == []
        before = time.monotonic() - clock(storage)
        postgres.stop("immediate")
        later = threading.Timer(1.0, postgres.start)
        later.start()
        assert storage.get_all_trials(study) == []
        later.join()
        assert time.monotonic() - clock(storage) > before + 0.5
