"""A short run of the benchmark that puts inputs wrong, and that it would see what it looks for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from backends.isolate import Isolated
from benchmarks.fuzz_input import check, judged, report
from tests.support.input_cases import damaged, input_case

ROOT = Path(__file__).resolve().parents[2]


def test_cases_are_fine_and_of_every_kind() -> None:
    kinds, codes = set(), set()
    for case, outcome in check(range(28)):
        assert outcome.verdict == "fine", report(case, outcome)
        kinds.add(case.kind)
        codes.add(outcome.code)
    assert kinds >= {"kernel", "schedule", "schedule file"}
    assert codes >= {0, 1}


def test_a_seed_is_one_case() -> None:
    files = ("manifest.json", "events.jsonl")
    assert [input_case(n, files) for n in range(60)] == [input_case(n, files) for n in range(60)]
    assert damaged(3, b'{"a": 1}') == damaged(3, b'{"a": 1}')


@pytest.mark.parametrize(
    ("ended", "verdict"),
    [
        (Isolated("ok", json.dumps({"code": 0, "text": ""}).encode()), "fine"),
        (Isolated("ok", json.dumps({"code": 1, "text": "error[W130]: unknown"}).encode()), "fine"),
        (Isolated("ok", json.dumps({"code": 1, "text": ""}).encode()), "traceback"),
        (Isolated("ok", json.dumps({"code": 70, "text": "internal error"}).encode()), "traceback"),
        (Isolated("crash", detail="SIGSEGV"), "traceback"),
        (Isolated("error", detail="KeyError: 3"), "traceback"),
        (Isolated("crash", detail="SIGXCPU"), "hang"),
        (Isolated("timeout", detail="no answer in 180 s"), "hang"),
    ],
)
def test_what_counts(ended: Isolated, verdict: str) -> None:
    assert judged(ended, 1.0).verdict == verdict


def test_the_benchmark_prints_its_rows() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.fuzz_input", "--cases", "2"],
        cwd=ROOT, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = {row["metric"]: row for row in map(json.loads, done.stdout.splitlines())}
    assert rows["cases"]["value"] == 2
    assert {rows["tracebacks"]["value"], rows["hangs"]["value"]} == {0}
