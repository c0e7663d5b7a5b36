"""What of a netlist anything needs."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from backends.rtl.area.net import Gate
from backends.rtl.area.netlist import (
    Adder,
    Bits,
    Dropped,
    Hard,
    Netlist,
    Part,
    Port,
    inputs_of,
    outputs_of,
)


@dataclass(slots=True)
class Needed:
    """Parts of a netlist that its outputs depend on.

    Attributes:
        nodes: of the net, leaves included.
        hard: in the order in which they were found.
        widths: bits of each (by `id`) up to the highest that is used.
        outputs: literals of the output ports.
    """

    nodes: set[int] = field(default_factory=set)
    hard: dict[int, Hard] = field(default_factory=dict)
    widths: dict[int, int] = field(default_factory=dict)
    outputs: Bits = field(default_factory=list)

    def ends(self) -> Bits:
        """Literals that leave the tables for something else."""
        return [*self.outputs, *(bit for h in self.hard.values() for bit in self.inputs(h))]

    def inputs(self, hard: Hard) -> Bits:
        """What it takes: of an adder up to its highest bit that is used."""
        if isinstance(hard, Adder):
            width = self.widths[id(hard)]
            return hard.lhs[:width] + hard.rhs[:width]
        return inputs_of(hard)

    def dropped(self, part: Part) -> Dropped:
        """Outputs of an instance that nothing needs."""
        bits = enumerate(part.outputs)
        return frozenset(n for n, bit in bits if bit >> 1 not in self.nodes)


def needed(netlist: Netlist, dropped: Dropped = frozenset()) -> Needed:
    """Follow the outputs back; a memory's writes are needed where a read is.

    Args:
        netlist: of a module.
        dropped: outputs that nothing needs where it is used.
    """
    outputs = [bit for n, bit in enumerate(netlist.outputs) if n not in dropped]
    net, found = netlist.net, Needed(outputs=outputs)
    owners: dict[int, tuple[Hard, int]] = {}
    writes: dict[int, list[Port]] = defaultdict(list)
    for hard in netlist.hard:
        owners.update((bit >> 1, (hard, n)) for n, bit in enumerate(outputs_of(hard)))
        if isinstance(hard, Port) and not hard.word:
            writes[id(hard.memory)].append(hard)
    todo = [bit >> 1 for bit in outputs]
    while todo:
        node = todo.pop()
        if node in found.nodes or not node:
            continue
        found.nodes.add(node)
        if net.gates[node] is not Gate.LEAF:
            todo += [bit >> 1 for bit in net.inputs[node]]
        elif node in owners:
            hard, place = owners[node]
            todo += [bit >> 1 for bit in _more(found, hard, place)]
            if isinstance(hard, Port):
                for port in writes.pop(id(hard.memory), []):
                    found.hard[id(port)] = port
                    todo += [bit >> 1 for bit in port.inputs]
    return found


def _more(found: Needed, hard: Hard, place: int) -> Bits:
    """What this output needs that none did before."""
    before, first = found.widths.get(id(hard), 0), id(hard) not in found.hard
    found.hard[id(hard)] = hard
    found.widths[id(hard)] = max(before, place + 1)
    if isinstance(hard, Adder):
        return hard.lhs[before : place + 1] + hard.rhs[before : place + 1]
    return inputs_of(hard) if first else []
