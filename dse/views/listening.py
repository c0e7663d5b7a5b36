"""Progress of an exploration on standard error: trial by trial, then promotion by promotion."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from dse.run.search.explore import Heard
from dse.views import console
from dse.views.explore import best_word

if TYPE_CHECKING:
    from dse.evaluators.base import Result
    from dse.run.folder.plan import Plan
    from dse.run.folder.problem import Problem
    from dse.run.results.front import Design
    from dse.run.studies.study import Finished


@contextlib.contextmanager
def progress(
    plan: Plan,
    problem: Problem,
    trials: int,
    stopping: Callable[[], bool] = lambda: False,
    *,
    shown: bool = True,
) -> Iterator[Heard]:
    """Who is told of an exploration.

    Args:
        plan: what is explored.
        problem: with the bound that the best design is shown against.
        trials: in all.
        stopping: whether the user asked to stop.
        shown: say something; else only what is wrong.
    """
    best: float | None = None
    promoted = 0
    shows: Any = contextlib.nullcontext(_silent)
    if shown:
        shows = console.progress(f"explore {plan.program.name}")
    with shows as update:

        def of_trial(_: Finished, result: Result, count: int) -> None:
            nonlocal best
            if result.status.value == "ok" and result.latency is not None:
                best = result.latency if best is None else min(best, result.latency)
            word = result.status.value if best is None else best_word(best, problem)
            update(min(count, trials), trials, word)

        def of_promotion(design: Design, result: Result) -> None:
            nonlocal promoted
            promoted += 1
            if result.refuted:
                console.say(f"design {design.key} is wrong: {result.detail}")
            update(promoted, 0, f"promoted, {result.status.value}")

        yield Heard(of_trial, of_promotion, stopping)


def _silent(done: int, total: int, word: str) -> None:
    """Progress that nobody wants to see."""
