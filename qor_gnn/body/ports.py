"""Ports that the accesses of a body take: one for each bank class that an access may be in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from qor_gnn.body.graph import LOAD, Graph
from qor_gnn.tools.personality import Personality

_ANY_NUMBER = 1 << 30  # of accesses to registers

ANY = "any"
"""The kind of port that loads and stores share."""

PortKey = tuple[int, str, tuple[int, ...]]
"""Memory, ``load``, ``store`` or ``any``, and the residues that make the bank class."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What an access takes: (resource, capacity) pairs, all of them at once.

    Attributes:
        pairs: one for each bank class and kind of port.
        number: equal for accesses of a body that take the same, and for those only.
    """

    pairs: tuple[tuple[int, int], ...]
    number: int

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """The pairs."""
        return iter(self.pairs)

    def __len__(self) -> int:
        """How many ports."""
        return len(self.pairs)


NO_PORTS = Taken((), -1)
"""Of what accesses no memory."""


def ports_of(
    graph: Graph, nodes: Sequence[int], personality: Personality
) -> tuple[dict[int, Taken], list[PortKey]]:
    """What each load and store takes, and what the resources are."""
    table = graph.addresses
    accesses = [n for n in nodes if graph.address[n] >= 0]
    used = [graph.address[n] for n in accesses]
    rotate = personality.banks.rotating
    classes = table.rotating(used) if rotate else table.classes(used)
    if not personality.banks.partly_known:
        classes = _all_or_one(graph, classes)
    numbers: dict[PortKey, int] = {}
    taken: dict[int, Taken] = {}
    distinct: dict[tuple[tuple[int, int], ...], Taken] = {}
    kinds: dict[tuple[int, str], tuple[tuple[str, int], ...]] = {}
    for n in accesses:
        address, kind = graph.address[n], graph.kind[n]
        memory = table.shapes[table.shape_of[address]].memory
        asked = kinds.get((memory, kind))
        if asked is None:
            asked = kinds[memory, kind] = _asked(graph, memory, kind, personality)
        found = []
        for name, capacity in asked:
            for where in classes[address]:
                key = (memory, name, where)
                number = numbers.get(key)
                if number is None:
                    number = numbers[key] = len(numbers)
                found.append((number, capacity))
        pairs = tuple(found)
        if pairs not in distinct:
            distinct[pairs] = Taken(pairs, len(distinct))
        taken[n] = distinct[pairs]
    return taken, list(numbers)


def _all_or_one(
    graph: Graph, classes: Mapping[int, tuple[tuple[int, ...], ...]]
) -> dict[int, tuple[tuple[int, ...], ...]]:
    """The bank classes of each address, of one whose bank is not known all of its memory."""
    table = graph.addresses
    every: dict[int, dict[tuple[int, ...], None]] = {}
    for address, own in classes.items():
        every.setdefault(table.shape(address).memory, {}).update(dict.fromkeys(own))
    return {
        a: own if table.shape(a).known_bank else tuple(every[table.shape(a).memory])
        for a, own in classes.items()
    }


def _asked(
    graph: Graph, memory: int, kind: str, personality: Personality
) -> tuple[tuple[str, int], ...]:
    """The kinds of port of a memory that an access takes, and how many a bank has of each."""
    declared = graph.addresses.memories[memory]
    if declared.in_registers:
        return ()
    ports = personality.memories.ports(declared.storage, declared.argument)
    own = (kind, ports.read if kind == LOAD else ports.write)
    if ports.both < ports.read + ports.write:
        return (own, (ANY, ports.both))
    return (own,)


def at_once(graph: Graph, memory: int, kind: str, personality: Personality) -> int:
    """How many accesses of a kind one bank of a memory takes in a state, if there are no others."""
    asked = _asked(graph, memory, kind, personality)
    return min((capacity for _, capacity in asked), default=_ANY_NUMBER)
