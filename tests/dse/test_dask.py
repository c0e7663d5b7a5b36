"""Evaluations on a Dask cluster of two worker processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from dse.cli import run as weft_command
from dse.run.folder.directory import open_run
from dse.run.results.front import designs
from tests.dse.commands import GEMM, ROOT, begin_exploring, end, statuses

pytest.importorskip("optuna")
pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("dask")
    file = folder / "scheduler.json"
    local = ["--no-dashboard", "--host", "127.0.0.1"]
    commands = [
        ["dask_scheduler", "--port", "0", "--scheduler-file", file, *local],
        *[["dask_worker", "--scheduler-file", file, "--nthreads", "2",
           "--local-directory", folder / str(n), "--no-dashboard"] for n in range(2)],
    ]  # fmt: skip
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    processes = []
    with (folder / "log").open("w") as log:
        for module, *words in commands:
            command = [sys.executable, "-m", f"distributed.cli.{module}", *map(str, words)]
            processes.append(
                subprocess.Popen(
                    command, cwd=ROOT, env=env, stdout=log, stderr=log, start_new_session=True
                )
            )
    try:
        deadline = time.monotonic() + 120
        while (folder / "log").read_text().count("Register worker") < 2:
            assert time.monotonic() < deadline, (folder / "log").read_text()
            time.sleep(0.2)
        yield json.loads(file.read_text())["address"]
    finally:
        for process in processes:  # with the workers that it watches; in order they take 8 s
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(60)


def test_a_cluster_explores_as_this_machine_does(address, tmp_path):
    words = ["--strategy", "pom", "--dsp", "60", "--promote", "csim", "--promote-most", "2"]
    for name, more in (("here", []), ("there", ["--dask", address])):
        code, _, err = end(begin_exploring(tmp_path / name, *words, *more))
        assert code == 0, err
    here, there = (designs(open_run(tmp_path / n, write=False)) for n in ("here", "there"))
    assert [(d.key, d.values) for d in here] == [(d.key, d.values) for d in there]
    assert statuses(tmp_path / "there", "promoted") == {"ok": 2}


# In a process of its own: what the client leaves open is not this test's.
CARRY_OUT = """
import sys
from dse.run.workers.cluster import Cluster
from tests.dse.acting import job
from tests.dse.test_fanout import carried_out

address, seconds, *names = sys.argv[1:]
found = carried_out(Cluster(address, float(seconds)), [job(n, f"{k}") for k, n in enumerate(names)])
for key, result in sorted(found.items()):
    print(key, result.status.value if result else None, result.detail, result.resources, sep="|")
"""


def carried_out(address: str, seconds: float, *names: str) -> list[list[str]]:
    done = subprocess.run(
        [sys.executable, "-c", CARRY_OUT, address, str(seconds), *names],
        cwd=ROOT, capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [line.split("|") for line in done.stdout.splitlines()]


def test_both_workers_are_used_and_one_evaluation_each_at_a_time(address):
    found = carried_out(address, 60, "wait", "wait", "wait", "wait")
    assert [row[1] for row in found] == ["ok"] * 4
    assert len({row[3] for row in found}) == 2  # two processes


def test_an_exception_and_what_takes_too_long(address):
    found = carried_out(address, 3, "raise", "ok", "hang")
    assert [row[1] for row in found] == ["tool-error", "ok", "timeout"]
    assert found[0][2] == "RuntimeError: broken"
    # The worker that hung was restarted: both are there again.
    deadline = time.monotonic() + 60
    while len({row[3] for row in carried_out(address, 60, *["wait"] * 4)}) < 2:
        assert time.monotonic() < deadline


def test_what_workers_die_over_is_an_error_of_the_tool(address):
    [crash, after] = carried_out(address, 60, "crash", "ok")
    assert crash[1:3] == ["tool-error", "2 workers of the cluster died over it"]
    assert after[1] == "ok"


def test_a_scheduler_that_is_not_there(tmp_path, capfd, monkeypatch):
    monkeypatch.setattr("dse.run.workers.cluster._CONNECT", 0.5)
    words = [
        "explore",
        "--evaluator",
        "model",
        GEMM,
        "--size",
        "mini",
        "--out",
        str(tmp_path / "run"),
    ]
    assert weft_command([*words, "--dask", "tcp://127.0.0.1:1"]) == 1
    assert "error[W534]: no Dask scheduler answers at tcp://127.0.0.1:1" in capfd.readouterr().err


def test_without_dask_it_is_named(tmp_path, capfd, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    words = [
        "explore",
        "--evaluator",
        "model",
        GEMM,
        "--size",
        "mini",
        "--out",
        str(tmp_path / "run"),
    ]
    assert weft_command([*words, "--dask", "tcp://127.0.0.1:1"]) == 1
    assert "error[W528]: a Dask cluster needs Dask, which is not installed" in (
        capfd.readouterr().err
    )
