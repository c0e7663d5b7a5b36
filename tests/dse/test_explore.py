"""``weft explore``: runs, resumption after any kind of end, samplers, statuses."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from backends.devices import device
from dse.cli import run as weft_command
from dse.evaluators.base import Limits, Request, Result, Status
from dse.evaluators.model import ModelEvaluator
from dse.run.codec import (
    key_of,
    point_from_json,
    point_to_json,
    result_from_json,
    result_to_json,
)
from dse.run.directory import create, open_run
from dse.run.fanout import Here, Job, within
from dse.run.front import Design, best, designs, front
from dse.run.session import Options, Session
from dse.run.study import Study
from dse.space.space import Choice, Point, space_of
from dsl.errors import InputError
from dsl.loader import load_kernels
from dsl.schedule import Schedule
from dsl.steps import Pipeline
from qor_gnn.personality import personality

ROOT = Path(__file__).resolve().parents[2]
GEMM = f"{ROOT}/examples/polybench/gemm.py:gemm"
CHIP = device("xczu9eg")
optuna = pytest.importorskip("optuna")


def gemm():
    return load_kernels(ROOT / "examples/polybench/gemm.py")["gemm"].at("mini").program


def request_of(*steps) -> Request:
    return Request(gemm(), Schedule(steps), CHIP, 10.0)


def explore(folder: Path, *words: str) -> int:
    return weft_command(["explore", GEMM, "--size", "mini", "--out", str(folder), *words])


def statuses(folder: Path) -> dict[str, int]:
    found: dict[str, int] = {}
    for line in (folder / "events.jsonl").read_text().splitlines():
        event = json.loads(line)
        if event["event"] == "trial":
            found[event["status"]] = found.get(event["status"], 0) + 1
    return found


def study_of(folder: Path):
    backend = optuna.storages.journal.JournalFileBackend(str(folder / "study.journal"))
    storage = optuna.storages.JournalStorage(backend)
    return optuna.load_study(study_name="weft", storage=storage)


# ------------------------------------------------------------------------------------- what is kept


def test_points_and_results_are_read_back_as_they_were():
    point = Point(1, (Choice(0, (2, 3)), Choice(4, ())))
    assert point_from_json(json.loads(json.dumps(point_to_json(point)))) == point
    result = ModelEvaluator().evaluate(request_of(Pipeline("k")))
    assert result_from_json(json.loads(json.dumps(result_to_json(result)))) == result


def test_a_key_depends_on_all_that_a_result_depends_on():
    evaluator = ModelEvaluator()
    base = request_of(Pipeline("k"))
    others = [
        request_of(),
        replace(base, clock=5.0),
        replace(base, device=device("xcu280")),
        replace(base, program=load_kernels(ROOT / "examples/polybench/gemm.py")["gemm"].program),
    ]
    keys = {key_of(request, evaluator) for request in (base, *others)}
    keys.add(key_of(base, ModelEvaluator("vitis-2023.2-u280-3.33ns")))
    assert len(keys) == 6
    assert key_of(request_of(Pipeline("k")), evaluator) == key_of(base, evaluator)


def test_the_front_leaves_out_what_another_beats():
    def made(key: str, *values: float) -> Design:
        return Design(key, Result(Status.OK), values)

    found = [
        made("a", 10, 5),
        made("b", 10, 4),
        made("c", 20, 4),
        made("d", 20, 3),
        made("e", 5, 9),
    ]
    assert [d.key for d in front(found)] == ["e", "b", "d"]


# ---------------------------------------------------------------------------------------- exploring


def test_the_default_finds_a_front_near_the_bound(tmp_path, capfd):
    assert explore(tmp_path / "run", "--dsp", "60", "--trials", "25", "--format", "json") == 0
    out, err = capfd.readouterr()
    rows = json.loads(out)["rows"]
    latencies = [row["latency"] for row in rows]
    assert latencies == sorted(latencies)
    assert [row["dsp"] for row in rows] == sorted((row["dsp"] for row in rows), reverse=True)
    assert rows[0]["to_bound"] < 1.25
    assert all(row["dsp"] <= 60 and row["provenance"] == "model" for row in rows)
    assert "25 trials" in err
    assert "dsp: at least" in err


@pytest.mark.parametrize("strategy", ["tpe", "nsga2", "nsga3", "random"])
def test_samplers_evaluate_what_they_suggest(tmp_path, capfd, strategy):
    folder = tmp_path / "run"
    code = explore(folder, "--strategy", strategy, "--trials", "15", "--dsp", "200", "--seed", "3")
    assert code in (0, 3)
    study = study_of(folder)
    assert len(study.trials) == 15
    assert all(trial.state.is_finished() for trial in study.trials)
    assert sum(statuses(folder).values()) == 15
    assert "illegal" not in statuses(folder)
    assert any(trial.values for trial in study.trials)
    assert any(trial.params for trial in study.trials)


def test_the_whole_of_a_small_space_is_evaluated(tmp_path, capfd):
    file = tmp_path / "small.py"
    file.write_text(
        "import weft\nfrom weft import f32\n\n\n@weft.kernel\n"
        "def scale(x: f32[12], y: f32[12]):\n    for i in range(12):\n        y[i] = 2.0 * x[i]\n"
    )
    words = ["explore", f"{file}:scale", "--out", str(tmp_path / "run")]
    assert weft_command([*words, "--strategy", "exhaustive", "--trials", "100"]) == 0
    # One loop of 12: copies 1, 2, 3, 4, 6; the loop keeps two blocks at least.
    assert statuses(tmp_path / "run") == {"ok": 5}


def test_a_space_that_is_too_large_is_not_enumerated(tmp_path, capfd):
    assert weft_command(
        ["explore", GEMM, "--strategy", "exhaustive", "--out", str(tmp_path / "run")]
    ) == 1  # fmt: skip
    assert "error[W524]: the space has more than 50,000 points" in capfd.readouterr().err


def test_nothing_feasible_is_an_exit_code_of_its_own(tmp_path, capfd):
    assert explore(tmp_path / "run", "--dsp", "1", "--strategy", "pom") == 3
    assert set(statuses(tmp_path / "run")) == {"infeasible"}


def test_the_same_seed_gives_the_same_run(tmp_path, capfd):
    for name in ("a", "b"):
        explore(tmp_path / name, "--strategy", "tpe", "--trials", "12", "--seed", "5")
    first, second = (
        [t.user_attrs.get("design") for t in study_of(tmp_path / name).trials] for name in "ab"
    )
    assert first == second


def test_evaluations_in_processes_give_what_those_here_give(tmp_path, capfd):
    for name, jobs in (("one", "1"), ("two", "2")):
        explore(tmp_path / name, "--strategy", "pom", "--dsp", "60", "--jobs", jobs)
    one, two = (designs(open_run(tmp_path / name, write=False)) for name in ("one", "two"))
    assert [(d.key, d.values) for d in one] == [(d.key, d.values) for d in two]
    assert one


# --------------------------------------------------------------------------------------- evaluations


class Slow(ModelEvaluator):
    """Takes too long for the limit of the test."""

    def evaluate(self, request: Request) -> Result:
        time.sleep(5)
        return super().evaluate(request)


def test_what_takes_too_long_is_a_timeout():
    result = within(0.2, Job("", Slow(), request_of()))
    assert (result.status, result.evaluated) == (Status.TIMEOUT, False)
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    program = gemm()
    space = space_of(program, personality("vitis-2022.1-zu9eg-10ns"))
    limits = Limits({"dsp": 60})
    run = create(tmp_path / "run", {"kernel": "gemm"})
    study = Study(run, ("latency", "dsp"), limits, "tpe", 0)
    options = Options(CHIP, 10.0, limits, "pom", 10)
    with contextlib.closing(run):
        yield Session(
            run, space, study, ModelEvaluator(), options, lambda *_: None, lambda: False, Here(30)
        )  # fmt: skip


def test_a_point_is_evaluated_once(session):
    point = session.space.plain()
    first, second = session.evaluate(point), session.evaluate(point)
    assert first == second
    assert session.study.count == 1


def test_a_point_that_is_suggested_again_is_a_duplicate(session, tmp_path):
    point = session.space.plain()
    for _ in range(2):
        session._evaluate_all((point,))
    assert statuses(tmp_path / "run") == {"ok": 1, "duplicate": 1}


# --------------------------------------------------------------------------------------- interruption


def test_a_run_is_not_begun_over_another(tmp_path, capfd):
    explore(tmp_path / "run", "--strategy", "pom", "--trials", "2")
    assert explore(tmp_path / "run", "--strategy", "pom") == 1
    assert "error[W527]" in capfd.readouterr().err


def test_there_must_be_a_run_to_resume(tmp_path, capfd):
    assert explore(tmp_path / "none", "--resume") == 1
    assert "error[W521]" in capfd.readouterr().err


def test_a_run_is_resumed_with_its_own_options(tmp_path, capfd):
    explore(tmp_path / "run", "--strategy", "pom", "--trials", "1")
    assert explore(tmp_path / "run", "--strategy", "pom", "--dsp", "50", "--resume") == 1
    assert "error[W525]: the run in" in capfd.readouterr().err


def test_two_processes_do_not_write_one_run(tmp_path):
    run = create(tmp_path / "run", {"kernel": "gemm"})
    with pytest.raises(InputError) as caught:
        open_run(tmp_path / "run")
    assert caught.value.code == "W522"
    run.close()
    open_run(tmp_path / "run").close()


def test_a_torn_journal_is_mended(tmp_path, capfd):
    folder = tmp_path / "run"
    explore(folder, "--strategy", "random", "--trials", "4")
    with (folder / "study.journal").open("ab") as file:
        file.write(b'{"op_code":4,"wor')
    (folder / "study.journal.lock").write_text("left behind")
    assert explore(folder, "--strategy", "random", "--trials", "6", "--resume") in (0, 3)
    assert sum(t.user_attrs.get("status") is not None for t in study_of(folder).trials) == 6


def test_without_optuna_there_is_no_study(tmp_path, monkeypatch, capfd):
    monkeypatch.setitem(sys.modules, "optuna", None)
    assert explore(tmp_path / "run") == 1
    assert "error[W523]: exploring needs Optuna, which is not installed" in capfd.readouterr().err


def test_a_run_without_a_feasible_design_has_no_best(tmp_path, capfd):
    explore(tmp_path / "run", "--dsp", "1", "--strategy", "pom")
    with pytest.raises(InputError) as caught:
        best(open_run(tmp_path / "run", write=False))
    assert caught.value.code == "W526"


COMMAND = [sys.executable, "-c", "from dse.cli import main; main()", "explore", GEMM]


def started(folder: Path, trials: int, *more: str) -> subprocess.Popen[str]:
    words = [
        "--size",
        "mini",
        "--strategy",
        "random",
        "--trials",
        str(trials),
        "--out",
        str(folder),
    ]
    return subprocess.Popen(
        [*COMMAND, *words, *more], cwd=ROOT, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip


def kept(folder: Path) -> set[str]:
    return {path.parent.name for path in folder.glob("points/*/result.json")}


def wait_for_points(folder: Path, process: subprocess.Popen[str], count: int) -> None:
    deadline = time.monotonic() + 60
    while len(kept(folder)) < count and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_no_finished_trial_is_lost_to_kill_9(tmp_path):
    folder, rng = tmp_path / "run", random.Random(1)
    found: set[str] = set()
    for n in range(4):
        process = started(folder, 5000, *(["--resume"] if n else []))
        wait_for_points(folder, process, len(found) + rng.randint(2, 9))
        time.sleep(rng.random() / 20)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        assert process.returncode == -signal.SIGKILL
        assert found <= kept(folder)
        found = kept(folder)
    total = 8 + len(study_of(folder).trials)
    assert explore(folder, "--strategy", "random", "--trials", str(total), "--resume") in (0, 3)
    trials = study_of(folder).trials
    ended = {t.user_attrs["design"]["key"] for t in trials if t.values is not None}
    assert found <= ended
    assert not [t for t in trials if not t.state.is_finished()]
    assert sum("status" in t.user_attrs for t in trials) == total


def test_one_interruption_saves_and_stops(tmp_path):
    process = started(tmp_path / "run", 5000)
    wait_for_points(tmp_path / "run", process, 3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "stopping after the evaluations under way" in err
    assert out.startswith("latency") or "latency" in out
    last = (tmp_path / "run" / "events.jsonl").read_text().splitlines()[-1]
    assert json.loads(last)["event"] == "stopped"
