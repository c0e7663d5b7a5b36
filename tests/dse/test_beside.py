"""The predictor beside a search: asked about the front, decides on limits, is missed by nobody."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import weft
from dse.cli import run as weft_command
from dse.evaluators.base import SURE, Limits, Result, Status, judged
from dse.run.folder.directory import open_run
from dse.run.predictor import beside
from dse.run.results.front import both_fronts, designs
from dse.run.search import options
from dsl.errors.errors import InputError

pytest.importorskip("torch_geometric")

ROOT = Path(__file__).resolve().parents[2]
ATAX = f"{ROOT}/examples/polybench/atax.py:atax"
MINI = ("--size", "small", "--trials", "12", "--evaluator", "both")


def explore(folder: Path, *words: str) -> int:
    return weft_command(["explore", ATAX, *MINI, "--out", str(folder), *words])


@pytest.fixture(scope="module")
def asked(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("beside") / "run"
    assert explore(folder) == 0
    return folder


def test_every_design_of_the_front_is_predicted_and_has_the_upper_ends(asked):
    run = open_run(asked, write=False)
    for design in both_fronts(run):
        found = design.promoted["gnn"]
        assert found.provenance == "gnn"
        for name in ("lut", "ff"):
            upper = round(found.resources[name] + SURE * found.spread[name])
            assert design.result.upper[name] == upper
        assert design.result.provenance == "model"


def test_both_are_in_the_table_in_json_and_in_the_report(asked, capfd):
    words = ["explore", ATAX, *MINI, "--out", str(asked), "--resume"]
    assert weft_command(words) == 0
    said = capfd.readouterr()
    assert "lut predicted" in said.out.splitlines()[0]
    assert " ± " in said.out
    assert "predicted: " in said.err
    assert weft_command([*words, "--format", "json"]) == 0
    row = json.loads(capfd.readouterr().out)["rows"][0]
    assert row["predicted"]["lut"]["std"] > 0
    assert row["lut_predicted"] == row["predicted"]["lut"]["value"]
    assert "Evaluated again" in (asked / "report.html").read_text()


def test_the_upper_end_decides_on_a_limit(tmp_path):
    assert explore(tmp_path / "free", "--strategy", "pom") == 0
    first = designs(open_run(tmp_path / "free", write=False))[0].result
    limit = (first.resources["lut"] + first.upper["lut"]) // 2
    assert first.resources["lut"] < limit < first.upper["lut"]
    assert explore(tmp_path / "both", "--strategy", "pom", "--limit", f"lut={limit}") == 0
    run = open_run(tmp_path / "both", write=False)
    assert all(d.result.upper["lut"] <= limit for d in both_fronts(run))
    results = [run.result(key) for key in run.point_keys()]
    over = [
        r
        for r in results
        if r and r.evaluated and r.resources["lut"] <= limit < r.upper.get("lut", 0)
    ]
    assert over, "a design near the limit is tried"
    assert all(judged(r, Limits({"lut": limit})).status is Status.INFEASIBLE for r in over)


def test_the_model_alone_and_the_variable_that_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("WEFT_EVALUATOR", "model")
    words = ["explore", ATAX, "--size", "small", "--trials", "2", "--out", str(tmp_path / "run")]
    assert weft_command(words) == 0
    assert not list((tmp_path / "run").glob("points/*/gnn.json"))
    run = open_run(tmp_path / "run", write=False)
    assert run.manifest["beside"] is False
    monkeypatch.setenv("WEFT_EVALUATOR", "both")
    with pytest.raises(InputError, match="beside"):  # the variable holds in Python, too
        weft.explore(
            weft.load(ATAX), "small", trials=3, out=tmp_path / "run", resume=True, progress=False
        )


def test_a_predictor_that_ends_is_noted_and_the_search_goes_on(tmp_path, monkeypatch, capfd):
    beside._end_all()
    monkeypatch.setattr(beside.sys, "executable", "/bin/false")
    assert explore(tmp_path / "run") == 0
    assert "note: the predictor has ended: exit status 1" in capfd.readouterr().err
    assert len(designs(open_run(tmp_path / "run", write=False))) > 5
    assert not list((tmp_path / "run").glob("points/*/gnn.json"))


def test_where_libraries_or_weights_are_missing_nobody_is_asked(tmp_path, monkeypatch):
    two = ("--trials", "2")
    assert explore(tmp_path / "u280", "--device", "xcu280", "--clock", "3.33", *two) == 0
    assert open_run(tmp_path / "u280", write=False).manifest["beside"] is False

    def missing() -> None:
        raise InputError("W528", "predictors need torch, which is not installed")

    monkeypatch.setattr(beside, "needs_libraries", missing)
    assert options.there_is is beside.there_is
    assert explore(tmp_path / "none", *two) == 0
    assert open_run(tmp_path / "none", write=False).manifest["beside"] is False


def test_nothing_of_the_present_folder_is_run(tmp_path):
    for name in ("torch", "json", "dse"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    code = "import sys; sys.path[:] = [p for p in sys.path if p]; from dse.cli import run; run(sys.argv[1:])"
    words = ["explore", ATAX, *MINI, "--trials", "3", "--out", "run"]
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, *words], cwd=tmp_path, capture_output=True, timeout=300
    )
    assert done.returncode == 0, done.stderr.decode()
    assert not (tmp_path / "ran").exists()
    assert list((tmp_path / "run").glob("points/*/gnn.json"))


def test_the_process_serves_one_run_after_the_other(tmp_path):
    assert explore(tmp_path / "first", "--trials", "3") == 0
    (kept,) = beside._idle
    assert explore(tmp_path / "second", "--trials", "3", "--seed", "2") == 0
    assert beside._idle == [kept]
    assert list((tmp_path / "second").glob("points/*/gnn.json"))


def test_results_are_judged_by_the_upper_ends():
    limits = Limits({"lut": 100})
    assert judged(Result(Status.OK, 1.0, {"lut": 90}), limits).status is Status.OK
    found = judged(Result(Status.OK, 1.0, {"lut": 90}, upper={"lut": 110}), limits)
    assert (found.status, found.detail) == (Status.INFEASIBLE, "over its limit: lut by 10%")
    spread = judged(Result(Status.OK, 1.0, {"lut": 90}, spread={"lut": 10.0}), limits)
    assert spread.status is Status.INFEASIBLE


def test_what_is_predicted_is_not_in_the_cache_of_results(tmp_path):
    cache = ("--cache", str(tmp_path / "cache"), "--strategy", "pom")
    assert explore(tmp_path / "free", *cache) == 0
    first = designs(open_run(tmp_path / "free", write=False))[0].result
    limit = f"lut={(first.resources['lut'] + first.upper['lut']) // 2}"
    words = ["explore", ATAX, "--size", "small", "--trials", "12", *cache, "--limit", limit]
    alone = tmp_path / "alone"
    assert weft_command([*words, "--evaluator", "model", "--out", str(alone)]) == 0
    run = open_run(alone, write=False)
    found = designs(run)[0].result
    assert found.latency == first.latency  # the model's own figures keep to the limit
    assert not any(r.upper for key in run.point_keys() if (r := run.result(key)) is not None)
