"""List scheduling of a body: by states for a sequential loop, modulo the interval for a pipeline.

Cycle by cycle, the ready operation with the longest path to the end first, ties in program order;
ports (and in pipelines units) are taken modulo the interval.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field

from qor_gnn.body.body import Body, values_written_back
from qor_gnn.body.graph import LOAD, STORE
from qor_gnn.schedule.intervals.chained_states import address_ns, left
from qor_gnn.schedule.port_use import PortUse


@dataclass(slots=True)
class Times:
    """When each operation of a body starts.

    ``states`` is the number of states of one iteration. ``offset`` is the time in ns that has
    passed in its state before a combinational operation starts.
    """

    start: dict[int, int]
    states: int
    offset: dict[int, float] = field(default_factory=dict)


def priorities(body: Body) -> dict[int, int]:
    """Longest path in states from the start of an operation to the end of the iteration."""
    waiting = {n: len(body.succs[n]) for n in body.nodes}
    ready = [n for n in body.nodes if not waiting[n]]
    height: dict[int, int] = {}
    while ready:
        n = ready.pop()
        best = body.lengths[n]
        for after, states in body.succs[n]:
            through = states + height[after]
            if through > best:
                best = through
        height[n] = best
        for before, _ in body.preds[n]:
            waiting[before] -= 1
            if not waiting[before]:
                ready.append(before)
    return height


def schedule(body: Body, units: Mapping[str, int] | None = None) -> Times:
    """Start times of a sequential body's operations, with as many units as it takes or as given."""
    found = _ListScheduler(body, None, units).run()
    assert found is not None, "states never run out"
    return found


def modulo_schedule(
    body: Body, interval: int, units: Mapping[str, int], released: Mapping[int, int] | None = None
) -> Times | None:
    """Start times of a pipeline's operations; None where they do not fit the interval.

    An access whose bank is not known takes ports of several banks at once: these can be free in
    different states only.

    Args:
        body: what to schedule.
        interval: states between iterations.
        units: how many units of each core there are.
        released: the states from which on operations may start, of those that wait for an earlier
            iteration.
    """
    return _ListScheduler(body, interval, units, released or {}).run()


Item = tuple[int, int]
"""An operation that could start, by its priority: the negative of its height, then its number."""
Key = int | tuple[str, int]
"""The number of what an access takes (`qor_gnn.body.ports.Taken`); or units of a core."""


@dataclass(slots=True)
class _Queue:
    """Operations that wait for nothing but the same resources: where one finds them taken, so do all."""

    items: list[Item] = field(default_factory=list)  # a heap
    oldest: list[tuple[int, int]] = field(default_factory=list)  # a heap of (earliest, operation)


