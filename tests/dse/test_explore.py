"""``weft explore``: runs, resumption after any kind of end, samplers, statuses."""

from __future__ import annotations

import json
import sys
import types
from dataclasses import replace
from pathlib import Path

import pytest

from backends.devices import device
from dse.cli import run as weft_command
from dse.evaluators.base import Check, Request, Result, Status
from dse.evaluators.model import ModelEvaluator
from dse.run.folder.codec import (
    key_of,
    point_from_json,
    point_to_json,
    result_from_json,
    result_to_json,
)
from dse.run.folder.directory import create, open_run
from dse.run.results.front import Design, best, designs, front
from dse.run.results.history import history
from dse.run.search.final import settle
from dse.run.studies.study import objective_values
from dse.space.space import Choice, Point
from dsl.errors.errors import InputError
from dsl.kernels.loader import load_kernels
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Pipeline
from tests.dse.commands import statuses
from tests.dse.manifest import WHOLE

ROOT = Path(__file__).resolve().parents[2]
GEMM = f"{ROOT}/examples/polybench/gemm.py:gemm"
CHIP = device("xczu9eg")
optuna = pytest.importorskip("optuna")


def gemm():
    return load_kernels(ROOT / "examples/polybench/gemm.py")["gemm"].at("mini").program


def request_of(*steps) -> Request:
    return Request(gemm(), Schedule(steps), CHIP, 10.0)


def explore(folder: Path, *words: str) -> int:
    evaluator = () if "--evaluator" in words else ("--evaluator", "model")
    command = ["explore", GEMM, "--size", "mini", *evaluator, "--out", str(folder), *words]
    return weft_command(command)


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
    checked = replace(result, checks=(Check("csim", "ok", "", "g++", 1.5),))
    again = result_from_json(json.loads(json.dumps(result_to_json(checked))))
    assert (again, again.checks[0].seconds) == (checked, 1.5)


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


@pytest.mark.parametrize("strategy", ["tpe", "nsga2", "nsga3", "gp", "random"])
def test_samplers_evaluate_what_they_suggest(tmp_path, capfd, strategy):
    if strategy == "gp":
        pytest.importorskip("torch")
        pytest.importorskip("scipy")
    folder = tmp_path / "run"
    code = explore(folder, "--strategy", strategy, "--trials", "15", "--dsp", "200", "--seed", "3")
    assert code in (0, 3)
    study = study_of(folder)
    assert all(trial.state.is_finished() for trial in study.trials)
    ended = [trial for trial in study.trials if "status" in trial.user_attrs]
    assert len(ended) == sum(statuses(folder).values()) == 15
    assert set(statuses(folder)) <= {"ok", "infeasible"}
    assert len({trial.user_attrs["design"]["key"] for trial in ended}) == 15
    assert all(trial.values and trial.params for trial in ended)
    assert len(history(open_run(folder, write=False))) == 15


@pytest.mark.parametrize("strategy", ["tpe", "random"])
def test_what_cannot_be_of_use_is_no_trial(tmp_path, capfd, strategy):
    # Of the points that a sampler may suggest half have no schedule, and a third too much DSP.
    folder = tmp_path / "run"
    words = ["--device", "xc7z020", "--strategy", strategy, "--trials", "30"]
    assert explore(folder, *words) == 0
    assert sum(statuses(folder).values()) == 30
    assert statuses(folder)["ok"] > 25
    trials = study_of(folder).trials
    assert len(trials) == 30
    assert all(trial.values and trial.params for trial in trials)


def test_a_resumed_sampler_draws_other_points(tmp_path, capfd):
    folder = tmp_path / "run"
    explore(folder, "--strategy", "random", "--trials", "12")
    before = [t.params for t in study_of(folder).trials]
    explore(folder, "--strategy", "random", "--trials", "24", "--resume")
    after = [t.params for t in study_of(folder).trials][len(before) :]
    assert len(after) >= 12
    drawn = [p for p in after if p in before]
    assert len(drawn) < 3
    assert statuses(folder).get("duplicate", 0) == 0
    assert sum(statuses(folder).values()) == 24


