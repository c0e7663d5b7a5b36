"""Where evaluations take place: here, in processes of this machine, or wherever else.

A `Fanout` takes jobs while it is free and gives them back in the order in which they end. What it
gives back without a result could not be done where it was tried and is to be begun again.
"""

from __future__ import annotations

import importlib
import math
import signal
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from dse.evaluators.base import Evaluator, Request, Result, Status
from dse.workers import Ended, Pool

PRELOAD = ("dse.evaluators.model", "dse.run.workers.fanout")
PRELOAD_TOOLS = (
    *(*PRELOAD, "dse.evaluators.csim", "dse.run.folder.codec", "dse.kernels.target", "weft"),
    *("backends.vitis.project", "backends.vitis.csim", "mlir_passes.pipeline", "numpy.random"),
)
_OF_EVALUATOR = {
    "model": (),
    "gnn": (
        "dse.evaluators.gnn",
        "dse.estimates.prediction",
        "qor_gnn.gnn.training.predict",
        "qor_gnn.gnn.training.weights",
    ),
    "rtl": (*PRELOAD_TOOLS, "dse.evaluators.rtl"),
}
"""Beside `PRELOAD`; all others need the tools."""

_OPEN = ("backends.rtl.synth", "mlir_passes.pipeline", "qor_gnn.result.open_backend")


def preload_of(evaluators: Collection[str], *, is_open: bool) -> tuple[str, ...]:
    """The modules that evaluations need; a server passes over what is not installed.

    Args:
        evaluators: names of all that a run has: it has one server of processes.
        is_open: the tool is the open backend, whose estimates make RTL.
    """
    found = [*PRELOAD, *(_OPEN if is_open else ())]
    for name in evaluators:
        found += _OF_EVALUATOR.get(name, PRELOAD_TOOLS)
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class Job:
    """One evaluation; ``key`` is that of its result."""

    key: str
    evaluator: Evaluator
    request: Request


@dataclass(frozen=True, slots=True)
class Done:
    """A job that has ended; without a result it is to be begun again."""

    job: Job
    result: Result | None


class Fanout(Protocol):
    """Evaluations under way."""

    @property
    def free(self) -> int:
        """Jobs that could begin now."""

    def begin(self, job: Job) -> None:
        """Start a job; only while it is free."""

    def ended(self, patience: float) -> list[Done]:
        """Jobs that have ended; waits for one, so many seconds at most."""

    def recalled(self) -> list[Job]:
        """Jobs that wait for somebody to begin them: from now on nobody will."""

    def close(self) -> None:
        """End what is under way."""


def evaluate(job: Job) -> Result:
    """The result of a job."""
    return job.evaluator.evaluate(job.request)


def within(seconds: float, job: Job) -> Result:
    """The result of a job, evaluated here, but for so long at most."""

    def late(*_: object) -> None:
        raise TimeoutError

    # Native modules that an exception stops while they are loaded crash when they are loaded again.
    importlib.import_module("mlir_passes.provider")
    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return evaluate(job)
    except TimeoutError:
        return timeout(seconds)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def timeout(seconds: float) -> Result:
    """The result of what did not end in time."""
    return Result(Status.TIMEOUT, detail=f"no answer in {seconds:g} s", seconds=seconds)


def result_of(ended: Ended[Job, Result], seconds: float) -> Result:
    """The result of a call in a process of its own, however it ended."""
    if ended.result is not None:
        return ended.result
    if ended.late:
        return timeout(seconds)
    return Result(Status.TOOL_ERROR, detail=ended.failure.strip().splitlines()[-1])


@dataclass(slots=True)
class Here:
    """In this process, one after the other: for what takes milliseconds."""

    seconds: float
    waiting: list[Job] = field(default_factory=list)

    @property
    def free(self) -> int:
        """One at a time."""
        return 1 - len(self.waiting)

    def begin(self, job: Job) -> None:
        """It is evaluated when its end is asked for."""
        self.waiting.append(job)

    def ended(self, patience: float = math.inf) -> list[Done]:
        """Evaluates what is waiting."""
        jobs, self.waiting = self.waiting, []
        return [Done(job, within(self.seconds, job)) for job in jobs]

    def recalled(self) -> list[Job]:
        """None: what was begun is under way."""
        return []

    def close(self) -> None:
        """Forget what is waiting."""
        self.waiting.clear()


class Processes:
    """In processes of this machine, a fresh one for each: a crash is a result, and so is a hang."""

    def __init__(self, jobs: int, seconds: float, preload: Sequence[str] = PRELOAD) -> None:
        """Nothing is started yet; the arguments are those of `dse.workers.Pool`."""
        self._pool: Pool[Job, Result] = Pool(evaluate, jobs, seconds, preload)

    @property
    def free(self) -> int:
        """Processes that could begin now."""
        return self._pool.free

    @property
    def busy(self) -> int:
        """Processes at work."""
        return self._pool.busy

    def begin(self, job: Job) -> None:
        """Start a process for it."""
        self._pool.begin(job)

    def ended(self, patience: float = math.inf) -> list[Done]:
        """Waits for the first to end, to crash or to run out of time."""
        seconds = self._pool.seconds
        return [Done(e.task, result_of(e, seconds)) for e in self._pool.ended(patience)]

    def recalled(self) -> list[Job]:
        """None: what was begun is under way."""
        return []

    def close(self) -> None:
        """End the processes."""
        self._pool.close()


@dataclass(slots=True)
class Several:
    """Some fan-outs as one: a job begins in the first that is free."""

    parts: Sequence[Fanout]

    @property
    def free(self) -> int:
        """Jobs that could begin now."""
        return sum(part.free for part in self.parts)

    def begin(self, job: Job) -> None:
        """Start it in the first part that is free."""
        next(part for part in self.parts if part.free > 0).begin(job)

    def ended(self, patience: float) -> list[Done]:
        """Asks one part after the other."""
        deadline = time.monotonic() + patience
        while True:
            for part in self.parts:
                if found := part.ended(_TURN):
                    return found
            if time.monotonic() >= deadline:
                return []
            time.sleep(_TURN / 10)  # parts with nothing under way do not wait

    def recalled(self) -> list[Job]:
        """Of all parts."""
        return [job for part in self.parts for job in part.recalled()]

    def close(self) -> None:
        """End what is under way in each."""
        for part in self.parts:
            part.close()


_TURN = 0.1  # seconds that each part is waited for before the next is asked
