"""``weft synth RUN``: what a search for an open FPGA found, made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dse import cli

SCALED = """
import weft
from weft import i16

@weft.kernel
def scaled(a: i16[32], b: i16[32]):
    for i in range(32):
        b[i] = a[i] * 3 + 1
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A search for an ECP5, whose kernel's file is gone."""
    folder = tmp_path_factory.mktemp("open")
    file = folder / "scaled.py"
    file.write_text(SCALED)
    words = ["explore", f"{file}:scaled", "--device", "ecp5-85k", "--trials", "2"]
    assert cli.run([*words, "--evaluator", "model", "--out", str(folder / "run")]) == 0
    file.unlink()
    return folder / "run"


def test_the_way_on_is_said(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = (run / "report.html").read_text()
    assert "weft synth" in page
    assert "weft export" not in page
    assert cli.run(["synth", str(run), "--trials", "0"]) == 2
    assert "add --best or --point KEY" in capsys.readouterr().err


def test_the_best_design_is_made(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    best = [*("synth", str(run), "--best", "--format", "json"), "--no-cache"]
    assert cli.run([*best, "--device", "xc7", "--out", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    [row] = json.loads(out)["rows"]
    assert (row["status"], row["simulation"], row["clock_ns"]) == ("ok", "ok", 10.0)
    found = json.loads(
        next(run.glob(f"points/{err.split('design ')[1][:12]}*/result.json")).read_text()
    )
    assert row["cycles"] == found["latency"]
    assert (tmp_path / "scaled.v").exists()
    for wrong in (["--size", "N=3"], ["--schedule", "x"]):
        assert cli.run([*best, *wrong]) == 2
        assert "does not go with a design of a run" in capsys.readouterr().err
