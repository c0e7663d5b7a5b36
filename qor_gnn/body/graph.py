"""The operations of a straight-line body, by number."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from dsl.expressions.affine import Affine
from qor_gnn.design.region import Statement
from qor_gnn.memory.addresses import Addresses
from qor_gnn.tools.operators import Operator

LOAD, STORE = "load", "store"

STORE_STATES = 1
"""States of a store, and from it to a load of the same bank."""

SWITCH_STATES = 1
"""Further ones of a load in a flattened nest that does not move with the innermost loop, of an unknown bank."""

When = Literal["always", "guarded", "first", "last"]
"""Whether statements run in every iteration; in a flattened nest those around the inner loop run in
its first or its last one."""


@dataclass(frozen=True, slots=True)
class Conditional:
    """A store that is not made in every iteration: the value, and when it is made."""

    value: int
    when: When


@dataclass(slots=True)
class Graph:
    """Operations by number; ``deps`` are the operations whose results they take.

    ``address`` is −1 but for loads and stores. ``order`` holds further (before, after, distance)
    triples: accesses that may touch the same element. ``guards``: of what is loaded.
    """

    addresses: Addresses
    kind: list[str] = field(default_factory=list)
    operator: list[Operator | None] = field(default_factory=list)
    deps: list[tuple[int, ...]] = field(default_factory=list)
    address: list[int] = field(default_factory=list)
    statement: list[Statement] = field(default_factory=list)
    order: list[tuple[int, int, int]] = field(default_factory=list)
    stores: dict[int, int] = field(default_factory=dict)  # address -> value (< 0: from outside)
    conditional: dict[int, Conditional] = field(default_factory=dict)  # by address
    stored_by: dict[int, Statement] = field(default_factory=dict)
    places: dict[int, tuple[int, ...]] = field(default_factory=dict)  # that tell a store's element
    loads: dict[int, int] = field(default_factory=dict)  # address -> its first load
    set_first: set[int] = field(
        default_factory=set
    )  # addresses stored to in front of the inner loop
    at_first: set[int] = field(default_factory=set)  # only run in the first inner iteration
    guards: dict[int, frozenset[str]] = field(default_factory=dict)  # of loads, by address
    loaded: dict[int, When] = field(default_factory=dict)  # by address
    compared: set[Affine] = field(default_factory=set)  # what guards test against 0
    early_stores: list[int] = field(default_factory=list)  # operations: must stay in their place
    indexed: dict[int, frozenset[str]] = field(default_factory=dict)  # counters in what is computed
    looked_up: dict[int, int] = field(
        default_factory=dict
    )  # states of loads at computed subscripts
    mixed: bool = False  # some memory is accessed in more than one shape
    _users: list[list[int]] = field(default_factory=list)

    def states(self, node: int) -> int:
        """From the operands of an operation to its result; 0 of a load that has none."""
        operator = self.operator[node]
        return self.looked_up.get(node, 0) if operator is None else operator.distance

    def stored(self, address: int, value: int) -> tuple[int, ...]:
        """What a store of a value takes: the value, if it is not from outside, and what tells the element."""
        return ((value,) if value >= 0 else ()) + self.places.get(address, ())

    def users(self) -> list[list[int]]:
        """For each operation those that take its result."""
        if len(self._users) != len(self.kind):
            self._users = [[] for _ in self.kind]
            for n, deps in enumerate(self.deps):
                for d in deps:
                    self._users[d].append(n)
        return self._users

    def needs(self, value: int, wanted: int) -> bool:
        """Whether a value is computed from another one, or is it; operands come before what takes them."""
        pending, seen = [value], {value}
        while pending:
            n = pending.pop()
            if n == wanted:
                return True
            for d in self.deps[n] if n > wanted else ():
                if d not in seen:
                    seen.add(d)
                    pending.append(d)
        return False

    def add(
        self,
        kind: str,
        operator: Operator | None,
        deps: tuple[int, ...],
        address: int,
        statement: Statement,
    ) -> int:
        """A new operation."""
        self.kind.append(kind)
        self.operator.append(operator)
        self.deps.append(deps)
        self.address.append(address)
        self.statement.append(statement)
        return len(self.kind) - 1
