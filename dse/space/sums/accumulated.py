"""Structures in which sums that wait for themselves are spread over partial sums, the loops in blocks of these."""

from __future__ import annotations

from dse.space.loops.regrouped import distributed, merged
from dse.space.sums.partial_sums import Accumulators
from dsl.schedules.steps import Step
from polyhedral.schedule import apply_step, tried
from polyhedral.scop.scheduled import ScheduledScop

Structure = tuple[str, ScheduledScop, tuple[Step, ...]]
"""How it is called, the program, and all steps."""


def accumulated(
    state: ScheduledScop, free: tuple[Step, ...], sums: tuple[Accumulators, ...]
) -> Structure:
    """The sums that wait for themselves in partial sums, the loop in blocks of them."""
    state, steps = _spread(state, sums)
    cuts = tuple(cut for one in sums for cut in one.cuts)
    for cut in cuts:
        state = apply_step(state, cut)
    counts = ", ".join(str(one.count) for one in sums)
    return f"{counts} partial sums", state, (*free, *steps, *cuts)


def _spread(
    state: ScheduledScop, sums: tuple[Accumulators, ...]
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """Partial sums, all statements apart."""
    spread = tuple(step for one in sums for step in one.steps)
    for step in spread:
        state = apply_step(state, step)
    state, apart = distributed(state)
    return state, (*spread, *apart)


def beside(
    state: ScheduledScop, free: tuple[Step, ...], sums: tuple[Accumulators, ...]
) -> Structure | None:
    """A sum in partial sums in one nest with what makes its terms, the loop in blocks of them; None where there is
    no such nest.
    """
    state, steps = _spread(state, sums)
    state, fused = merged(state)
    if not fused:
        return None
    (one,) = sums
    for cut in one.cuts:
        moved = tried(state, cut)
        if moved is None:
            return None
        state, fused = moved, (*fused, cut)
    return f"{one.count} partial sums, merged", state, (*free, *steps, *fused)


def together(name: str, state: ScheduledScop, steps: tuple[Step, ...]) -> Structure:
    """The same with neighbouring nests fused: several sums of one pass over the data."""
    joined, fused = merged(state)
    return f"{name}, merged", joined, (*steps, *fused)
