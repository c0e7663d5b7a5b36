"""Evaluators that do what their names say, for tests of where evaluations take place."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass

from backends.devices import device
from dse.evaluators.base import Request, Result, Status
from dse.run.workers.fanout import Job
from dsl.schedules.schedule import Schedule
from tests.dse.contract import stencil

REQUEST = Request(stencil.program, Schedule(), device("xczu9eg"), 10.0)


@dataclass(frozen=True, slots=True)
class Acting:
    """An evaluator that does what its name says."""

    name: str = "ok"
    cost: float = 1.0
    version: str = "1"

    def evaluate(self, request: Request) -> Result:
        match self.name:
            case "crash":
                os.kill(os.getpid(), signal.SIGSEGV)
            case "hang":
                time.sleep(60)
            case "raise":
                raise RuntimeError("broken")
            case "wait":
                time.sleep(0.5)
        return Result(Status.OK, float(len(self.name)), {"dsp": os.getpid()})


def job(name: str, key: str = "") -> Job:
    return Job(key or name, Acting(name), REQUEST)
