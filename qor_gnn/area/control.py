"""Terms of a function's control: state machine, loops, nests, pipelines, what loops keep out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from math import prod

from qor_gnn.area.access_places import address_bits, reached, word
from qor_gnn.area.modules import OWN, Leaf, called_pipelines
from qor_gnn.area.multiplexers import multiplexer
from qor_gnn.area.registers import Pools, keep
from qor_gnn.area.speculation import found_ahead, states_left
from qor_gnn.area.terms import Sums
from qor_gnn.design.region import Memory
from qor_gnn.schedule.regions import Region
from qor_gnn.tools.personality import Personality

FRAME = 2
"""States of a function besides its regions'."""

USUAL = 255
"""Iterations of a loop that counts as one outer loop; others count by the LUTs of their counters against its."""

_CALL = 2  # states of a pipeline that is called: start it, wait for it


def control(regions: Sequence[Region], own: Sequence[Leaf], sums: Sums) -> None:
    """Add the terms of one function's control."""
    states = FRAME + sum(states_of(region) for region in regions)
    sums.lut["fsm"] += multiplexer(states + 1)
    sums.ff["fsm"] += states
    loop_control(regions, own, sums)
    sums.lut["copies_pipelined"] += max(0, called_pipelines(own) - 1)


def loop_control(regions: Sequence[Region], own: Sequence[Leaf], sums: Sums) -> None:
    """Add the terms of the loops and pipelines, which each has by itself."""
    for leaf in own:
        _counters(leaf, sums)
        if leaf.pipelined:
            _pipeline(leaf, sums)
        elif leaf.region.outlined:
            _outlined(leaf, sums)
    around = {loop.iv: loop for leaf in own for nest in leaf.around for loop in nest.loops}
    for loop in around.values():
        tool = own[0].body.personality
        usual = counter_lut(USUAL, tool, compared=True)
        sums.lut["outer"] += counter_lut(loop.trips.maximum, tool, compared=True) / usual
    for region in regions:
        _flattened(region, sums)


def states_of(region: Region) -> int:
    """States of a region in its parent's state machine."""
    own = region.prologue
    if region.kind == "pipeline" or region.outlined:
        return own + _CALL
    if region.kind == "block" and not region.latency:
        return 0  # it sets numbers, in the state that the region behind begins with
    if region.times is not None:
        return own + region.times.states
    return own + 1 + _states_in(region)


def _states_in(nest: Region) -> int:
    """States of what a loop holds."""
    total, regions = 0, nest.children
    for region, behind in zip_longest(regions, regions[1:]):
        body = region.body
        overlaps = body is not None and body.personality.composition.blocks == "overlapped"
        once = region.kind == "block" and overlaps
        waited = behind.prologue if behind is not None else 0
        if once and (early := found_ahead(region, nest)):
            total += 0 if waited else states_left(region, early)
        elif not once or waited < region.latency or not region.latency:
            total += states_of(region)
    return total


def _counters(leaf: Leaf, sums: Sums) -> None:
    """The counters of a body's own loops, and the sums that they become.

    A pipeline of one loop at interval 1 sets its counter in the state that reads it. Elsewhere the sum waits in a register of its own,
    or, in a flattened nest, what the counters of its loops are set to.
    """
    loops, tool = leaf.region.loops, leaf.body.personality
    trips = [(loop.trips.maximum, loop.factor == 1) for loop in loops]
    if leaf.counts:
        trips = [(prod(n for n, _ in trips), True)]
    registers = 1 if leaf.pipelined and leaf.period == 1 and len(trips) == 1 else 2
    for n, compared in trips:
        sums.ff["fsm"] += registers * max(1, n).bit_length()
        sums.lut["loop"] += counter_lut(n, tool, compared=compared)


def counter_lut(trips: int, tool: Personality, *, compared: bool) -> float:
    """LUTs of a loop's counter: its multiplexer, its adder and its comparison.

    Args:
        trips: iterations; the counter reaches its bound.
        tool: whose adders and comparisons they are.
        compared: no single bit tells the end.
    """
    bits = max(1, trips).bit_length()
    logic = ("add", "cmp") if compared else ("add",)
    return multiplexer(2) + sum(tool.operator(kind, "int", bits).lut for kind in logic)


def _pipeline(leaf: Leaf, sums: Sums) -> None:
    levels = 1 if leaf.counts else len(leaf.region.loops)
    for terms in (sums.lut, sums.ff):
        terms["pipeline"] += leaf.module != OWN
        terms["levels"] += levels
    sums.ff["stages"] += leaf.times.states
    policy = leaf.body.personality.control
    sums.lut["stages"] += policy.enables(leaf.times.states, leaf.period)
    if states := policy.own_states(leaf.period):
        sums.lut["fsm"] += multiplexer(states + 1)
    sums.lut["loop_flat"] += policy.flattened_loops(levels)


def _outlined(leaf: Leaf, sums: Sums) -> None:
    """A sequential loop with a state machine of its own."""
    states = FRAME + leaf.times.states
    sums.lut["fsm"] += multiplexer(states + 1)
    sums.ff["fsm"] += states
    for terms in (sums.lut, sums.ff):
        terms["pipeline"] += 1


def _flattened(region: Region, sums: Sums) -> None:
    if region.kind == "nest":
        for terms in (sums.lut, sums.ff):
            terms["flattened_outer"] += len(region.loops) - 1
    for child in region.children:
        _flattened(child, sums)


def kept_out(leaf: Leaf, sums: Sums, shared: Pools) -> None:
    """What runs in front of a loop, and the registers that it keeps over its iterations."""
    body = leaf.body
    table, graph = body.addresses, body.graph
    before = 0
    again: set[int] = set()
    for n in body.hoisted:
        address = graph.address[n]
        if address >= 0 and address in again:
            continue  # another copy loads it as well, behind a store to its array
        again.add(address)
        name = graph.statement[n].target.memory
        memory = table.memory(address) if address >= 0 else _named(leaf, name)
        before += word(memory)
    for address in body.registers:
        memory = table.memory(address)
        own = memory.in_registers and not memory.argument
        kept = address in graph.loads or not memory.in_registers
        # A scalar of the function is the register that it is kept in; what comes from elsewhere was in one before.
        before += 0 if own and kept else word(memory)
        if not kept:
            continue  # a scalar that each iteration sets anew
        sums.ff["accumulators"] += word(memory)
        if not memory.in_registers:
            sums.lut["accumulators"] += 1
            banks = reached(table, address, leaf.steps)
            sums.ff["accumulators"] += banks * address_bits(table, address)
    keep(shared, ("before",), before)


def _named(leaf: Leaf, name: str) -> Memory:
    return next(memory for memory in leaf.body.addresses.memories if memory.name == name)
