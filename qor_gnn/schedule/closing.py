"""Whether the recurrences of a pipeline close in a schedule: each value is there when a later iteration wants it."""

from __future__ import annotations

from collections.abc import Sequence

from qor_gnn.body.body import Body
from qor_gnn.body.graph import LOAD
from qor_gnn.body.longest_paths import old_values
from qor_gnn.body.quicker_sums import closing_states
from qor_gnn.schedule.intervals.interval import Cycle
from qor_gnn.schedule.list_schedule import Times


class Closing:
    """The recurrences of a body, of which each schedule is asked: what takes their values is found once."""

    def __init__(self, body: Body, recurrences: Sequence[Cycle]) -> None:
        """Nothing is asked yet.

        Args:
            body: of the pipeline.
            recurrences: of its iterations.
        """
        self.recurrences = recurrences
        self._body = body
        self._stores: dict[int, list[int]] = {}  # by the operations whose results they take
        for store in (*body.store_value.values(), *body.conditional.values()):
            for value in dict.fromkeys(body.graph.deps[store]):
                self._stores.setdefault(value, []).append(store)
        self._loads: dict[int, list[int]] = {}  # by memory
        for n in body.nodes if body.personality.binding.loads_used_at_once else ():
            if body.graph.kind[n] == LOAD:
                memory = body.addresses.shape(body.graph.address[n]).memory
                self._loads.setdefault(memory, []).append(n)
        users = body.graph.users()
        self._takers = {  # of the old values of registers, by address
            address: [n for load in loads for n in users[load]]
            for address, loads in old_values(body).items()
        }

    def all(self, times: Times, interval: int) -> bool:
        """Whether each value of one iteration is there when the later iteration wants it."""
        return all(self.one(times, cycle, interval) for cycle in self.recurrences)

    def one(self, times: Times, cycle: Cycle, interval: int) -> bool:
        """The same of one recurrence."""
        body, graph, start = self._body, self._body.graph, times.start
        if not cycle.path:
            return True
        end = cycle.path[-1]
        states = graph.states(end)
        if cycle.through == "register":
            users = [start[n] for n in self._takers.get(cycle.address, ()) if n in start]
            if not users:
                return True
            alone = len(cycle.path) == 1 and end not in graph.looked_up
            saved = closing_states(body.personality, graph.operator[end]) if alone else 0
            return start[end] + states - saved <= min(users) + interval
        # The load can wait for the rest; what counts is a store that waits for its port.
        first = min((start[store] for store in self._stores.get(end, ())), default=0)
        waiting = max(0, first - start[end] - states)
        if self._loaded_at_once(times, cycle.address):
            chain = map(graph.states, cycle.path[:-1])
            waiting += start[end] - start[cycle.path[0]] - sum(chain)
        return cycle.delay + waiting <= interval * cycle.distance

    def _loaded_at_once(self, times: Times, address: int) -> bool:
        """All that is loaded of an address's memory is loaded in one state, and used at once."""
        if not self._body.personality.binding.loads_used_at_once:
            return False
        memory = self._body.addresses.shape(address).memory
        return len({times.start[n] for n in self._loads.get(memory, ())}) == 1
