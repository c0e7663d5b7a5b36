"""The tool version that a search and a project go by: chosen, kept in the run, told to Vitis."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import weft
from dse.cli import run as weft_command
from dse.estimates.estimation import setting
from dse.evaluators.base import Request
from dse.evaluators.model import ModelEvaluator
from dse.kernels.data import kept
from dse.run.folder.codec import key_of
from dse.run.folder.directory import open_run
from dse.run.workers.joined import task_of
from dsl.errors.errors import ToolError
from dsl.schedules.schedule import Schedule
from qor_gnn.tools.versions import nearest

optuna = pytest.importorskip("optuna")
ROOT = Path(__file__).resolve().parents[2]
GEMM = f"{ROOT}/examples/polybench/gemm.py:gemm"
WHERE = ["--device", "xcu250", "--clock", "5"]
SMALL = ["--size", "mini", "--trials", "4", "--dsp", "40"]
ASKED = [*WHERE, "--tool", "vitis-2024.1", "--uncertainty", "12.5"]
NAME = "vitis-2023.2-xcu250-2-5ns-u12.5"
MEASURED = ("open", "vitis-2021.1", "vitis-2022.1", "vitis-2022.2", "vitis-2023.2", "vitis-2025.1")


@pytest.mark.parametrize(
    ("asked", "stands"),
    [
        ("vitis-2020.1", "vitis-2021.1"),
        ("vitis-2021.2", "vitis-2021.1"),
        ("vitis-2022.1", "vitis-2022.1"),
        ("vitis-2022.2", "vitis-2022.2"),
        ("vitis-2023.1", "vitis-2023.2"),
        ("vitis-2023.2", "vitis-2023.2"),
        ("vitis-2024.1", "vitis-2023.2"),
        ("vitis-2024.2", "vitis-2025.1"),
        ("vitis-2025.2", "vitis-2025.1"),
        ("vitis-2019.2", None),
        ("vitis-2026.1", None),
        ("vitis-2024.3", None),
        ("vivado-2024.1", None),
        ("open", None),
    ],
)
def test_the_nearest_release_stands_for_one(asked: str, stands: str | None) -> None:
    assert nearest(asked, MEASURED) == stands


def test_a_release_that_was_not_measured_is_marked() -> None:
    found = setting("vitis-2024.1", "xc7z020", 8.0)
    assert found.tool.measured_as == "vitis-2023.2-u280-3.33ns"
    assert found.notes == ("vitis-2024.1 was not measured: these are the rules of vitis-2023.2",)
    with pytest.raises(ToolError, match=r"vitis-2019\.1") as error:
        setting("vitis-2019.1", "xc7z020", 8.0)
    assert "from 2020.1 to 2025.2" in str(error.value.help)


def explored(folder: Path, *words: str) -> int:
    return weft_command(
        ["explore", "--evaluator", "model", GEMM, *SMALL, "--out", str(folder), *words]
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("tool") / "run"
    assert explored(folder, *ASKED) == 0
    return folder


def test_a_run_goes_by_the_version_that_is_asked_for(run, capfd):
    manifest = open_run(run, write=False).manifest
    assert manifest["tool"] == NAME
    results = [json.loads(path.read_text()) for path in run.glob("points/*/result.json")]
    assert results
    assert all(NAME in result["tool"] for result in results)
    assert explored(run, *ASKED, "--resume") == 0
    assert "note: vitis-2024.1 was not measured" in capfd.readouterr().err
    assert explored(run, *WHERE, "--resume") == 1
    said = capfd.readouterr().err
    assert "error[W525]" in said
    assert "None" not in said


def test_the_open_flow_has_devices_of_its_own(tmp_path, capfd):
    assert explored(tmp_path / "run", "--tool", "open", "--device", "xc7z020") == 1
    said = capfd.readouterr().err
    assert "error[W403]: the open flow cannot build designs for 'xc7z020'" in said
    assert "--device ecp5-85k" in said
    assert not (tmp_path / "run").exists()


def test_a_worker_asks_what_the_run_asks(run):
    manifest = open_run(run, write=False).manifest
    assert task_of(manifest, "it", kept(run)).tool == NAME
    assert task_of({**manifest, "tool": None}, "it", kept(run)).tool is None


def test_a_project_tells_vitis_the_uncertainty(run, tmp_path, capfd):
    best = ["export", str(run), "--best", "--out", str(tmp_path / "hls")]
    assert weft_command(best) == 0
    check_project(tmp_path / "hls")
    assert weft_command([*best, "--tool", "vitis-2022.1"]) == 2
    assert "--tool does not go with a design of a run" in capfd.readouterr().err
    own = ["export", GEMM, "--size", "mini", "--out", str(tmp_path / "own")]
    assert weft_command([*own, *ASKED]) == 0
    check_project(tmp_path / "own")
    assert weft_command([*own, *WHERE, "--force"]) == 0
    assert "uncertainty" not in (tmp_path / "own" / "run_hls.tcl").read_text()
    assert "uncertainty" not in (tmp_path / "own" / "hls_config.cfg").read_text()


@pytest.mark.parametrize(
    ("version", "told"), [("2021.2", False), ("2022.1", True), ("2023.2", False)]
)
def test_a_project_pipelines_what_its_figures_have(version, told, tmp_path):
    words = ["export", GEMM, "--size", "mini", "--out", str(tmp_path / "it"), "--device", "xczu9eg"]
    assert weft_command([*words, "--tool", f"vitis-{version}"]) == 0
    script, config = (tmp_path / "it" / name for name in ("run_hls.tcl", "hls_config.cfg"))
    assert ("config_compile -pipeline_loops 0" in script.read_text()) is told
    assert ("syn.compile.pipeline_loops=0" in config.read_text()) is told


def check_project(folder: Path) -> None:
    assert "    set_clock_uncertainty 12.5%\n" in (folder / "run_hls.tcl").read_text()
    assert "\nclock_uncertainty=12.5%\n" in (folder / "hls_config.cfg").read_text()
    told = json.loads((folder / "qor.json").read_text())["provenance"]
    assert (told["version"], told["uncertainty"]) == ("2023.2", 0.125)


def test_other_tools_give_other_results() -> None:
    @weft.kernel
    def dot(x: weft.f32[64], y: weft.f32[64], out: weft.f32[1]):
        for i in range(64):
            out[0] += x[i] * y[i]

    place = setting(None, "xcu250", 5.0)
    plain = Request(dot.program, Schedule(), place.device, 5.0)
    older = Request(dot.program, Schedule(), place.device, 5.0, "vitis-2022.1")
    evaluator = ModelEvaluator()
    assert key_of(plain, evaluator) != key_of(older, evaluator)
    assert "vitis-2022.1-xcu250" in evaluator.evaluate(older).tool
    assert "vitis-2025.1-" in evaluator.evaluate(plain).tool


def test_the_library_takes_a_version_too() -> None:
    @weft.kernel
    def product(A: weft.f32[8, 8], B: weft.f32[8, 8], C: weft.f32[8, 8]):
        for i, j, k in weft.grid(8, 8, 8):
            C[i, j] += A[i, k] * B[k, j]

    where = {"device": "xcu250", "clock": 5.0, "tool": "vitis-2022.1", "dsp": 40}
    found = weft.explore(product, **where, trials=3, evaluator="model", progress=False)
    best = found.best()
    assert best.estimate.tool == "vitis-2022.1-xcu250-2-5ns"
    assert best.estimate.latency.average == best.latency
    study = optuna.create_study(directions=["minimize"] * 2)
    objective = weft.Objective(product, **where)
    study.optimize(objective, n_trials=2)
    assert "vitis-2022.1-xcu250-2-5ns" in objective.result(study.trials[0]).tool
