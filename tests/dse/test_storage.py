"""Studies in databases and journals."""

from __future__ import annotations

import json
import multiprocessing
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from dse.libraries import need
from dse.run.studies.storage import database, journal, shown
from dsl.errors.errors import InputError
from tests.dse.commands import begin, begin_exploring, end, kept, statuses, wait_for_points
from tests.dse.postgres import SECRET, program, server

optuna = pytest.importorskip("optuna")

# ------------------------------------------------------------------------------------------- URLs


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgresql://me:pw@host/db", "postgresql://me:***@host/db"),
        ("postgres://me@host:5433/db", "postgres://me@host:5433/db"),
        ("mysql://me:p%40w@host/db", "mysql://me:***@host/db"),
        ("postgresql+psycopg2://me:pw@host/db", "postgresql+psycopg2://me:***@host/db"),
        (
            "postgresql://me@host/db?sslpassword=pw&sslmode=require",
            "postgresql://me@host/db?sslmode=require&sslpassword=%2A%2A%2A",
        ),
    ],
)
def test_a_url_is_shown_without_its_password(url, said):
    assert shown(url) == said
    assert "pw" not in shown(url)


@pytest.mark.parametrize(
    "url", ["", "nothing", "sqlite:///x.db", "ftp://me:pw@host/db", "postgresql://me:pw@host:p/db"]
)
def test_what_is_no_url_of_a_database_is_an_error_that_does_not_show_it(url):
    with pytest.raises(InputError) as caught:
        shown(url)
    assert caught.value.code == "W529"
    text = caught.value.render()
    assert "error[W529]: the storage is not the URL of a database" in text
    assert "pw" not in text


def test_a_database_that_does_not_answer_is_an_error_without_the_password():
    pytest.importorskip("pymysql")
    with pytest.raises(InputError) as caught, database(f"mysql://me:{SECRET}@127.0.0.1:1/db"):
        pass
    text = caught.value.render()
    assert "error[W529]: the database mysql://me:***@127.0.0.1:1/db cannot be used" in text
    assert "Can't connect" in text
    assert SECRET not in text
    assert caught.value.__cause__ is None  # whose text has the URL
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("url", "driver"), [("postgresql://a@b/c", "psycopg"), ("mysql://a@b/c", "pymysql")]
)
def test_a_driver_that_is_not_installed_is_named(monkeypatch, url, driver):
    monkeypatch.setitem(sys.modules, driver, None)
    with pytest.raises(InputError) as caught, database(url):
        pass
    assert f"needs {driver}, which is not installed" in caught.value.render()
    assert "help: pip install 'weft[db]'" in caught.value.render()


def test_a_library_that_is_not_installed_is_an_error():
    with pytest.raises(InputError) as caught:
        need("weft_no_such_module", "this", "That", "group")
    assert "error[W528]: this needs That, which is not installed" in caught.value.render()


# ---------------------------------------------------------------------------------------- journals


def _append(path: Path, worker: int) -> None:
    storage = journal(path)
    study = optuna.load_study(study_name="s", storage=storage)
    for n in range(20):
        study.set_user_attr(f"{worker}.{n}", n)


def test_processes_write_one_journal_at_the_same_time(tmp_path):
    path = tmp_path / "j"
    optuna.create_study(study_name="s", storage=journal(path))
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_append, args=(path, n)) for n in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(120)
    study = optuna.load_study(study_name="s", storage=journal(path))
    assert len(study.user_attrs) == 60


@pytest.mark.parametrize("torn", [b"{", b'{"op_code":4,"wor', b"{" + b" " * 9000])
def test_a_line_that_was_left_in_part_is_cut_off_by_the_next_writer(tmp_path, torn):
    path = tmp_path / "j"
    study = optuna.create_study(study_name="s", storage=journal(path))
    study.set_user_attr("a", 1)
    with path.open("ab") as file:
        file.write(torn)
    again = optuna.load_study(study_name="s", storage=journal(path))
    again.set_user_attr("b", 2)
    for line in path.read_bytes().splitlines():
        json.loads(line)
    found = optuna.load_study(study_name="s", storage=journal(path)).user_attrs
    assert found == {"a": 1, "b": 2}


def test_a_lock_that_was_left_is_removed(tmp_path):
    path = tmp_path / "j"
    optuna.create_study(study_name="s", storage=journal(path))
    (tmp_path / "j.lock").symlink_to(path)
    start = time.monotonic()
    optuna.load_study(study_name="s", storage=journal(path)).set_user_attr("a", 1)
    assert time.monotonic() - start < 10


def test_a_lock_that_is_held_is_waited_for(tmp_path):
    path = tmp_path / "j"
    optuna.create_study(study_name="s", storage=journal(path))
    lock = tmp_path / "j.lock"
    held = True

    def work() -> None:  # takes and leaves the lock again and again, as a busy process does
        while held:
            lock.symlink_to(path)
            time.sleep(0.01)
            lock.rename(tmp_path / "gone")
            (tmp_path / "gone").unlink()

    worker = threading.Thread(target=work)
    worker.start()
    journal(path)
    held = False
    worker.join()  # its rename would have failed, had its lock been removed
    assert not lock.exists()


