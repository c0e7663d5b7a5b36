"""FF terms of a scheduled body: what is kept from one state to the next.

A value is in a register from the state in which it is there until the last one that takes it. Values
of one source (a port of a bank, a kind of unit) share registers where they are not alive together,
and so do the bodies of a module.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from math import prod

from qor_gnn.area.access_places import bank_rotates, word
from qor_gnn.area.bank_remainders import remainders
from qor_gnn.area.modules import Leaf, stored_apart
from qor_gnn.area.speculation import speculated
from qor_gnn.area.terms import Sums
from qor_gnn.body.bank_divisions import divides, quotients, updated
from qor_gnn.body.longest_paths import register_paths
from qor_gnn.schedule.bank_switches import switch_stores

Pools = dict[tuple[object, ...], float]
"""Flip-flops by term and by what shares them."""

_SHIFT = 64  # flip-flops of a shift register besides its first word, whatever the width
_KEPT = 2  # iterations from which on a value is in a shift register
_AHEAD = 2  # results of a reduction's terms that wait, besides those of the units
_TERMS = 4


@dataclass(slots=True)
class _Pool:
    """Values of one source: operations with when they are there and until when."""

    bits: int
    nodes: list[int] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)

    def assign(self, leaf: Leaf, source: object, count: int) -> None:
        """Give the values registers by turns."""
        if leaf.overlaps:
            return  # there each operation has an input of its own
        if count <= 1:
            for n in self.nodes:
                leaf.register[n] = source
            return
        order = sorted(range(len(self.nodes)), key=lambda k: self.spans[k][0])
        for rank, k in enumerate(order):
            leaf.register[self.nodes[k]] = (source, rank % count)


def registers(leaf: Leaf, sums: Sums, shared: Pools) -> None:
    """Add the FF terms of one body; ``shared`` is that of its function."""
    early = speculated(leaf)
    _results(leaf, sums, shared, early)
    _logic_results(leaf, sums)
    _loads(leaf, sums, shared, early)
    _store_addresses(leaf, sums)
    if not leaf.pipelined:
        switches = switch_stores(leaf.body)
        if len(switches) > 1:
            sums.ff["switch"] += len(switches)


def keep(shared: Pools, key: tuple[object, ...], amount: float) -> None:
    """Registers that several bodies share: as many as the body that needs most."""
    shared[key] = max(shared.get(key, 0.0), amount)


def alive(leaf: Leaf, spans: list[tuple[int, int]]) -> int:
    """The most spans that hold at once; in a pipeline, at once in a state of the interval."""
    if len(spans) == 1:
        return 1
    changes: dict[int, int] = defaultdict(int)
    if leaf.pipelined:
        period = leaf.period
        for a, b in spans:
            for t in range(a, min(b, a + period)):
                changes[t % period] += 1
        return max(changes.values(), default=0)
    for a, b in spans:
        changes[a] += 1
        changes[b] -= 1
    most = now = 0
    for t in sorted(changes):
        now += changes[t]
        most = max(most, now)
    return most


def _shifted(sums: Sums, extra: int, bits: int) -> bool:
    """Count a value that is kept ``extra`` more iterations; True where it is shifted along."""
    if extra < _KEPT:
        sums.ff["later"] += bits * extra
        return False
    sums.lut["long"] += 1
    sums.ff["long"] += _SHIFT + bits
    return True


# ---------------------------------------------------------------------------------------- results


def _results(leaf: Leaf, sums: Sums, shared: Pools, early: set[int]) -> None:
    body = leaf.body
    graph, start, get = body.graph, leaf.times.start, leaf.last.get
    piped, period = leaf.pipelined, leaf.period
    pools: dict[str, _Pool] = {}
    closing = set(body.registers.values())
    widths: dict[str, int] = {}
    for n, operator in leaf.work:
        if n in closing and n not in leaf.last:
            continue  # straight into the accumulator
        if operator.gives_out and get(n, 0) <= start[n] + operator.distance:
            continue  # in a register of the slice
        # The type of what a statement stores to is taken for that of its operators' results.
        target = graph.statement[n].target.memory
        bits = widths.get(target) or widths.setdefault(target, _width(leaf, target))
        ready = start[n] + operator.distance - 1
        end = get(n, 0)
        if end <= ready:
            end = ready + 1
        extra = (end - ready - 1) // period if piped else 0
        if extra and _shifted(sums, extra, bits):
            continue
        if n in early:
            sums.ff["results"] += bits
            continue
        pool = pools.get(operator.core)
        if pool is None:
            pool = pools[operator.core] = _Pool(bits)
        pool.nodes.append(n)
        pool.spans.append((ready, end))
    held = _held(leaf)
    counts = Counter([operator.core for _, operator in leaf.work])
    for core, pool in pools.items():
        count = min(leaf.units.get(core, 0), counts[core])
        if held is None:
            count = max(count, alive(leaf, pool.spans))
        elif count < min(counts[core], _TERMS) and core not in held:
            count = min(counts[core], count + _AHEAD)
        name = "results_pipelined" if leaf.pipelined else "results"
        keep(shared, (name, leaf.module, core), pool.bits * count)
        pool.assign(leaf, core, count)


def _logic_results(leaf: Leaf, sums: Sums) -> None:
    """What logic computes (sums of integers, selections) where a later state takes it.

    Nobody shares logic, and so nobody shares its registers.
    """
    graph, start, get = leaf.body.graph, leaf.times.start, leaf.last.get
    for n in leaf.body.nodes:
        operator = graph.operator[n]
        if operator is None or operator.registered:
            continue
        kept = get(n, 0) - start[n]
        if kept <= 0:
            continue
        bits = _width(leaf, graph.statement[n].target.memory)
        extra = (kept - 1) // leaf.period if leaf.pipelined else 0
        if not (extra and _shifted(sums, extra, bits)):
            sums.ff["results_pipelined" if leaf.pipelined else "results"] += bits


def _width(leaf: Leaf, name: str) -> int:
    return next(word(memory) for memory in leaf.body.addresses.memories if memory.name == name)


def _held(leaf: Leaf) -> set[str] | None:
    """In a sequential reduction terms are held back: the cores of the chain; None elsewhere."""
    if leaf.pipelined or not leaf.body.registers:
        return None
    paths = register_paths(leaf.body)
    operators = leaf.body.graph.operator
    chained = {o.core for _, _, path in paths for n in path if (o := operators[n]) is not None}
    return chained if paths else None


# ------------------------------------------------------------------------------------------ loads


def _loads(leaf: Leaf, sums: Sums, shared: Pools, early: set[int]) -> None:
    if leaf.counts and len(leaf.body.variables) == 1:
        return  # stored in the state in which the port delivers it
    body, table, start = leaf.body, leaf.body.addresses, leaf.times.start
    address, shape_of, places, ports = body.graph.address, table.shape_of, leaf.places, body.ports
    get, piped, period = leaf.last.get, leaf.pipelined, leaf.period
    pools: dict[int, _Pool] = {}
    selected: list[int] = []
    rows: set[int] = set()
    late = remainders(leaf)
    for n in leaf.loads():
        place = places[shape_of[address[n]]]
        at_once = not place.complete and get(n, 0) == start[n] + 1
        if place.reached <= 1 and (place.single or at_once):
            continue  # the register of the element itself, or of a slice that takes it in at once
        bits = place.word
        if place.complete and not place.single:
            sums.ff["selected_complete"] += bits
            rows.add(address[n])
            continue
        ready = max(start[n], late.beside.get(n, 0)) + 1
        end = get(n, 0)
        if end <= ready:
            end = ready + 1
        extra = (end - ready - 1) // period if piped else 0
        shifted = extra > 0 and _shifted(sums, extra, bits)
        if place.reached > 1:
            selected.append(n)
            if piped and _stays(leaf, address[n]):
                banks = table.memory(address[n]).banks
                sums.ff["selected"] += bits * banks  # of each, a state before
            if not shifted:
                sums.ff["selected"] += bits * place.selections
        elif n in early:
            sums.ff["loaded"] += bits
        elif not shifted:
            for port, _ in ports[n]:
                pool = pools.get(port)
                if pool is None:
                    pool = pools[port] = _Pool(bits)
                pool.nodes.append(n)
                pool.spans.append((ready, end))
    for row in rows - stored_apart(leaf, rows):
        _elements(leaf, row, shared)
    name = "loaded_pipelined" if leaf.pipelined else "loaded"
    for port, pool in pools.items():
        which, _, where = body.port_keys[port]
        count = 1 if len(pool.spans) == 1 else alive(leaf, pool.spans)
        keep(shared, (name, leaf.module, which, where), pool.bits * count)
        pool.assign(leaf, (which, where), count)
    if late.words:
        sums.ff[name] += late.words * places[shape_of[address[min(late.loads)]]].word
    _split(leaf, [n for n in selected if n not in late.loads], sums)


def _stays(leaf: Leaf, address: int) -> bool:
    """A load of the loop, under a guard, whose subscripts do not move with it.

    What a flattened nest loads around its innermost loop is under a guard as well.
    """
    body = leaf.body
    if body.personality.guards.loads == "hoisted":
        return False
    moving = body.addresses.shape(address).variables
    if len(body.variables) > 1 and moving.isdisjoint(body.variables[-1:]):
        return True
    return bool(body.graph.guards[address]) and moving.isdisjoint(body.variables)


def _elements(leaf: Leaf, address: int, shared: Pools) -> None:
    """The registers of the elements that a load is selected from."""
    table = leaf.body.addresses
    which, memory = table.shapes[table.shape_of[address]].memory, table.memory(address)
    if leaf.body.personality.registers.elements == "module":
        keep(shared, ("complete", leaf.module, which), word(memory) * memory.banks)
        return
    dimensions = list(zip(table.consts[address], memory.splits, memory.shape, strict=True))
    row = tuple([c for c, split, extent in dimensions if split.factor < extent])
    elements = prod(split.factor for _, split, extent in dimensions if split.factor >= extent)
    keep(shared, ("complete", row, which), word(memory) * elements)


def _split(leaf: Leaf, selected: list[int], sums: Sums) -> None:
    """Loads that could have come earlier from some bank: every bank's value is kept."""
    early = leaf.body.personality.registers.waiting_addresses and leaf.pipelined and leaf.period > 1
    arrays = updated(leaf.body.graph) if early else set()
    several = [n for n in selected if leaf.times.start[n] > 0 and len(leaf.body.ports[n]) > 1]
    if leaf.pipelined and leaf.period > 1 and several:
        assert leaf.region.times is not None
        scheduled = leaf.region.times.start
        # An old value that waits is loaded later, not selected later.
        several = [n for n in several if leaf.times.start[n] == scheduled[n]]
    if not several:
        return
    start, ports, table = leaf.times.start, leaf.body.ports, leaf.body.addresses
    first_free: dict[int, int] = {}
    busy = {(port, start[n]) for n in leaf.loads() for port, _ in ports[n]}
    for port in {port for n in several for port, _ in ports[n]}:
        at = 0
        while (port, at) not in busy:
            at += 1
        first_free[port] = at  # free before it
    for n in several:
        address = leaf.body.graph.address[n]
        own = table.shape(address).memory in arrays
        if own and not divides(table, address, leaf.body.variables):
            continue  # it is known in time
        if any(first_free[port] >= start[n] for port, _ in ports[n]):
            place = leaf.places[table.shape_of[address]]
            sums.ff["split"] += place.word * (min(len(ports[n]), place.reached) - 1)


