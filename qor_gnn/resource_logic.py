"""LUT terms of scheduled bodies: multiplexers, banks, addresses."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from qor_gnn.graph import LOAD, STORE
from qor_gnn.resource_leaves import Leaf
from qor_gnn.resource_places import address_bits, reached, selection
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
        graph, start, piped = leaf.body.graph, leaf.times.start, leaf.pipelined
        operators, period, register = graph.operator, leaf.period, leaf.register
        taken: Counter[tuple[str, int]] = Counter()
        for n in leaf.body.nodes:
            operator = operators[n]
            if operator is None or not operator.shared:
                continue
            core = operator.core
            at = (core, start[n] % period)
            unit = taken[at] % max(1, leaf.units.get(core, 1))
            taken[at] += 1
            for position, d in enumerate(graph.deps[n]):
                source = (number, n) if piped else register.get(d, (number, d))
                inputs[core, unit, position].add(source)
    for sources in inputs.values():
        if len(sources) > 1:
            sums.lut["operands"] += multiplexer(len(sources) + 1)


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
    table, graph = body.addresses, body.graph
    name = "banks_pipelined" if leaf.pipelined else "banks"
    found: dict[int, tuple[float, int]] = {}
    for n in leaf.accesses():
        address = graph.address[n]
        shape = table.shape_of[address]
        if shape not in found:
            found[shape] = (selection(table, address), reached(table, address))
        cost, count = found[shape]
        if graph.kind[n] == LOAD:
            sums.lut[name] += cost
        elif leaf.pipelined:
            sums.lut["decoder"] += count - 1
    for n in (*body.hoisted, *body.carried):
        if graph.kind[n] == LOAD:
            sums.lut["banks_before"] += selection(table, graph.address[n])


def _addresses(leaf: Leaf, sums: Sums) -> None:
    """Arithmetic of each address inside a bank that differs from the others."""
    table, graph = leaf.body.addresses, leaf.body.graph
    name = "addresses_pipelined" if leaf.pipelined else "addresses"
    seen: set[tuple[int, tuple[int, ...]]] = set()
    for n in leaf.accesses():
        address = graph.address[n]
        splits = table.memory(address).splits
        consts = table.consts[address]
        rows = tuple([c // s.factor for c, s in zip(consts, splits, strict=True)])
        key = (table.shape_of[address], rows)
        if key in seen:
            continue
        seen.add(key)
        added = len(splits) > 1 and splits[-1].factor == 1
        sums.lut[name] += address_bits(table, address) + _ADDER if added else _NO_ADDER
