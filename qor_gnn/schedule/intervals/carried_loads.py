"""The loads of a pipelined body that later iterations make of what a store leaves.

Thousands of copies of a body have millions of pairs of a store and a load, few of which are of one
element: those that no iterations make equal are never looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import gcd

from qor_gnn.body.graph import When
from qor_gnn.memory.addresses import Addresses, Terms
from qor_gnn.memory.near_constants import Fixed, NearConstants, fixed
from qor_gnn.schedule.intervals.carried import Nest, carried_distance, dissolved

Key = tuple[int, ...]


@dataclass(slots=True)
class CarriedLoads:
    """Loads of one memory, asked for by store.

    Attributes:
        table: of the addresses.
        nest: of the body.
        loads: addresses and operations, in the order in which they are given back.
    """

    table: Addresses
    nest: Nest
    loads: list[tuple[int, int]]
    _groups: list[tuple[int, list[int]]] = field(default_factory=list)  # shapes, indices of loads
    _near: NearConstants = field(default_factory=NearConstants)
    _tables: dict[tuple[int, Key], dict[Key, list[int]]] = field(default_factory=dict)
    _rules: dict[tuple[int, int], Key] = field(default_factory=dict)
    _distances: dict[tuple[object, ...], int | None] = field(default_factory=dict)
    _found: dict[tuple[int, When], list[tuple[int, int, int]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known: dict[tuple[int, Fixed], list[int]] = {}
        for n, (address, _) in enumerate(self.loads):
            key = self.table.shape_of[address], fixed(self.table, address)
            if key not in known:
                known[key] = []
                self._near.add(key[1], len(self._groups))
                self._groups.append((key[0], known[key]))
            known[key].append(n)

    def of(self, stored: int, when: When = "always") -> list[tuple[int, int, int]]:
        """Address, operation and distance in iterations of each load of what a store leaves.

        Args:
            stored: the store's address.
            when: the iterations in which it is made.
        """
        key = (stored, when)  # copies that update an element in place store to one address
        if key not in self._found:
            self._found[key] = list(self._of(stored, when))
        return self._found[key]

    def _of(self, stored: int, when: When) -> Iterator[tuple[int, int, int]]:
        if self.table.memory(stored).in_order:  # ports limit the interval anyway
            met: Iterable[int] = [n for n, (a, _) in enumerate(self.loads) if a == stored]
        else:
            met = self._may_meet(stored)
        for n in met:
            source, load = self.loads[n]
            distance = self._distance(stored, source, when)
            if distance is not None:
                yield source, load, distance

    def _distance(self, stored: int, source: int, when: When) -> int | None:
        """`carried_distance`, which depends on shapes and on how far constants are apart."""
        table = self.table
        pairs = zip(table.consts[stored], table.consts[source], strict=True)
        apart = tuple([c - d for c, d in pairs])
        key = (table.shape_of[stored], table.shape_of[source], apart, when)
        if key not in self._distances:
            self._distances[key] = carried_distance(table, stored, source, self.nest, when)
        return self._distances[key]

    def _may_meet(self, stored: int) -> list[int]:
        found: list[int] = []
        consts = self.table.consts
        for group in self._near.near(fixed(self.table, stored)):
            shape, numbers = self._groups[group]
            rules = self._apart(stored, shape)
            table = self._tables.get((group, rules))
            if table is None:
                table = self._tables[group, rules] = {}
                for n in numbers:
                    key = _left(consts[self.loads[n][0]], rules)
                    table.setdefault(key, []).append(n)
            found += table.get(_left(consts[stored], rules), ())
        return sorted(found)

    def _apart(self, stored: int, loaded: int) -> Key:
        """Per dimension what constants are equal modulo where subscripts may be; 0 if equal at all."""
        key = (self.table.shape_of[stored], loaded)
        found = self._rules.get(key)
        if found is None:
            unseen = dissolved(self.table, stored, self.nest.variables)
            dims = zip(self.table.shape(stored).terms, self.table.shapes[loaded].terms, strict=True)
            found = self._rules[key] = tuple(
                1 if d in unseen or p != q else self._step(p) for d, (p, q) in enumerate(dims)
            )
        return found

    def _step(self, terms: Terms) -> int:
        """What two values of the moving part of a subscript are a multiple of apart."""
        shape_tells_nothing = self.table.blurs(terms) or any(
            not isinstance(atom, str) or self.nest.runs_free(atom) for atom, _ in terms
        )
        if shape_tells_nothing:
            return 1
        return gcd(*(k for atom, k in terms if atom in self.nest.trips))


def _left(consts: tuple[int, ...], rules: Key) -> Key:
    return tuple([c % rule if rule else c for c, rule in zip(consts, rules, strict=True)])
