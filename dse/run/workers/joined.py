"""A worker at work: takes points on offer, evaluates them, leaves the results."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from backends.devices import device
from dse.evaluators.base import Evaluator, Request, Result
from dse.evaluators.fidelities import FIDELITIES
from dse.evaluators.registry import evaluator
from dse.kernels.data import packed
from dse.run.folder.cache import ResultCache
from dse.run.folder.calibrations import calibration_in
from dse.run.folder.codec import key_of, program_digest
from dse.run.folder.directory import wrong
from dse.run.workers.fanout import Job, Processes
from dse.run.workers.offers import Board, Taken
from dsl.errors.errors import InputError, WeftError
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from dsl.stored.kernel import StoredKernel
from qor_gnn.tools.operators.calibration import Calibration

_PATIENCE = 0.2  # seconds between looks at the offers


@dataclass(frozen=True, slots=True)
class Task:
    """What a run's designs are evaluated for, and by what."""

    program: Program
    device: str
    clock: float
    tool: str | None
    calibration: Calibration | None
    evaluators: Mapping[str, Evaluator]

    def job(self, taken: Taken) -> Job:
        """The evaluation that an offer asks for.

        Raises:
            InputError: W535 it would not give the result that is asked for: the versions of Weft
                are not the same.
        """
        try:
            schedule = Schedule.from_json(taken.schedule, "the offer")
            chosen = self.evaluators[taken.evaluator]
        except (WeftError, KeyError) as error:
            raise _other(f"the offer is not one that this worker knows: {error}") from error
        request = Request(
            self.program, schedule, device(self.device), self.clock, self.tool, self.calibration
        )
        if key_of(request, chosen) != taken.key:
            raise _other(f"the evaluator {chosen.name} of this worker gives other results")
        return Job(taken.key, chosen, request)


def checked(manifest: Mapping[str, Any]) -> None:
    """That a study says what workers need, in its form: others can write into the storage.

    Raises:
        InputError: W521 it does not.
    """
    found = wrong(manifest)
    names = [manifest.get("evaluator")]
    names += promote if isinstance(promote := manifest.get("promote"), list) else [None]
    if not all(isinstance(name, str) and name in FIDELITIES for name in names):
        found.append("evaluators")
    if found:
        raise InputError("W521", f"the study does not say the run's {', '.join(found)}")


def task_of(manifest: Mapping[str, Any], source: str, kernel: StoredKernel) -> Task:
    """The task of a run.

    Args:
        manifest: of the run.
        source: where the kernel is from, for messages.
        kernel: it as data, at the run's size.

    Raises:
        InputError: W535 it is another one; W552 its calibration is none.
    """
    if program_digest(kernel.program) != manifest["program"]:
        raise _other(f"{source} is not the kernel that the run was begun with")
    data = packed(kernel)
    made = {n: evaluator(n, data, manifest["timeout"]) for n in FIDELITIES}
    where = manifest["device"], manifest["clock_ns"], manifest.get("tool")
    return Task(kernel.program, *where, calibration_in(manifest, "the run"), made)


def _other(message: str) -> InputError:
    return InputError(
        "W535", message, help="workers need the same Weft and the same kernel as weft explore"
    )


@dataclass(slots=True)
class Worker:
    """Takes offers until there will be no more, it is asked to stop, or none came for a while.

    Attributes:
        board: the offers.
        task: what they are evaluated for.
        processes: where.
        idle: seconds without anything to do after which to leave.
        heard: told of each result.
        stopping: whether the user asked to stop.
        cache: where results may be.
    """

    board: Board
    task: Task
    processes: Processes
    idle: float
    heard: Callable[[Result], None]
    stopping: Callable[[], bool]
    cache: ResultCache = field(default_factory=ResultCache)
    taken: dict[str, Taken] = field(default_factory=dict)

    def serve(self) -> None:
        """Work until there is a reason to leave; what was taken is finished or given back.

        Raises:
            InputError: W535 the offers are not for this version of Weft.
        """
        busy = self.board.now
        try:
            while not (self.stopping() or (not self.taken and self._over(busy))):
                self._take()
                if self._finish() or self.taken:
                    busy = self.board.now
                if not self.taken:
                    time.sleep(_PATIENCE)
            while self.taken:
                self._finish()
        finally:
            for left in self.taken.values():
                self.board.give_back(left)
            self.board.leave()

    def _over(self, busy: float) -> bool:
        return not self.board.open or self.board.now - busy > self.idle

    def _take(self) -> None:
        self.board.beat(list(self.taken.values()))
        if self.processes.free <= 0:
            return
        for taken in self.board.take(self.processes.free):
            # Two offers of one key would be two of one result: the exploring side makes none.
            self.taken[taken.key] = taken
            job = self.task.job(taken)
            if (cached := self.cache.get(taken.key)) is not None:
                self._leave(taken.key, cached)
            else:
                self.processes.begin(job)

    def _finish(self) -> bool:
        found = self.processes.ended(_PATIENCE)
        for done in found:
            if done.result is not None:
                self.cache.put(done.job.key, done.result)
                self._leave(done.job.key, done.result)
        self.board.beat(list(self.taken.values()))
        return bool(found)

    def _leave(self, key: str, result: Result) -> None:
        self.board.leave_result(self.taken.pop(key), result)
        self.heard(result)
