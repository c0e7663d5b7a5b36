"""Divisions of subscripts by numbers of banks: what waits for them, and what they take.

A loop by itself over neighbours counts through the banks that it loads from. A store of it is a
switch over the banks, which stands in front of the iteration: all its loads wait for the remainder.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import gcd

from qor_gnn.body.graph import LOAD, STORE, Graph
from qor_gnn.memory.addresses import Addresses, Terms
from qor_gnn.tools.policies.indices import IndexDivision


def alap_loads(
    graph: Graph, nodes: Sequence[int], variables: tuple[str, ...], division: IndexDivision
) -> dict[int, int]:
    """The first state of loads that wait for a division."""
    counted = set(neighbours(graph, nodes, variables))
    stores = switched_stores(graph, nodes, counted)
    loads = [n for n in nodes if graph.kind[n] == LOAD]
    if stores:
        states = division.states
        if wide(graph, stores):
            both = any(_division(graph, n) for n in loads)
            states = division.unbounded_states - (0 if both else division.hidden_states)
        return dict.fromkeys(loads, states)
    divided: dict[int, list[int]] = {}
    for n in loads:
        if _unknown(graph, n) and n not in counted:
            memory = graph.addresses.shape(graph.address[n]).memory
            divided.setdefault(memory, []).append(n)
    # One by itself just runs through the banks.
    late = [n for several in divided.values() if len(several) > 1 for n in several]
    return {n: _states(graph, n, division) for n in late}


def behind_remainders(
    graph: Graph, nodes: Sequence[int], variables: Collection[str], stages: int, load: int
) -> dict[int, int]:
    """The first state of accesses whose bank only a remainder tells, which is divided in the pipeline.

    A divider of n bits has n + 4 stages, whatever it divides by. A store starts when the remainder is there. A
    load reads every bank before that, and what it delivers is selected in the state in which the remainder comes.

    Args:
        graph: with its operations; ``nodes`` are those of the loop.
        variables: its counters; what they do not move is divided in front of it.
        stages: of a divider, besides one for each bit.
        load: states of a load.
    """
    found = {}
    for n in nodes:
        if graph.address[n] < 0:
            continue
        bits = _divided_bits(graph.addresses, graph.address[n], variables)
        if bits and graph.kind[n] == LOAD:
            found[n] = max(0, bits + stages + 1 - load)
        elif bits:
            found[n] = bits + stages
    return found


def _divided_bits(table: Addresses, address: int, variables: Collection[str]) -> int:
    """Bits of the widest subscript that is divided by a number that is no power of two; 0 of none."""
    shape, memory = table.shape(address), table.memory(address)
    dims = zip(shape.terms, memory.splits, memory.shape, strict=True)
    return max(
        (
            _dividend_bits(table, terms, split.factor, variables)
            for terms, split, extent in dims
            if split.kind == "cyclic" and 1 < split.factor < extent
        ),
        default=0,
    )


def _dividend_bits(table: Addresses, terms: Terms, banks: int, variables: Collection[str]) -> int:
    """Bits of what is divided of one subscript; 0 where its bank is known, or counted.

    Counters that move it by multiples of the number of banks say nothing of the bank. A counter that steps by 1 and
    takes several values in one loop alone is not divided: a second one counts through the banks.
    """
    rest = [(str(v), k) for v, k in terms if k % banks and v in variables]
    divisor = banks // gcd(banks, *(k for _, k in rest))
    if not rest or not divisor & (divisor - 1):
        return 0
    values = {v: table.counters.get(v, (divisor + 1, 1)) for v, _ in rest}
    largest = sum((values[v][0] - 1) * values[v][1] for v, _ in rest)
    if len(rest) == 1 and largest < divisor:
        return 0
    running = [v for v in variables if table.counters.get(v, (2, 1))[0] > 1]
    if len(running) == 1 and values[rest[0][0]][1] == 1:
        return 0
    if len(rest) > 1:
        largest = sum((values[v][0] - 1) * abs(k) for v, k in rest)
    return largest.bit_length()


def quotients(graph: Graph, nodes: Sequence[int], variables: tuple[str, ...]) -> list[int]:
    """Stores behind a wide division, one for each subscript: the place in the bank is a product of 128 bits, for
    each, and one more (-1) where the loads are divided as well.
    """
    stores = switched_stores(graph, nodes, neighbours(graph, nodes, variables))
    if not stores or not wide(graph, stores):
        return []
    table = graph.addresses
    places = {
        (table.shape_of[a], *(table.consts[a][d] for d in _along(graph, n))): n
        for n in reversed(stores)
        for a in (graph.address[n],)
    }
    both = any(graph.kind[n] == LOAD and _division(graph, n) for n in nodes)
    found = sorted(places.values())
    return [*found, -1] if both else found


def switched_stores(graph: Graph, nodes: Sequence[int], counted: Collection[int]) -> list[int]:
    """Stores of a loop over neighbours whose bank along its counter only a division tells.

    Args:
        graph: with its operations; ``nodes`` are those of the loop.
        counted: its `neighbours`.
    """
    if not counted:
        return []
    stores = (n for n in nodes if graph.kind[n] == STORE)
    return [n for n in stores if divided_along(graph, n) is not None]


def divided_along(graph: Graph, node: int) -> int | None:
    """The dimension along the counter whose bank only a division tells; None where there is none."""
    divided = {d for d, _ in _remainders(graph.addresses, graph.address[node])}
    return next((d for d in _along(graph, node) if d in divided), None)


def neighbours(graph: Graph, nodes: Sequence[int], variables: tuple[str, ...]) -> list[int]:
    """Loads of a loop by itself, along its counter: of elements in a row, more than it steps by."""
    if len(variables) != 1:
        return []
    table = graph.addresses
    rows: dict[tuple[int, ...], list[int]] = {}
    for n in nodes:
        if graph.kind[n] == LOAD:
            a = graph.address[n]
            for d in _along(graph, n):
                beside = (*table.consts[a][:d], *table.consts[a][d + 1 :])
                rows.setdefault((d, table.shape_of[a], *beside), []).append(n)
    found = []
    for (d, shape, *_), loads in rows.items():
        places = {table.consts[graph.address[n]][d] for n in loads}
        steps = [abs(c) for v, c in table.shapes[shape].terms[d] if v == variables[0]]
        if steps and max(places) - min(places) + 1 == len(places) > steps[0]:
            found += loads
    return found


def wide(graph: Graph, stores: Sequence[int]) -> bool:
    """The tool knows no bound of the subscripts: the loop can end between its copies."""
    table = graph.addresses
    return any(
        table.blurs(table.shape(graph.address[n]).terms[d])
        for n in stores
        for d in _along(graph, n)
    )


def _along(graph: Graph, node: int) -> list[int]:
    """Dimensions that a loop may have to divide for: the only one, or those of which it knows no bound."""
    shape = _shape(graph, node)
    if len(shape) <= 1:
        return [*range(len(shape))]
    terms = graph.addresses.shape(graph.address[node]).terms
    return [d for d, t in enumerate(terms) if graph.addresses.blurs(t)]


def _shape(graph: Graph, node: int) -> tuple[int, ...]:
    return graph.addresses.memory(graph.address[node]).shape


def _division(graph: Graph, node: int) -> bool:
    """Of a dimension whose banks are not known the number is no power of two."""
    return any(True for _ in _remainders(graph.addresses, graph.address[node]))


def _unknown(graph: Graph, node: int) -> bool:
    """Only a division tells its bank: of a number of banks that is a power of two it is bits of the index."""
    address = graph.address[node]
    shape, memory = graph.addresses.shape(address), graph.addresses.memory(address)
    dims = zip(shape.terms, shape.resolved, memory.splits, memory.shape, strict=True)
    return any(
        not known
        and 1 < split.factor < extent
        and split.factor & (split.factor - 1)
        and all(c % split.factor for _, c in terms)  # else what is left to divide is narrow
        for terms, known, split, extent in dims
    )


def _states(graph: Graph, node: int, division: IndexDivision) -> int:
    """Of a division: one for each bit of a wide index but the last two."""
    extent = max(graph.addresses.memory(graph.address[node]).shape)
    return max(division.states, (extent - 1).bit_length() - 2)


def rows_divided(graph: Graph, inner: str) -> bool:
    """Only a division tells in which bank of an array's rows a loop is that updates the array: the tool
    divides in the loop around, which is flattened no more.

    Args:
        graph: the operations of an iteration.
        inner: the counter of the innermost loop.
    """
    table, arrays = graph.addresses, updated(graph)
    return any(
        terms[0][0] != inner
        for a in {a for a in graph.address if a >= 0 and table.shape(a).memory in arrays}
        for _, terms in _remainders(table, a)
        if len(terms) == 1
    )


def divides(table: Addresses, address: int, variables: Collection[str]) -> bool:
    """Only a division of what a body with these counters moves tells the bank of an access."""
    return any(v in variables for _, terms in _remainders(table, address) for v, _ in terms)


def updated(graph: Graph) -> set[int]:
    """Arrays of which other elements are loaded than those that are stored."""
    table = graph.addresses
    stored = {*graph.stores, *graph.conditional}
    stored |= {a for a, kind in zip(graph.address, graph.kind, strict=True) if kind == STORE}
    memories = {table.shape(a).memory for a in stored}
    return {m for a in graph.loads if a not in stored and (m := table.shape(a).memory) in memories}


def _remainders(table: Addresses, address: int) -> Iterator[tuple[int, Terms]]:
    """Dimensions whose bank is not known, and what moves them, if their number of banks is no power of two."""
    shape, memory = table.shape(address), table.memory(address)
    dims = zip(shape.terms, shape.resolved, memory.splits, memory.shape, strict=True)
    for d, (terms, known, split, extent) in enumerate(dims):
        if not known and split.factor < extent and split.factor & (split.factor - 1):
            yield d, terms
