"""States of a chain of operators on a recurrence, combinational ones included.

The scheduler puts combinational operators behind each other into one state as long as they fit the
usable part of the clock period. On a recurrence a chain that does not fit takes several states from
one iteration to the next, although each of its operators takes none.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection
from functools import cached_property

from qor_gnn.body.body import Body

Arrival = tuple[int, float]
"""A state, and the ns that have passed in it."""


class ChainedStates:
    """The states between operations of a body, each as early as what it depends on allows."""

    def __init__(self, body: Body) -> None:
        self._body = body

    def around_register(self, load: int, value: int) -> int:
        """From a register's old value to its new one: a chain ends with the state that it is in."""
        arrival = self._arrival(load, value)
        if arrival is None:
            return 0
        states, passed = arrival
        return states + 1 if passed and self._combinational(load, value) else states

    def between(self, load: int, value: int) -> int:
        """From the result of a load to the state in which a value is there.

        What runs in the first iteration of an inner loop has nothing from the one before.
        """
        arrival = self._arrival(load, value, without=self._body.graph.at_first)
        return 0 if arrival is None else arrival[0]

    @cached_property
    def _chains(self) -> bool:
        """Whether anything in the body is chained at all."""
        operators = self._body.graph.operator
        return any(o is not None and not o.distance and o.delay > 0 for o in operators)

    def _combinational(self, start: int, end: int) -> bool:
        arrival = self._arrival(start, end, registered=False)
        return arrival == (0, 0.0)

    def _arrival(
        self,
        start: int,
        end: int,
        registered: bool = True,
        without: Collection[int] = (),
    ) -> Arrival | None:
        """When the value of ``end`` is there if that of ``start`` is at the beginning of state 0.

        None where nothing is chained, or where no way leads there. Without ``registered`` chains
        count nothing, so that what is left is the states of registered operators.
        """
        if not self._chains or end <= start:
            return None
        graph, usable = self._body.graph, self._body.personality.usable_ns
        users = graph.users()
        known: dict[int, Arrival] = {start: (0, 0.0)}
        open_, seen = [start], {start}
        while open_:  # numbers go with the order of operations
            n = heapq.heappop(open_)
            if n != start:
                operator = graph.operator[n]
                states, passed = known[n]
                if operator is not None and operator.distance:
                    known[n] = states + operator.distance, 0.0
                elif operator is not None and registered:
                    over = passed > 0 and passed + operator.delay > usable
                    known[n] = (
                        (states + 1, operator.delay) if over else (states, passed + operator.delay)
                    )
            if n == end:
                return known[n]
            for user in users[n]:
                if user > end or user in without:
                    continue
                known[user] = max(known.get(user, (0, 0.0)), known[n])
                if user not in seen:
                    seen.add(user)
                    heapq.heappush(open_, user)
        return None
