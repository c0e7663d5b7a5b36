"""Tasks in processes of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from dse.workers import Ended, run_tasks


def work(task: str) -> str:
    match task:
        case "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "exit":
            os._exit(3)
        case "hang":
            time.sleep(60)
        case "slow":
            time.sleep(0.5)
    return task.upper()


def outcomes(tasks: list[str], jobs: int, seconds: float = 60) -> dict[str, Ended]:
    return {e.task: e for e in run_tasks(work, tasks, jobs, seconds)}


def test_results_come_back() -> None:
    assert {t: e.result for t, e in outcomes(list("abcde"), 2).items()} == {
        t: t.upper() for t in "abcde"
    }
    assert outcomes([], 2) == {}


def test_a_crash_is_a_result() -> None:
    ended = outcomes(["a", "crash", "exit", "b"], 2)
    assert ended["crash"] == Ended("crash", None, "SIGSEGV")
    assert ended["exit"] == Ended("exit", None, "exit status 3")
    assert (ended["a"].result, ended["b"].result) == ("A", "B")


def test_a_task_that_hangs_is_ended() -> None:
    start = time.monotonic()
    ended = outcomes(["hang", "a"], 1, seconds=3)
    assert ended["hang"].failure == "no answer in 3 s"
    assert ended["a"].result == "A"
    assert time.monotonic() - start < 30


def test_they_run_at_once() -> None:
    outcomes(["a"], 1)  # starts the server of forks
    start = time.monotonic()
    outcomes(["slow", "slow ", "slow  "], 3)
    results = list(run_tasks(work, ["slow"] * 4, 4, 60))
    assert len(results) == 4
    assert time.monotonic() - start < 5


def test_leaving_early_ends_the_others() -> None:
    running = run_tasks(work, ["a", "hang"], 2, 60)
    assert next(running).result == "A"
    start = time.monotonic()
    running.close()
    assert time.monotonic() - start < 20


def busy(task: str) -> str:
    from backends.process import Limits, run_limited

    folder = Path(task)
    try:
        run_limited(["sh", "-c", f"echo $$ > '{folder}/pid'; sleep 60"], Limits(60))
    finally:
        (folder / "cleaned").touch()
    return ""


def test_what_a_worker_started_ends_with_it(tmp_path: Path) -> None:
    list(run_tasks(busy, [str(tmp_path)], 1, seconds=3))
    assert (tmp_path / "cleaned").exists()
    assert happens(lambda: ended(tmp_path / "pid"))


def test_an_exception_is_not_hidden() -> None:
    [ended] = run_tasks(fails, ["broken"], 1, 60)
    assert ended.result is None
    assert ended.failure.startswith("Traceback")
    assert ended.failure.endswith("RuntimeError: broken\n")


def fails(task: str) -> str:
    raise RuntimeError(task)


def test_workers_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom dse.workers import run_tasks\nfrom tests.cli.test_workers import busy\n"
        "list(run_tasks(busy, [sys.argv[1]], 1, 60))"
    )
    root = Path(__file__).resolve().parents[2]
    parent = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], cwd=root)
    pid = tmp_path / "pid"
    assert happens(lambda: pid.is_file() and pid.read_text().strip())
    parent.kill()
    parent.wait()
    assert happens((tmp_path / "cleaned").exists)
    assert happens(lambda: ended(pid))


def ended(pid: Path) -> bool:
    """Whether the process of that number is gone, or waits to be reaped."""
    state = Path(f"/proc/{pid.read_text().strip()}/stat")
    return not state.exists() or ") Z " in state.read_text()


def happens(condition: Callable[[], object], seconds: float = 30) -> bool:
    """Whether something is so before long."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return bool(condition())
