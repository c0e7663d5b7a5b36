"""What is told of a failure, and the benchmark that counts them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dsl.kernels.loader import load
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Pipeline, Reverse
from tests.support import trial
from tests.support.diagnosis import PROCESS, again, shrunk
from tests.support.profiles import BALANCED
from tests.support.random_programs import random_program
from tests.support.trial import Failure, attempt

ROOT = Path(__file__).resolve().parents[2]


def planted(program, schedule, seed):
    """A check that dislikes long programs that run backwards."""
    backwards = any(isinstance(step, Reverse) for step in schedule)
    return "too long" if backwards and len(program.statements()) > 2 else None


@pytest.fixture
def failure(monkeypatch):
    monkeypatch.setitem(trial.CHECKS, "planted", planted)
    program = next(
        p for p in (random_program(s, BALANCED) for s in range(99)) if len(p.statements()) > 4
    )
    schedule = Schedule((Pipeline("i"), Reverse("j"), Reverse("i")))
    found = attempt("planted", program, schedule, 7)
    assert found is not None
    return found


def test_a_report_has_the_seed_the_program_and_the_schedule(failure, tmp_path):
    text = failure.report()
    assert text.startswith("# planted: too long\n# seed 7, profile")
    assert f".schedule\ndef schedule(s):\n    s.pipeline({json.dumps('i')})" in text
    file = tmp_path / "report.py"
    file.write_text(text)
    kernel = load(f"{file}:{failure.program.name}")
    assert kernel.program == failure.program
    assert kernel.schedules["schedule"] == failure.schedule


def test_a_shrunk_failure_fails_in_the_same_way(failure):
    small = shrunk(failure, seconds=60)
    assert again(failure, small.program, small.schedule) is not None
    assert len(small.program.statements()) == 3
    assert len(small.schedule) == 1


def crashing(program, schedule, seed):
    """A check that ends its process where there is an accumulation."""
    import os

    if any(s.target.array == "A" for s in program.statements()):
        os.abort()


def test_a_crash_of_the_process_is_shrunk_as_well(monkeypatch):
    monkeypatch.setitem(trial.CHECKS, PROCESS, crashing)
    program = next(
        p
        for p in (random_program(s, BALANCED) for s in range(99))
        if len(p.statements()) > 3 and any(s.target.array == "A" for s in p.statements())
    )
    small = shrunk(Failure(PROCESS, "crash: SIGABRT", 1, program, Schedule(), crash=True), 60)
    assert len(small.program.statements()) == 1


def test_an_exception_is_a_failure_and_a_crash(monkeypatch):
    def broken(program, schedule, seed):
        raise KeyError("x")

    monkeypatch.setitem(trial.CHECKS, "planted", broken)
    found = attempt("planted", random_program(0), Schedule(), 0)
    assert found is not None
    assert found.crash
    assert found.detail == "KeyError: 'x'"


@pytest.mark.slow
def test_the_benchmark_prints_its_rows(tmp_path):
    command = [sys.executable, "-m", "benchmarks.fuzz", "--programs", "1", "--jobs", "2"]
    done = subprocess.run(
        [*command, "--seed", "0", "--out", str(tmp_path / "rows.jsonl")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    every = [json.loads(line) for line in done.stdout.splitlines()]
    assert {row["case"] for row in every} == {"all", "control"}
    assert all(row["ok"] for row in every if row["case"] == "control")
    rows = {row["metric"]: row for row in every if row["case"] == "all"}
    goals = {metric: row["goal"] for metric, row in rows.items() if row["goal"]}
    assert goals == {
        "programs": ">= 1",
        "mismatches": "== 0",
        "crashes": "== 0",
        "false_refusals": "== 0",
    }
    assert rows["programs"]["value"] == 1
    assert rows["schedules"]["value"] == 3
    assert done.returncode == (0 if all(row["ok"] for row in every) else 1)
