"""``weft calibrate PROJECT`` and ``--calibration``, as a user meets them."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import weft
from dse import cli
from dse.run.folder.directory import open_run
from dse.run.results.front import best
from dsl.errors.errors import InputError
from tests.support.hls_reports import Made, project

GEMM = "examples/polybench/gemm.py:gemm"
AT = ("--device", "xc7z020", "--clock", "6", "--tool", "vitis-2023.2")
MADE = Made("a", clock=6.0, uncertainty=1.62)


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    """Two projects at 6 ns, where products take two cycles more than the library says."""
    folder = tmp_path / "projects"
    for n, name in enumerate("ab"):
        made = replace(MADE, name=name, date=f"Sun Feb {n + 1} 10:00:00 2025")
        project(
            folder, made,
            cores=[("fmul", "FMul_maxdsp", 6, 3.9)], instances=[("fmul_32ns_32ns_32_7_max_dsp_1", 3, 165, 330)],
        )  # fmt: skip
    return folder


@pytest.fixture
def own(projects: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A calibration to them."""
    path = tmp_path / "own.json"
    assert cli.run(["calibrate", str(projects), "--out", str(path)]) == 0
    capsys.readouterr()
    return path


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """What a command prints as JSON."""
    assert cli.run([*arguments, "--format", "json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_errors_before_and_after(
    projects: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "own.json"
    shown = answer(capsys, "calibrate", str(projects / "a"), str(projects / "b"), "--out", str(out))
    rows = {(r["operator"], r["measure"]): r for r in shown["rows"]}
    latency = rows["fmul", "latency exact %"]
    assert (latency["before"], latency["after"], latency["saved"]) == (0.0, 100.0, "yes")
    assert latency["left_out"] == "2 projects"
    every = rows["all that was left out", "latency exact %"]
    assert (every["before"], every["after"]) == (0.0, 100.0)
    written = json.loads(out.read_text())
    assert written["schema_version"] == 1
    assert [s["project"] for s in written["sources"]] == ["a", "b"]
    assert str(tmp_path) not in out.read_text()


def test_estimates_say_what_is_measured_in_own_projects(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = answer(capsys, "estimate", GEMM, *AT)
    after = answer(capsys, "estimate", GEMM, *AT, "--calibration", str(own))
    assert after["latency"]["average"] > before["latency"]["average"]
    told = after["provenance"]
    assert told["operators"]["measured_in_own_projects"] == ["mul on f32"]
    assert told["calibration"] in told["personality"]
    assert before["provenance"]["calibration"] is None
    assert before["provenance"]["operators"]["measured_in_own_projects"] == []
    assert cli.run(["estimate", GEMM, *AT, "--calibration", str(own)]) == 0
    assert "operators: 2 measured (1 in your projects), 0 derived" in capsys.readouterr().out


def test_functions_of_python_take_what_the_command_line_takes(
    own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gemm = weft.load(GEMM)
    at: dict[str, Any] = {"device": "xc7z020", "clock": 6, "tool": "vitis-2023.2"}
    both: dict[str, Any] = {**at, "uncertainty": 0.27, "calibration": own}
    told = answer(
        capsys, "estimate", GEMM, *AT, "--uncertainty", "27", "--calibration", str(own)
    )  # fmt: skip
    assert weft.estimate(gemm, **both).latency.average == told["latency"]["average"]
    assert weft.estimate(gemm, **at).latency.average < told["latency"]["average"]
    tight = weft.estimate(gemm, **{**at, "uncertainty": 0.6})
    assert tight.latency.average > weft.estimate(gemm, **at).latency.average
    weft.export(gemm, tmp_path / "hls", size="mini", prove=False, **both)
    qor = json.loads((tmp_path / "hls/qor.json").read_text())
    assert qor["provenance"]["operators"]["measured_in_own_projects"] == ["mul on f32"]
    assert weft.space(gemm, "mini", **both).bounds != weft.space(gemm, "mini", **at).bounds
    run = weft.explore(
        gemm, "mini", trials=2, evaluator="model", progress=False, out=tmp_path / "run", **both
    )
    assert "own measurements of zynq7-1" in (tmp_path / "run/report.html").read_text()
    assert len(run.front()) > 0
    for wrong in ({"uncertainty": 27}, {"uncertainty": "a"}, {"calibration": 3}):
        with pytest.raises(InputError, match="W509"):
            weft.estimate(gemm, **{**at, **wrong})
    with pytest.raises(InputError, match="W512"):
        weft.estimate(gemm, **at, calibration=tmp_path / "none.json")


def test_another_device_is_estimated_as_without(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = answer(capsys, "estimate", GEMM)
    after = answer(capsys, "estimate", GEMM, "--calibration", str(own))
    [note] = after["provenance"].pop("notes")
    assert "the calibration shows no operators of zynquplus-2: it is of zynq7-1" in note
    assert before["provenance"].pop("notes") == []
    assert after == before


def test_a_run_keeps_its_calibration(
    own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, words = tmp_path / "run", [GEMM, "--size", "mini", *AT, "--evaluator", "model"]
    begun = ["explore", *words, "--trials", "3", "--out", str(run)]
    assert cli.run([*begun, "--calibration", str(own)]) == 0
    own.unlink()  # what the run needs of it is in the run
    manifest = json.loads((run / "manifest.json").read_text())
    assert manifest["calibration"]["classes"]["zynq7-1"]["floats"]["fmul"]["seen"] == [[4.38, 6]]
    page = (run / "report.html").read_text()
    assert "own measurements of zynq7-1" in page
    assert "delays 6" not in page
    found = best(open_run(run, write=False)).result
    assert manifest["tool"] in found.tool
    capsys.readouterr()
    assert cli.run(["export", str(run), "--best", "--out", str(tmp_path / "hls")]) == 0
    qor = json.loads((tmp_path / "hls/qor.json").read_text())
    assert qor["provenance"]["operators"]["measured_in_own_projects"] == ["mul on f32"]
    assert qor["latency"]["average"] == found.latency
    capsys.readouterr()
    assert cli.run([*begun, "--resume"]) == 1
    assert "error[W525]" in capsys.readouterr().err


def test_an_exported_project_has_calibrated_figures_and_its_uncertainty(
    own: Path, tmp_path: Path
) -> None:
    words = [
        "export",
        GEMM,
        "--size",
        "mini",
        *AT,
        "--uncertainty",
        "27",
        "--calibration",
        str(own),
    ]
    assert cli.run([*words, "--out", str(tmp_path / "hls")]) == 0
    qor = json.loads((tmp_path / "hls/qor.json").read_text())
    assert qor["provenance"]["calibration"] is not None


def test_figures_of_a_file_that_is_not_given(capsys: pytest.CaptureFixture[str]) -> None:
    name = "vitis-2023.2-xc7z020-1-6ns"
    assert cli.run(["estimate", GEMM, "--tool", f"{name}+0123456789ab"]) == 1
    text = capsys.readouterr().err
    assert f"error[W450]: '{name}+0123456789ab' is calibrated by a file that is not given" in text
    assert f"help: name the file: --calibration FILE, and --tool {name}" in text


@pytest.mark.parametrize(
    "words", [("p", "--tool", "t"), ("p", "--data", "d"), ("--tool", "t"), ("--data", "d"), ()]
)
def test_projects_or_labels(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "own.json"
    assert cli.run(["calibrate", *words, "--out", str(out)]) == 2
    assert not out.exists()
    assert "--tool and --data" in capsys.readouterr().err


def test_broken_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each gets an error with a code, and nothing is written."""
    empty, other = tmp_path / "empty", tmp_path / "other"
    empty.mkdir()
    report = other / "solution1/syn/report/top_csynth.rpt"
    report.parent.mkdir(parents=True)
    report.write_bytes(os.urandom(1000))
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name, code in (("empty", "W551"), ("other", "W551"), ("none", "W512"), ("loop", "W512")):
        out = tmp_path / "own.json"
        assert cli.run(["calibrate", str(tmp_path / name), "--out", str(out)]) == 1
        text = capsys.readouterr().err
        assert f"error[{code}]" in text, name
        assert not out.exists()


def test_what_helps_nothing_is_shown_and_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for n, latency in enumerate((4, 6)):
        made = replace(MADE, name=f"p{n}", date=f"Sun Feb {n + 1} 10:00:00 2025")
        project(tmp_path, made, cores=[("fmul", "FMul_maxdsp", latency, 4.0)], instances=[])
    out = tmp_path / "own.json"
    assert cli.run(["calibrate", str(tmp_path), "--out", str(out)]) == 1
    told = capsys.readouterr()
    assert "fmul" in told.out
    assert "error[W553]: nothing that 2 projects show makes estimates" in told.err
    assert not out.exists()


def test_a_file_that_is_no_calibration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "own.json"
    path.write_text("{}")
    for words in (
        ["estimate", GEMM],
        ["space", GEMM],
        ["explore", GEMM, "--out", str(tmp_path / "r")],
    ):
        assert cli.run([*words, "--calibration", str(path)]) == 1
        assert "error[W552]" in capsys.readouterr().err
    assert not (tmp_path / "r").exists()
