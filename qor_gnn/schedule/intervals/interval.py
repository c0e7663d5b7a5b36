"""The initiation interval of a pipelined body: the least that ports and recurrences allow."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from qor_gnn.body.body import Body
from qor_gnn.body.graph import LOAD, STORE_STATES, Graph, When
from qor_gnn.body.longest_paths import LongestPaths, conditional_paths, old_values, register_paths
from qor_gnn.body.quicker_sums import closing_states
from qor_gnn.schedule.intervals.carried import Nest, dissolved
from qor_gnn.schedule.intervals.carried_loads import CarriedLoads
from qor_gnn.schedule.intervals.chained_states import ChainedStates
from qor_gnn.schedule.intervals.joint_cycles import LoopCarried, joint_cycles
from qor_gnn.schedule.intervals.kept_updates import (
    is_kept,
    kept_value,
    selection_state,
    through_memory,
)
from qor_gnn.schedule.intervals.order_cycles import order_cycles
from qor_gnn.schedule.intervals.row_cycles import row_cycles
from qor_gnn.schedule.reasons import Limit, PortLimit, Recurrence, Requested

_SHOWN = 8
_DESCRIBED = 100  # recurrences, the slowest: thousands of copies in place have millions


@dataclass(frozen=True, slots=True)
class Cycle:
    """A recurrence in terms of operations: ``source`` of one iteration feeds ``sink`` of the
    iteration ``distance`` later. ``states`` must pass from the start of the first operation of
    ``path`` to the start of its successor, the sink's user. ``told`` is what is said of it where its
    operations are not those of one body (`qor_gnn.schedule.intervals.value_cycles`).
    """

    address: int
    path: tuple[int, ...]
    delay: int
    distance: int
    through: str
    told: Recurrence | None = None

    @property
    def interval(self) -> int:
        """The least interval that it allows."""
        return -(-self.delay // self.distance)


@dataclass(frozen=True, slots=True)
class Dependences:
    """What the iterations of a pipeline hand on: all recurrences, and all ways from a value of one
    iteration to a load of a later one, on a recurrence or not. ``hurried`` is a recurrence that did not
    close at the interval asked for, and was given another order for that.
    """

    cycles: tuple[Cycle, ...]
    ways: tuple[LoopCarried, ...] = ()
    hurried: Recurrence | None = None


def limits(body: Body, recurrences: Sequence[Cycle], asked: int) -> tuple[Limit, ...]:
    """What bounds the interval from below, the strongest first; of many recurrences the slowest.

    Args:
        body: of the loop or flattened nest.
        recurrences: of its `dependences`.
        asked: the interval that the user asked for.
    """
    found: list[Limit] = [Requested(asked)]
    port = port_limit(body)
    if port is not None:
        found.append(port)
    slowest = heapq.nlargest(_DESCRIBED, recurrences, key=lambda cycle: cycle.interval)
    found += [describe(body, c) for c in slowest]
    return tuple(sorted(found, key=lambda limit: -limit.interval))


def port_limit(body: Body) -> PortLimit | None:
    """The busiest bank, if its ports limit the interval at all."""
    uses: dict[int, int] = {}
    capacity: dict[int, int] = {}
    for taken in body.ports.values():
        for resource, limit in taken:
            uses[resource] = uses.get(resource, 0) + 1
            capacity[resource] = limit
    if all(n <= capacity[r] for r, n in uses.items()):
        return None
    worst = max(uses, key=lambda r: (-(-uses[r] // capacity[r]), -r))
    graph, table = body.graph, body.addresses
    users = [n for n, taken in body.ports.items() if any(r == worst for r, _ in taken)]
    memory, port, where = body.port_keys[worst]
    split = table.memories[memory].banks > 1
    statements = dict.fromkeys(graph.statement[n].name for n in users)
    return PortLimit(
        table.memories[memory].name,
        where if split else (),
        port,
        capacity[worst],
        uses[worst],
        tuple(table.text(graph.address[n]) for n in users[:_SHOWN]),
        tuple(statements),
        -(-uses[worst] // capacity[worst]),
    )


def dependences(body: Body, nest: Nest) -> Dependences:
    """What is handed on through registers, and through memory.

    Args:
        body: of the loop or flattened nest.
        nest: its loops.
    """
    found = []
    carried: list[LoopCarried] = []
    chained, loads = ChainedStates(body), old_values(body)
    for address, states, path in (*register_paths(body), *conditional_paths(body)):
        alone = len(path) == 1 and path[0] not in body.graph.looked_up
        closing = closing_states(body.personality, body.graph.operator[path[0]]) if alone else 0
        delay = max(1, states - closing) if alone else states + _closing_state(body, path)
        if states and address not in body.graph.set_first:
            delay += body.personality.recurrences.register
        for load in loads.get(address, ()):
            # What is chained elsewhere in the body takes nothing from what the operator alone saves.
            delay = max(delay, chained.around_register(load, path[-1], address) - closing)
        found.append(Cycle(address, tuple(path), delay, 1, "register"))
    for address, value in body.registers.items():
        if value >= 0:
            closing = closing_states(body.personality, body.graph.operator[value])
            carried += [LoopCarried(value, load, -closing, 1) for load in loads.get(address, ())]
    later = _carried_loads(body, nest)
    found += _memory_cycles(body, later, carried, chained)
    for row in row_cycles(body, nest):
        delay = row.states + _around_memory(body, row.source, row.stored, row.distance)
        found.append(Cycle(row.source, row.path, delay, row.distance, "memory"))
    for joint in joint_cycles(body, carried, max((c.interval for c in found), default=1)):
        address = body.graph.address[joint.load]
        found.append(Cycle(address, joint.path, joint.delay, joint.distance, "memory"))
    found += _cycles_in_order(body, nest, later, max((c.interval for c in found), default=1))
    return Dependences(tuple(found), tuple(carried))


def _closing_state(body: Body, path: Sequence[int]) -> int:
    """The state in which a recurrence of shortened products closes."""
    saved = body.personality.sums.saved
    return 1 if saved and any(body.graph.kind[n] == "mul" for n in path) else 0


def _carried_loads(body: Body, nest: Nest) -> dict[int, CarriedLoads]:
    """The loads of each memory."""
    graph, table = body.graph, body.addresses
    # An element is loaded several times where a store in between may be to it.
    places: dict[int, list[tuple[int, int]]] = {}
    for load in body.nodes:
        if graph.kind[load] == LOAD:
            address = graph.address[load]
            places.setdefault(table.shape(address).memory, []).append((address, load))
    return {memory: CarriedLoads(table, nest, of) for memory, of in places.items()}


def _cycles_in_order(
    body: Body, nest: Nest, loads: Mapping[int, CarriedLoads], interval: int
) -> Iterator[Cycle]:
    """Recurrences through the order of accesses that ask for more than an interval."""
    graph, table, own = body.graph, body.addresses, body.personality

    def around(source: int, stored: int, distance: int) -> int:
        load = own.accesses.register if table.memory(source).in_registers else own.accesses.load
        states = _around_memory(body, source, stored, distance) - load
        return states + STORE_STATES * any(map(table.blurs, table.shape(stored).terms))

    for cycle in order_cycles(body, nest, loads, around, interval):
        address = graph.address[cycle.access]
        shown = tuple(n for n in cycle.path if graph.operator[n] is not None)
        yield Cycle(address, shown, cycle.delay, cycle.distance, "memory")


def _memory_cycles(
    body: Body,
    loads: Mapping[int, CarriedLoads],
    carried: list[LoopCarried],
    chained: ChainedStates,
) -> list[Cycle]:
    """Recurrences through one store each; all ways from a store to a later load go to ``carried``."""
    graph, table = body.graph, body.addresses
    found: list[Cycle] = []
    stores = [(a, graph.stores[a]) for a in body.store_value]
    # What is stored at the end of an inner loop is loaded by no later iteration of it.
    stores += [(a, c.value) for a, c in graph.conditional.items() if c.when != "last"]
    stores += [
        (a, place)
        for a in (*body.store_value, *graph.conditional)
        for place in graph.places.get(a, ())
    ]  # a store waits for what tells its element
    stores += [
        (graph.address[n], d)
        for n in graph.early_stores
        for d in (graph.deps[n] if graph.address[n] in graph.places else graph.deps[n][:1])
    ]
    ways: dict[int, LongestPaths] = {}
    for address, value in stores:
        if value < 0 or body.kept_out[value]:
            continue
        later = loads.get(table.shape(address).memory)
        for source, load, distance in later.of(address, _when(body, address)) if later else ():
            if load not in ways:
                # What runs in the first iteration of an inner loop has nothing from the one before.
                ways[load] = LongestPaths(graph, load, graph.at_first)
            path = _path(ways[load], load, value)
            if path is not None and address in graph.places:
                place = (source, address, value, load, distance)
                found += _update(body, chained, place, path, carried)
                continue
            around = _around_memory(body, source, address, distance)
            carried.append(LoopCarried(value, load, around, distance))
            if path is None:
                continue
            states = sum(map(graph.states, path))
            if states and distance == 1 and source == address and is_kept(body, address):
                around = min(around, selection_state(body, load, path))
            if path:
                held = _is_held(body, source, address)
                states = max(states, chained.between(load, path[-1], held))
            found.append(Cycle(source, tuple(path), states + around, distance, "memory"))
    return found


def _update(
    body: Body,
    chained: ChainedStates,
    place: tuple[int, int, int, int, int],
    path: Sequence[int],
    carried: list[LoopCarried],
) -> Iterator[Cycle]:
    """The recurrences through a store to an element that data tell.

    Args:
        body: of the loop.
        chained: its combinational operators.
        place: the addresses that are loaded and stored to, the value that is stored, the load, and how many
            iterations later that is.
        path: the operators between.
        carried: gets the ways to the load.
    """
    source, address, value, load, distance = place
    operators = sum(map(body.graph.states, path))
    whole = through_memory(body, chained, (load, value), path)
    ways = [(whole, distance, 0)]
    if source == address and is_kept(body, address):
        kept = kept_value(body, chained, (load, value), path)
        ways = [(kept, distance, body.personality.accesses.load), (whole, distance + 1, 0)]
    if (
        not operators and body.personality.is_open
    ):  # a way has no operators: they are between load and value
        operators = chained.between(load, value)
    for delay, later, ahead in ways:  # a value that is kept is wanted where the load ends
        carried.append(LoopCarried(value, load, delay - operators - ahead, later))
        yield Cycle(source, tuple(path), delay, later, "memory")


def _around_memory(body: Body, address: int, stored: int, distance: int) -> int:
    """States of a recurrence through memory besides its operators.

    What the next iteration of a loop of its own loads is kept in a register, where it is all that is
    loaded of the array.
    """
    policy, table = body.personality.recurrences, body.addresses
    if table.memory(address).lanes > 1:  # of words no report shows that one is kept beside memory
        return body.personality.accesses.load + STORE_STATES
    if _is_held(body, address, stored):
        return 0
    scattered = stored in body.graph.places
    element = None if scattered else policy.element
    inner = body.variables[1:][-1:]  # of a flattened nest
    moved = table.shape(address).variables
    if element is not None and stored == address and inner and inner[0] not in moved:
        return element
    if element is not None and dissolved(table, stored, body.variables):
        return element
    uniform = table.shape_of[stored] == table.shape_of[address] and distance == 1
    if element is not None and not inner and uniform and only_load(body.graph, address):
        return element
    accesses = body.personality.accesses
    load = accesses.load
    saved = load - accesses.register if table.memory(address).in_registers else 0
    # What is stored where values tell is not known to be what is loaded next: it is read from memory.
    return max(1, (max(policy.memory, load) if scattered else policy.memory) - saved)


def _is_held(body: Body, address: int, stored: int) -> bool:
    """The innermost loop stays at the element, which is in a register meanwhile."""
    return stored == address and stored in body.held


def _when(body: Body, address: int) -> When:
    """The iterations in which it is stored."""
    found = body.graph.conditional.get(address)
    return "always" if found is None else found.when


def only_load(graph: Graph, address: int) -> bool:
    """Nothing else of the array is loaded."""
    table = graph.addresses
    memory = table.shape(address).memory
    return all(a == address or table.shape(a).memory != memory for a in graph.loads)


def _path(ways: LongestPaths, load: int, value: int) -> list[int] | None:
    """The operations from a load to a stored value; [] where the load itself is stored."""
    if load == value:
        return []
    return ways.to(value) or None


def describe(body: Body, cycle: Cycle) -> Recurrence:
    """The recurrence in the user's words."""
    if cycle.told is not None:
        return cycle.told
    graph, table = body.graph, body.addresses
    names = dict.fromkeys(graph.statement[n].name for n in cycle.path)
    if not names and cycle.address in graph.stored_by:
        names = {graph.stored_by[cycle.address].name: None}
    return Recurrence(
        table.memory(cycle.address).name,
        table.text(cycle.address),
        tuple(names),
        tuple(graph.kind[n] for n in cycle.path),
        cycle.delay,
        cycle.distance,
        cycle.through,
        cycle.interval,
    )
