"""The study of a run opens in optuna-dashboard, which finds its trials in the journal."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dse.run.folder.directory import open_run
from dse.run.results.history import history
from tests.dse.commands import begin_exploring, end

pytest.importorskip("optuna")
pytest.importorskip("optuna_dashboard", reason="optuna-dashboard is not installed")


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("dashboard") / "run"
    words = [
        "--dsp",
        "60",
        "--trials",
        "24",
        "--strategy",
        "tpe",
        "--objectives",
        "latency,dsp,lut",
    ]
    code, _, err = end(begin_exploring(folder, *words))
    assert code == 0, err
    return folder


@pytest.fixture(scope="module")
def ask(run) -> Iterator[Any]:
    """A function that asks the dashboard on the run's journal."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = Path(sys.executable).parent / "optuna-dashboard"
    server = subprocess.Popen(
        [command, str(run / "study.journal"), "--port", str(port), "--server", "wsgiref"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip

    def answer(path: str) -> Any:
        deadline = time.monotonic() + 60
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/{path}") as found:
                    return json.load(found)
            except urllib.error.URLError:
                assert server.poll() is None, server.stderr and server.stderr.read()
                assert time.monotonic() < deadline
                time.sleep(0.1)

    try:
        yield answer
    finally:
        server.terminate()
        server.communicate(timeout=30)


def test_the_dashboard_lists_the_study(ask):
    [study] = ask("studies")["study_summaries"]
    assert study["study_name"] == "weft"
    assert study["directions"] == ["minimize"] * 3


def test_it_has_the_trials_of_the_run(ask, run):
    study = ask("studies/0")
    there = history(open_run(run, write=False))
    numbers = {trial.number for trial in there}  # others were dropped before they began
    trials = sorted(study["trials"], key=lambda t: t["number"])
    trials = [trial for trial in trials if trial["number"] in numbers]
    assert len(trials) == 24
    for trial, mine in zip(trials, there, strict=True):
        told = {a["key"]: a["value"] for a in trial["user_attrs"]}
        assert (trial["number"], told["status"]) == (mine.number, mine.status)
        if mine.key:
            assert mine.key in told["design"]
        result = open_run(run, write=False).result(mine.key)
        if result is not None and result.latency is not None:
            assert trial["values"] == [
                result.latency, result.resources["dsp"], result.resources["lut"],
            ]  # fmt: skip
    assert any(trial["params"] for trial in trials)


def test_the_objectives_have_names(ask):
    assert ask("studies/0")["objective_names"] == ["latency", "dsp", "lut"]
