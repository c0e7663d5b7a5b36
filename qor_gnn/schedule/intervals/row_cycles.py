"""Recurrences of a flattened nest from one row to the next: statements around the innermost loop.

``s = y[t] * a; for c: s += …; y[t + 1] = s`` as one pipeline: what a row begins with was stored at the
end of the row before, and has passed the register of the sum in each iteration between. The three
ways that a value can take through a row are looked at: within its first iteration, within its
last one, and from the first to the last through a register.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from qor_gnn.body.body import Body
from qor_gnn.body.graph import When
from qor_gnn.body.longest_paths import longest_path, register_paths
from qor_gnn.schedule.intervals.carried import Nest, carried_distance


@dataclass(frozen=True, slots=True)
class RowCycle:
    """From a load of ``source`` along ``path`` to a store to ``stored``, and back: ``states`` of
    operators, ``distance`` iterations of the nest.
    """

    source: int
    stored: int
    path: tuple[int, ...]
    states: int
    distance: int


def row_cycles(body: Body, nest: Nest) -> Iterator[RowCycle]:
    """The recurrences of a nest's rows through memory; none of a single loop."""
    if len(nest.variables) < 2:
        return
    graph, table = body.graph, body.addresses
    stores: list[tuple[int, int, When]] = [
        (a, c.value, c.when) for a, c in graph.conditional.items() if a not in body.registers
    ]
    stores += [(a, graph.stores[a], "always") for a in body.store_value]
    stores += [(a, place, stored) for a, _, stored in stores for place in graph.places.get(a, ())]
    loads = _loads_of_memories(body)
    around = {
        memory: [load for load in each if load[1] in _AROUND] for memory, each in loads.items()
    }
    for address, value, stored in stores:
        if value < 0 or body.kept_out[value]:
            continue
        others = loads if stored in _AROUND else around
        for load in others.get(table.shape(address).memory, ()):
            yield from _ways(body, nest, load, (address, value, stored))


_AROUND = frozenset({"first", "last"})
"""Accesses that are not made in every iteration of a row."""


def _loads_of_memories(body: Body) -> dict[int, list[tuple[int, When]]]:
    """The loads of each memory, and when they are made: a body may have thousands, of many memories."""
    graph, found = body.graph, dict[int, list[tuple[int, When]]]()
    for source, load in graph.loads.items():
        if not body.kept_out[load]:
            memory = body.addresses.shape(source).memory
            found.setdefault(memory, []).append((source, graph.loaded.get(source, "always")))
    return found


def _ways(
    body: Body, nest: Nest, load: tuple[int, When], store: tuple[int, int, When]
) -> Iterator[RowCycle]:
    """The ways of a value from a load to a store that are not both made in every iteration."""
    graph = body.graph
    (source, loaded), (address, value, stored) = load, store

    def path_of(with_first: bool) -> tuple[int, ...] | None:
        if graph.loads[source] == value:
            return ()
        without = () if with_first else graph.at_first
        return tuple(longest_path(graph, graph.loads[source], value, without)) or None

    def cycle(
        path: tuple[int, ...] | None, ends: tuple[When, When], passes: int, more: int
    ) -> Iterator[RowCycle]:
        """Stored and loaded in these iterations of their rows; ``passes`` iterations between the
        load and the store, of ``more`` states each.
        """
        if path is None:
            return
        distance = carried_distance(body.addresses, address, source, nest, *ends)
        if distance is not None:
            states = sum(map(graph.states, path))
            yield RowCycle(source, address, path, states + passes * more, distance + passes)

    if stored != "last" and loaded != "last":
        yield from cycle(path_of(True), ("first", "first"), 0, 0)
    if stored != "first" and loaded != "first":
        yield from cycle(path_of(False), ("last", "last"), 0, 0)
    if stored != "first" and loaded != "last" and (path := path_of(True)):
        passed = [states for a, states, _ in register_paths(body) if body.registers[a] in path]
        if passed:
            passes = nest.trips[nest.variables[-1]] - 1
            yield from cycle(path, ("last", "first"), passes, max(passed))