# -------------------------------------------------------------------------------------- addresses


def _store_addresses(leaf: Leaf, sums: Sums) -> None:
    """From where the address is first needed, which is the load of the element, to the store."""
    graph, table = leaf.body.graph, leaf.body.addresses
    assert leaf.region.times is not None
    scheduled = leaf.region.times.start
    loaded = {graph.address[n]: scheduled[n] for n in leaf.loads()}
    body, policy = leaf.body, leaf.body.personality.registers
    shifted = policy.shifted == "flip_flops"
    shifted = shifted or -1 in quotients(graph, body.nodes, body.variables)
    sums.ff["addresses"] += _load_addresses(leaf)
    for n in leaf.stores():
        address = graph.address[n]
        place = leaf.places[table.shape_of[address]]
        if place.single:
            continue
        bits, count = place.address_register(table.consts[address]), place.reached
        # What is loaded again behind the store has no address that waits.
        waits = max(0, scheduled[n] - loaded.get(address, 0))
        extra = waits // leaf.period if leaf.pipelined else 0
        # Where every dimension that moves has banks of its own, the address in them stands.
        stands = leaf.pipelined and place.complete and address not in loaded
        if extra < _KEPT:
            sums.ff["addresses"] += 0 if stands else count * bits * (1 + extra)
        elif shifted:
            sums.lut["long"] += count
            sums.ff["long"] += count * (_SHIFT + bits)
        elif not stands:
            once = address in loaded and len(table.memory(address).shape) == 1
            if once:
                sums.ff["addresses"] += _counted(leaf, n, loaded[address])
            elif address in loaded:
                sums.ff["long"] += count * (_SHIFT + bits)
            sums.lut["long"] += 1 if once else count


