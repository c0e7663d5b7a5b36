"""How much less to spend on a design that turned out to be over a limit."""

from __future__ import annotations

from dse.evaluators.base import Limits, Result


def less(spend: int, budget: int, result: Result, limits: Limits) -> int | None:
    """The DSP to plan with next, or None where the result keeps to the limits.

    What is over in DSP is planned less; what is over in another resource, or in more DSP than there
    is to plan with, shrinks the plan by the same share, as nearly everything grows with the copies.

    Args:
        spend: DSP that the design was planned with.
        budget: DSP that it may have.
        result: with figures.
        limits: on all resources.
    """
    over = result.resources.get("dsp", 0) - budget
    excess = [e for name, e in limits.excess(result).items() if name not in ("dsp", "latency")]
    found = spend
    if over > 0:
        found = spend - over if over < spend else spend * budget // (budget + over)
    if excess:
        found = min(found, int(spend / (1 + max(excess))))
    if over <= 0 and not excess:
        return None
    return min(found, spend - 1)


def in_vain(dearer: tuple[int, Result], cheaper: tuple[int, Result], limits: Limits) -> bool:
    """Whether a structure takes more than a limit whatever is planned with: of two designs of it, what does not
    shrink with the plan is over a limit already, on a straight line through both.

    Args:
        dearer: DSP that it was planned with, and its figures.
        cheaper: those of one that was planned with less.
        limits: on all resources.
    """
    more, first = dearer
    fewer, second = cheaper
    if fewer >= more:
        return False
    for name, limit in limits.resources.items():
        if name == "dsp":
            continue
        there, here = first.resources.get(name, 0), second.resources.get(name, 0)
        slope = (there - here) / (more - fewer)
        if slope > 0 and here - slope * fewer > limit:
            return True
    return False
