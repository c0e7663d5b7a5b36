"""Points on offer to ``weft worker`` processes, which may be on other machines.

Offers are the trials of a study of their own, next to the one that is explored. A trial waits until
one worker takes it, which the storage grants to one only; that worker writes signs of life into it
and at last the result. Only the exploring process writes into the study itself, so each result
lands there once, whoever found it, and a worker that dies costs no more than its evaluation.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dse.evaluators.base import Result, Status
from dse.libraries import optuna_library
from dse.run.folder.codec import result_from_json, result_to_json
from dse.run.studies.storage import clock
from dse.run.studies.study_kernel import keep_kernel, kernel_in
from dse.run.workers.fanout import Done, Job
from dsl.errors.errors import InputError

if TYPE_CHECKING:
    from optuna.storages import BaseStorage
    from optuna.trial import FrozenTrial

SUFFIX = ".offers"
BEAT = 3.0  # seconds between signs of life
SILENCE = 20.0  # seconds without one after which a worker is taken to be lost
_ATTEMPTS = 3  # workers that may be lost over one job
_POLL = 0.1
_WORKER, _OPEN, _MANIFEST = "worker:", "open", "manifest"


def offers_id(storage: BaseStorage, study: str) -> int | None:
    """The number of the study that holds the offers of another; None if there is none."""
    try:
        return storage.get_study_id_from_name(study + SUFFIX)
    except KeyError:
        return None


def left_results(storage: BaseStorage, study: str) -> dict[str, Result]:
    """Results, by their keys, that workers left, if perhaps while nobody was listening."""
    number = offers_id(storage, study)
    if number is None:
        return {}
    complete = (optuna_library().trial.TrialState.COMPLETE,)
    found: dict[str, Result] = {}
    for trial in storage.get_all_trials(number, deepcopy=False, states=complete):
        result = _result(trial)
        if result is not None:
            found[str(trial.user_attrs.get("key"))] = result
    return found


@dataclass(slots=True)
class _Pulse:
    """When something changed last, by `dse.run.studies.storage.clock`."""

    since: float
    value: object = None

    def silent(self, value: object, now: float) -> bool:
        """Whether it has not changed for too long."""
        if value != self.value:
            self.value, self.since = value, now
        return now - self.since > SILENCE


@dataclass(slots=True)
class _Offer:
    job: Job
    pulse: _Pulse


class Offers:
    """The exploring side: a `dse.run.workers.fanout.Fanout` over whoever has joined."""

    def __init__(
        self, storage: BaseStorage, study: str, manifest: dict[str, Any], kernel: bytes
    ) -> None:
        """Open the offers of a study, or begin them.

        Args:
            storage: of the study.
            study: its name.
            manifest: of the run.
            kernel: it as data, of `dse.kernels.data.packed`: workers run no file.
        """
        library = optuna_library()
        self._states = library.trial.TrialState
        self._template = library.trial.create_trial
        self._storage = storage
        number = offers_id(storage, study)
        if number is None:
            direction = library.study.StudyDirection.MINIMIZE
            number = storage.create_new_study([direction], study + SUFFIX)
        self._study = number
        self._offers: dict[int, _Offer] = {}
        self._attempts: dict[str, int] = {}
        self._workers: dict[str, _Pulse] = {}
        self._checked = -_POLL
        self._room = 0
        keep_kernel(storage, study, kernel)
        storage.set_study_user_attr(number, _MANIFEST, manifest)
        storage.set_study_user_attr(number, _OPEN, True)

    @property
    def free(self) -> int:
        """Evaluations that the workers who give signs of life could begin now, and one more each:
        that one waits for the worker, not the worker for it.
        """
        if time.monotonic() - self._checked >= _POLL:
            self._checked = time.monotonic()
            self._room = sum(jobs + 1 for jobs in self._joined() if jobs)
        return self._room - len(self._offers)

    def _joined(self) -> Iterator[int]:
        for name, facts in self._storage.get_study_user_attrs(self._study).items():
            if name.startswith(_WORKER):
                # The first look does not tell a worker that is there from one that was.
                pulse = self._workers.get(name)
                if pulse is None:
                    long_ago = clock(self._storage) - SILENCE
                    self._workers[name] = _Pulse(long_ago, facts["beat"])
                elif not pulse.silent(facts["beat"], clock(self._storage)):
                    yield int(facts["jobs"])

    def begin(self, job: Job) -> None:
        """Offer it."""
        attrs = {
            "key": job.key,
            "evaluator": job.evaluator.name,
            "schedule": json.loads(job.request.schedule.to_json()),
        }
        trial = self._template(state=self._states.WAITING, user_attrs=attrs)
        number = self._storage.create_new_trial(self._study, trial)
        self._offers[number] = _Offer(job, _Pulse(clock(self._storage)))

    def ended(self, patience: float) -> list[Done]:
        """What workers have finished, and what they were lost over."""
        deadline = time.monotonic() + patience
        while True:
            found = [done for number in list(self._offers) if (done := self._looked_at(number))]
            if found or time.monotonic() >= deadline:
                return found
            time.sleep(_POLL)

    def _looked_at(self, number: int) -> Done | None:
        trial = self._storage.get_trial(number)
        offer = self._offers[number]
        if trial.state == self._states.COMPLETE:
            del self._offers[number]
            return Done(offer.job, _result(trial))
        if trial.state == self._states.FAIL:  # given back
            del self._offers[number]
            return Done(offer.job, None)
        lost = trial.state == self._states.RUNNING
        signs = (trial.state, trial.user_attrs.get("beat"))
        if not offer.pulse.silent(signs, clock(self._storage)):
            return None
        if not lost and self.free + len(self._offers) > 0:
            return None  # its turn will come
        self._withdraw(number)
        key = offer.job.key
        self._attempts[key] = self._attempts.get(key, 0) + lost
        if self._attempts[key] >= _ATTEMPTS:
            detail = f"{_ATTEMPTS} workers were lost over it"
            return Done(offer.job, Result(Status.TOOL_ERROR, detail=detail))
        return Done(offer.job, None)

    def _withdraw(self, number: int) -> None:
        del self._offers[number]
        with _finished_meanwhile():
            self._storage.set_trial_state_values(number, self._states.FAIL)

    def recalled(self) -> list[Job]:
        """Withdraw what no worker has taken."""
        found = []
        for number, offer in list(self._offers.items()):
            with _finished_meanwhile():
                # Granted to one only: a worker that took it first keeps it.
                if self._storage.set_trial_state_values(number, self._states.RUNNING):
                    self._withdraw(number)
                    found.append(offer.job)
        return found

    def close(self) -> None:
        """Withdraw what nobody has finished; workers wait for more."""
        for number in list(self._offers):
            self._withdraw(number)

    def end(self) -> None:
        """There will be no more: workers leave."""
        self.close()
        self._storage.set_study_user_attr(self._study, _OPEN, False)


class _finished_meanwhile:  # noqa: N801 - used as a statement
    """A trial that another process has ended in the meantime stays as that one left it."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        ended = optuna_library().exceptions.UpdateFinishedTrialError
        return kind is not None and issubclass(kind, ended)


