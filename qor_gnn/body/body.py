"""A straight-line body of a loop, ready to be scheduled: what runs in it and what is kept out.

Stores to an address that no iteration moves become a register, loaded before the loop and stored
after it; what no iteration changes is computed before the loop.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

from qor_gnn.body.address_products import row_products
from qor_gnn.body.bank_divisions import alap_loads, behind_remainders, quotients
from qor_gnn.body.graph import (
    LOAD,
    STORE,
    STORE_STATES,
    SWITCH_STATES,
    Graph,
)
from qor_gnn.body.late_copies import in_turn
from qor_gnn.body.loop_invariants import around_inner_loop, overwritten, written
from qor_gnn.body.meetings import Accesses
from qor_gnn.body.multiply_adds import early, multiply_added
from qor_gnn.body.order import needed
from qor_gnn.body.port_sets import PortSets, port_sets
from qor_gnn.body.ports import PortKey, Taken, ports_of
from qor_gnn.body.register_promotion import promotable
from qor_gnn.memory.addresses import Addresses
from qor_gnn.tools.personality import Personality

Edge = tuple[int, int]
"""The other operation and the states from start to start."""


@dataclass(slots=True)
class Body:
    """Operations by the numbers of `graph`; stores follow the graph's own operations.

    Attributes:
        variables: the counters that move in it, outermost first; empty for a block that runs once.
        nodes: what runs in every iteration, in program order, stores last.
        hoisted: loads and arithmetic that run before the loop.
        registers: promoted addresses and the value each has at the end of an iteration.
        held: addresses that are in registers while the innermost counter moves, but are loaded and stored inside
            (`Accesses.hoisted`).
        store_value, conditional: the stores of an iteration by address, always or not always made.
        carried: the loads of promoted addresses: values of registers.
        preds, succs: constraints between nodes.
        row_slices: DSP slices of rows' numbers times their lengths, which addresses need.
        ready: for accesses behind such a product the first state in which they can start.
        ports: for each access the (resource, capacity) pairs that it takes.
        port_keys, port_sets: what the resources are, and which are taken together.
    """

    graph: Graph
    personality: Personality
    variables: tuple[str, ...]
    nodes: list[int] = field(default_factory=list)
    hoisted: list[int] = field(default_factory=list)
    registers: dict[int, int] = field(default_factory=dict)
    held: frozenset[int] = frozenset()
    carried: set[int] = field(default_factory=set)
    kept_out: list[bool] = field(default_factory=list)
    store_value: dict[int, int] = field(default_factory=dict)
    conditional: dict[int, int] = field(default_factory=dict)
    preds: list[list[Edge]] = field(default_factory=list)
    succs: list[list[Edge]] = field(default_factory=list)
    ports: dict[int, Taken] = field(default_factory=dict)
    port_keys: list[PortKey] = field(default_factory=list)
    port_sets: PortSets = field(default_factory=PortSets)
    lengths: list[int] = field(default_factory=list)
    row_slices: int = 0
    ready: dict[int, int] = field(default_factory=dict)
    chains: list[tuple[int, int, list[int]]] | None = None  # `paths.register_paths`, once known

    @property
    def addresses(self) -> Addresses:
        """The table of addresses."""
        return self.graph.addresses

    @property
    def epilogue(self) -> list[int]:
        """Promoted addresses that have to be stored after the loop: no scalar ports."""
        return [a for a in self.registers if not self.addresses.memory(a).in_registers]

    @property
    def prologue_loads(self) -> list[int]:
        """Loads before the loop that take a port, in program order."""
        graph = self.graph
        found = [
            n
            for n in (*self.hoisted, *self.carried)
            if graph.kind[n] == LOAD and not self.addresses.memory(graph.address[n]).in_registers
        ]
        return sorted(found)

    @property
    def linear(self) -> bool:
        """Every access takes the elements in their order, as a copy of an array does: one counter."""
        table, order = self.addresses, tuple(((v, 1),) for v in self.variables)
        used = {a for n in self.nodes if (a := self.graph.address[n]) >= 0}
        return all(table.shape(a).terms == order and not any(table.consts[a]) for a in used)

    @property
    def copies_array(self) -> bool:
        """A load and a store of the next element is all that it does, without counting rows."""
        if [self.graph.kind[n] for n in self.nodes] != [LOAD, STORE] or not self.linear:
            return False
        memories = (self.addresses.memory(self.graph.address[n]) for n in self.nodes)
        return all(split.factor <= 1 for m in memories for split in m.splits[:-1])

    @property
    def stored(self) -> set[int]:
        """The addresses to which it stores in every iteration."""
        graph = self.graph
        return {graph.address[n] for n in self.nodes if graph.kind[n] == STORE}

    @property
    def in_order(self) -> bool:
        """Its copies update an array one after the other (`qor_gnn.body.ordered_updates`)."""
        table = self.addresses
        return any(table.memory(a).in_order for a in (*self.store_value, *self.graph.stores))

    @property
    def in_blocks(self) -> bool:
        """Copies of the loop are blocks of code that the tool cannot compare (`Unrolling.compares_copies`)."""
        return any(v in self.addresses.blurred for v in self.variables)

    def last(self, node: int) -> int:
        """States from the start of an operation until its result is there."""
        return self.lengths[node]


def loop_body(
    graph: Graph, personality: Personality, variables: tuple[str, ...], within: bool = False
) -> Body:
    """The body of a loop, or of a flattened nest, whose counters are ``variables``; ``within`` another loop."""
    body = Body(graph, personality, variables)
    moving = frozenset(variables)
    body.registers = promotable(graph, moving)
    if not personality.accesses.hoisted and not (within and len(variables) == 1):
        memory = graph.addresses.memory
        body.registers = {a: n for a, n in body.registers.items() if memory(a).in_registers}
        body.held = frozenset(promotable(graph, frozenset(variables[-1:])))
    _hoist(body, moving)
    return _finished(body)


def block(graph: Graph, personality: Personality) -> Body:
    """Operations that run once: nothing is kept out."""
    body = Body(graph, personality, ())
    body.kept_out = [False] * len(graph.kind)
    return _finished(body)


def _hoist(body: Body, moving: frozenset[str]) -> None:
    """Mark what does not run in the loop: invariant operations, and loads of registers."""
    graph, table = body.graph, body.addresses
    fixed: dict[int, bool] = {}
    stored = written(graph, body.registers)
    out = body.kept_out
    invariant: list[bool] = []
    for n, kind in enumerate(graph.kind):
        if kind == LOAD and graph.address[n] in body.registers:
            body.carried.add(n)
            out.append(True)
            invariant.append(False)
            continue
        if kind == LOAD:
            a = graph.address[n]
            shape = table.shape_of[a]
            if shape not in fixed:
                fixed[shape] = not table.shapes[shape].variables & moving
            same = fixed[shape] and not table.moves(a, moving) and not overwritten(table, a, stored)
            same = same and all(invariant[d] for d in graph.deps[n])
            same = same and (body.personality.accesses.hoisted or table.memory(a).in_registers)
            same = same and not graph.indexed.get(n, frozenset()) & moving
            same = same and not (
                body.personality.guards.loads == "inside"
                and (graph.guards[a] & moving or around_inner_loop(graph, body.variables, n))
            )
        elif kind == STORE:
            same = False
        else:
            same = all(invariant[d] for d in graph.deps[n])
            same = same and not graph.indexed.get(n, frozenset()) & moving
        out.append(same)
        invariant.append(same)
        if same:
            body.hoisted.append(n)


def _finished(body: Body) -> Body:
    graph = body.graph
    out = body.kept_out
    multiply_added(graph, out)
    body.nodes = [n for n in range(len(graph.kind)) if not out[n]]
    for address, value in graph.stores.items():
        if address not in body.registers:
            body.store_value[address] = _store(body, address, value)
    for address, conditional in graph.conditional.items():
        if address not in body.registers:
            body.conditional[address] = _store(body, address, conditional.value)
    if (division := body.personality.division) is not None:
        _divide(body)
    _link(body)
    body.ports, body.port_keys = ports_of(body.graph, body.nodes, body.personality)
    body.port_sets = port_sets(body.ports.values(), body.port_keys)
    counted = body.personality.control.counted_copies and body.copies_array
    if len(variables := body.variables) > 1 and not counted:
        found = row_products(graph, body.nodes, frozenset(variables), body.personality.indices)
        body.row_slices, body.ready = found.slices, found.states
    late: dict[int, int] = {}
    if division is not None:
        late = alap_loads(graph, body.nodes, variables, division)
    elif stages := body.personality.indices.remainder_stages:
        load = body.personality.accesses.load
        late = behind_remainders(graph, body.nodes, variables, stages, load)
    body.ready = {**body.ready, **late}
    return body


def _divide(body: Body) -> None:
    """The places in their banks of stores whose subscripts the tool knows no bound of."""
    graph = body.graph
    product = body.personality.operator("quotient", "int", 64)
    for store in quotients(graph, body.nodes, body.variables):
        node = graph.add("quotient", product, (), -1, graph.statement[store])
        body.kept_out.append(False)
        body.nodes.append(node)
        if store >= 0:
            graph.deps[store] = (*graph.deps[store], node)


def _store(body: Body, address: int, value: int) -> int:
    deps = body.graph.stored(address, value)
    node = body.graph.add(STORE, None, deps, address, body.graph.stored_by[address])
    body.kept_out.append(False)
    body.nodes.append(node)
    return node


def _link(body: Body) -> None:
    graph, out = body.graph, body.kept_out
    count = len(graph.kind)
    preds: list[list[Edge]] = [[] for _ in range(count)]
    succs: list[list[Edge]] = [[] for _ in range(count)]
    body.preds, body.succs = preds, succs
    body.lengths, distance = _durations(body)
    for n in body.nodes:
        for d in graph.deps[n]:
            if not out[d]:
                states = distance[d] - (early(graph, d, n) if distance[d] > 1 else 0)
                preds[n].append((d, states))
                succs[d].append((n, states))
    for before, after, states in needed(graph.order, out):
        connect(body, before, after, states)
    for address, store in (*body.store_value.items(), *body.conditional.items()):
        load = graph.loads.get(address)
        if load is not None and not out[load]:
            connect(body, load, store, 0)  # the old value is read before it is overwritten
    for address, after in body.conditional.items():
        if address in body.store_value:
            connect(body, body.store_value[address], after, STORE_STATES)
    for before, after in in_turn(graph, (*body.store_value.values(), *body.conditional.values())):
        connect(body, before, after, STORE_STATES)
    _keep_order_of_final_stores(body)
    _serialise(body)


def _durations(body: Body) -> tuple[list[int], list[int]]:
    """For each operation the states until its result is there, and until it may be used."""
    graph, load = body.graph, body.personality.accesses.load
    written_back = values_written_back(body)
    by_shape: dict[int, int] = {}
    lengths: list[int] = []
    distances: list[int] = []
    for n, operator in enumerate(graph.operator):
        if operator is not None:
            lengths.append((operator.distance or 1) + (n in written_back and operator.registered))
            distances.append(operator.distance)
        elif graph.kind[n] == STORE:
            lengths.append(STORE_STATES)
            distances.append(STORE_STATES)
        else:
            shape = graph.addresses.shape_of[graph.address[n]]
            if shape not in by_shape:
                by_shape[shape] = _load_distance(body, n)
            states = load if by_shape[shape] else 0  # else it is there at once
            lengths.append(states + (n in written_back))
            distances.append(by_shape[shape])
            if graph.deps[n]:
                graph.looked_up[n] = by_shape[shape]
    return lengths, distances


def values_written_back(body: Body) -> frozenset[int]:
    """Values that registers get inside of the loop (`Accesses.hoisted`), which takes what a store does: but for those that
    the first iteration sets, which go from one iteration to the next.
    """
    if body.personality.accesses.hoisted:
        return frozenset()
    first = body.graph.set_first
    return frozenset(value for a, value in body.registers.items() if value >= 0 and a not in first)


def connect(body: Body, before: int, after: int, states: int) -> None:
    """``after`` starts at least ``states`` after the start of ``before``."""
    body.preds[after].append((before, states))
    body.succs[before].append((after, states))


def _load_distance(body: Body, node: int) -> int:
    """States from the start of a load to the start of what uses its result."""
    if only_multiplexed(body, node):
        return body.personality.accesses.register
    return body.personality.accesses.load + (SWITCH_STATES if _switched(body, node) else 0)


def only_multiplexed(body: Body, node: int) -> bool:
    """Every dimension that moves is split completely: no memory is left, only a multiplexer."""
    table, address = body.addresses, body.graph.address[node]
    memory = table.memory(address)
    if memory.in_registers:
        return True
    moving = False
    for d, terms in enumerate(table.shape(address).terms):
        if any(atom in body.variables for atom, _ in terms):
            if memory.splits[d].factor < memory.shape[d]:
                return False
            moving = True
    return moving


def _switched(body: Body, node: int) -> bool:
    """In a flattened nest: it does not move with the innermost loop, and its bank is not known."""
    if len(body.variables) < 2:
        return False
    shape = body.addresses.shape(body.graph.address[node])
    return body.variables[-1] not in shape.variables and not shape.known_bank


def _keep_order_of_final_stores(body: Body) -> None:
    """A store comes after earlier accesses that may be to its element."""
    graph, table = body.graph, body.addresses
    if not graph.mixed:
        return
    several: dict[int, set[int]] = {}
    for n in body.nodes:
        if graph.address[n] >= 0:
            shape = table.shape_of[graph.address[n]]
            several.setdefault(table.shapes[shape].memory, set()).add(shape)
    if all(len(shapes) == 1 for shapes in several.values()):
        return
    accesses = {m: Accesses(table) for m, shapes in several.items() if len(shapes) > 1}
    for n in body.nodes:
        if (a := graph.address[n]) >= 0 and (memory := table.shape(a).memory) in accesses:
            accesses[memory].append(n, a)
    for address, store in (*body.store_value.items(), *body.conditional.items()):
        met = accesses.get(table.shape(address).memory)
        for n in () if met is None else met.may_meet(address):
            if n < store:
                connect(body, n, store, 0 if graph.kind[n] == LOAD else 1)


def shares_unseen(body: Body, address: int) -> bool:
    """Elements of one bank that differ in this address cannot be told apart by the tool.

    That is so in an array of two or more dimensions whose last one is split and moves.
    """
    shape, memory = body.addresses.shape(address), body.addresses.memory(address)
    if len(memory.shape) < 2 or memory.in_registers:
        return False
    return memory.splits[-1].factor > 1 and bool(shape.terms[-1])


def _serialise(body: Body) -> None:
    """Elements of one bank that are loaded and stored, where the tool cannot tell them apart: the
    next one is loaded after the one before is stored.
    """
    graph, table = body.graph, body.addresses
    groups: dict[tuple[int, object], list[int]] = {}
    for address in graph.stores:
        if address not in body.store_value or address not in graph.loads:
            continue
        if not shares_unseen(body, address) or body.kept_out[graph.loads[address]]:
            continue
        memory = table.shape(address).memory
        groups.setdefault((memory, table.residues[address]), []).append(address)
    for members in groups.values():
        for a, b in itertools.pairwise(members):
            # What the program loads before it computes the value to store does not wait for it.
            if graph.loads[b] > graph.stores[a]:
                connect(body, body.store_value[a], graph.loads[b], STORE_STATES)
