"""LUT terms of scheduled bodies: multiplexers, banks, addresses."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import lcm

from qor_gnn.area.access_places import bank_rotates, banks_of, selection
from qor_gnn.area.modules import Leaf
from qor_gnn.area.multiplexers import ADDER, multiplexer
from qor_gnn.area.terms import Sums
from qor_gnn.area.ternary_adders import three_operands
from qor_gnn.body.graph import LOAD, STORE
from qor_gnn.body.ports import ANY
from qor_gnn.memory.addresses import Residues, bank_classes

_PORTS = 2  # of a bank
_NO_ADDER = 6  # of an address whose parts do not overlap

Accesses = Counter[tuple[int, str, Residues]]
"""Loads and stores by memory, kind, and what is known of the bank."""

_SECOND = "second"  # kind of use: a bank's second port, which is read
_SECOND_PORT = 20  # LUTs of that, besides its multiplexer

Slot = tuple[str, int, int]
"""A core, the number of a unit of it, and an operand's position."""


def logic(leaf: Leaf, sums: Sums) -> None:
    """Add the LUT terms of one body, after its registers are known."""
    _banks(leaf, sums)
    _addresses(leaf, sums)
    graph = leaf.body.graph
    alone = [n for n, o in enumerate(graph.operator) if o is not None and not o.shared]
    taken = set(leaf.body.registers.values()).union(*graph.deps) if alone else set()
    for n in alone:
        operator = graph.operator[n]
        # A selection of which only the guarded store was left is the guard of the store.
        if operator is not None and n in taken:
            sums.lut_fixed += operator.lut
    sums.lut_fixed -= three_operands(leaf)


def module_logic(own: Sequence[Leaf], sums: Sums) -> None:
    """Add the LUT terms that the bodies of one module share."""
    _operands(own, sums)
    if len(own) == 1:
        uses = port_uses(own[0])
    elif own[0].body.personality.multiplexers.inputs == "source":
        _ports_by_address(own, sums)
        return
    else:
        uses = bank_uses(accesses_of(own))
    for name, amount in port_multiplexers(uses):
        sums.lut[name] += amount


def _ports_by_address(own: Sequence[Leaf], sums: Sums) -> None:
    """Ports that several bodies use have an input for each address, and for each register that is stored:
    copies of a block give the same ones.
    """
    addresses: set[tuple[int, str, int, Residues]] = set()
    values: set[tuple[int, str, object, Residues]] = set()
    for number, leaf in enumerate(own):
        table, graph = leaf.body.addresses, leaf.body.graph
        for n in leaf.accesses():
            address, kind = graph.address[n], graph.kind[n]
            memory, where = table.shape(address).memory, table.residues[address]
            if table.memories[memory].in_registers:
                continue
            addresses.add((memory, kind, address, where))
            for d in graph.deps[n] if kind == STORE else ():
                values.add((memory, kind, leaf.register.get(d, (number, d)), where))
    for inputs in (addresses, values):
        seen: Accesses = Counter((memory, kind, where) for memory, kind, _, where in inputs)
        for (kind, _), count in bank_uses(seen).items():
            if count > 1:
                name = "port_writes" if kind == STORE else "port_reads"
                sums.lut[name] += multiplexer(count + 1)


def port_multiplexers(uses: Mapping[tuple[str, object], int]) -> Iterator[tuple[str, float]]:
    """Terms and LUTs of ports by kind of access, that are used so often."""
    for (kind, _), count in uses.items():
        if kind == _SECOND:
            yield "port_reads", _SECOND_PORT * count
        elif count > 1:
            stores = kind == STORE
            name = "port_writes" if stores else "port_reads"
            yield name, (2 if stores else 1) * multiplexer(count + 1)


def _operands(own: Sequence[Leaf], sums: Sums) -> None:
    """In front of each operand of a unit.

    It has an input for each register that an operand comes from; for each operation in a pipeline,
    where registers move with their iteration, and where blocks of code share none. Several operations
    that take one value have one input where the tool merges them (`Multiplexers.inputs`).
    """
    inputs: dict[Slot, set[object]] = defaultdict(set)
    for number, leaf in enumerate(own):
        if leaf.overlaps or (leaf.region.outlined and _parted(leaf)):
            _operands_by_count(leaf, sums)
            continue
        for slot, d in operand_slots(leaf):
            inputs[slot].add(leaf.register.get(d, (number, d)))
    for sources in inputs.values():
        if len(sources) > 1:
            sums.lut["operands"] += multiplexer(len(sources) + 1)


