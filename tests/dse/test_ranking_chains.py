"""Copies that wait for one another are ranked as the chains that they are, however long, and however large a body is."""

from __future__ import annotations

import pytest

import weft
from dse.estimates.estimation import ranked, setting
from dse.space.space import Choice, Point, Space, space_of
from dse.strategies.estimates import Estimates
from polyhedral.schedule import apply
from weft import f32, i16, u1

TOOL = "vitis-2022.1-zu9eg-10ns"


@weft.kernel
def longest_run(x: u1[1024], hits: i16[1]):
    run: i16 = 0
    most: i16 = 0
    for i in range(1024):
        run = run + 1 if x[i] == 1 else 0
        most = run if run > most else most
    hits[0] = most


@weft.kernel
def steps_of_a_state(move: f32[11, 11], seen: f32[32, 11], state: f32[11]):
    for t in range(32):
        following: f32[11]
        for s in range(11):
            following[s] = 0.0
            for p in range(11):
                following[s] += state[p] * move[p, s]
        for s in range(11):
            state[s] = following[s] * seen[t, s]


def both(space: Space, estimates: Estimates, point: Point) -> tuple[float, float]:
    """Cycles by ranking, which no rule tells, and by the model."""
    schedule = space.schedule(point)
    assert schedule is not None
    exact = ranked(apply(space.program, schedule), schedule, setting(TOOL, None, None)).answer
    found = estimates.figures(point)
    assert not found.ruled
    return found.cycles, exact.latency.average


def with_copies(space: Space, number: int, copies: int) -> Point:
    """The point of a variant whose longest nest has so many copies of its outermost loop."""
    nests = space.variants[number].nests
    longest = max(range(len(nests)), key=lambda n: nests[n].runs * nests[n].orders[0].inside)
    plain = [Choice(0, nest.orders[0].plain) for nest in nests]
    plain[longest] = Choice(0, (copies, *nests[longest].orders[0].plain[1:]))
    return Point(number, tuple(plain))


@pytest.mark.parametrize("copies", [32, 256])
def test_several_short_operations_share_a_state(copies: int) -> None:
    """One state less or more in six copies is many in 256."""
    space = space_of(longest_run.program, setting(TOOL, None, None).tool)
    nests = space.variants[0].nests
    point = Point(
        0,
        tuple(
            Choice(0, (copies,) if nest.orders[0].band else nest.orders[0].plain) for nest in nests
        ),
    )
    found, exact = both(space, Estimates(space), point)
    assert found == pytest.approx(exact, rel=0.02)


def test_of_a_body_too_large_for_two_copies_one_stands_for_all() -> None:
    space = space_of(steps_of_a_state.program, setting(TOOL, None, None).tool, reassociate=True)
    estimates = Estimates(space)
    number = next(
        n
        for n, v in enumerate(space.variants)
        if any(nest.orders[0].inside > 128 // 2 for nest in v.nests)
    )
    for copies in (1, 2, 4):
        found, exact = both(space, estimates, with_copies(space, number, copies))
        assert found == pytest.approx(exact, rel=0.01)
