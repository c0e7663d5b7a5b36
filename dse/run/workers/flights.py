"""Evaluations under way in a fan-out: what it gives back begins again, until the user asks to stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from dse.evaluators.base import Result
from dse.run.workers.fanout import Fanout, Job

_PATIENCE = 0.5  # seconds between looks at what else there is to do

Subject = TypeVar("Subject")


class StopRequestedError(Exception):
    """The user asked to stop: what is finished is kept."""


@dataclass(slots=True)
class Flights(Generic[Subject]):
    """Jobs that have begun and not ended, by their keys, and what each is for.

    Attributes:
        fanout: where they are evaluated.
        stopping: whether the user asked to stop.
        flying: what each is for.
        again: those of them that the fan-out gave back without a result.
    """

    fanout: Fanout
    stopping: Callable[[], bool]
    flying: dict[str, Subject] = field(default_factory=dict)
    again: list[Job] = field(default_factory=list)

    @property
    def free(self) -> bool:
        """Whether another one could begin now; what was given back goes first."""
        return not self.again and self.fanout.free > 0

    def begin(self, job: Job, subject: Subject) -> None:
        """Start a job; only while it is free."""
        self.flying[job.key] = subject
        self.fanout.begin(job)

    def begin_again(self) -> None:
        """Start what was given back; where the user asked to stop, let go of it and of what nobody has begun."""
        if self.stopping():
            self.again += self.fanout.recalled()
            while self.again:
                del self.flying[self.again.pop().key]
        while self.again and self.fanout.free > 0:
            self.fanout.begin(self.again.pop())

    def ended(self) -> Iterator[tuple[Job, Subject, Result]]:
        """Jobs that have a result; waits for one, but not for long."""
        for done in self.fanout.ended(_PATIENCE):
            if done.result is None:
                self.again.append(done.job)
            else:
                yield done.job, self.flying.pop(done.job.key), done.result
