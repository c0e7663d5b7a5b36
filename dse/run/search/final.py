"""The final figures of a run: its front is estimated from the modules that are emitted, and under other rules.

A search ranks thousands of points by their loops, without building a module. The two give the same
figures; if ever they did not, what is emitted counts, and the run's events say so. The fastest designs of the
front, and of the front of those that labels show, are estimated under perturbed rules, too: phi.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from math import inf

from dse.estimates.estimation import Estimation
from dse.evaluators.base import Evaluator, Request, Result, judged
from dse.evaluators.of_request import estimation_of
from dse.evaluators.on_board import with_board
from dse.evaluators.registry import of_what_is_emitted
from dse.evaluators.robustness import with_robustness
from dse.run.folder.directory import RunDirectory
from dse.run.folder.problem import problem_of
from dse.run.folder.proven import sound
from dse.run.results.front import Design, both_fronts, designs, front, limits_of, supported
from qor_gnn.schedule.alike import Alike

_FASTEST = 6
"""Designs of a front whose phi is found: each takes as long as some five estimates."""


def settle(
    run: RunDirectory,
    searched: Evaluator,
    request: Callable[[str], Request],
    board: str | None = None,
    ends: float = inf,
) -> None:
    """Estimate the designs on both fronts once more, those that come up in their place included.

    Args:
        run: open for writing.
        searched: the evaluator that the search went by.
        request: of a run's design, by its key.
        board: that the fastest designs are shown on.
        ends: until when, by `time.monotonic`, phi is looked for and other designs than the fastest are estimated.
    """
    evaluator, problem, limits = of_what_is_emitted(searched), problem_of(run), limits_of(run)
    settled: set[str] = set()
    while fresh := [d for d in both_fronts(run) if d.key not in settled]:
        for design in fresh:
            settled.add(design.key)
            if len(settled) > 1 and time.monotonic() >= ends:
                continue  # the figures that it was searched with stay
            again = sound(evaluator.evaluate(request(design.key)), problem)
            found = judged(_with_what_is_known(again, design.result), limits)
            if replace(found, seconds=design.result.seconds) != design.result:
                run.keep(design.key, found)
                run.event("corrected", key=design.key, status=found.status.value)
    known: dict[str, tuple[Estimation, Alike]] = {}
    first = {design.key for design in _fastest(run, 1)}
    while fresh := [
        d
        for d in (_fastest(run) if time.monotonic() < ends else ())
        if d.result.marks is not None and d.result.marks.phi is None
    ]:
        for design in fresh:
            if time.monotonic() >= ends:
                break
            of, scopes = estimation_of(request(design.key)), Alike()
            if board is not None and design.key in first:
                known[design.key] = of, scopes
            found = with_robustness(design.result, of, limits.resources.get("dsp"), scopes)
            run.keep(design.key, judged(found, limits))
    if board is not None:
        for design in _fastest(run, 1):
            asked = request(design.key)
            of, scopes = known.get(design.key) or (estimation_of(asked), Alike())
            found = with_board(design.result, of, asked.program, board, scopes)
            run.keep(design.key, judged(found, limits))


def _with_what_is_known(found: Result, before: Result) -> Result:
    """A result with what an estimate alone does not say."""
    found = replace(found, upper=before.upper, board=before.board)
    if found.marks is None or before.marks is None:
        return found
    return replace(found, marks=replace(found.marks, phi=before.marks.phi, rule=before.marks.rule))


def _fastest(run: RunDirectory, most: int = _FASTEST) -> tuple[Design, ...]:
    """The fastest of both, so many of each."""
    found = designs(run)
    ranked = (
        sorted(part, key=lambda d: d.values)[:most]
        for part in (front(found), front(supported(found)))
    )
    return tuple({design.key: design for part in ranked for design in part}.values())
