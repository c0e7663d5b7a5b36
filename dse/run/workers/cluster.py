"""Evaluations on a Dask cluster: one at a time in each of its worker processes.

A worker that dies is noticed, and what it was at is done by another; over what several have died
is an error of the tool. What takes too long is given up, and its worker is restarted where Dask's
nanny can do that.
"""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import dataclass
from typing import Any

from dse.evaluators.base import Evaluator, Request, Result, Status
from dse.libraries import need
from dse.run.workers.fanout import Done, Job, timeout
from dsl.errors.errors import InputError

_CONNECT = 15.0  # seconds for the scheduler to answer
_GRACE = 2.0  # seconds for a task to reach its worker
_POLL = 0.02  # seconds between looks at the futures, which the client keeps up to date
_ATTEMPTS = 2  # workers that may die over one job
_ONE = threading.Lock()  # isl is for one thread at a time


def _evaluate(evaluator: Evaluator, request: Request) -> Result:
    with _ONE:
        return evaluator.evaluate(request)


@dataclass(slots=True)
class _Flight:
    job: Job
    worker: str
    deadline: float


class Cluster:
    """A `dse.run.workers.fanout.Fanout` over the workers of a Dask cluster."""

    def __init__(self, address: str, seconds: float) -> None:
        """Connect.

        Args:
            address: of the scheduler, ``tcp://HOST:8786``.
            seconds: limit for each evaluation.

        Raises:
            InputError: W528 Dask is not installed; W534 no scheduler answers there.
        """
        self._dask: Any = need("distributed", "a Dask cluster", "Dask", "dask")
        try:
            self._client = self._dask.Client(address, timeout=_CONNECT, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:  # TimeoutError is an OSError
            raise InputError(
                "W534",
                f"no Dask scheduler answers at {address}",
                help="dask scheduler says its address; then dask worker ADDRESS on each machine",
            ) from error
        self._seconds = seconds
        self._flights: dict[Any, _Flight] = {}
        self._attempts: dict[str, int] = {}
        self._unplaced: list[Job] = []

    def _idle(self) -> list[str]:
        known = self._client.scheduler_info(n_workers=-1)["workers"]
        taken = {flight.worker for flight in self._flights.values()}
        return [worker for worker in known if worker not in taken]

    @property
    def free(self) -> int:
        """Worker processes without a job of ours."""
        return len(self._idle())

    def begin(self, job: Job) -> None:
        """Send it to a worker that has none."""
        idle = self._idle()
        if not idle:  # a worker has gone since we were asked
            self._unplaced.append(job)
            return
        worker = idle[0]
        future = self._client.submit(
            _evaluate, job.evaluator, job.request, workers=[worker], pure=False, retries=0
        )
        self._flights[future] = _Flight(job, worker, time.monotonic() + self._seconds + _GRACE)

    def ended(self, patience: float) -> list[Done]:
        """Waits for the first to end, to lose its worker, or to run out of time."""
        deadline = time.monotonic() + patience
        while True:
            there = set(self._client.scheduler_info(n_workers=-1)["workers"])
            found = [Done(job, None) for job in self._unplaced]
            self._unplaced.clear()
            found += [
                done
                for future in list(self._flights)
                if (done := self._looked_at(future, there)) is not None
            ]
            if found or time.monotonic() >= deadline:
                return found
            time.sleep(_POLL)

    def _looked_at(self, future: Any, there: set[str]) -> Done | None:
        flight = self._flights[future]
        if future.status == "finished":
            del self._flights[future]
            return Done(flight.job, future.result())
        if future.status == "error":
            del self._flights[future]
            error = future.exception()
            if isinstance(error, self._dask.scheduler.KilledWorker):
                return self._lost(flight.job)
            detail = f"{type(error).__name__}: {error}".splitlines()[0]
            return Done(flight.job, Result(Status.TOOL_ERROR, detail=detail))
        if flight.worker not in there:
            del self._flights[future]
            future.cancel()
            return self._lost(flight.job)
        if time.monotonic() > flight.deadline:
            del self._flights[future]
            future.cancel()
            with contextlib.suppress(ValueError):  # it has no nanny: its thread goes on to the end
                self._client.restart_workers([flight.worker], raise_for_error=False)
            return Done(flight.job, timeout(self._seconds))
        return None

    def _lost(self, job: Job) -> Done:
        self._attempts[job.key] = self._attempts.get(job.key, 0) + 1
        if self._attempts[job.key] < _ATTEMPTS:
            return Done(job, None)
        detail = f"{_ATTEMPTS} workers of the cluster died over it"
        return Done(job, Result(Status.TOOL_ERROR, detail=detail))

    def recalled(self) -> list[Job]:
        """What found no worker."""
        jobs, self._unplaced = self._unplaced, []
        return jobs

    def close(self) -> None:
        """Give up what is under way; the cluster stays."""
        for future in self._flights:
            future.cancel()
        self._flights.clear()
        self._client.close()
