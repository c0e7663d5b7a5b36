"""Schedules drawn from a design space, as diverse as those that a search meets."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from math import prod

from dse.labels.rarity import Rarity
from dse.space.nests.nest import Nest, Vector
from dse.space.space import Choice, Point, Space
from dsl.errors.errors import WeftError
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Flatten, Partition, Pipeline, Step
from mlir_passes.pipeline import Design, compile_design

_SEQUENTIAL, _UNPARTITIONED, _SLOW = 0.15, 0.15, 0.25
"""Shares of designs without pipelines, without partitions, and with an interval asked above 1."""

_INTERVALS = (2, 2, 3, 4, 8)
_TRIES = 40
"""Draws for each design that is wanted, after which the space is taken to be exhausted."""


def draw(
    space: Space, count: int, copies: int, seed: int, rarity: Rarity | None = None
) -> Iterator[tuple[Schedule, Design]]:
    """Up to so many legal schedules of different level 3, the plain one first.

    Args:
        space: Of the kernel.
        count: Of schedules that are proposed.
        copies: At most so many copies of a statement.
        seed: Of the draw.
        rarity: Takes some of what is proposed; all by default.
    """
    rng = random.Random(seed)
    seen: set[str] = set()
    proposed = 0
    for schedule, most in islice(_schedules(space, copies, rng), count * _TRIES):
        if proposed == count:
            return
        if rarity is not None and not rarity.may_take(most):
            proposed += 1
            continue
        try:
            design = compile_design(space.program, schedule)
            text = design.affine
        except WeftError:  # an interval or a partition that does not fit after the change
            continue
        if text in seen:
            continue
        seen.add(text)
        proposed += 1
        if rarity is None or rarity.takes(schedule, design):
            yield schedule, design


def _schedules(space: Space, copies: int, rng: random.Random) -> Iterator[tuple[Schedule, int]]:
    """With the most copies of a statement in each."""
    yield Schedule(), 1
    while True:
        number = rng.randrange(len(space.variants))
        choices = tuple(_choice(nest, copies, rng) for nest in space.variants[number].nests)
        schedule = space.schedule(Point(number, choices))
        if schedule is not None:
            yield _varied(schedule, rng), max(prod(choice.vector) for choice in choices)


def _choice(nest: Nest, copies: int, rng: random.Random) -> Choice:
    order = rng.randrange(len(nest.orders))
    left = round(copies ** rng.random())  # log-uniform: as many small designs as large ones
    loops = nest.orders[order].loops
    vector = [1] * len(loops)
    for n in rng.sample(range(len(loops)), len(loops)):
        fitting = [u for u in loops[n].factors if u <= left]
        vector[n] = rng.choice(fitting) if fitting else 1
        left //= vector[n]
    return Choice(order, _kept(vector, nest, order))


def _kept(vector: list[int], nest: Nest, order: int) -> Vector:
    """At least one loop keeps blocks."""
    loops = nest.orders[order].loops
    if all(u == loop.extent for u, loop in zip(vector, loops, strict=True)):
        return (1,) * len(loops)
    return tuple(vector)


def _varied(schedule: Schedule, rng: random.Random) -> Schedule:
    """The schedule, or one that a search would meet on the way to it."""
    steps: list[Step] = list(schedule)
    if rng.random() < _SEQUENTIAL:
        return Schedule(tuple(s for s in steps if not isinstance(s, Pipeline | Flatten)))
    if rng.random() < _UNPARTITIONED:
        steps = [s for s in steps if not isinstance(s, Partition)]
    if rng.random() < _SLOW:
        ii = rng.choice(_INTERVALS)
        steps = [replace(s, ii=ii) if isinstance(s, Pipeline) else s for s in steps]
    return Schedule(tuple(steps))