def _parted(leaf: Leaf) -> bool:
    """Operations are in blocks of code of their own: guarded, or in copies that cannot be compared."""
    conditional = leaf.body.graph.conditional.values()
    return leaf.body.in_blocks or any(c.when == "guarded" for c in conditional)


def operand_slots(leaf: Leaf) -> Iterator[tuple[Slot, int]]:
    """The operands of a body's operations: where each goes, and what makes it."""
    graph, start, period = leaf.body.graph, leaf.times.start, leaf.period
    taken: Counter[tuple[str, int]] = Counter()
    for n, operator in leaf.work:
        core = operator.core
        at = (core, start[n] % period)
        unit = taken[at] % max(1, leaf.units.get(core, 1))
        taken[at] += 1
        for position, d in enumerate(graph.deps[n]):
            yield (core, unit, position), d


def _operands_by_count(leaf: Leaf, sums: Sums) -> None:
    if leaf.period == 1:
        return
    slots = operand_slots(leaf)
    merged = leaf.body.personality.multiplexers.inputs == "source"
    inputs = set(slots) if merged else slots
    for count in Counter(slot for slot, _ in inputs).values():
        if count > 1:
            sums.lut["operands"] += multiplexer(count + 1)


def port_uses(leaf: Leaf) -> Counter[tuple[str, object]]:
    """How often each port is used in a body that has its module to itself.

    An access whose bank is a remainder that changes from one iteration to the next uses a port of
    each bank that it may go to, also where the tool knows that no two accesses meet.
    """
    body = leaf.body
    graph, table = body.graph, body.addresses
    used = {table.shape_of[graph.address[n]]: graph.address[n] for n in leaf.accesses()}
    rotate = body.personality.banks.rotating
    rotating = {s for s, a in used.items() if rotate and bank_rotates(table, a, leaf.steps)}
    apart = competing(leaf)
    uses: Counter[tuple[str, object]] = Counter()
    for n in leaf.accesses():
        address = graph.address[n]
        if (shape := table.shape_of[address]) in apart and graph.kind[n] == LOAD:
            continue
        if shape in rotating:
            for banks in product(*banks_of(table, address, leaf.steps)):
                uses[graph.kind[n], (table.shapes[shape].memory, banks)] += 1
            continue
        for port, _ in body.ports[n]:
            memory, name, where = body.port_keys[port]
            uses[name, (memory, where)] += 1
    if body.personality.multiplexers.ports_apart:
        _apart(leaf, uses)
    return uses


