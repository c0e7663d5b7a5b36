"""The final figures of a run: its front is estimated from the modules that are emitted.

A search ranks thousands of points by their loops, without building a module. The two give the same
figures; if ever they did not, what is emitted counts, and the run's events say so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dse.evaluators.base import Evaluator, Request, judged
from dse.evaluators.registry import of_what_is_emitted
from dse.run.directory import RunDirectory
from dse.run.front import designs, front, limits_of
from dse.run.problem import problem_of
from dse.run.proven import sound


def settle(run: RunDirectory, searched: Evaluator, request: Callable[[str], Request]) -> None:
    """Estimate the designs on the front once more, those that come up in their place included.

    Args:
        run: open for writing.
        searched: the evaluator that the search went by.
        request: of a run's design, by its key.
    """
    evaluator, problem, limits = of_what_is_emitted(searched), problem_of(run), limits_of(run)
    settled: set[str] = set()
    while fresh := [d for d in front(designs(run)) if d.key not in settled]:
        for design in fresh:
            settled.add(design.key)
            found = judged(sound(evaluator.evaluate(request(design.key)), problem), limits)
            if replace(found, seconds=design.result.seconds) != design.result:
                run.keep(design.key, found)
                run.event("corrected", key=design.key, status=found.status.value)
