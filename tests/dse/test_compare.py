"""``weft compare`` and designs of runs in ``weft export``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dse.cli import run as weft_command
from dse.run.front import hypervolume

ROOT = Path(__file__).resolve().parents[2]
GEMM = f"{ROOT}/examples/polybench/gemm.py:gemm"
pytest.importorskip("optuna")


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("runs")
    for name, strategy in (("a", "auto"), ("b", "random")):
        words = ["--size", "mini", "--dsp", "60", "--strategy", strategy, "--trials", "12"]
        assert weft_command(["explore", GEMM, *words, "--out", str(folder / name)]) == 0
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
    assert rows["hypervolume"]["b_to_a"] < 1
    assert "size" not in rows


def test_what_is_no_run_cannot_be_compared(runs, tmp_path, capfd):
    assert weft_command(["compare", str(runs[0]), str(tmp_path)]) == 1
    assert "error[W521]" in capfd.readouterr().err


def test_the_best_design_of_a_run_is_exported_and_verified(runs, tmp_path, capfd):
    folder = tmp_path / "project"
    words = ["export", str(runs[0]), "--best", "--out", str(folder), "--format", "json"]
    assert weft_command(words) == 0
    rows = {row["what"]: row for row in json.loads(capfd.readouterr().out)["rows"]}
    assert rows["verify"]["status"] == "ok"
    assert rows["verify"]["detail"] == "jit ok, C++ ok at size 'mini'"
    assert "#pragma HLS pipeline" in "".join(
        path.read_text() for path in folder.rglob("*.cpp") if "tb" not in path.name
    )


def test_a_design_of_a_run_is_exported_by_the_beginning_of_its_key(runs, tmp_path, capfd):
    key = next(iter(sorted((runs[1] / "points").iterdir()))).name
    words = ["export", str(runs[1]), "--point", key[:10], "--out", str(tmp_path / "project")]
    assert weft_command(words) == 0


@pytest.mark.parametrize("key", ["../..", "abcdef0123", "zz"])
def test_a_key_that_no_design_has_is_an_error(runs, tmp_path, capfd, key):
    words = ["export", str(runs[0]), "--point", key, "--out", str(tmp_path / "project")]
    assert weft_command(words) == 1
    assert "error[W526]" in capfd.readouterr().err