def test_the_front_has_the_figures_of_what_is_emitted(tmp_path, capfd):
    folder = tmp_path / "run"
    assert explore(folder, "--strategy", "random", "--trials", "12") == 0
    assert "corrected" not in (folder / "events.jsonl").read_text()
    run = open_run(folder)
    first = best(run)
    run.keep(first.key, replace(first.result, resources={**first.result.resources, "dsp": 0}))
    settle(run, ModelEvaluator(), lambda key: replace(request_of(), schedule=run.schedule(key)))
    run.close()
    after = open_run(folder, write=False).result(first.key)
    assert replace(after, seconds=first.result.seconds) == first.result
    assert '"event": "corrected"' in (folder / "events.jsonl").read_text()


SMALL = """\
import weft
from weft import f32


@weft.kernel
def scale(x: f32[12], y: f32[12]):
    for i in range(12):
        y[i] = 2.0 * x[i]


@weft.kernel
def two(x: f32[10], y: f32[10], z: f32[10]):
    for i in range(8):
        y[i] = x[i] + 1.0
    for j in range(6):
        z[j] = y[j] + 3.0
"""


@pytest.mark.parametrize("strategy", ["auto", "random", "tpe", "exhaustive"])
@pytest.mark.parametrize("kernel", ["scale", "two"])
def test_a_space_that_is_spent_ends_the_search(tmp_path, capfd, kernel, strategy):
    (tmp_path / "small.py").write_text(SMALL)
    words = [
        "explore",
        "--evaluator",
        "model",
        f"{tmp_path}/small.py:{kernel}",
        "--out",
        str(tmp_path / "run"),
    ]
    words += ["--strategy", strategy, "--trials", "400"]
    assert weft_command(words) == 0
    assert "note: the space has no more points that are worth a trial" in capfd.readouterr().err
    found = statuses(tmp_path / "run")
    assert set(found) <= {"ok", "infeasible"}
    assert 5 <= found["ok"] < 400
    assert weft_command([*words, "--resume"]) == 0
    assert statuses(tmp_path / "run") == found


def test_the_whole_of_a_small_space_is_evaluated(tmp_path, capfd):
    file = tmp_path / "small.py"
    file.write_text(
        "import weft\nfrom weft import f32\n\n\n@weft.kernel\n"
        "def scale(x: f32[12], y: f32[12]):\n    for i in range(12):\n        y[i] = 2.0 * x[i]\n"
    )
    words = ["explore", "--evaluator", "model", f"{file}:scale", "--out", str(tmp_path / "run")]
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
    run = create(tmp_path / "run", WHOLE)
    with pytest.raises(InputError) as caught:
        open_run(tmp_path / "run")
    assert caught.value.code == "W522"
    run.event("finished")
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


@pytest.mark.parametrize("library", ["torch", "scipy"])
def test_what_gp_needs_is_named(tmp_path, monkeypatch, capfd, library):
    for name in ("torch", "scipy"):
        there = types.ModuleType(name)
        monkeypatch.setitem(sys.modules, name, None if name == library else there)
    assert explore(tmp_path / "run", "--strategy", "gp") == 1
    said = capfd.readouterr().err
    name = {"torch": "PyTorch", "scipy": "SciPy"}[library]
    assert f"error[W528]: the strategy gp needs {name}, which is not installed" in said
    assert "help: pip install 'weft[gp]'" in said


def test_a_run_without_a_feasible_design_has_no_best(tmp_path, capfd):
    explore(tmp_path / "run", "--dsp", "1", "--strategy", "pom")
    with pytest.raises(InputError) as caught:
        best(open_run(tmp_path / "run", write=False))
    assert caught.value.code == "W526"