def _apart(leaf: Leaf, uses: Counter[tuple[str, object]]) -> None:
    """Give each port of a bank what it is used for: a load and a store have one each, loads of one state
    both ports by turns.
    """
    body = leaf.body
    at_once: dict[object, Counter[int]] = defaultdict(Counter)
    for n in leaf.loads():
        for port, _ in body.ports[n]:
            memory, name, where = body.port_keys[port]
            at_once[memory, where][leaf.times.start[n] % leaf.period] += name == LOAD
    for kind, bank in [key for key in uses if key[0] == ANY]:
        loads, stores = uses[LOAD, bank], uses[STORE, bank]
        if stores and max(loads, stores) > 1:
            continue
        del uses[kind, bank]
        if loads > 1 and max(at_once[bank].values()) > 1:
            uses[LOAD, bank] = -(-loads // 2)
            uses[LOAD, (bank, _SECOND)] = loads // 2
            uses[_SECOND, bank] = 1


def competing(leaf: Leaf) -> set[int]:
    """Shapes of loads of which any bank may take more than it has ports, in a pipeline that starts in each
    state: no state tells them apart there, but what is decoded of each load's remainder.
    """
    each = leaf.body.personality.multiplexers.banks == "each"
    if not (each and leaf.pipelined and leaf.period == 1):
        return set()
    table, address = leaf.body.addresses, leaf.body.graph.address
    loads = [a for n in leaf.loads() if len(table.memory(a := address[n]).shape) > 1]
    shapes = {table.shape_of[a]: a for a in loads}
    rotating = {s for s, a in shapes.items() if bank_rotates(table, a, leaf.steps)}
    uses: Counter[tuple[int, tuple[int, ...]]] = Counter()
    for a in loads:
        if (shape := table.shape_of[a]) in rotating:
            uses.update((shape, banks) for banks in product(*banks_of(table, a, leaf.steps)))
    return {shape for (shape, _), count in uses.items() if count > _PORTS}


def accesses_of(own: Iterable[Leaf]) -> Accesses:
    """Accesses to memories in several bodies."""
    seen: Accesses = Counter()
    for leaf in own:
        table, graph = leaf.body.addresses, leaf.body.graph
        for n in leaf.accesses():
            address = graph.address[n]
            memory = table.shapes[table.shape_of[address]].memory
            if not table.memories[memory].in_registers:
                seen[memory, graph.kind[n], table.residues[address]] += 1
    return seen


def bank_uses(seen: Accesses) -> Counter[tuple[str, object]]:
    """How often each bank class is used: as fine as the finest access needs."""
    finest: dict[int, list[int]] = {}
    for memory, _, residues in seen:
        known = finest.setdefault(memory, [1] * len(residues))
        for d, (g, _) in enumerate(residues):
            known[d] = lcm(known[d], g)
    uses: Counter[tuple[str, object]] = Counter()
    for (memory, kind, residues), count in seen.items():
        for where in bank_classes(finest[memory], residues):
            uses[kind, (memory, where)] += count
    return uses


def _banks(leaf: Leaf, sums: Sums) -> None:
    body = leaf.body
    table, graph, places = body.addresses, body.graph, leaf.places
    name = "banks_pipelined" if leaf.pipelined else "banks"
    uses = Counter([(table.shape_of[graph.address[n]], graph.kind[n]) for n in leaf.accesses()])
    apart = competing(leaf)
    for (shape, kind), count in uses.items():
        if kind == LOAD:
            sums.lut[name] += count * places[shape].selection
            if shape in apart:
                sums.lut["decoder"] += count * places[shape].decoded
        elif leaf.pipelined:
            sums.lut["decoder"] += count * places[shape].decoded
    for n in (*body.hoisted, *body.carried):
        if graph.kind[n] == LOAD:
            sums.lut["banks_before"] += selection(table, graph.address[n], leaf.steps)


def _addresses(leaf: Leaf, sums: Sums) -> None:
    """Arithmetic of each address inside a bank that differs from the others."""
    if leaf.counts:
        return
    if leaf.body.in_blocks:
        sums.lut_fixed += _each_address(leaf)
        return
    table, graph = leaf.body.addresses, leaf.body.graph
    name = "addresses_pipelined" if leaf.pipelined else "addresses"
    rows: dict[int, set[tuple[int, ...]]] = defaultdict(set)
    for address in {graph.address[n] for n in leaf.accesses()}:
        shape = table.shape_of[address]
        splits = table.memories[table.shapes[shape].memory].splits
        consts = zip(table.consts[address], splits, strict=True)
        rows[shape].add(tuple([c // s.factor for c, s in consts]))
    for shape, different in rows.items():
        if not any(table.shapes[shape].terms):
            continue  # constants
        splits = table.memories[table.shapes[shape].memory].splits
        added = len(splits) > 1 and splits[-1].factor == 1
        each = leaf.places[shape].bits + ADDER if added else _NO_ADDER
        sums.lut[name] += each * len(different)


def _each_address(leaf: Leaf) -> int:
    """LUTs of addresses that each copy computes for itself, where it wants them: the offset of a
    subscript, the sum of row and column, and once in a copy the product of a row with its length.
    """
    table, graph, moving = leaf.body.addresses, leaf.body.graph, set(leaf.body.variables)
    loaded = [graph.address[n] for n in leaf.loads()]
    stored = {graph.address[n] for n in leaf.stores()}.difference(loaded)
    inner = leaf.region.loops[-1]
    total, offsets, rows = 0, set(), set()
    for address in (*loaded, *stored):
        shape, memory = table.shape(address), table.memory(address)
        if memory.in_registers:
            continue
        width, words = leaf.places[table.shape_of[address]].bits + ADDER, 1
        for d in reversed(range(len(memory.shape))):
            terms, const = shape.terms[d], table.consts[address][d]
            own = any(atom == inner.iv for atom, _ in terms)
            if any(atom in moving for atom, _ in terms) and const:
                offsets.add((terms, const, memory.shape[d]))
            if terms and words & (words - 1):
                rows.add((shape.memory, terms, const, words, width, own))
            words *= memory.splits[d].words(memory.shape[d])
        total += width * (len(memory.shape) > 1)
    total += sum(width * (1 if own else inner.factor) for *_, width, own in rows)
    return total + sum(extent.bit_length() + ADDER for _, _, extent in offsets)
