"""Cycles for the operations of a block: the least that operands, order and ports allow.

Operations start as soon as they can. What that asks of one is a function of when others start
that never falls, so raising starts until nothing changes gives the least solution, chains of
combinational operations within a cycle and order between iterations included (there is none where
starts grow without bound). Operations that want one port of a memory in the same cycle are parted
by holding back the one that the least depends on; where that does not come to an end, the
initiation interval is too small.

References: B. R. Rau, Iterative modulo scheduling, MICRO 1994, for the bounds of the interval.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from backends.rtl.schedule.problem import Port, Problem, recurrent

EFFORT, EFFORT_OF_INTERVAL = 24, 4
"""How often an operation may be looked at before an interval counts as too small: so often where
ports are left aside, and so often more for each cycle of the interval, as ports may hold it back to
any of these. 933 schedules of random recurrences took at most 3.2 and 2.4; where there is none,
starts creep up to the limit, a hundred times later."""
ROUNDS = 64
"""Iterations that an operation's urgency looks ahead: around a recurrence that takes all of the
interval it grows with each."""


class NoSchedule(Exception):
    """No schedule was found at this initiation interval; ``args[0]`` is the operation that gave
    up.
    """


@dataclass(slots=True)
class Times:
    """A schedule in the making.

    ``arrival`` is when in its cycle an operation has its operands, ``leaves`` when in the cycle
    `ready` its result is there (ns). What is ``early`` starts with what others leave in registers:
    of a recurrence, so that no part of its cycles goes to what comes from outside of it.
    ``patience`` is how many more operations are looked at before it gives up.
    """

    problem: Problem
    ii: int
    start: list[int] = field(default_factory=list)
    arrival: list[float] = field(default_factory=list)
    leaves: list[float] = field(default_factory=list)
    release: list[int] = field(default_factory=list)
    early: frozenset[int] = frozenset()
    patience: int = 1 << 60

    def __post_init__(self) -> None:
        size = self.problem.size
        self.start = [0] * size
        self.arrival = [0.0] * size
        self.leaves = [0.0] * size
        self.release = [0] * size

    def ready(self, op: int) -> int:
        """The first cycle of the result."""
        return self.start[op] + self.problem.timing[op].latency

    def arrives(self, op: int, cycle: int) -> float:
        """When in ``cycle`` the operands of an operation are there, if it started in it."""
        latest = self.problem.early[op] if cycle == 0 else 0.0
        for used in self.problem.operands[op]:
            if self.ready(used) == cycle:
                latest = max(latest, self.leaves[used])
        producer = self.problem.back.get(op)
        if producer is not None and self.ready(producer) == cycle + self.ii:
            latest = max(latest, self.leaves[producer])
        return latest

    def waits(self, op: int, cycle: int) -> bool:
        """Whether something from outside of its recurrence arrives within the cycle."""
        return op in self.early and any(
            used not in self.early and self.ready(used) == cycle and self.leaves[used] > 0.0
            for used in self.problem.operands[op]
        )

    def fits(self, op: int, arrival: float) -> bool:
        """Whether the operation can follow in the same cycle what arrives then."""
        if arrival == 0.0:
            return True
        return arrival + self.problem.timing[op].delay_in <= self.problem.budget

    def settle(self, op: int, cycle: int, arrival: float) -> None:
        """Set cycle and times of an operation."""
        timing = self.problem.timing[op]
        self.start[op] = cycle
        self.arrival[op] = arrival
        self.leaves[op] = arrival + timing.delay_in if timing.latency == 0 else timing.delay_out

    def earliest(self, op: int) -> int:
        """The first cycle that operands and order allow."""
        cycle = self.release[op]
        for used in self.problem.operands[op]:
            cycle = max(cycle, self.ready(used))
        for edge in self.problem.into[op]:
            cycle = max(cycle, self.start[edge.src] + edge.latency - self.ii * edge.distance)
        if op in self.problem.back:
            cycle = max(cycle, self.ready(self.problem.back[op]) - self.ii)
        return cycle


Measure = Callable[[Problem, int], tuple[float, ...]]


def solve(problem: Problem, ii: int) -> Times:
    """The schedule at an initiation interval, 0 for a block that does not overlap with itself.

    Raises:
        NoSchedule: None was found.
    """
    limit = _limit(problem, ii)
    carried = _rounds(problem) > 0
    failure = NoSchedule(0)
    attempts: list[tuple[Measure, frozenset[int]]] = [(heights, frozenset())]
    if ii and carried:
        loops = recurrent(problem)
        attempts += [(around, frozenset()), (heights, loops), (around, loops)]
        # Where a load waits for memory outside, the loads behind it do too: the later it is, the longer.
        attempts += [(patient, frozenset())] if not problem.waits else []
    for measure, early in attempts:
        times = Times(problem, ii, early=early)
        urgency = measure(problem, ii)
        dirty = [i for i in range(problem.size) if not problem.anytime(i)]
        if ii:
            times.patience = problem.size * EFFORT
        try:
            _relax(times, dirty, limit)
            times.patience += problem.size * EFFORT_OF_INTERVAL * ii
            while dirty := _part(times, urgency):
                _relax(times, dirty, limit)
        except NoSchedule as error:
            failure = error
        else:
            return times
    raise failure


def _limit(problem: Problem, ii: int) -> int:
    """Cycles that no sensible schedule exceeds; none are needed where nothing is carried."""
    if ii == 0:
        return 1 << 30
    once = Times(problem, 1 << 20)
    _relax(once, [i for i in range(problem.size) if not problem.anytime(i)], 1 << 40)
    return 4 * (max(map(once.ready, range(problem.size)), default=0) + ii) + 64


def _relax(times: Times, dirty: Iterable[int], limit: int) -> None:
    problem = times.problem
    queue = list(dirty)
    heapq.heapify(queue)
    waiting = set(queue)
    while queue:
        op = heapq.heappop(queue)
        waiting.discard(op)
        cycle = times.earliest(op)
        arrival = times.arrives(op, cycle)
        if not times.fits(op, arrival) or times.waits(op, cycle):
            cycle, arrival = cycle + 1, 0.0
        times.patience -= 1
        if cycle > limit or times.patience < 0:
            raise NoSchedule(op)
        before = (times.start[op], times.leaves[op])
        times.settle(op, cycle, arrival)
        if before == (cycle, times.leaves[op]):
            continue
        later = [*problem.users[op], *(e.dst for e in problem.out[op])]
        later += problem.forth.get(op, ())
        for other in later:
            if other not in waiting:
                waiting.add(other)
                heapq.heappush(queue, other)


def slots(times: Times) -> dict[tuple[Port, int], list[int]]:
    """Who takes which port in which cycle, of the interval where there is one."""
    taken: dict[tuple[Port, int], list[int]] = defaultdict(list)
    for op, ports in enumerate(times.problem.ports):
        for port in ports:
            taken[port, slot(times.start[op], times.ii)].append(op)
    return taken


def slot(cycle: int, ii: int) -> int:
    """The cycle of the interval."""
    return cycle % ii if ii else cycle


def _part(times: Times, urgency: tuple[float, ...]) -> list[int]:
    """Hold back all but the most urgent operation of each port and cycle that several want."""
    times.patience -= times.problem.size // 2  # about as long as looking at these
    held: dict[int, None] = {}
    for (port, _), ops in slots(times).items():
        room = times.problem.capacity(port)
        if len(ops) > room:
            ops.sort(key=lambda i: (-urgency[i], times.start[i], i))
            held.update(dict.fromkeys(ops[room:]))
    for op in held:
        times.release[op] = times.start[op] + 1
    return list(held)


def heights(problem: Problem, ii: int) -> tuple[float, ...]:
    """Of each operation the cycles from its start to the end of what depends on it, in later
    iterations too.

    Args:
        problem: The block.
        ii: At least what its recurrences ask for.
    """
    result = [0.0] * problem.size
    rounds = 1 + min(_rounds(problem), ROUNDS) if ii else 1
    for _ in range(rounds):
        changed = False
        for op in reversed(range(problem.size)):
            timing = problem.timing[op]
            chained = (timing.delay_in + timing.delay_out) / (problem.budget or 1.0)
            after = [result[u] + timing.latency + chained for u in problem.users[op]]
            after += [
                result[e.dst] + e.latency - ii * e.distance
                for e in problem.out[op]
                if e.distance == 0 or ii
            ]
            after += [result[load] + timing.latency - ii for load in problem.forth.get(op, ())]
            best = max(after, default=timing.latency + chained)
            if best > result[op] + 1e-9:
                result[op], changed = best, True
        if not changed:
            break
    return tuple(result)


def around(problem: Problem, ii: int) -> tuple[float, ...]:
    """The same, with what is on a recurrence before everything else."""
    on = recurrent(problem)
    return tuple(h + (1e6 if op in on else 0.0) for op, h in enumerate(heights(problem, ii)))


def patient(problem: Problem, ii: int) -> tuple[float, ...]:
    """The same, with loads the later the fewer iterations ago what they load was stored.

    Of loads that share a port and of which the first is not used before the last is there, one that waits for the
    iteration before has the more time for its recurrence the later it starts.
    """
    on = recurrent(problem)
    since = [
        min((e.distance for e in problem.into[op] if e.distance and e.src in on), default=0)
        if op in on
        else 0
        for op in range(problem.size)
    ]
    high = heights(problem, ii)
    return tuple(h - (1e6 / since[op] if since[op] else 0.0) for op, h in enumerate(high))


def port_bound(problem: Problem) -> tuple[int, Port | None]:
    """The least interval that ports allow, and the port that asks for it."""
    count: dict[Port, int] = defaultdict(int)
    for ports in problem.ports:
        for port in ports:
            count[port] += 1
    if not count:
        return 1, None
    worst = max(count, key=lambda port: count[port])
    return max(1, count[worst]), worst


def recurrence_bound(problem: Problem, least: int) -> int:
    """The least interval, from ``least`` on, that latencies around every cycle allow."""
    if _acyclic(problem, least):
        return least
    short, enough = least, least + 1
    while not _acyclic(problem, enough):
        short, enough = enough, enough + 2 * (enough - least)
    while enough - short > 1:
        middle = (short + enough) // 2
        if _acyclic(problem, middle):
            enough = middle
        else:
            short = middle
    return enough


def _rounds(problem: Problem) -> int:
    """How often iterations wait for one another."""
    edges = sum(1 for edges in problem.into for e in edges if e.distance)
    return edges + len(problem.back)


def _acyclic(problem: Problem, ii: int) -> bool:
    """Whether no cycle of operands and order takes longer than its iterations.

    Longest paths by relaxation. What an operation's start was last taken from is its parent; a
    cycle of parents is one that takes longer, and shows long before the paths stop to grow.
    """
    start = [0] * problem.size
    parent = [-1] * problem.size
    changed = True
    while changed:
        changed = False
        for op in range(problem.size):
            begin, source = start[op], -1
            for used in problem.operands[op]:
                if (after := start[used] + problem.timing[used].latency) > begin:
                    begin, source = after, used
            for e in problem.into[op]:
                if (after := start[e.src] + e.latency - ii * e.distance) > begin:
                    begin, source = after, e.src
            if op in problem.back:
                used = problem.back[op]
                if (after := start[used] + problem.timing[used].latency - ii) > begin:
                    begin, source = after, used
            if source >= 0:
                start[op], parent[op], changed = begin, source, True
        if _circular(parent):
            return False
    return True


def _circular(parent: Sequence[int]) -> bool:
    """Whether somebody is an ancestor of itself; -1 is no parent."""
    seen = [-1] * len(parent)  # the walk that came by
    for first in range(len(parent)):
        at = first
        while at >= 0 and seen[at] < 0:
            seen[at] = first
            at = parent[at]
        if at >= 0 and seen[at] == first:
            return True
    return False
