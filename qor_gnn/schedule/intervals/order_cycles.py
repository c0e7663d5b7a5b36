"""Recurrences through the order of accesses: what is stored twice, or may be, is stored in order.

``a[i // 2] = x; a[i] = f(a[i])``: in some iteration the load takes what the first store has left, and
in a later one the first store overwrites what the second has. Neither value depends on itself, and yet
a schedule that is the same for all iterations has the load behind the first store, and that a state
behind the second one of the iteration before. So the interval is at least the delay over the distance
of any cycle of values, of accesses that an iteration makes in order, and of accesses of one element by
different iterations: loads of what was stored (flow), stores behind stores (output) and behind loads
(anti dependences; Rau, Iterative modulo scheduling, 1994). Cycles of values alone are found elsewhere
(`qor_gnn.schedule.intervals.interval`, `qor_gnn.schedule.intervals.joint_cycles`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from qor_gnn.body.body import Body
from qor_gnn.body.graph import LOAD, STORE_STATES
from qor_gnn.schedule.intervals.carried import Nest
from qor_gnn.schedule.intervals.carried_loads import CarriedLoads
from qor_gnn.schedule.intervals.chained_states import START, Arrival, handed
from qor_gnn.schedule.intervals.kept_updates import is_kept

_PASSES = 4  # for each access, after which what is put off once more is on a cycle
Around = Callable[[int, int, int], int]
"""States from the start of a store to that of a load of a later iteration, by the addresses of the
load and of the store and the distance in iterations."""


@dataclass(frozen=True, slots=True)
class Kept:
    """An access that starts ``delay`` states or more behind one of an earlier iteration, ``distance`` before."""

    before: int
    after: int
    delay: int
    distance: int


@dataclass(frozen=True, slots=True)
class OrderCycle:
    """A cycle: the access that it is told by, the operations on it in order, its states and iterations.

    ``values``: it is of values alone.
    """

    access: int
    path: tuple[int, ...]
    delay: int
    distance: int
    values: bool

    @property
    def interval(self) -> int:
        """The least interval that it allows."""
        return -(-self.delay // self.distance)


def order_cycles(
    body: Body, nest: Nest, loads: Mapping[int, CarriedLoads], around: Around, interval: int
) -> list[OrderCycle]:
    """Cycles that ask for more than an interval, each for more than the one before; mostly none.

    Args:
        body: of the pipeline.
        nest: its loops.
        loads: of each memory.
        around: between iterations.
        interval: that cycles of values allow.
    """
    stores = _stores(body)
    if not body.graph.order and all(len(made) < 2 for made in stores.values()):
        return []
    kept = list(_kept(body, nest, stores, loads, around))
    if not any(body.graph.kind[k.after] != LOAD for k in kept) and not body.graph.order:
        return []
    search = _Search(body, kept)
    found: list[OrderCycle] = []
    while (cycle := search.slower_than(interval)) is not None:
        assert cycle.interval > interval, "it was found because the interval is too short"
        # Of values alone others know better what is handed on at once.
        found += () if cycle.values else (cycle,)
        interval = cycle.interval
    return found


def _stores(body: Body) -> dict[int, list[tuple[int, int]]]:
    """Addresses and operations of the stores to each memory, but for those of statements beside an inner loop."""
    graph, table = body.graph, body.addresses
    beside = {a for a, c in graph.conditional.items() if c.when in ("first", "last")}
    found: dict[int, list[tuple[int, int]]] = {}
    made = [*body.store_value.items(), *((graph.address[n], n) for n in graph.early_stores)]
    made += [(a, n) for a, n in body.conditional.items() if a not in beside]
    for address, store in made:
        if not body.kept_out[store] and not table.memory(address).in_order:
            found.setdefault(table.shape(address).memory, []).append((address, store))
    return found


def _kept(
    body: Body,
    nest: Nest,
    stores: Mapping[int, list[tuple[int, int]]],
    loads: Mapping[int, CarriedLoads],
    around: Around,
) -> Iterator[Kept]:
    """What accesses of different iterations keep in order."""
    table = body.addresses
    for memory, made in stores.items():
        others = CarriedLoads(table, nest, made)
        later = loads.get(memory)
        for address, store in made:
            for source, load, distance in later.of(address) if later is not None else ():
                # A register beside the memory hands it to the next iteration.
                beside = source == address and is_kept(body, address)
                yield Kept(store, load, around(source, address, distance), distance + beside)
            for _, other, distance in others.of(address):
                if other != store:
                    yield Kept(store, other, STORE_STATES, distance)
        for source, load in later.loads if later is not None else ():
            for _, store, distance in others.of(source):
                yield Kept(load, store, 0, distance)


@dataclass(slots=True)
class _Search:
    """Longest ways to the starts of a body's operations, through earlier iterations (Bellman and Ford).

    ``_after``: the operations behind each, in the same iteration, and the states; only of those that are on
    a way from a kept access to another.
    """

    body: Body
    kept: list[Kept]
    _order: list[int] = field(init=False)
    _after: dict[int, list[tuple[int, int]]] = field(init=False)

    def __post_init__(self) -> None:
        """What is between kept accesses, in the order of operations."""
        succs, preds = self.body.succs, self.body.preds
        behind_them = _reached({k.after for k in self.kept}, succs)
        inside = behind_them & _reached({k.before for k in self.kept}, preds)
        self.kept = [k for k in self.kept if k.before in inside and k.after in inside]
        self._order = sorted(inside)  # numbers go with the order of operations
        self._after = {n: [e for e in succs[n] if e[0] in inside] for n in self._order}

    def slower_than(self, interval: int) -> OrderCycle | None:
        """A cycle that an interval is too short for; None where there is none."""
        starts: dict[int, Arrival] = dict.fromkeys(self._order, START)
        by: dict[int, int | Kept] = {}
        passes, most = 0, len({k.after for k in self.kept})
        while True:
            self._pass(starts, by)
            passes += 1
            later: dict[int, tuple[int, Kept]] = {}  # by access, all of one pass at once
            for k in self.kept:
                state = starts[k.before][0] + k.delay - interval * k.distance
                if state > max(starts[k.after][0], later[k.after][0] if k.after in later else 0):
                    later[k.after] = state, k
            if not later:
                return None
            # Mostly the slowest cycle ends where an access is put off the most.
            latest = max(later, key=lambda n: later[n][0] - starts[n][0])
            cycle = self._cycle(latest, {**by, latest: later[latest][1]})
            for n, (state, k) in later.items():
                starts[n], by[n] = (state, 0.0), k
            if cycle is None and passes > most:  # what is put off so often is behind a cycle
                cycle = self._cycle(latest, by)
            if cycle is not None and cycle.interval > interval:
                return cycle
            if passes > _PASSES * (most + 1):
                # Begun within a state operators may take one more than alone.
                return cycle and replace(cycle, delay=interval * cycle.distance + 1)

    def _pass(self, starts: dict[int, Arrival], by: dict[int, int | Kept]) -> None:
        for n in self._order:
            own = starts[n]
            for after, more in self._after[n]:
                arrival = handed(self.body, n, own, after, more)
                if arrival > starts[after]:
                    starts[after], by[after] = arrival, n

    def _cycle(self, at: int, by: Mapping[int, int | Kept]) -> OrderCycle | None:
        """The cycle on the way that makes an operation late; None where that begins with an iteration."""
        seen: dict[int, int] = {}
        path: list[int] = []
        while at not in seen:
            way = by.get(at)
            if way is None:
                return None
            seen[at] = len(path)
            path.append(at)
            at = way.before if isinstance(way, Kept) else way
        path = path[seen[at] :][::-1]
        ways = {n: way for n in path if isinstance(way := by[n], Kept)}
        return self._told(path, ways)

    def _told(self, path: list[int], ways: Mapping[int, Kept]) -> OrderCycle:
        first = next(iter(ways))
        start = path.index(first)
        path = [*path[start:], *path[:start]]
        at, delay = START, 0
        for n, following in zip(path, [*path[1:], first], strict=True):
            if following in ways:
                delay += at[0] + ways[following].delay
                at = START
                continue
            edges = (states for after, states in self._after[n] if after == following)
            at = max(handed(self.body, n, at, following, states) for states in edges)
        distance = sum(k.distance for k in ways.values())
        stored = any(self.body.graph.kind[k.after] != LOAD for k in ways.values())
        deps, pairs = self.body.graph.deps, zip(path, [*path[1:], first], strict=True)
        values = not stored and all(n in deps[after] or after in ways for n, after in pairs)
        return OrderCycle(first, tuple(path), delay, distance, values)


def _reached(ends: set[int], ways: list[list[tuple[int, int]]]) -> set[int]:
    """Operations that ways lead to, and where they begin."""
    found, open_ = set(ends), list(ends)
    while open_:
        for n, _ in ways[open_.pop()]:
            if n not in found:
                found.add(n)
                open_.append(n)
    return found
