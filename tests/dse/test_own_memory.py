"""Mirrored sums in memory of their own: the structure, what it gains, and where it is not."""

from __future__ import annotations

import weft
from backends.devices import device
from dse.evaluators.base import Request
from dse.evaluators.model import ModelEvaluator, personality_for
from dse.space.space import Space, space_of
from dse.strategies.solve import solve
from weft import f32

CHIP = device("xc7z020")
CLOCK = 10.0  # ns
TOOL = personality_for(CHIP, CLOCK)


@weft.kernel
def symmetric(A: f32[24, 24], x: f32[24], y: f32[24]):
    for i in range(24):
        for j in range(i):
            y[i] += A[i, j] * x[j]
            y[j] += A[i, j] * x[i]


@weft.kernel
def both(A: f32[24, 24], x: f32[24], y: f32[24], z: f32[24]):
    for i in range(24):
        for j in range(i):
            y[i] += A[i, j] * x[j]
            z[j] += A[i, j] * x[i]


def fastest(space: Space, own: bool) -> tuple[float, weft.Schedule]:
    """Of the structures with memory of their own, or of all others, the fastest that is planned: cycles and schedule."""
    found = []
    for number, variant in enumerate(space.variants):
        if variant.name.startswith("sums in memory of their own") == own:
            schedules = (space.schedule(s.point) for s in solve(space, number, 120)[:1])
            found += [schedule for schedule in schedules if schedule is not None]
    model, program = ModelEvaluator(), symmetric.program
    taken = [model.evaluate(Request(program, each, CHIP, CLOCK)).latency for each in found]
    pairs = [
        (cycles, each) for cycles, each in zip(taken, found, strict=True) if cycles is not None
    ]
    return min(pairs, key=lambda pair: pair[0])


def test_rows_and_columns_of_a_triangle_are_summed_at_the_same_time() -> None:
    space = space_of(symmetric.program, TOOL, reassociate=True)
    cycles, schedule = fastest(space, own=True)
    assert cycles < 0.7 * fastest(space, own=False)[0]
    assert weft.verify(symmetric, schedule).ok


def test_sums_of_other_arrays_have_their_own_anyway() -> None:
    space = space_of(both.program, TOOL, reassociate=True)
    assert not any(v.name.startswith("sums in memory") for v in space.variants)
