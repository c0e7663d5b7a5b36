"""``weft estimate``: the line, the object and the columns that say what csynth would of the clock."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Weft

KERNEL = """\
import weft
from weft import f32, i1000


@weft.kernel
def wide(A: i1000[8], B: i1000[8]):
    for i in range(8):
        A[i] = A[i] + B[i]


@weft.kernel
def sums(A: f32[64, 64], x: f32[64], y: f32[64]):
    for i, j in weft.grid(64, 64):
        y[i] += A[i, j] * x[j]


@weft.kernel
def constant(A: f32[8]):
    for i in range(8):
        A[i] = 1.0


@sums.schedule
def piped(s):
    s.pipeline("j")
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "clocks.py"
    path.write_text(KERNEL)
    return path


def lines(weft: Weft, *words: str) -> list[str]:
    done = weft("estimate", *words)
    assert done.code == 0, done.err
    out = done.out.splitlines()
    start = next(n for n, line in enumerate(out) if line.startswith("clock "))
    return out[start : out.index("", start)]


def test_a_clock_that_is_kept_is_a_line(weft: Weft, file: Path) -> None:
    found = lines(weft, f"{file}:sums", "--schedule", "piped", "--device", "xcu280", "--clock", "5")
    assert len(found) == 1
    assert found[0].endswith("by csynth's estimate: within the 5 ns asked for")


def test_a_chain_explains_it(weft: Weft, file: Path) -> None:
    words = ("--schedule", "piped", "--device", "xcu280", "--clock", "5", "--explain")
    found = " ".join(line.strip() for line in lines(weft, f"{file}:sums", *words))
    assert "; longest chain in " in found
    assert "stage of" in found or "comparison of a counter" in found


def test_a_clock_that_is_missed_names_the_chain(weft: Weft, file: Path) -> None:
    found = " ".join(line.strip() for line in lines(weft, f"{file}:wide", "--clock", "2"))
    assert "misses the 2 ns asked for; longest chain" in found
    assert "add_1000" in found


def test_the_object_and_the_columns(weft: Weft, file: Path) -> None:
    for kernel, period, met in (("wide", "2", False), ("sums", "10", True)):
        done = weft("estimate", f"{file}:{kernel}", "--clock", period, "--format", "json")
        data = json.loads(done.out)
        clock = data["clock"]
        assert clock["met"] is met
        assert clock["low_ns"] <= clock["estimate_ns"] <= clock["high_ns"]
        assert data["period_ns"] == max(clock["target_ns"], clock["estimate_ns"])
        assert clock["chain"]["links"]
        done = weft("estimate", f"{file}:{kernel}", "--clock", period, "--format", "csv")
        row = list(csv.DictReader(io.StringIO(done.out)))[-1]
        assert float(row["clock_estimate_ns"]) == pytest.approx(clock["estimate_ns"])
        assert row["clock_met"] == ("yes" if met else "no")


def test_the_open_backend_says_what_routing_reaches(weft: Weft, file: Path) -> None:
    done = weft("estimate", f"{file}:sums", "--device", "ecp5-85k", "--format", "json")
    data = json.loads(done.out)
    assert data["clock"] is None
    assert data["period_ns"] > 0


def test_what_takes_no_time_has_no_line(weft: Weft, file: Path) -> None:
    done = weft("estimate", f"{file}:constant", "--tool", "vitis-2022.1")
    assert done.code == 0
    assert not any(line.startswith("clock ") for line in done.out.splitlines())