# -------------------------------------------------------------------------------------- PostgreSQL


@pytest.fixture(scope="module")
def postgres():
    pytest.importorskip("psycopg")
    if program("initdb") is None:
        pytest.skip("PostgreSQL's server is not installed (Debian: postgresql)")
    with server() as url:
        yield url


def files(folder: Path) -> str:
    return "".join(p.read_text() for p in folder.rglob("*") if p.is_file())


def trials_of(url: str, name: str):
    with database(url) as storage:
        return optuna.load_study(study_name=name, storage=storage).trials


def test_a_study_in_postgresql_is_stopped_by_kill_9_and_resumed(postgres, tmp_path):
    folder = tmp_path / "run"
    words = ["--strategy", "random", "--study", "killed", "--storage", postgres]
    process = begin_exploring(folder, *words, "--trials", "500")
    wait_for_points(folder, process, 4)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    before = kept(folder)
    count = len(trials_of(postgres, "killed"))
    code, out, err = end(begin_exploring(folder, *words, "--trials", str(count + 4), "--resume"))
    assert code == 0, err
    trials = trials_of(postgres, "killed")
    assert all(trial.state.is_finished() for trial in trials)
    assert sum("status" in t.user_attrs for t in trials) == count + 4
    told = {t.user_attrs["design"]["key"] for t in trials if t.values is not None}
    assert before <= told
    assert "workers may join: weft worker --storage URL --study killed" in err
    assert SECRET not in out + err + files(folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["storage"] == postgres.replace(SECRET, "***")


def test_a_study_of_another_run_is_not_gone_on_with(postgres, tmp_path):
    words = ["--strategy", "pom", "--trials", "2"]
    for name, wanted in (("a", 0), ("b", 1)):
        process = begin_exploring(tmp_path / name, *words, WEFT_STORAGE=postgres)
        code, _, err = end(process)
        assert code == wanted, err
    assert "error[W533]: the storage has a study 'weft-gemm-" in err


def test_a_wrong_password_is_an_error_that_does_not_show_it(postgres, tmp_path):
    url = postgres.replace(SECRET, "gu3ss")
    code, out, err = end(begin_exploring(tmp_path / "run", "--storage", url))
    assert code == 1
    assert "error[W529]" in err
    assert "password authentication failed" in err
    assert "gu3ss" not in out + err
    assert not (tmp_path / "run").exists()


def test_a_worker_joins_by_the_database(postgres, tmp_path):
    folder = tmp_path / "run"
    words = ["--strategy", "random", "--trials", "8", "--study", "joined", "--storage", postgres]
    worker = begin("worker", "--study", "joined", "--idle", "60", WEFT_STORAGE=postgres)
    code, _, err = end(begin_exploring(folder, *words, "--jobs", "0"))
    assert code == 0, err
    code, out, err = end(worker)
    assert code == 0, err
    assert sum(statuses(folder).values()) == 8
    assert f"worker: {len(kept(folder))} evaluations" in err
    offers = trials_of(postgres, "joined.offers")
    keys = [t.user_attrs["key"] for t in offers if "result" in t.user_attrs]
    assert sorted(keys) == sorted(kept(folder))
    assert SECRET not in out + err


def test_a_worker_of_a_database_runs_no_file(postgres, tmp_path):
    """The kernel makes its own inputs, and is simulated by the worker; its file would leave a mark."""
    mark, file, folder = tmp_path / "mark", tmp_path / "k.py", tmp_path / "run"
    file.write_text(OWN)
    words = ["--trials", "2", "--storage", postgres, "--study", "inert", "--jobs", "0"]
    exploring = begin(
        *("explore", f"{file}:scaled", "--out", folder, "--strategy", "pom"),
        *("--promote", "csim", "--promote-most", "1", *words),
    )
    deadline = time.monotonic() + 120
    while not (folder / "study.journal").exists() and not (folder / "events.jsonl").exists():
        assert time.monotonic() < deadline
        time.sleep(0.1)
    file.write_text(f"open({str(mark)!r}, 'w')\n" + OWN)
    worker = begin("worker", "--study", "inert", "--idle", "60", "--storage", postgres)
    code, _, err = end(exploring)
    assert code == 0, err
    code, _, err = end(worker)
    assert code == 0, err
    assert not mark.exists()
    [promoted] = [json.loads(p.read_text()) for p in folder.glob("points/*/csim.json")]
    assert [(c["name"], c["status"]) for c in promoted["checks"]] == [("csim", "ok")]


OWN = """
import numpy as np
import weft
from weft import f32

N = 64


@weft.kernel
def scaled(A: f32[N], B: f32[N]):
    for i in range(N):
        B[i] = A[i] / B[i]


@scaled.inputs
def ones(kernel, seed):
    return {"B": np.ones(kernel.program.array("B").shape) * 4}
"""
