"""``make demo`` does what the README says, in the time that it says."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from backends.cxx import find_cxx

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 60
pytest.importorskip("optuna")


@pytest.mark.slow
@pytest.mark.skipif(find_cxx() is None, reason="no g++")
def test_the_demo_finds_and_exports_a_design_near_the_bound(tmp_path):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    # The installation is there already: it is never to be made again, whatever is newer.
    stamp = tmp_path / "installed"
    stamp.touch()
    words = [f"STAMP={stamp}", f"BIN={Path(sys.executable).parent}", f"DEMO={tmp_path / 'demo'}"]
    done = subprocess.run(
        ["make", "-o", str(stamp), "demo", *words],
        cwd=ROOT, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert "pip install" not in done.stdout
    assert done.returncode == 0, done.stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime) < SECONDS
    run, project = tmp_path / "demo" / "run", tmp_path / "demo" / "gemm_hls"
    assert "x the bound" in done.stderr
    assert str(run / "report.html") in done.stdout
    checks = json.loads((project / "verification.json").read_text())["checks"]
    assert [c["status"] for c in checks] == ["ok", "ok", "ok", "proven"]
    qor = json.loads((project / "qor.json").read_text())
    assert qor["resources"]["dsp"]["used"] <= 220
    bound = max(b["cycles"] for b in json.loads((run / "problem.json").read_text())["bounds"])
    assert bound <= qor["latency"]["average"] <= 1.1 * bound
    assert "Pareto front" in (run / "report.html").read_text()
