"""Mirrored sums in memory of their own: the structure, what it gains, and where it is not."""

from __future__ import annotations

from dataclasses import replace

import weft
from backends.devices import device
from dse.evaluators.base import Limits, Request
from dse.evaluators.model import ModelEvaluator, personality_for
from dse.space.space import Choice, Point, Space, space_of
from dse.strategies.estimates import Estimates
from dse.strategies.fabric import fabric_budget
from dse.strategies.relieved import relieved
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


def test_a_design_over_its_luts_is_followed_by_one_of_longer_intervals() -> None:
    space = space_of(symmetric.program, TOOL, reassociate=True)
    number = next(n for n, v in enumerate(space.variants) if v.certain)
    choices = [Choice(0, nest.orders[0].plain) for nest in space.variants[number].nests]
    (busy,) = (
        n for n, nest in enumerate(space.variants[number].nests) if nest.orders[0].inside > 1
    )
    choices[busy] = replace(choices[busy], ii=10)
    point = Point(number, tuple(choices))
    schedule = space.schedule(point)
    assert schedule is not None
    result = ModelEvaluator().evaluate(Request(symmetric.program, schedule, CHIP, CLOCK))
    estimates = Estimates(space)
    longer = replace(
        point, choices=(*choices[:busy], replace(choices[busy], ii=12), *choices[busy + 1 :])
    )
    less = estimates.area(longer).lut / estimates.area(point).lut
    assert less < 1
    for share, wanted in (((1 + less) / 2, longer), (less / 2, None)):
        limits = Limits({"lut": round(share * result.resources["lut"])})
        fabric = fabric_budget(Estimates(space), limits)
        fabric.learn(point, result)
        assert fabric.excess(point) > 0
        assert relieved(point, fabric) == wanted


def test_sums_of_other_arrays_have_their_own_anyway() -> None:
    space = space_of(both.program, TOOL, reassociate=True)
    assert not any(v.name.startswith("sums in memory") for v in space.variants)
