"""Updates in place of elements that data tell: ``h[x[i]] += 1``, a histogram.

The next iteration may update the same element, before this one has stored it. Vitis HLS keeps the last element's
address and value in registers beside the memory, compares the next address with the one kept, and selects. So an
iteration waits for the value, not for the store; only the one after it reads the memory again (rule I20 in
docs/reference/qor-rules.md). One element is kept, of an array that a body updates in one place and in every iteration.
"""

from __future__ import annotations

from collections.abc import Sequence

from qor_gnn.body.body import Body
from qor_gnn.body.graph import STORE_STATES
from qor_gnn.design.region import Memory
from qor_gnn.memory.made_of import made_of
from qor_gnn.schedule.intervals.chained_states import ChainedStates
from qor_gnn.tools.delays import Delays, delays_of


def through_memory(
    body: Body, chained: ChainedStates, ends: tuple[int, int], path: Sequence[int]
) -> int:
    """States from a load at a place that data tell to the end of the store of what is computed of it.

    Combinational operators run in the state in which the word comes out of the memory, and so does the store,
    where all of it fits into the usable part of the period.

    Args:
        body: of the loop.
        chained: its combinational operators.
        ends: the load, and the value that is stored.
        path: the operators between, the slowest way.
    """
    load, value = ends
    own, states = body.personality, sum(map(body.graph.states, path))
    if states:
        waited = own.latencies.states - 1  # what operators already wait besides their latency
        registered = max(own.recurrences.memory, own.accesses.load + STORE_STATES - waited)
        return max(states, chained.between(load, path[-1])) + registered
    memory, delays = _memory(body, load), delays_of(own)
    if delays is None or own.is_open:
        return chained.between(load, value) + own.accesses.load + STORE_STATES
    there = delays.load(made_of(memory, own))
    return chained.stored(load, value, there, there) + own.accesses.load


def kept_value(
    body: Body, chained: ChainedStates, ends: tuple[int, int], path: Sequence[int]
) -> int:
    """States from a value that is kept to the next one, computed of it behind a selection."""
    own = body.personality
    load, value = ends
    states = sum(map(body.graph.states, path))
    if not states:
        delays = delays_of(own)
        selection = 0.0 if delays is None else _selection(body, load, delays)
        return 1 + chained.stored(load, value, selection, 0.0)
    closing = own.recurrences.closing if len(path) == 1 else 0
    return max(1, states - closing) + selection_state(body, load, path)


def selection_state(body: Body, load: int, path: Sequence[int]) -> int:
    """The state of the selection between a kept value and what is loaded: 0 where an operator has it in its own.

    Args:
        body: of the loop.
        load: what is loaded.
        path: what is behind it, some of which has states. Where that is only a table that is looked up, whose address
            is registered, the selection is in the state of the address.
    """
    own, operators = body.personality, body.graph.operator
    first = next((o for n in path if (o := operators[n]) is not None and o.distance), None)
    delays = delays_of(own)
    stage = 0.0 if delays is None or first is None else delays.stage(first.core)
    if delays is None or not stage:
        return 0
    return int(_selection(body, load, delays) + stage > own.usable_ns)


def is_kept(body: Body, stored: int) -> bool:
    """Whether the tool keeps what an iteration stores at an address for the load of the next one.

    What is stored once more in the last iteration of an inner loop has no later load in it.
    """
    graph, table = body.graph, body.addresses
    conditional = graph.conditional.get(stored)
    if not body.personality.recurrences.kept or (conditional and conditional.when != "last"):
        return False
    memory = table.shape(stored).memory
    held = table.memories[memory]
    if held.lanes > 1 or held.in_registers or held.in_order:
        return False
    touched = [*body.store_value, *graph.conditional, *graph.loads]
    touched += [graph.address[n] for n in graph.early_stores]
    return all(a == stored or table.shape(a).memory != memory for a in touched)


def _memory(body: Body, load: int) -> Memory:
    table = body.addresses
    return table.memories[table.shape(body.graph.address[load]).memory]


def _selection(body: Body, load: int, delays: Delays) -> float:
    return delays.logic("select", _memory(body, load).word_bits)
