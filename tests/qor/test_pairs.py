"""Accesses that meet, looked up, against all pairs; an order without what follows, against it all."""

from __future__ import annotations

import random

import pytest

from qor_gnn.body import expander
from qor_gnn.body.meetings import Accesses
from qor_gnn.body.order import Edge, needed
from qor_gnn.memory.addresses import Addresses
from qor_gnn.schedule.intervals import interval
from qor_gnn.schedule.intervals.carried import carried_distance
from qor_gnn.schedule.intervals.carried_loads import CarriedLoads
from qor_gnn.schedule.intervals.joint_cycles import NEVER, LoopCarried, Ways
from tests.qor.figures.answers import estimates
from tests.support.random_recurrences import random_directives, random_recurrence

PROGRAMS = 60


class EveryAccess(Accesses):
    """Compares what it finds with all accesses."""

    asked = 0

    def __init__(self, table: Addresses, blurred: bool = False) -> None:
        super().__init__(table, blurred)
        self.so_far: list[tuple[int, int]] = []

    def append(self, operation: int, address: int) -> None:
        super().append(operation, address)
        self.so_far.append((operation, address))

    def may_meet(self, address: int) -> list[int]:
        found = super().may_meet(address)
        alias = self.table.may_alias_in_copies if self.blurred else self.table.may_alias
        assert found == [n for n, a in self.so_far if a == address or alias(a, address)]
        EveryAccess.asked += 1
        return found


class EveryLoad(CarriedLoads):
    """Compares what it finds with all loads."""

    asked = 0

    def of(self, stored, when="always"):  # type: ignore[no-untyped-def]
        found = list(super().of(stored, when))
        every = (
            (a, n, carried_distance(self.table, stored, a, self.nest, when))
            for a, n in self.loads
            if a == stored or not self.table.memory(stored).in_order
        )
        assert found == [(a, n, distance) for a, n, distance in every if distance is not None]
        EveryLoad.asked += 1
        return iter(found)


def test_what_is_looked_up_is_all_that_meets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expander, "Accesses", EveryAccess)
    monkeypatch.setattr(interval, "CarriedLoads", EveryLoad)
    for seed in range(PROGRAMS):
        program = random_recurrence(seed)
        schedule, _ = random_directives(random.Random(seed), program)
        for _ in estimates(program, schedule):
            pass
    assert EveryAccess.asked > 100
    assert EveryLoad.asked > 1000


@pytest.mark.parametrize("seed", range(30))
def test_ways_into_loads_all_at_once_are_those_one_by_one(seed: int) -> None:
    rng = random.Random(seed)
    found = [
        LoopCarried(rng.randrange(6), 6 + rng.randrange(4), rng.randint(0, 3), rng.randint(1, 2))
        for _ in range(rng.randint(1, 40))
    ]
    ways, interval = Ways(found), rng.randint(0, 2)
    states = {n: NEVER if rng.random() < 0.2 else rng.randint(0, 6) for n in ways.values}
    there = {n: (rng.randint(-1, 4), 0.0) for n in ways.loads}
    by, latest = dict[int, int](), {n: there[n][0] for n in ways.loads}
    for number, way in enumerate(found):
        state = states[way.value] + way.delay - interval * way.distance
        if states[way.value] != NEVER and state > latest[way.load]:
            latest[way.load], by[way.load] = state, number
    later = ways.later([states[n] for n in ways.values], there, interval)
    assert {found[k].load: (k, state) for k, state in later} == {
        n: (number, latest[n]) for n, number in by.items()
    }


@pytest.mark.parametrize("seed", range(30))
def test_no_edge_says_what_others_say(seed: int) -> None:
    rng = random.Random(seed)
    count = rng.randint(2, 25)
    out = [rng.random() < 0.1 for _ in range(count)]
    order = [
        (a, b, rng.choice((0, 0, 1, 1, 2)))
        for a in range(count)
        for b in range(a + 1, count)
        if rng.random() < 0.5
    ]
    order += order[:3]  # twice is as good as once
    kept = list(needed(order, out))
    assert _longest(kept, count) == _longest(
        [e for e in order if not (out[e[0]] or out[e[1]])], count
    )


def test_copies_that_wait_for_all_before_them_wait_for_one() -> None:
    order = [(a, b, 1) for b in range(40) for a in range(b)]
    assert sorted(needed(order, [False] * 40)) == [(n, n + 1, 1) for n in range(39)]


def _longest(edges: list[Edge], count: int) -> list[list[int]]:
    """States between every two operations, -1 where no way leads."""
    far = [[0 if a == b else -1 for b in range(count)] for a in range(count)]
    for start in range(count):
        for a, b, states in sorted(edges):
            if far[start][a] >= 0:
                far[start][b] = max(far[start][b], far[start][a] + states)
    return far