@dataclass(slots=True)
class _ListScheduler:
    body: Body
    interval: int | None
    units: Mapping[str, int] | None
    released: Mapping[int, int] = field(default_factory=dict)
    ports: PortUse = field(init=False)
    written_back: frozenset[int] = field(init=False)
    used: dict[tuple[str, int], int] = field(default_factory=dict)  # units of cores
    start: dict[int, int] = field(default_factory=dict)
    offset: dict[int, float] = field(default_factory=dict)
    queues: dict[Key, _Queue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ports = PortUse(self.body.port_sets)
        self.written_back = values_written_back(self.body)

    def run(self) -> Times | None:
        """The schedule; None where an access fits no state of the interval."""
        body = self.body
        height = priorities(body)
        waiting = {n: len(body.preds[n]) for n in body.nodes}
        first = dict(body.ready)
        for n, state in self.released.items():
            first[n] = max(state, first.get(n, 0))
        earliest = dict.fromkeys(body.nodes, 0) | first
        ready = [(-height[n], n) for n in body.nodes if not waiting[n] and not earliest[n]]
        heapq.heapify(ready)
        later: dict[int, list[int]] = {}
        for n, state in first.items():
            if not waiting[n]:
                later.setdefault(state, []).append(n)
        at, left, most = 0, len(body.nodes), 0
        last = body.lengths
        while left:
            for n in later.pop(at, ()):
                heapq.heappush(ready, (-height[n], n))
            self._first_of_queues(ready)
            deferred: list[Item] = []
            shut: set[Key] = set()
            while ready:
                item = heapq.heappop(ready)
                n = item[1]
                key = self._key(n)
                if key in shut or not self._take(n, at):
                    if self._tried_everywhere(at, earliest[n]):
                        return None
                    self._defer(item, key, earliest[n], shut, deferred)
                    continue
                if key is not None and (queue := self.queues.get(key)) and queue.items:
                    heapq.heappush(ready, heapq.heappop(queue.items))
                self.start[n] = at
                left -= 1
                most = max(most, at + last[n])
                for after, states in body.succs[n]:
                    distance = states or self._late(n, at, after)
                    if at + distance > earliest[after]:
                        earliest[after] = at + distance
                    waiting[after] -= 1
                    if not waiting[after]:
                        if earliest[after] <= at:
                            heapq.heappush(ready, (-height[after], after))
                        else:
                            later.setdefault(earliest[after], []).append(after)
            if self.interval is not None and any(
                self._tried_everywhere(at, self._oldest(key)) for key in shut
            ):
                return None
            ready = deferred
            heapq.heapify(ready)
            at += 1
        return Times(self.start, most, self.offset)

    def _late(self, node: int, at: int, after: int) -> int:
        """States that a store waits for its value because the state is too short for both."""
        own, graph = self.body.personality, self.body.graph
        if not own.accesses.store_ns or graph.kind[after] != STORE:
            return 0
        operator = graph.operator[node]
        if operator is None or operator.registered:
            return 0
        there = self.offset[node] + operator.delay
        return int(there + own.accesses.store_ns > own.usable_ns)

    def _tried_everywhere(self, at: int, earliest: int) -> bool:
        """Whether an operation that does not fit now has been tried in every slot."""
        return self.interval is not None and at - earliest >= self.interval

    def _key(self, node: int) -> Key | None:
        """The resources that an operation may have to wait for; None where there is more to it."""
        ports = self.body.ports.get(node)
        if ports is not None:
            return None if self._address_ns(node) else ports.number
        operator = self.body.graph.operator[node]
        assert operator is not None
        if self.units is None or not operator.shared or operator.delay or operator.first_ns:
            return None
        return operator.core, self.units.get(operator.core, 1)

    def _first_of_queues(self, ready: list[Item]) -> None:
        """In a new state the first of each queue may be lucky."""
        for queue in self.queues.values():
            if queue.items:
                heapq.heappush(ready, heapq.heappop(queue.items))

    def _defer(
        self,
        item: Item,
        key: Key | None,
        earliest: int,
        shut: set[Key],
        deferred: list[Item],
    ) -> None:
        """Put an operation that does not fit where it waits for the next state."""
        if key is None:
            deferred.append(item)
            return
        shut.add(key)
        queue = self.queues.setdefault(key, _Queue())
        heapq.heappush(queue.items, item)
        if self.interval is not None:
            heapq.heappush(queue.oldest, (earliest, item[1]))

    def _oldest(self, key: Key) -> int:
        """Since when the operation waits that waits longest in a queue."""
        oldest = self.queues[key].oldest
        while oldest and oldest[0][1] in self.start:
            heapq.heappop(oldest)
        return oldest[0][0]  # shut: there is one

    def _take(self, node: int, at: int) -> bool:
        """Take the resources of an operation in a state, if they are free."""
        slot = at if self.interval is None else at % self.interval
        ports = self.body.ports.get(node)
        if ports is not None:
            behind = self._address_ns(node)
            return (not behind or self._chain(node, at, behind)) and self.ports.take(ports, slot)
        operator = self.body.graph.operator[node]
        assert operator is not None
        if not operator.shared:
            own = self.body.personality.accesses
            return self._chain(node, at, operator.delay, own.store_ns * (node in self.written_back))
        first = operator.delay or operator.first_ns
        if first and not self._chain(node, at, first):
            return False
        if self.units is None:
            return True
        taken = self.used.get((operator.core, slot), 0)
        if taken >= self.units.get(operator.core, 1):
            return False
        self.used[operator.core, slot] = taken + 1
        return True

    def _address_ns(self, node: int) -> float:
        """What a load takes of its state behind a subscript that is data."""
        gathers = self.body.graph.kind[node] == LOAD and bool(self.body.graph.deps[node])
        return address_ns(self.body, node) if gathers else 0.0

    def _chain(self, node: int, at: int, delay: float, behind: float = 0.0) -> bool:
        """Put a combinational operation behind those in its state, if the period allows it, and what is ``behind`` it."""
        before = 0.0
        words = self.body.personality.accesses.word_ns > 0
        for pred, states in self.body.preds[node]:
            operator = self.body.graph.operator[pred]
            if words and states and self.start.get(pred) == at - states:
                before = max(before, left(self.body, pred))
            if self.start.get(pred) == at and operator is not None and not operator.registered:
                before = max(before, self.offset[pred] + operator.delay)
        if before > 0 and before + delay + behind > self.body.personality.usable_ns:
            return False
        self.offset[node] = before
        return True
