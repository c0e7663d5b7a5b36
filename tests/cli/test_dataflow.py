"""Dataflow regions on the command line: estimates, and the RTL backend that runs them in order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Weft

KERNEL = """\
import weft
from weft import i16


@weft.kernel
def copies(A: i16[32], B: i16[32]):
    t: i16[32]
    for i in range(32):
        t[i] = A[i] * 2
    for i in range(32):
        B[i] = t[i] + 1


@copies.schedule
def plain(s):
    s.pipeline("S0.i")
    s.pipeline("S1.i")


@copies.schedule
def flow(s):
    s.pipeline("S0.i")
    s.pipeline("S1.i")
    s.dataflow()
    s.stream("t", depth=4)
"""
NOTE = (
    "note: dataflow is executed in order: the RTL backend runs one process after the other, "
    "and t is memory, no FIFO"
)


@pytest.fixture
def kernel(tmp_path: Path) -> str:
    path = tmp_path / "copies.py"
    path.write_text(KERNEL)
    return f"{path}:copies"


def test_estimate_tells_processes_and_channels(weft: Weft, kernel: str) -> None:
    done = weft("estimate", kernel, "--schedule", "flow", "--device", "xcu280")
    assert (done.code, done.err) == (0, "")
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert "process alone begins ends waits for" in lines
    assert any(line.startswith("copies_S1 ") and line.endswith(" t") for line in lines)
    assert any(line.startswith("t copies_S0 copies_S1 FIFO 4 ") for line in lines)
    assert any(line.startswith("a call every ") for line in lines)


def test_estimate_tells_them_as_data(weft: Weft, kernel: str) -> None:
    done = weft("estimate", kernel, "--schedule", "flow", "--format", "json")
    data = json.loads(done.out)
    region = data["dataflow"]
    assert [p["name"] for p in region["processes"]] == ["copies_S0", "copies_S1"]
    (channel,) = region["channels"]
    assert (channel["memory"], channel["kind"], channel["depth"]) == ("t", "FIFO", 4)
    assert region["interval"] <= data["latency"]["average"]
    plain = json.loads(weft("estimate", kernel, "--schedule", "plain", "--format", "json").out)
    assert "dataflow" not in plain
    assert data["latency"]["average"] < 0.7 * plain["latency"]["average"]


def test_the_open_backend_says_that_it_runs_them_in_order(weft: Weft, kernel: str) -> None:
    flow = weft("estimate", kernel, "--schedule", "flow", "--device", "ecp5-85k")
    plain = weft("estimate", kernel, "--schedule", "plain", "--device", "ecp5-85k")
    assert NOTE in flow.out
    assert "note: dataflow" not in plain.out

    def latency(text: str) -> str:
        return next(line for line in text.splitlines() if line.startswith("latency"))

    assert latency(flow.out) == latency(plain.out)


@pytest.mark.slow
def test_synth_says_so_too(weft: Weft, kernel: str) -> None:
    done = weft("synth", kernel, "--schedule", "flow", "--device", "xc7", "--format", "json")
    assert done.code == 0
    assert NOTE in done.err
    (row,) = json.loads(done.out)["rows"]
    assert row["simulation"] == "ok"
    assert row["notes"] == [NOTE.removeprefix("note: ")]
