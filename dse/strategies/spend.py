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
