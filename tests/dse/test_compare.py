"""``weft compare``: fronts, budgets, who beats whom."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from dse.cli import run as weft_command
from qor_gnn.result.pareto import hypervolume

ROOT = Path(__file__).resolve().parents[2]
GEMM = f"{ROOT}/examples/polybench/gemm.py:gemm"
pytest.importorskip("optuna")


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("runs")
    for name, strategy, trials in (("a", "auto", "12"), ("b", "random", "30")):
        words = ["--size", "mini", "--dsp", "60", "--strategy", strategy, "--trials", trials]
        assert (
            weft_command(
                ["explore", "--evaluator", "model", GEMM, *words, "--out", str(folder / name)]
            )
            == 0
        )
    return folder / "a", folder / "b"


@pytest.mark.parametrize(
    ("points", "share"),
    [
        ([], 0),
        ([(5.0, 5.0)], 0.25),
        ([(2.5, 7.5), (7.5, 2.5)], 0.3125),
        ([(2.5, 7.5), (7.5, 2.5), (8.0, 8.0)], 0.3125),
        ([(0.0, 0.0)], 1),
    ],
)
def test_hypervolume_is_the_share_that_is_dominated(points, share):
    assert hypervolume(points, (10.0, 10.0)) == pytest.approx(share)


def test_hypervolume_in_three_dimensions():
    assert hypervolume([(5, 5, 5)], (10, 10, 10)) == pytest.approx(1 / 8)
    two = hypervolume([(5, 5, 5), (0, 9, 9)], (10, 10, 10))
    assert two == pytest.approx(1 / 8 + 0.01 - 0.5 * 0.01)


def test_two_runs_side_by_side(runs, capfd):
    a, b = runs
    assert weft_command(["compare", str(a), str(b), "--format", "json"]) == 0
    rows = {row["what"]: row for row in json.loads(capfd.readouterr().out)["rows"]}
    assert (rows["strategy"]["a"], rows["strategy"]["b"]) == ("auto", "random")
    assert rows["best latency"]["a"] < rows["best latency"]["b"]
    volume = rows["hypervolume"]
    assert volume["b_to_a"] == pytest.approx(volume["b"] / volume["a"])
    assert "size" not in rows


def rows_of(capfd) -> dict:
    return json.loads(capfd.readouterr().out)


def test_who_beats_whom(runs, capfd):
    a, b = runs
    assert weft_command(["compare", str(a), str(b), "--format", "json"]) == 0
    found = rows_of(capfd)
    fronts = {n: [(d["latency"], d["dsp"]) for d in found["fronts"][n]] for n in "ab"}

    def beats(x, y):
        return x != y and x[0] <= y[0] and x[1] <= y[1]

    rows = {row["what"]: row for row in found["rows"]}
    for mine, theirs in ("ab", "ba"):
        beaten = sum(any(beats(x, y) for x in fronts[theirs]) for y in fronts[mine])
        assert rows["of these beaten by the other"][mine] == beaten
    every = fronts["a"] + fronts["b"]
    joint = sorted({x for x in every if not any(beats(y, x) for y in every)})
    assert [(d["latency"], d["dsp"]) for d in found["joint_front"]] == joint
    for design in found["joint_front"]:
        values = (design["latency"], design["dsp"])
        assert design["run"].split() == [n for n in "ab" if values in fronts[n]]
        assert design["beats"] == len(design["beaten"])
    for at in found["budgets"]:
        for name in "ab":
            within = [x[0] for x in fronts[name] if x[1] <= at["budget"]]
            assert at[name] == (min(within) if within else None)
    assert found["budgets"][-1]["budget"] == max(x[1] for x in every)


def test_a_run_is_as_good_as_itself(runs, capfd):
    a, _ = runs
    assert weft_command(["compare", str(a), str(a), "--format", "json"]) == 0
    found = rows_of(capfd)
    assert [row["b_to_a"] for row in found["rows"] if row["a"]] == [1.0] * 5
    assert all(d["run"] == "a b" and d["beats"] == 0 for d in found["joint_front"])


def test_the_tables_of_a_comparison(runs, capfd):
    a, b = runs
    assert weft_command(["compare", str(a), str(b)]) == 0
    out, err = capfd.readouterr()
    assert "the best latency within so many dsp" in out
    assert "the front of both together" in out
    assert "hypervolume" in out
    assert re.fullmatch(r"compare: .* beaten by .*\n", err)
    assert weft_command(["compare", str(a), str(a)]) == 0
    assert capfd.readouterr().err == "compare: both found the same front\n"
    assert weft_command(["compare", str(a), str(b), "--format", "csv"]) == 0
    assert re.search(r"(?m)^best within \d+ dsp,\d+,", capfd.readouterr().out)


def changed(run: Path, folder: Path, **manifest: object) -> Path:
    shutil.copytree(run, folder)
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **manifest}))
    return folder


def test_what_makes_figures_hard_to_compare_is_said(runs, tmp_path, capfd):
    a, _ = runs
    other = changed(a, tmp_path / "other", program="x", objectives=["latency"])
    for path in other.glob("points/*/result.json"):
        result = json.loads(path.read_text())
        path.write_text(json.dumps({**result, "provenance": "csynth", "tool": "Vitis HLS"}))
    assert weft_command(["compare", str(a), str(other)]) == 0
    out, err = capfd.readouterr()
    assert "note: the runs are of different programs" in err
    assert "the figures are of different provenance: a has those of model: " in err
    assert "b of csynth: Vitis HLS" in err
    assert "the runs have different objectives: compared by latency" in err
    assert "hypervolume" not in out
    newer = changed(a, tmp_path / "newer", evaluator_version="another")
    assert weft_command(["compare", str(a), str(newer)]) == 0
    assert "the evaluators differ in version" in capfd.readouterr().err


def test_runs_of_different_clocks_are_compared_by_time(runs, tmp_path, capfd):
    a, _ = runs
    fast = changed(a, tmp_path / "fast", clock_ns=5.0)
    assert weft_command(["compare", str(a), str(fast), "--format", "json"]) == 0
    found = rows_of(capfd)
    assert found["objectives"] == ["seconds", "dsp"]
    rows = {row["what"]: row for row in found["rows"]}
    assert rows["best seconds"]["b_to_a"] == pytest.approx(0.5)


def test_a_run_without_designs_can_be_compared(runs, tmp_path, capfd):
    empty = tmp_path / "empty"
    words = ["--size", "mini", "--dsp", "1", "--strategy", "pom", "--out", str(empty)]
    assert weft_command(["explore", "--evaluator", "model", GEMM, *words]) == 3
    capfd.readouterr()
    assert weft_command(["compare", str(empty), str(runs[0]), "--format", "json"]) == 0
    found = rows_of(capfd)
    rows = {row["what"]: row for row in found["rows"]}
    assert (rows["best latency"]["a"], rows["hypervolume"]["a"]) == (None, 0)
    assert {d["run"] for d in found["joint_front"]} == {"b"}
    assert weft_command(["compare", str(empty), str(runs[0])]) == 0
    said = capfd.readouterr().err.splitlines()[0]
    assert said == "compare: a has no design within its limits"


def test_what_is_no_run_cannot_be_compared(runs, tmp_path, capfd):
    assert weft_command(["compare", str(runs[0]), str(tmp_path)]) == 1
    assert "error[W521]" in capfd.readouterr().err
