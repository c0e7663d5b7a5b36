"""States of a chain of operators on a recurrence, combinational ones included.

The scheduler puts combinational operators behind each other into one state as long as they fit the
usable part of the clock period. On a recurrence a chain that does not fit takes several states from
one iteration to the next, although each of its operators takes none.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from math import prod

from qor_gnn.body.body import Body
from qor_gnn.body.graph import LOAD, STORE

Arrival = tuple[int, float]
"""When a value is there: the state, and the ns that have passed in it."""

START: Arrival = (0, 0.0)

_Arrival = tuple[int, float, int]
"""When a value is there: the state, the ns that have passed in it, and the states that registered operators alone
take until then. A body of thousands of operations has millions of them.
"""


@dataclass(frozen=True, slots=True)
class _Ways:
    """How far the ways from an operation have been followed: arrivals of those behind it, and those of them that are
    not followed yet, of which ``known`` is when the last operand is there.
    """

    known: dict[int, _Arrival]
    open: list[int]


def behind(body: Body, node: int, at: Arrival) -> Arrival:
    """When the result of an operation is there that starts as its last operand arrives.

    Args:
        body: that the operation is in.
        node: its number.
        at: when the operand is there.
    """
    graph = body.graph
    operator = graph.operator[node]
    own = graph.looked_up.get(node, 0) if operator is None else operator.distance
    states, passed = at
    if own:
        return states + _waits(body, node, passed) + own, left(body, node)
    if operator is None:
        return at
    after = passed + operator.delay
    if passed > 0 and after > body.personality.usable_ns:
        return states + 1, operator.delay
    return states, after


def left(body: Body, node: int) -> float:
    """The ns that have passed in a state in which a result comes out of a memory or a register of an operator."""
    graph = body.graph
    operator = graph.operator[node]
    if operator is not None:
        return operator.last_ns
    accesses = body.personality.accesses
    if not accesses.word_ns or graph.kind[node] != LOAD:
        return 0.0
    table, address = graph.addresses, graph.address[node]
    memory = table.memory(address)
    selections = 0 if table.shape(address).known_bank else max(1, _bit_pairs(memory.banks - 1))
    return accesses.bank_ns * selections + (0.0 if memory.in_registers else accesses.word_ns)


def address_ns(body: Body, node: int) -> float:
    """The ns that a load takes in the state in which it starts, behind a subscript that is data: of several subscripts that
    move the place is a sum.
    """
    own, table = body.personality, body.addresses
    if not own.accesses.address_ns:
        return 0.0
    address = body.graph.address[node]
    memory = table.memory(address)
    if memory.in_registers:
        return 0.0
    moving = sum(1 for terms in table.shape(address).terms if terms)
    if moving < 2:
        return own.accesses.address_ns
    levels = (moving - 1).bit_length()
    return (
        own.accesses.address_ns
        + levels * own.operator("add", "int", prod(memory.shape).bit_length()).delay
    )


def _bit_pairs(number: int) -> int:
    """Pairs of bits that a number has: levels of selections of four."""
    return -(-number.bit_length() // 2)


def _waits(body: Body, node: int, passed: float) -> bool:
    """The first stage of a registered operator does not fit into what is left of a state."""
    operator = body.graph.operator[node]
    gathers = operator is None and body.graph.kind[node] == LOAD
    address = address_ns(body, node) if gathers else 0.0
    first = address if operator is None else operator.first_ns
    return passed > 0 and first > 0 and passed + first > body.personality.usable_ns


def stored(body: Body, value: Arrival) -> int:
    """The state in which a value can be stored that is there."""
    store = body.personality.accesses.store_ns
    late = store > 0 and value[1] + store > body.personality.usable_ns
    return value[0] + late


def handed(body: Body, node: int, start: Arrival, after: int, states: int) -> Arrival:
    """When an operation may start that waits for another one.

    Args:
        body: that both are in.
        node: that it waits for.
        start: when that starts.
        after: the operation.
        states: at least so many behind the start of the other; 0 of what is behind it in its state.
    """
    if states:
        return start[0] + _waits(body, node, start[1]) + states, left(body, node)
    there = behind(body, node, start)
    if body.graph.kind[after] == STORE and (state := stored(body, there)) > there[0]:
        return state, 0.0
    return there


class ChainedStates:
    """The states between operations of a body, each as early as what it depends on allows."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self._ways: dict[tuple[int, bool, float], _Ways] = {}

    def around_register(self, load: int, value: int, address: int) -> int:
        """From a register's old value to its new one: a chain ends with the state that it is in, which has to
        have room for the register to be written where nothing goes from one iteration to the next without.
        """
        found = self._arrival(load, value)
        if found is None:
            return 0
        states, passed, registered = found
        written = (
            not self._body.personality.accesses.hoisted
            and address not in self._body.graph.set_first
        )
        if written and passed and not registered:
            states = stored(self._body, (states, passed))
        return states + 1 if passed and not registered else states

    def between(self, load: int, value: int, held: bool = False) -> int:
        """From the result of a load to the state in which a value is there, and can be stored.

        What runs in the first iteration of an inner loop has nothing from the one before.

        Args:
            load: the load.
            value: what is computed of it.
            held: the element is in a register meanwhile.
        """
        passed = 0.0 if held else left(self._body, load)
        found = self._arrival(load, value, self._body.graph.at_first, passed)
        there = (0, passed) if found is None else found[:2]
        return there[0] if held else stored(self._body, there)

    def stored(self, load: int, value: int, passed: float, store: float) -> int:
        """States that a value and its store come behind the one in which a word is loaded.

        Args:
            load: what is loaded.
            value: what is computed of it without registers, and stored.
            passed: ns until the word is there, in the state in which it is.
            store: ns that the store takes of its state.
        """
        found = self._arrival(load, value, self._body.graph.at_first, passed)
        states, passed, _ = (0, passed, 0) if found is None else found
        return states + (passed + store > self._body.personality.usable_ns)

    @cached_property
    def _chains(self) -> bool:
        """Whether anything in the body is chained at all."""
        operators = self._body.graph.operator
        return any(o is not None and (o.first_ns if o.distance else o.delay) > 0 for o in operators)

    def _arrival(
        self, start: int, end: int, without: Collection[int] = (), passed: float = 0.0
    ) -> _Arrival | None:
        """When the value of ``end`` is there if that of ``start`` is in state 0, where so many ns have passed.

        None where nothing is chained, or where no way leads there.
        """
        if not self._chains or end <= start:
            return None
        key = (start, bool(without), passed)
        ways = self._ways.get(key)
        if ways is None:
            ways = self._ways[key] = _Ways({start: (0, passed, 0)}, [start])
        users = self._body.graph.users()
        known, open_ = ways.known, ways.open
        while open_ and open_[0] <= end:  # numbers go with the order of operations
            n = heapq.heappop(open_)
            there = known[n]
            if n != start:
                there = known[n] = self._behind(n, there)
            for user in users[n]:
                if user in without:
                    continue
                before = known.get(user)
                if before is None:
                    heapq.heappush(open_, user)
                    known[user] = there
                elif before != there:
                    known[user] = _latest(before, there)
        return known.get(end)

    def _behind(self, node: int, at: _Arrival) -> _Arrival:
        """When the result of an operation is there that starts as its last operand arrives."""
        states, passed = behind(self._body, node, at[:2])
        operator = self._body.graph.operator[node]
        return states, passed, at[2] + (operator.distance if operator is not None else 0)


def _latest(one: _Arrival, other: _Arrival) -> _Arrival:
    """When both of two values are there."""
    states, passed = max(one[:2], other[:2])
    return states, passed, max(one[2], other[2])
