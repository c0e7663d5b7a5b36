"""Which of the accesses so far may be of the element that another one touches.

A body of thousands of copies has as many accesses to an array, and few that meet: they are looked
up by what two subscripts have in common, instead of being compared one by one.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from qor_gnn.memory.addresses import Addresses
from qor_gnn.memory.near_constants import Fixed, NearConstants, fixed

Key = tuple[int, ...]


@dataclass(slots=True)
class _OfShape:
    """The accesses of one shape and the same constant subscripts: in order, and by what their constants leave in some
    dimensions.
    """

    shape: int
    accesses: list[tuple[int, int]] = field(default_factory=list)  # operation, address
    tables: dict[Key, tuple[dict[Key, list[int]], list[int]]] = field(default_factory=dict)

    def found(self, consts: list[tuple[int, ...]], rules: Key, key: Key) -> list[int]:
        """The operations whose constants leave ``key`` under the rules."""
        table, done = self.tables.setdefault(rules, ({}, [0]))
        for operation, address in self.accesses[done[0] :]:
            table.setdefault(_key(consts[address], rules), []).append(operation)
        done[0] = len(self.accesses)
        return table.get(key, [])


@dataclass(slots=True)
class Accesses:
    """The accesses to one memory so far, as operations of a graph.

    Attributes:
        table: of the addresses.
        blurred: they are accesses of different copies, of which some subscripts tell nothing
            (`Addresses.may_alias_in_copies`).
    """

    table: Addresses
    blurred: bool = False
    _groups: list[_OfShape] = field(default_factory=list)
    _numbers: dict[tuple[int, Fixed], int] = field(default_factory=dict)
    _near: NearConstants = field(default_factory=NearConstants)
    _rules: dict[tuple[int, int], Key] = field(default_factory=dict)

    def append(self, operation: int, address: int) -> None:
        """A later access."""
        key = self.table.shape_of[address], fixed(self.table, address)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._groups)
            self._groups.append(_OfShape(key[0]))
            self._near.add(key[1], number)
        self._groups[number].accesses.append((operation, address))

    def may_meet(self, address: int) -> list[int]:
        """The operations that may be of the element of an address, in their order.

        Those of the address itself, and those of which `Addresses.may_alias` says so, or
        `Addresses.may_alias_in_copies` where subscripts are blurred.
        """
        shape, consts = self.table.shape_of[address], self.table.consts
        found: list[int] = []
        near = self._near.near(fixed(self.table, address))
        for accesses in [self._groups[number] for number in near]:
            other = accesses.shape
            rules = self._rules.get((other, shape))
            if rules is None:
                apart = self.table.apart_in_copies if self.blurred else self.table.apart
                rules = self._rules[other, shape] = apart(other, shape)
            found += accesses.found(consts, rules, _key(consts[address], rules))
        return sorted(found) if len(near) > 1 else found


@dataclass(slots=True)
class Elements:
    """The addresses that a body has accessed so far, for those that may be one element.

    Attributes:
        table: of the addresses.
        written: memories that it has stored to so far.
    """

    table: Addresses
    written: set[int] = field(default_factory=set)
    _memories: dict[int, Accesses] = field(default_factory=dict)

    def append(self, address: int) -> None:
        """An address that is accessed for the first time."""
        memory = self.table.shape(address).memory
        if memory not in self._memories:
            self._memories[memory] = Accesses(self.table, bool(self.table.blurred))
        self._memories[memory].append(address, address)

    def near(self, address: int, among: Collection[int] | None = None) -> list[int]:
        """The other addresses that may be of its element (`Accesses.may_meet`): all, or those ``among`` stores, in the
        order of these.
        """
        memory = self.table.shape(address).memory
        if among is not None and memory not in self.written:
            return []
        met = self._memories.get(memory)
        found = [] if met is None else [a for a in met.may_meet(address) if a != address]
        if among is None:
            return found
        found = [a for a in found if a in among]
        if len(found) < 2:
            return found
        wanted = set(found)
        return [a for a in among if a in wanted]


def _key(consts: tuple[int, ...], rules: Key) -> Key:
    """What two constants have in common where subscripts may be equal: see `Addresses.apart`."""
    return tuple([c % rule if rule else c for c, rule in zip(consts, rules, strict=True)])