def _counted(leaf: Leaf, store: int, scheduled: int) -> int:
    """Flip-flops of the counter until an old value is loaded late, and of its address in each bank from
    then until the store.
    """
    graph, at, period = leaf.body.graph, leaf.times.start, leaf.period
    address = graph.address[store]
    late = at.get(graph.loads[address], 0)
    if period == 1 or late <= scheduled:
        return 0
    place = leaf.places[leaf.body.addresses.shape_of[address]]
    counter = place.bits + (place.reached - 1).bit_length()
    addresses = place.reached * place.bits
    return counter * (1 + late // period) + addresses * (1 + (at[store] - late) // period)


def _load_addresses(leaf: Leaf) -> int:
    """Flip-flops of addresses that wait for their loads, in each bank that a load may be in.

    Blocks of code have them, and pipelines that do not start in each state, of an array that they
    update as well: where copies cannot be compared, or where a remainder tells the bank.
    """
    body = leaf.body
    table, address, blocks = body.addresses, body.graph.address, body.in_blocks
    if leaf.region.outlined and blocks:
        places = (leaf.places[table.shape_of[address[n]]] for n in leaf.loads())
        return sum(place.bits for place in places if not place.single)
    if not (body.personality.registers.waiting_addresses and leaf.pipelined and leaf.period > 1):
        return 0
    total, arrays = 0, updated(body.graph)
    for n in leaf.loads():
        place = leaf.places[table.shape_of[address[n]]]
        if table.shape(address[n]).memory not in arrays or place.single or place.complete:
            continue
        if blocks or bank_rotates(table, address[n], leaf.steps):
            total += place.bits * place.reached
    return total
