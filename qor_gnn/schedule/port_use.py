"""The ports that a schedule has given away, state by state."""

from __future__ import annotations

from dataclasses import dataclass, field

from qor_gnn.body.port_sets import PortSets
from qor_gnn.body.ports import Taken


@dataclass(slots=True)
class PortUse:
    """How often ports are taken in each state (of an interval)."""

    known: PortSets
    _single: dict[tuple[int, int], int] = field(default_factory=dict)  # (resource, state)
    _together: dict[tuple[int, int], int] = field(default_factory=dict)  # (set, state)
    _busiest: dict[tuple[int, int], int] = field(default_factory=dict)  # (set, state): all uses

    def take(self, taken: Taken, state: int) -> bool:
        """Take the ports of an access, if all of them are free."""
        parts = self.known.parts.get(taken.number)
        if parts is None:
            for resource, capacity in taken.pairs:  # one, or of registers none
                return self._take_one(resource, capacity, state)
            return True
        for resource, capacity in parts.single:
            if self._uses(resource, state) >= capacity:
                return False
        for number, capacity in parts.sets:
            if self._busiest.get((number, state), 0) >= capacity:
                return False
        for resource, capacity in parts.single:
            self._take_one(resource, capacity, state)
        for number, _ in parts.sets:
            key = (number, state)
            self._together[key] = self._together.get(key, 0) + 1
            self._busiest[key] = self._busiest.get(key, 0) + 1
        return True

    def _uses(self, resource: int, state: int) -> int:
        uses = self._single.get((resource, state), 0)
        if (number := self.known.set_of.get(resource)) is not None:
            uses += self._together.get((number, state), 0)
        return uses

    def _take_one(self, resource: int, capacity: int, state: int) -> bool:
        key = (resource, state)
        own = self._single.get(key, 0)
        number = self.known.set_of.get(resource)
        if number is None:
            if own >= capacity:
                return False
            self._single[key] = own + 1
            return True
        of_set = (number, state)
        uses = own + self._together.get(of_set, 0)
        if uses >= capacity:
            return False
        self._single[key] = own + 1
        self._busiest[of_set] = max(self._busiest.get(of_set, 0), uses + 1)
        return True
