"""When the values are there that straight blocks compute beside the calls around them.

A block between two calls may start before the first of them and end after the second has begun, if
neither needs the other. What it stores is then ready later than the state that it stands at: a chain
of blocks takes its time whatever runs beside, and who reads the end of it waits.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from qor_gnn.body.body import Body
from qor_gnn.body.graph import LOAD, STORE
from qor_gnn.schedule.intervals.chained_states import START, behind


@dataclass(slots=True)
class BlockValues:
    """The states from which on stored elements may be read, by memory and address.

    An element that is not in it is there when a region starts.
    """

    ready: dict[int, dict[int, int | float]] = field(default_factory=dict)

    def wanted(self, body: Body) -> float:
        """The state from which on all that a body loads is there."""
        if not self.ready:
            return 0.0
        graph = body.graph
        inside = (*body.nodes, *body.hoisted, *body.carried)  # registers are read in front
        loads = {graph.address[n] for n in inside if graph.kind[n] == LOAD}
        return max((self._of(body, a) for a in loads), default=0.0)

    def latest(self) -> float:
        """The state in which all of it is there."""
        return max((at for known in self.ready.values() for at in known.values()), default=0.0)

    def compute(self, block: Body, leaves: Iterable[int], at: float) -> None:
        """A block runs as soon as what it loads is there.

        Args:
            block: what runs.
            leaves: addresses that the calls in front of it leave.
            at: the state in which those have ended.
        """
        graph, table, left = block.graph, block.addresses, frozenset(leaves)
        moving = [a for a in left if table.shape(a).variables]
        times: dict[int, tuple[float, float]] = {}  # the state, and the ns that have passed in it
        stored: list[tuple[int, float]] = []
        for n in block.nodes:  # in program order, stores last
            if graph.kind[n] == LOAD:
                address = graph.address[n]
                waits = address in left or any(table.may_alias(a, address) for a in moving)
                there = max(self._of(block, address), at if waits else 0.0)
                times[n] = max(times.get(n, START), (there, 0.0))
            if graph.kind[n] == STORE:
                stored.append((graph.address[n], times.get(n, START)[0]))
                continue
            state, passed = times.setdefault(n, START)
            more, ns = behind(block, n, (0, passed))
            for after, states in block.succs[n]:
                arrival = (state + states, 0.0) if states else (state + more, ns)
                times[after] = max(times.get(after, START), arrival)
        for address, state in stored:
            self.ready.setdefault(block.addresses.shape(address).memory, {})[address] = state

    def _of(self, body: Body, load: int) -> float:
        table = body.addresses
        known = self.ready.get(table.shape(load).memory, {})
        same = (at for a, at in known.items() if a == load or table.may_alias(a, load))
        return max(same, default=0.0)