def test_a_run_that_was_killed_before_it_began_is_begun(tmp_path, capfd):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "run.lock").touch()
    (folder / ".manifest.json.123").write_text('{"schema')
    assert explore(folder, "--strategy", "pom", "--trials", "2", "--resume") == 0
    assert sum(statuses(folder).values()) == 2


# ------------------------------------------------------------------------- objectives and limits


def manifest(folder: Path) -> dict:
    return json.loads((folder / "manifest.json").read_text())


@pytest.mark.parametrize("resource", ["dsp", "bram18"])
def test_each_resource_is_an_objective_and_a_limit(tmp_path, capfd, resource):
    words = ["--strategy", "random", "--trials", "12", "--seed", "1", "--format", "json"]
    explore(tmp_path / "free", *words, "--objectives", f"latency,{resource}")
    rows = json.loads(capfd.readouterr().out)["rows"]
    assert [row[resource] for row in rows] == sorted((r[resource] for r in rows), reverse=True)
    assert [row["latency"] for row in rows] == sorted(row["latency"] for row in rows)
    free = [d.result.resources[resource] for d in designs(open_run(tmp_path / "free", write=False))]
    most = sorted(free)[len(free) // 2]
    explore(tmp_path / "limited", *words, "--limit", f"{resource}={most}")
    found = designs(open_run(tmp_path / "limited", write=False))
    assert found
    assert all(d.result.resources[resource] <= most for d in found)
    # What is estimated to be over the limit in DSP is not tried at all.
    assert len(found) < len(free) or most == max(free) or resource == "dsp"


def test_limits_are_counts_or_parts_of_the_device(tmp_path, capfd):
    words = ["--strategy", "pom", "--trials", "1", "--device", "xc7z020", "--share", "0.5"]
    explore(tmp_path / "run", *words, "--limit", "lut=1000, bram18=25%", "--dsp", "100")
    assert manifest(tmp_path / "run")["limits"] == {
        "dsp": 100, "lut": 1000, "ff": 53_200, "bram18": 70, "uram": 0,
    }  # fmt: skip


@pytest.mark.parametrize("words", ["dsp", "dsp=", "dsp=-1", "dram=3", "dsp=5%%", "latency=5"])
def test_a_limit_that_is_none_is_wrong_usage(tmp_path, capfd, words):
    assert explore(tmp_path / "run", "--limit", words) == 2
    assert "is not NAME=N or NAME=N%" in capfd.readouterr().err


def test_a_bound_on_latency_is_in_cycles_or_a_time(tmp_path, capfd):
    words = ["--strategy", "random", "--trials", "10", "--clock", "10"]
    for name, bound in (("cycles", "20000"), ("time", "0.2ms")):
        explore(tmp_path / name, *words, "--max-latency", bound)
        assert manifest(tmp_path / name)["latency_limit"] == pytest.approx(20_000)
        run = open_run(tmp_path / name, write=False)
        assert all(d.result.latency <= 20_000 for d in designs(run))
        assert statuses(tmp_path / name)["infeasible"] > 0
    for bound in ("fast", "0", "5 h"):
        assert explore(tmp_path / "none", "--max-latency", bound) == 2


def test_latency_may_be_in_seconds(tmp_path, capfd):
    words = ["--strategy", "pom", "--dsp", "40", "--objectives", "dsp,seconds"]
    assert explore(tmp_path / "run", *words) == 0
    trial = next(t for t in study_of(tmp_path / "run").trials if t.values)
    result = open_run(tmp_path / "run", write=False).result(trial.user_attrs["design"]["key"])
    assert trial.values == pytest.approx([result.latency * 10e-9, result.resources["dsp"]])
    assert objective_values(result, ("seconds",)) is None  # of no clock
    for wrong in ("dsp", "latency,seconds", "latency,uram"):
        assert explore(tmp_path / "none", "--objectives", wrong) == 2


def test_nobody_to_evaluate_is_wrong_usage(tmp_path, capfd):
    assert explore(tmp_path / "run", "--jobs", "0") == 2
    assert "--jobs 0 leaves nobody to evaluate" in capfd.readouterr().err
