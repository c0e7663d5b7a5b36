"""LUT terms of scheduled bodies: multiplexers, banks, addresses."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from qor_gnn.graph import LOAD, STORE
from qor_gnn.resource_leaves import Leaf
from qor_gnn.resource_places import selection
from qor_gnn.resource_tables import multiplexer
from qor_gnn.resource_terms import Sums

_ADDER = 7  # LUTs of an adder besides one for each bit
_NO_ADDER = 6  # of an address whose parts do not overlap

Uses = Counter[tuple[object, ...]]


def logic(leaf: Leaf, sums: Sums) -> None:
    """Add the LUT terms of one body, after its registers are known."""
    _banks(leaf, sums)
    _addresses(leaf, sums)
    for operator in leaf.body.graph.operator:
        if operator is not None and not operator.shared:
            sums.lut_fixed += operator.lut


def module_logic(own: Sequence[Leaf], sums: Sums) -> None:
    """Add the LUT terms that the bodies of one module share."""
    _operands(own, sums)
    uses: Uses = Counter()
    if len(own) == 1:
        body = own[0].body
        for n in own[0].accesses():
            for port, _ in body.ports[n]:
                uses[body.port_keys[port]] += 1
    else:
        _merged_ports(own, uses)
    for key, count in uses.items():
        if count > 1:
            stores = key[1] == STORE
            name = "port_writes" if stores else "port_reads"
            sums.lut[name] += (2 if stores else 1) * multiplexer(count + 1)


def _operands(own: Sequence[Leaf], sums: Sums) -> None:
    """In front of each operand of a unit.

    It has an input for each register that an operand comes from; in a pipeline, where registers
    move with their iteration, for each operation.
    """
    inputs: dict[tuple[str, int, int], set[object]] = defaultdict(set)
    for number, leaf in enumerate(own):
        if leaf.pipelined:
            _operands_by_count(leaf, sums)
            continue
        graph, start = leaf.body.graph, leaf.times.start
        period, register = leaf.period, leaf.register
        taken: Counter[tuple[str, int]] = Counter()
        for n, operator in leaf.work:
            core = operator.core
            at = (core, start[n] % period)
            unit = taken[at] % max(1, leaf.units.get(core, 1))
            taken[at] += 1
            for position, d in enumerate(graph.deps[n]):
                inputs[core, unit, position].add(register.get(d, (number, d)))
    for sources in inputs.values():
        if len(sources) > 1:
            sums.lut["operands"] += multiplexer(len(sources) + 1)


def _operands_by_count(leaf: Leaf, sums: Sums) -> None:
    graph, start, period = leaf.body.graph, leaf.times.start, leaf.period
    if period == 1:
        return
    inputs: Counter[tuple[str, int, int]] = Counter()
    taken: Counter[tuple[str, int]] = Counter()
    for n, operator in leaf.work:
        core = operator.core
        at = (core, start[n] % period)
        unit = taken[at] % max(1, leaf.units.get(core, 1))
        taken[at] += 1
        for position in range(len(graph.deps[n])):
            inputs[core, unit, position] += 1
    for count in inputs.values():
        if count > 1:
            sums.lut["operands"] += multiplexer(count + 1)


def _merged_ports(own: Sequence[Leaf], uses: Uses) -> None:
    """Accesses of each bank class over several bodies."""
    table = own[0].body.addresses
    seen: Counter[tuple[int, str]] = Counter()
    for leaf in own:
        address, kind = leaf.body.graph.address, leaf.body.graph.kind
        for n in leaf.accesses():
            if not table.memory(address[n]).in_registers:
                seen[address[n], kind[n]] += 1
    classes = table.classes([address for address, _ in seen])
    for (address_, kind_), count in seen.items():
        memory = table.shape(address_).memory
        for where in classes[address_]:
            uses[memory, kind_, where] += count


def _banks(leaf: Leaf, sums: Sums) -> None:
    body = leaf.body
    table, graph, places = body.addresses, body.graph, leaf.places
    name = "banks_pipelined" if leaf.pipelined else "banks"
    uses = Counter([(table.shape_of[graph.address[n]], graph.kind[n]) for n in leaf.accesses()])
    for (shape, kind), count in uses.items():
        if kind == LOAD:
            sums.lut[name] += count * places[shape].selection
        elif leaf.pipelined:
            sums.lut["decoder"] += count * (places[shape].reached - 1)
    for n in (*body.hoisted, *body.carried):
        if graph.kind[n] == LOAD:
            sums.lut["banks_before"] += selection(table, graph.address[n])


def _addresses(leaf: Leaf, sums: Sums) -> None:
    """Arithmetic of each address inside a bank that differs from the others."""
    table, graph = leaf.body.addresses, leaf.body.graph
    name = "addresses_pipelined" if leaf.pipelined else "addresses"
    rows: dict[int, set[tuple[int, ...]]] = defaultdict(set)
    for address in {graph.address[n] for n in leaf.accesses()}:
        shape = table.shape_of[address]
        splits = table.memories[table.shapes[shape].memory].splits
        consts = zip(table.consts[address], splits, strict=True)
        rows[shape].add(tuple([c // s.factor for c, s in consts]))
    for shape, different in rows.items():
        splits = table.memories[table.shapes[shape].memory].splits
        added = len(splits) > 1 and splits[-1].factor == 1
        each = leaf.places[shape].bits + _ADDER if added else _NO_ADDER
        sums.lut[name] += each * len(different)
