"""A pipelined loop or flattened nest: its interval, units and schedule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from qor_gnn.body.body import Body
from qor_gnn.body.graph import LOAD, STORE
from qor_gnn.schedule.allocation import Asked, capped, unit_limit
from qor_gnn.schedule.closing import Closing
from qor_gnn.schedule.intervals.interval import Cycle, Dependences, limits
from qor_gnn.schedule.intervals.joint_cycles import Waits
from qor_gnn.schedule.list_schedule import Times, modulo_schedule
from qor_gnn.schedule.reasons import Conflict, Limit, Recurrence

_DEEPER = 1.5
"""By how much a pipeline may grow for want of units before it gets more of them: half as deep again is the
price that a tool pays for one multiplier less, read from one family of designs (docs/qor-model.md)."""

_NEAR = 16  # intervals that are tried one by one


@dataclass(slots=True)
class Pipeline:
    """A scheduled pipeline.

    ``depth`` is the number of states of an iteration (the tool's iteration latency is one less);
    ``limits`` says what bounds the interval, the strongest first; ``hurried`` as in `Dependences`.
    """

    body: Body
    interval: int
    depth: int
    units: dict[str, int]
    times: Times
    limits: tuple[Limit, ...]
    hurried: Recurrence | None = None


def pipelined(body: Body, handed: Dependences, asked: int, allocation: Asked = ()) -> Pipeline:
    """Schedule a body at the least interval that ports and recurrences allow.

    Units are as many as the interval makes necessary. Where a recurrence does not close with them,
    either its operations wait for the last of them, which makes the pipeline deeper, or there are
    more units: the latter where the former is deeper by more than `_DEEPER`; but no more than ``allocation`` says.
    """
    found = limits(body, handed.cycles, asked)
    if (units_limit := unit_limit(body, allocation)) is not None:
        found = tuple(sorted((units_limit, *found), key=lambda limit: -limit.interval))
    caps = capped(body, allocation)
    interval, (units, times) = _least(body, handed, found[0].interval, caps)
    if interval > found[0].interval:
        found = (Conflict(_unknown_banks(body), interval), *found)
    return Pipeline(body, interval, times.states, units, times, found, handed.hurried)


def _least(
    body: Body, handed: Dependences, lowest: int, caps: Mapping[str, int]
) -> tuple[int, tuple[dict[str, int], Times]]:
    """The least interval from ``lowest`` on that the accesses fit, and what `_placed` makes of it.

    One after the other; where many do not fit, in steps that grow, and halved back.
    """
    waits, closing = Waits(body, handed.ways), Closing(body, handed.cycles)
    failed, interval, step = lowest - 1, lowest, 1
    while (placed := _placed(body, closing, waits, interval, caps)) is None:
        failed = interval
        step = step if interval < lowest + _NEAR else 2 * step
        interval += step
    while interval - failed > 1:
        between = (interval + failed) // 2
        other = _placed(body, closing, waits, between, caps)
        if other is None:
            failed = between
        else:
            interval, placed = between, other
    return interval, placed


def _placed(
    body: Body, closing: Closing, waits: Waits, interval: int, caps: Mapping[str, int]
) -> tuple[dict[str, int], Times] | None:
    """Units and a schedule at an interval; None where the accesses do not fit it."""
    recurrences = closing.recurrences
    first_states = waits.released(interval)
    least = {core: -(-n // interval) for core, n in operations(body).items()}
    if body.personality.binding.recurrences_in_step:
        for core, n in _in_step(body, recurrences).items():
            least[core] = max(least[core], min(n, caps.get(core, n)))
    early = {} if body.personality.binding.integers_wait else _integers(body)
    early = {core: n for core, n in early.items() if core not in caps}
    first = times = modulo_schedule(body, interval, least | early, first_states)
    if early and first is not None and not _in_one_state(body, first):
        early = {}
        first = times = modulo_schedule(body, interval, least, first_states) or first
    least |= early
    units = least
    if first is None or times is None:
        return None
    waiting: tuple[dict[str, int], Times] | None = None
    # Copies that wait for each other never want a unit at once: what is late there is a port.
    apart = body.in_blocks and bool(body.graph.early_stores)
    larger = () if apart else (m for m in _more(recurrences, body, least) if _within(m, caps))
    for more in (*larger, None):
        if closing.all(times, interval):
            break
        if waiting is None:
            late = delayed(body, times, closing, interval, units)
            waiting = None if late is None else (units, late)
        if more is not None:
            units, times = more, modulo_schedule(body, interval, more, first_states) or times
    else:
        units, times = least, first  # more units are no help
    limit = times.states * _DEEPER
    if waiting is not None and waiting[1].states <= limit:
        units, times = waiting
    return units | {core: _at_once(body, times, core, interval) for core in early}, times


def _within(units: Mapping[str, int], caps: Mapping[str, int]) -> bool:
    return all(units.get(core, 0) <= most for core, most in caps.items())


def _integers(body: Body) -> dict[str, int]:
    """Cores of operations on integers, with a unit for each operation."""
    operators = body.graph.operator
    cores = {o.core for n in body.nodes if (o := operators[n]) is not None and o.integer}
    return {core: n for core, n in operations(body).items() if core in cores}


def _in_one_state(body: Body, times: Times) -> bool:
    """All that an iteration loads of an array is loaded in one state."""
    kinds, addresses = body.graph.kind, body.addresses
    loads = [n for n in body.nodes if kinds[n] == LOAD]
    arrays = [addresses.shape(body.graph.address[n]).memory for n in loads]
    return len(set(zip(arrays, map(times.start.get, loads), strict=True))) == len(set(arrays))


def _at_once(body: Body, times: Times, core: str, interval: int) -> int:
    """The most operations of a core that start in one state of the interval."""
    operators = body.graph.operator
    slots = Counter(
        times.start[n] % interval
        for n in body.nodes
        if (o := operators[n]) is not None and o.core == core
    )
    return max(slots.values())


def _unknown_banks(body: Body) -> tuple[str, ...]:
    """Arrays with accesses that take ports of several banks."""
    table = body.addresses
    found: dict[str, None] = {}
    for n, ports in body.ports.items():
        if len(ports) > 1:
            found[table.memory(body.graph.address[n]).name] = None
    return tuple(found)


def operations(body: Body) -> Counter[str]:
    """How many operations of each core run in an iteration."""
    found: Counter[str] = Counter()
    for n in body.nodes:
        operator = body.graph.operator[n]
        if operator is not None and operator.shared:
            found[operator.core] += 1
    return found


def _in_step(body: Body, recurrences: Sequence[Cycle]) -> Counter[str]:
    """Operations of each core that parallel recurrences of several operators want at once.

    All start together, so that their n-th operations do, or as ports feed them. What is not on the slowest chain of any of
    them has time to wait.
    """
    graph = body.graph
    stages: dict[tuple[str, int], set[int]] = {}
    for cycle in recurrences:
        at = 0
        path = [n for n in cycle.path if (o := graph.operator[n]) is not None and o.shared]
        for n in path if cycle.through == "register" and len(path) > 1 else ():
            operator = graph.operator[n]
            assert operator is not None
            stages.setdefault((operator.core, at), set()).add(n)
            at += operator.distance
    found: Counter[str] = Counter()
    states = _loaded_in(body) if stages else 1
    for (core, _), nodes in stages.items():
        found[core] = max(found[core], -(-len(nodes) // states))
    return found


def _loaded_in(body: Body) -> int:
    """States in which an iteration loads what it does, as ports allow."""
    uses: Counter[int] = Counter()
    capacity: dict[int, int] = {}
    for n, taken in body.ports.items():
        for resource, limit in taken if body.graph.kind[n] == LOAD else ():
            uses[resource] += 1
            capacity[resource] = limit
    return max((-(-n // capacity[r]) for r, n in uses.items()), default=1)


def _more(
    recurrences: Sequence[Cycle], body: Body, least: Mapping[str, int]
) -> Iterator[dict[str, int]]:
    """Larger allocations, the cores on recurrences first."""
    first: dict[str, None] = {}
    for cycle in recurrences:
        for n in cycle.path:
            operator = body.graph.operator[n]
            if operator is not None and operator.shared:
                first[operator.core] = None
    cores = [*first, *(c for c in least if c not in first)]
    for extra in (1, 2):
        for core in cores:
            yield {**least, core: least[core] + extra}
        if len(cores) > 1:
            yield {core: n + extra for core, n in least.items()}


def delayed(
    body: Body, times: Times, closing: Closing, interval: int, units: Mapping[str, int]
) -> Times | None:
    """The schedule with the operations on its recurrences as late as the last of each allows; None
    where that does not close them, or wants more units.
    """
    graph = body.graph
    start = dict(times.start)
    memory = body.personality.binding.loads_used_at_once
    for cycle in closing.recurrences:
        inside = bool(cycle.path) and (memory or cycle.through == "register")
        if inside and not closing.one(times, cycle, interval):
            at = start[cycle.path[-1]]
            for n in reversed(cycle.path[:-1]):
                at -= graph.states(n)
                start[n] = max(start[n], at)
    late = Times(start, times.states, times.offset)
    used: Counter[tuple[str, int]] = Counter()
    for n in body.nodes:
        operator = graph.operator[n]
        if operator is not None and operator.shared:
            used[operator.core, start[n] % interval] += 1
    enough = all(count <= units[core] for (core, _), count in used.items())
    return late if enough and closing.all(late, interval) else None


def concurrency(body: Body, times: Times) -> dict[str, int]:
    """For each core the most operations that start in one state."""
    found: Counter[tuple[str, int]] = Counter()
    for n in body.nodes:
        operator = body.graph.operator[n]
        if body.graph.kind[n] not in (LOAD, STORE) and operator is not None and operator.shared:
            found[operator.core, times.start[n]] += 1
    most: dict[str, int] = {}
    for (core, _), n in found.items():
        most[core] = max(most.get(core, 0), n)
    return most