def _result(trial: FrozenTrial) -> Result | None:
    try:
        return result_from_json(trial.user_attrs["result"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


# ------------------------------------------------------------------------------------------ workers


@dataclass(frozen=True, slots=True)
class Taken:
    """An offer that this worker has to carry out."""

    number: int
    key: str
    evaluator: str
    schedule: str


class Board:
    """The workers' side: takes offers and leaves results.

    ``manifest`` is that of the run, ``kernel`` it as data (None if an older Weft explores). Whoever
    can write into the storage may have made them.
    """

    def __init__(self, storage: BaseStorage, study: str, jobs: int) -> None:
        """Join the workers of a study.

        Args:
            storage: of the study.
            study: its name.
            jobs: evaluations at once.

        Raises:
            InputError: W533 there is no such study, or it has no offers.
        """
        number = offers_id(storage, study)
        manifest = None
        if number is not None:  # it is there a moment before what it is about is
            manifest = storage.get_study_user_attrs(number).get(_MANIFEST)
        if number is None or not isinstance(manifest, dict):
            raise InputError(
                "W533",
                f"the storage has no study '{study}' with points for workers",
                help="weft explore begins one with --storage URL --study NAME, or with --open",
            )
        self.manifest: dict[str, Any] = manifest
        self.kernel = kernel_in(storage, study)
        self._states = optuna_library().trial.TrialState
        self._storage = storage
        self._study = number
        self._jobs = jobs
        self._name = f"{_WORKER}{socket.gethostname()}:{os.getpid()}:{time.time_ns()}"
        self._count = 0
        self._last = 0.0

    @property
    def now(self) -> float:
        """Seconds, without those in which nothing could be offered: the storage was away."""
        return clock(self._storage)

    @property
    def open(self) -> bool:
        """Whether there may be more offers."""
        return bool(self._storage.get_study_user_attrs(self._study).get(_OPEN))

    def beat(self, at_work: list[Taken], force: bool = False) -> None:
        """Give signs of life, where the last is a while ago."""
        if not force and time.monotonic() - self._last < BEAT:
            return
        self._last = time.monotonic()
        self._count += 1
        facts = {"jobs": self._jobs, "beat": self._count}
        self._storage.set_study_user_attr(self._study, self._name, facts)
        for taken in at_work:
            with _finished_meanwhile():
                self._storage.set_trial_user_attr(taken.number, "beat", self._count)

    def leave(self) -> None:
        """No more offers for this worker."""
        self._jobs = 0
        self.beat([], force=True)

    def take(self, count: int) -> list[Taken]:
        """At most so many offers, the oldest first; nobody else gets these."""
        found: list[Taken] = []
        states = (self._states.WAITING,)
        for trial in self._storage.get_all_trials(self._study, deepcopy=False, states=states):
            if len(found) == count:
                break
            with _finished_meanwhile():
                number = self._storage.get_trial_id_from_study_id_trial_number(
                    self._study, trial.number
                )
                if self._storage.set_trial_state_values(number, self._states.RUNNING):
                    attrs = trial.user_attrs
                    found.append(
                        Taken(
                            number,
                            str(attrs.get("key")),
                            str(attrs.get("evaluator")),
                            json.dumps(attrs.get("schedule")),
                        )
                    )
        return found

    def leave_result(self, taken: Taken, result: Result) -> None:
        """End an offer with its result; without effect if it was withdrawn."""
        with _finished_meanwhile():
            self._storage.set_trial_user_attr(taken.number, "result", result_to_json(result))
            self._storage.set_trial_state_values(
                taken.number, self._states.COMPLETE, [result.seconds]
            )

    def give_back(self, taken: Taken) -> None:
        """Leave an offer to others."""
        with _finished_meanwhile():
            self._storage.set_trial_state_values(taken.number, self._states.FAIL)
