"""Runs at the edges of what is asked for: no DSP slice to use, and kernels that do nothing."""

import json

import pytest

from dse.cli import run as weft

pytest.importorskip("optuna")

KERNELS = '''"""Kernels at the edges."""

import weft
from weft import f32, i32


@weft.kernel
def add(x: i32[8], y: i32[8]):
    for i in range(8):
        y[i] = x[i] + 1


@weft.kernel
def multiply(x: i32[8], y: i32[8], z: i32[8]):
    for i in range(8):
        y[i] = x[i] * z[i]


@weft.kernel
def never(x: f32[4], y: f32[4]):
    for i in range(0):
        y[i] = x[i] + 1.0


@weft.kernel
def nothing(x: f32[4]):
    pass
'''


@pytest.fixture
def kernels(tmp_path):
    path = tmp_path / "edges.py"
    path.write_text(KERNELS, encoding="utf-8")
    return path


@pytest.mark.parametrize("strategy", ["auto", "pom", "tpe"])
@pytest.mark.parametrize(("kernel", "code"), [("add", 0), ("multiply", 3)])
def test_without_a_dsp_slice_integers_are_added_but_not_multiplied(
    kernels, tmp_path, kernel, code, strategy
):
    words = ["--limit", "dsp=0", "--strategy", strategy, "--trials", "6"]
    assert (
        weft(
            [
                "explore",
                "--evaluator",
                "model",
                f"{kernels}:{kernel}",
                *words,
                "--out",
                str(tmp_path / "run"),
            ]
        )
        == code
    )
    problem = json.loads((tmp_path / "run/problem.json").read_text())
    assert [dsp for dsp, _ in problem["curve"]] == [0]
    assert (tmp_path / "run/report.html").is_file()


def test_a_share_so_small_that_nothing_fits(kernels, tmp_path, capfd):
    words = ["--share", "0.0001", "--trials", "6", "--out", str(tmp_path / "run")]
    assert weft(["explore", "--evaluator", "model", f"{kernels}:add", *words]) == 3
    assert "no design keeps to the limits" in capfd.readouterr().err


@pytest.mark.parametrize("strategy", ["auto", "pom", "tpe", "exhaustive"])
@pytest.mark.parametrize("kernel", ["never", "nothing"])
def test_what_takes_no_cycles_is_explored_and_reported(kernels, tmp_path, capfd, kernel, strategy):
    words = ["--strategy", strategy, "--trials", "6", "--out", str(tmp_path / "run")]
    assert weft(["explore", "--evaluator", "model", f"{kernels}:{kernel}", *words]) == 0
    assert "fastest: 0 cycles" in capfd.readouterr().err
    assert (tmp_path / "run/report.html").is_file()
    assert weft(["report", str(tmp_path / "run"), "--format", "json"]) == 0
    assert weft(["compare", str(tmp_path / "run"), str(tmp_path / "run")]) == 0
