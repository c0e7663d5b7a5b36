"""Figures against what is proven: no design takes fewer cycles than a lower bound says."""

from __future__ import annotations

from dataclasses import replace

from dse.evaluators.base import Result, Status
from dse.run.folder.directory import RunDirectory
from dse.run.folder.problem import Problem


def sound(result: Result, problem: Problem | None) -> Result:
    """The result, ``under-bound`` and without figures where it has fewer cycles than are needed.

    One of the two is wrong then, whichever it is: such a point is never shown as a design.

    Args:
        result: of an evaluator.
        problem: with the bounds that hold for every design; None where there are none.
    """
    if problem is None or result.latency is None:
        return result
    cycles, reason = _needed(result, problem)
    if result.of_all_trips >= cycles:
        return result
    detail = (
        f"internal error: {result.of_all_trips:,.0f} cycles, where {cycles:,} are needed ({reason})"
    )
    return replace(
        result, status=Status.UNDER_BOUND, latency=None, resources={}, loops=(), period=None, longest=None,
        spread={}, detail=detail,
    )  # fmt: skip


def _needed(result: Result, problem: Problem) -> tuple[int, str]:
    """The fewest cycles of a design with its DSP slices, and why."""
    # A design over the budget has more units than the bounds of the budget count.
    always = [b for b in problem.bounds if b.kind not in ("dsp", "lut")]
    best = max(always, key=lambda b: b.cycles, default=None)
    needed = (0, "") if best is None else (best.cycles, f"{best.kind}: {best.reason}")
    dsp = result.resources.get("dsp")
    fewest = None if dsp is None else problem.fewest(dsp)
    if fewest is not None and fewest > needed[0]:
        return fewest, f"dsp: its operations on {dsp} DSP"
    return needed


def unsound(run: RunDirectory) -> tuple[Result, ...]:
    """The results of a run's points, promotions included, that were under a bound."""
    found = []
    for key in run.point_keys():
        own = run.result(key)
        every = [*([own] if own is not None else []), *run.promoted(key).values()]
        found += [result for result in every if result.status is Status.UNDER_BOUND]
    return tuple(found)
