"""Promotion: what looks best to the search is evaluated again by something costlier.

The designs on the front go first, the fastest before the others. One that is found to be wrong
leaves the front, and what comes up in its place is promoted too, until the whole front is or the
budget is spent. What is found is kept next to the figures that the search went by: figures of
different provenance are not ranked together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from dse.evaluators.base import Evaluator, Request, Result, judged
from dse.run.cache import ResultCache
from dse.run.codec import key_of
from dse.run.directory import RunDirectory
from dse.run.fanout import Done, Fanout, Job
from dse.run.front import Design, designs, front, limits_of
from dse.run.problem import problem_of
from dse.run.proven import sound
from dse.run.session import StopRequestedError

_PATIENCE = 0.5  # seconds between looks at whether to stop


@dataclass(slots=True)
class Promotion:
    """Designs of a run on their way through one costlier evaluator.

    Attributes:
        run: open for writing.
        evaluator: the costlier one.
        request: of a run's design, by its key.
        most: designs that are evaluated again at most, those of earlier sessions included.
        heard: told of each.
        stopping: whether the user asked to stop.
        fanout: where they are evaluated.
        cache: where results may be.
        chosen: which of the run's designs to evaluate, the most wanted first, as far as is known.
        failed: keys of designs that were promoted before, but are to be once more.
    """

    run: RunDirectory
    evaluator: Evaluator
    request: Callable[[str], Request]
    most: int
    heard: Callable[[Design, Result], None]
    stopping: Callable[[], bool]
    fanout: Fanout
    cache: ResultCache = field(default_factory=ResultCache)
    chosen: Callable[[tuple[Design, ...]], tuple[Design, ...]] = front
    failed: set[str] = field(default_factory=set)
    flying: dict[str, Design] = field(default_factory=dict)
    again: list[Job] = field(default_factory=list)

    def carry_out(self) -> None:
        """Promote until the front is through or the budget is spent.

        Raises:
            StopRequestedError: the user asked to stop; what was under way has ended.
        """
        while True:
            waiting = [] if self.stopping() else self._candidates()
            while self.again and self.fanout.free > 0 and not self.stopping():
                self.fanout.begin(self.again.pop())
            while waiting and not self.again and self.fanout.free > 0:
                self._begin(waiting.pop(0))
            if self.stopping():
                while self.again:
                    del self.flying[self.again.pop().key]
            if not self.flying and not waiting:
                break
            for done in self.fanout.ended(_PATIENCE):
                self._landed(done)
        if self.stopping():
            raise StopRequestedError

    def _candidates(self) -> list[Design]:
        found = designs(self.run)
        spent = {design.key for design in self.flying.values()}
        for design in (*found, *designs(self.run, refuted=True)):
            if self.evaluator.name in design.promoted and design.key not in self.failed:
                spent.add(design.key)
        fresh = [design for design in self.chosen(found) if design.key not in spent]
        return fresh[: max(0, self.most - len(spent))]

    def _begin(self, design: Design) -> None:
        self.failed.discard(design.key)
        request = self.request(design.key)
        key = key_of(request, self.evaluator)
        self.flying[key] = design
        job = Job(key, self.evaluator, request)
        if (cached := self.cache.get(key)) is not None:
            self._landed(Done(job, cached))
        else:
            self.fanout.begin(job)

    def _landed(self, done: Done) -> None:
        if done.result is None:
            self.again.append(done.job)
            return
        design = self.flying.pop(done.job.key)
        result = judged(sound(done.result, problem_of(self.run)), limits_of(self.run))
        self.run.promote(design.key, self.evaluator.name, result)
        self.cache.put(done.job.key, done.result)
        self.run.event(
            "promoted", key=design.key, evaluator=self.evaluator.name, status=result.status.value,
            seconds=round(result.seconds, 3),
        )  # fmt: skip
        self.heard(design, result)
