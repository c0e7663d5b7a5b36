"""Recurrences through several stores: the critical cycle of the dependence graph of a pipeline.

``a[i] = b[i - 1] * x; b[i] = a[i - 1] + y``: neither value depends on itself through one store, and
yet two iterations take a product, a sum and two ways through memory. The interval is at least the
delay of any cycle over its distance in iterations (Rau, Iterative modulo scheduling, 1994); cycles
through one store are found one by one (`qor_gnn.schedule.intervals.interval`), those here are more than that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from qor_gnn.body.body import Body
from qor_gnn.schedule.intervals.chained_states import START, Arrival, behind, left, stored


@dataclass(frozen=True, slots=True)
class LoopCarried:
    """A value of one iteration that a load of a later one gives: ``delay`` states besides operators,
    ``distance`` iterations.
    """

    value: int
    load: int
    delay: int
    distance: int


@dataclass(frozen=True, slots=True)
class Joint:
    """A cycle: the operators on it in order, its states and its iterations."""

    load: int
    path: tuple[int, ...]
    delay: int
    distance: int

    @property
    def interval(self) -> int:
        """The least interval that it allows."""
        return -(-self.delay // self.distance)


def joint_cycles(body: Body, carried: Sequence[LoopCarried], interval: int) -> list[Joint]:
    """Cycles that ask for more than an interval, each for more than the one before; mostly none.

    Args:
        body: of the pipeline.
        carried: all ways from one iteration into a later one.
        interval: that cycles through one store allow.
    """
    if len({way.value for way in carried}) < 2:
        return []
    search = _Search(body, carried)
    found: list[Joint] = []
    while (cycle := search.slower_than(interval)) is not None:
        if cycle.interval <= interval:
            # Begun within a state its operators take one more than from the start of one.
            cycle = replace(cycle, delay=interval * cycle.distance + 1)
        found.append(cycle)
        interval = cycle.interval
    return found


class Waits:
    """The operations of a pipeline that wait for an earlier iteration, at any interval.

    A load that takes what another value of an earlier iteration leaves behind need not be on a cycle of
    dependences to wait: where the interval is less than the way, it starts so much later in its own
    iteration, and the pipeline is deeper. (Elements move from copy to copy: ``a[i + j] = f(a[i + j])``
    unrolled along j.)
    """

    def __init__(self, body: Body, carried: Sequence[LoopCarried]) -> None:
        """All ways from one iteration of a body into a later one."""
        self._search: _Search | None = None
        self._takers: dict[int, list[int]] = {}
        search = _Search(body, carried)
        if len({way.value for way in carried}) < 2 and not search.least:
            return
        self._search = search
        nodes, users = set(body.nodes), body.graph.users()
        for load in dict.fromkeys(way.load for way in carried):
            # A value in a register is there without a load: what takes it waits.
            takers = (load,) if load in nodes else users[load]
            self._takers[load] = [n for n in takers if n in nodes]

    def released(self, interval: int) -> dict[int, int]:
        """The states from which on operations may start, at an interval that all cycles allow."""
        found: dict[int, int] = {}
        if self._search is not None:
            states = self._search.starts(interval)
            for load, takers in self._takers.items():
                for n in takers if states[load] else ():
                    found[n] = max(states[load], found.get(n, 0))
        return found


@dataclass(slots=True)
class _Relaxed:
    """Start states, as far as they are settled: ``late`` is a load that comes later and later.

    ``before`` is for each operator the operand that is there last, ``by`` for each load the way that
    gives its value last.
    """

    there: dict[int, Arrival]
    before: dict[int, int] = field(default_factory=dict)
    by: dict[int, LoopCarried] = field(default_factory=dict)
    late: int | None = None


NEVER = -(1 << 60)
"""The state of a value that is not known to be there yet."""

_Ints = npt.NDArray[np.int64]


@dataclass(slots=True)
class Ways:
    """All ways from one iteration into a later one as arrays, those into a load beside each other in the order in
    which they were given: where data tell the elements, each of hundreds of loads takes what each store leaves.
    """

    carried: Sequence[LoopCarried]
    loads: list[int] = field(init=False)
    values: list[int] = field(init=False)
    _order: _Ints = field(init=False)
    _begins: list[int] = field(init=False)
    _value: _Ints = field(init=False)
    _delay: _Ints = field(init=False)
    _distance: _Ints = field(init=False)

    def __post_init__(self) -> None:
        """Number the loads and values, and sort the ways by load."""
        loads = {n: k for k, n in enumerate(dict.fromkeys(w.load for w in self.carried))}
        values = {n: k for k, n in enumerate(dict.fromkeys(w.value for w in self.carried))}
        self.loads, self.values = list(loads), list(values)
        into = np.array([loads[w.load] for w in self.carried], dtype=np.int64)
        self._order = np.argsort(into, kind="stable")
        self._begins = np.searchsorted(into[self._order], np.arange(len(loads))).tolist()
        rows = [self.carried[k] for k in self._order]
        self._value = np.array([values[w.value] for w in rows], dtype=np.int64)
        self._delay = np.array([w.delay for w in rows], dtype=np.int64)
        self._distance = np.array([w.distance for w in rows], dtype=np.int64)

    def later(
        self, values: Sequence[int], there: Mapping[int, Arrival], interval: int
    ) -> Iterator[tuple[int, int]]:
        """Loads that come later than they are known to, with their states.

        Args:
            values: the state of each of ``values``, or `NEVER`.
            there: when each load is known to be there.
            interval: of the pipeline.

        Yields:
            The number of the way that gives the value last, the first one of several, and the state.
        """
        if not self.loads:
            return
        states = np.array(values, dtype=np.int64)[self._value] + self._delay
        states -= interval * self._distance
        latest = np.maximum.reduceat(states, self._begins).tolist()
        ends = [*self._begins[1:], len(states)]
        for load, begin, end, state in zip(self.loads, self._begins, ends, latest, strict=True):
            if state > there[load][0]:
                yield int(self._order[begin + int(states[begin:end].argmax())]), state


@dataclass(slots=True)
class _Search:
    """Longest paths over a body's operators and loop-carried values (Bellman and Ford)."""

    body: Body
    carried: Sequence[LoopCarried]
    order: list[int] = field(init=False)
    inputs: dict[int, list[int]] = field(init=False)
    least: dict[int, Arrival] = field(init=False)
    ways: Ways = field(init=False)

    def __post_init__(self) -> None:
        """What a loaded value reaches, in order, each with those of its operands that are."""
        graph = self.body.graph
        users = graph.users()
        reached = {way.load for way in self.carried}
        open_ = list(reached)
        while open_:
            for user in users[open_.pop()]:
                computes = graph.operator[user] is not None or user in graph.looked_up
                inside = computes and user not in graph.at_first
                if inside and user not in reached:
                    reached.add(user)
                    open_.append(user)
        loads = {way.load for way in self.carried}
        self.order = sorted(reached - loads)
        self.inputs = {n: [d for d in graph.deps[n] if d in reached] for n in self.order}
        self.ways = Ways(self.carried)
        self.least = self._first(set(self.ways.values) - reached)

    def _first(self, values: Set[int]) -> dict[int, Arrival]:
        """When values are there that need nothing of earlier iterations."""
        graph, ends = self.body.graph, dict[int, Arrival]()
        for n in self.body.nodes:  # operands come before what takes them
            begin = max((ends.get(d, START) for d in graph.deps[n]), default=START)
            state, passed = behind(self.body, n, begin)
            ends[n] = state, left(self.body, n) or passed
        return {n: ends.get(n, START) for n in values}

    def slower_than(self, interval: int) -> Joint | None:
        """A cycle that an interval is too short for; None where there is none."""
        found = self._relaxed(interval)
        return None if found.late is None else self._cycle(found.late, found.before, found.by)

    def starts(self, interval: int) -> dict[int, int]:
        """The least states in which loads may start at an interval that is long enough."""
        return {n: states for n, (states, _) in self._relaxed(interval).there.items()}

    def _relaxed(self, interval: int) -> _Relaxed:
        found = _Relaxed(
            {**self.least, **{w.load: (0, left(self.body, w.load)) for w in self.carried}}
        )
        there = found.there
        for _ in range(len(there) + 1):
            self._pass(there, found.before)
            values = [
                stored(self.body, there[v]) if v in there else NEVER for v in self.ways.values
            ]
            put_off = list(self.ways.later(values, there, interval))
            for number, state in put_off:
                way = self.carried[number]
                there[way.load] = state, left(self.body, way.load)
                found.by[way.load] = way
            found.late = self.carried[max(put_off)[0]].load if put_off else None
            if found.late is None:
                break
        return found

    def _pass(self, there: dict[int, Arrival], before: dict[int, int]) -> None:
        for n in self.order:
            best = -1
            for d in self.inputs[n]:
                if d in there and (best < 0 or there[d] > there[best]):
                    best = d
            if best < 0:
                continue
            after = behind(self.body, n, there[best])
            known = there.get(n)
            if known is None or after > known:  # only what is later makes a cycle that is too slow
                there[n], before[n] = after, best

    def _cycle(self, at: int, before: dict[int, int], by: dict[int, LoopCarried]) -> Joint:
        """The cycle that a load which comes later and later is on, or behind."""
        for _ in by:  # walk back until it is certain to be on it
            at, _path = self._back(before, by[at])
        start, path, delay, distance = at, list[int](), 0, 0
        while True:
            way = by[at]
            at, operators = self._back(before, way)
            path = [*operators, *path]
            delay += way.delay + self._chained(at, operators)
            distance += way.distance
            if at == start:
                break
        return Joint(start, tuple(path), delay, distance)

    def _chained(self, load: int, path: Sequence[int]) -> int:
        """The states of operators behind each other, from a loaded word to a store."""
        at: Arrival = 0, left(self.body, load)
        for n in path:
            at = behind(self.body, n, at)
        return stored(self.body, at)

    def _back(self, before: dict[int, int], way: LoopCarried) -> tuple[int, list[int]]:
        """The load that a loop-carried value comes from, and the operators between."""
        path, at = [], way.value
        while at in before:
            path.append(at)
            at = before[at]
        return at, path[::-1]
