"""Where evaluations take place: every fan-out gives back what a job came to, however it ended."""

from __future__ import annotations

import contextlib
import importlib.util
import time
from collections.abc import Sequence

import pytest

from dse.evaluators.base import Result, Status
from dse.run.workers.fanout import PRELOAD, Done, Fanout, Here, Job, Processes, Several, preload_of
from tests.dse.acting import job


def carried_out(fanout: Fanout, jobs: Sequence[Job]) -> dict[str, Result | None]:
    found: dict[str, Result | None] = {}
    waiting = list(jobs)
    with contextlib.closing(fanout):
        while len(found) < len(jobs):
            while waiting and fanout.free > 0:
                fanout.begin(waiting.pop(0))
            ended = fanout.ended(10)
            waiting += [done.job for done in ended if done.result is None]
            found |= {done.job.key: done.result for done in ended if done.result is not None}
    return found


@pytest.mark.parametrize(
    "fanout",
    [
        lambda: Here(60),
        lambda: Processes(2, 60),
        lambda: Several([Here(60), Processes(1, 60)]),
    ],
    ids=["here", "processes", "several"],
)
def test_results_come_back(fanout):
    found = carried_out(fanout(), [job("ok", str(n)) for n in range(5)])
    assert sorted(found) == list("01234")
    assert {(r.status, r.latency) for r in found.values()} == {(Status.OK, 2.0)}


def test_what_takes_too_long_is_a_timeout_wherever_it_is():
    for fanout in (Here(0.3), Processes(1, 3)):
        start = time.monotonic()
        [result] = carried_out(fanout, [job("hang")]).values()
        assert (result.status, result.evaluated) == (Status.TIMEOUT, False)
        assert result.detail.startswith("no answer in ")
        assert time.monotonic() - start < 30


def test_a_crash_and_an_exception_are_errors_of_the_tool():
    found = carried_out(Processes(2, 60), [job("crash"), job("ok"), job("raise")])
    assert {key: result.status for key, result in found.items()} == {
        "crash": Status.TOOL_ERROR, "ok": Status.OK, "raise": Status.TOOL_ERROR,
    }  # fmt: skip
    assert found["crash"].detail == "SIGSEGV"
    assert found["raise"].detail == "RuntimeError: broken"


def test_processes_are_only_waited_for_so_long():
    with contextlib.closing(Processes(1, 60)) as fanout:
        fanout.begin(job("hang"))
        assert fanout.free == 0
        assert fanout.ended(0.1) == []


def test_several_use_all_of_their_parts():
    jobs = [job("wait", str(n)) for n in range(4)]
    found = carried_out(Several([Processes(1, 60), Processes(1, 60)]), jobs)
    start = time.monotonic()
    assert len({result.resources["dsp"] for result in found.values()}) == 4
    assert time.monotonic() - start < 30


class Refusing:
    """Gives a job back once before another part does it."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        self.refused = 0

    @property
    def free(self) -> int:
        return 1 - self.refused

    def begin(self, job: Job) -> None:
        self.refused += 1
        self.jobs.append(job)

    def ended(self, patience: float) -> list[Done]:
        jobs, self.jobs = self.jobs, []
        return [Done(job, None) for job in jobs]

    def recalled(self) -> list[Job]:
        jobs, self.jobs = self.jobs, []
        return jobs

    def close(self) -> None:
        self.jobs.clear()


@pytest.mark.parametrize("names", [("model",), ("gnn", "rtl"), ("csim",)])
@pytest.mark.parametrize("is_open", [False, True])
def test_what_is_loaded_ahead_is_there(names, is_open):
    found = preload_of(names, is_open=is_open)
    assert set(PRELOAD) <= set(found)
    assert all(importlib.util.find_spec(name) for name in found)
    assert ("qor_gnn.gnn.training.predict" in found) == ("gnn" in names)
    assert ("qor_gnn.result.open_backend" in found) == is_open
