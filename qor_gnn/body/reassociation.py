"""Sums of many terms as trees: of integers, and under unsafe math of floating point.

A chain ``((acc + t0) + t1) + …`` of a body becomes a tree of the terms, and one addition of the
accumulator: the recurrence has a single operator however often the loop is unrolled. Where an
unrolled loop can end behind some of its copies (the factor does not divide the trip count), the
terms in front of that exit are a tree; those behind it are one too where the body is a loop of its
own, and stay a chain in a flattened nest. Terms under a condition pass a selection each and so make
no chain; they are not touched.

Where `Sums.order` says so, the accumulator is a leaf of the tree like any other, and the tree
of one term more is no deeper; how many additions it passes is in `carried_levels`.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Set
from dataclasses import dataclass, field, replace
from typing import Literal

from qor_gnn.body.graph import LOAD, STORE_STATES, Conditional, Graph
from qor_gnn.body.longest_paths import longest_path
from qor_gnn.body.register_promotion import promotable
from qor_gnn.tools.operators import Operator
from qor_gnn.tools.policies.sums import Sums

_SUMS = ("add", "sub")
REAL_SUMS = {"add": "sum", "sub": "sum", "neg": "sum", "mul": "product"}
"""Operators of reals that may be done in any order among those of one class."""
_MOST_TERMS = (2, 3, 8, 30)
"""The most terms with which a leaf passes 1, 2, … additions; see `carried_levels`."""


@dataclass(frozen=True, slots=True)
class Exit:
    """Where a partially unrolled loop can end: operations from number ``at`` on are behind it.

    ``behind`` says what becomes of their sums.
    """

    at: int
    behind: Literal["tree", "chain"]


def carried_levels(terms: int) -> int:
    """Additions that an accumulator which is a leaf passes on its way through a tree.

    Reports of 2023.2 have 1 at 1 and 2 terms, 3 at 4 and 8, 4 at 10, 15, 16 and 25. Between these it
    is taken not to shrink; beyond them it is the least that a balanced tree has.
    """
    if terms <= _MOST_TERMS[-1]:
        return 1 + bisect_left(_MOST_TERMS, terms)
    return (terms + 1).bit_length() - 1


def reassociated(
    graph: Graph,
    sums: Sums,
    load: int,
    exit_: Exit | None = None,
    carried: Collection[int] = (),
    reals: bool = True,
) -> Graph:
    """The operations with sums as trees; the graph itself where there is nothing to gain.

    Args:
        graph: of an unrolled body; stores are not operations of it yet.
        sums: how the tool adds.
        load: states of a load.
        exit_: of the loop, if its last iteration is not a whole one.
        carried: loads of what the iteration before has stored: terms that need them come last.
        reals: sums of floating point are done in another order, too.
    """
    chains = _chains(graph, reals)
    if not any(len(chain) > 1 for chain in chains.values()):
        return graph
    return _Rebuilt(graph, sums, load, exit_, chains, frozenset(carried)).run()


def adds_integers(graph: Graph) -> bool:
    """Whether there are sums that may be done in any order whatever the tool is allowed."""
    pairs = zip(graph.kind, graph.operator, strict=True)
    return any(kind in _SUMS and _reorders(operator, False) for kind, operator in pairs)


def _chains(graph: Graph, reals: bool) -> dict[int, list[int]]:
    """The sums of each longest chain by its last one, in program order."""
    users = graph.users()
    held = {*graph.stores.values(), *(c.value for c in graph.conditional.values())}
    inside: dict[int, int] = {}
    for n, kind in enumerate(graph.kind):
        operator = graph.operator[n]
        if kind not in _SUMS or not _reorders(operator, reals) or n in held:
            continue
        if len(users[n]) == 1 and graph.deps[users[n][0]].count(n) == 1:
            user = users[n][0]
            if graph.kind[user] == "add" or (
                graph.kind[user] == "sub" and graph.deps[user][0] == n
            ):
                inside[n] = user
    found: dict[int, list[int]] = {}
    for n, kind in enumerate(graph.kind):
        operator = graph.operator[n]
        if kind not in _SUMS or not _reorders(operator, reals):
            continue
        last = n
        while last in inside:
            last = inside[last]
        found.setdefault(last, []).append(n)
    return found


def _reorders(operator: Operator | None, reals: bool) -> bool:
    """Its sums may be done in any order: of integers at all times (expression balancing, UG1399)."""
    return operator is not None and (operator.integer or (reals and operator.shared))


@dataclass(slots=True)
class _Rebuilt:
    """The same graph, operation by operation, with new numbers."""

    graph: Graph
    sums: Sums
    load: int
    exit: Exit | None
    chains: dict[int, list[int]]
    carried: frozenset[int]
    new: Graph = field(init=False)
    numbers: dict[int, int] = field(default_factory=dict)
    ready: list[int] = field(default_factory=list)  # by new number: states until the result
    late: set[int] = field(default_factory=set)  # new numbers that need what is carried
    _targets: dict[int, set[int]] = field(default_factory=dict)

    def run(self) -> Graph:
        old = self.graph
        self.new = replace(
            old, kind=[], operator=[], deps=[], address=[], statement=[], order=[], _users=[],
            indexed={}, looked_up={},
        )  # fmt: skip
        self._targets = self._stored()
        inside = {n for chain in self.chains.values() for n in chain[:-1]}
        for n in range(len(old.kind)):
            if n in inside:
                continue
            if len(self.chains.get(n, ())) > 1:
                made = self._sum(n)
                # Of values from outside alone one operation is left.
                self.numbers[n] = made if made >= 0 else self._add(n, old.operator[n], ())
            else:
                deps = tuple(self._number(d) for d in old.deps[n])
                self.numbers[n] = self._add(n, old.operator[n], deps)
        self._renumber()
        return self.new

    def _number(self, n: int) -> int:
        return self.numbers[n] if n >= 0 else n

    def _add(self, like: int, operator: Operator | None, deps: tuple[int, ...]) -> int:
        old = self.graph
        number = self.new.add(
            old.kind[like], operator, deps, old.address[like], old.statement[like]
        )
        start = max((self.ready[d] for d in deps if d >= 0), default=0)
        if like in self.carried or not self.late.isdisjoint(deps):
            self.late.add(number)
        if operator is not None:
            start += operator.distance
        elif old.kind[like] == LOAD:
            start += self.load
        else:
            start += STORE_STATES
        self.ready.append(start)
        return number

    def _sum(self, last: int) -> int:
        """The result of a chain, from trees of its terms and the accumulator."""
        carried, terms = self._terms(last)
        exit_ = self.exit
        if carried is not None and (self.sums.order == "leaf" or self._in_order(carried)):
            return self._with_leaf(carried, [t for _, t in terms], last)
        if exit_ is None or carried is None:
            tree = self._late_last([t for _, t in terms], last)
            return tree if carried is None else self._join(carried, tree, last, 0)
        first = [t for n, t in terms if n < exit_.at]
        second = [t for n, t in terms if n >= exit_.at]
        if not first or not second:
            return self._join(carried, self._tree(first or second, last), last, 0)
        saved = self.sums.saved
        if exit_.behind == "tree":
            total = self._join(carried, self._tree(first, last), last, saved)
            return self._join(total, self._tree(second, last), last, saved)
        total = self._join(carried, self._tree(first, last), last, -self.sums.exit)
        for term in second:
            total = self._join(total, term, last, 0)
        return total

    def _in_order(self, load: int) -> bool:
        """Loaded of an array that copies update in order: no iteration waits for it alone."""
        address = self.new.address[load]
        return address >= 0 and self.new.addresses.memory(address).in_order

    def _terms(self, last: int) -> tuple[int | None, list[tuple[int, int]]]:
        """The accumulator's old value, and the other terms with the sum that each was in."""
        chain = set(self.chains[last])
        carried: int | None = None
        terms: list[tuple[int, int]] = []
        targets: Set[int] = self._targets.get(last, frozenset())
        for n in self.chains[last]:
            for d in self.graph.deps[n]:
                if d in chain:
                    continue
                if carried is None and d >= 0 and self._holds(d, targets):
                    carried = self.numbers[d]
                else:
                    terms.append((n, self._number(d)))
            if len(self.graph.deps[n]) == 1:
                terms.append((n, -1))  # a value from outside
        return carried, terms or [(last, -1)]  # all from outside

    def _stored(self) -> dict[int, set[int]]:
        """The addresses that each value is stored to."""
        graph, found = self.graph, defaultdict[int, set[int]](set)
        for address, value in graph.stores.items():
            found[value].add(address)
        for address, conditional in graph.conditional.items():
            found[conditional.value].add(address)
        for n in graph.early_stores:
            for value in graph.deps[n][:1]:
                found[value].add(graph.address[n])
        return found

    def _holds(self, n: int, targets: Set[int]) -> bool:
        """It is the old value of an element that the sum goes to, perhaps selected.

        Selections that share operands are a graph with more paths than operations: each is seen once.
        """
        graph = self.graph
        seen, left = {n}, [n]
        while left:
            n = left.pop()
            if graph.kind[n] == LOAD and graph.address[n] in targets:
                return True
            if graph.kind[n] == "select":
                new = {d for d in graph.deps[n] if d >= 0} - seen
                seen |= new
                left += new
        return False

    def _late_last(self, terms: list[int], like: int) -> int:
        """A tree of the terms that are there early, and then the others."""
        early = [t for t in terms if t not in self.late]
        late = [t for t in terms if t in self.late]
        if not early or not late:
            return self._tree(terms, like)
        return self._join(self._tree(early, like), self._tree(late, like), like, 0)

    def _with_leaf(self, carried: int, terms: list[int], like: int) -> int:
        """A balanced tree of the terms and the accumulator, which passes `carried_levels`."""
        if carried_levels(len(terms)) == len(terms).bit_length():  # on the lowest level
            return self._tree([carried, *terms], like)
        groups = []
        while terms:  # the larger half of the leaves is without it
            beside = (len(terms) + 2) // 2
            groups.append(terms[-beside:])
            terms = terms[:-beside]
        total = carried
        for group in reversed(groups):
            total = self._join(total, self._tree(group, like), like, self.sums.saved)
        return total

    def _tree(self, terms: list[int], like: int) -> int:
        """Terms added in pairs, those that are there first before the others."""
        waiting = [(self.ready[t] if t >= 0 else 0, t) for t in terms]
        heapq.heapify(waiting)
        while len(waiting) > 1:
            (_, a), (_, b) = heapq.heappop(waiting), heapq.heappop(waiting)
            total = self._join(a, b, like, self.sums.saved)
            heapq.heappush(waiting, (self.ready[total], total))
        return waiting[0][1]

    def _join(self, a: int, b: int, like: int, saved: int) -> int:
        operator = self.graph.operator[like]
        assert operator is not None
        if saved and operator.registered:
            operator = replace(operator, distance=operator.distance - saved)
        return self._add(like, operator, tuple(v for v in (a, b) if v >= 0))

    def _renumber(self) -> None:
        old, new, number = self.graph, self.new, self._number
        new.order = [(number(a), number(b), states) for a, b, states in old.order]
        new.stores = {a: number(v) for a, v in old.stores.items()}
        new.conditional = {
            a: Conditional(number(c.value), c.when) for a, c in old.conditional.items()
        }
        new.places = {a: tuple(map(number, of)) for a, of in old.places.items()}
        new.loads = {a: number(n) for a, n in old.loads.items()}
        new.at_first = {number(n) for n in old.at_first if n in self.numbers}
        new.indexed = {number(n): v for n, v in old.indexed.items() if n in self.numbers}
        new.early_stores = [number(n) for n in old.early_stores]


def hastened(graph: Graph, moving: frozenset[str], saved: int) -> Graph:
    """The same operations, products on recurrences through registers so many states shorter.

    The last state of an operator on such a recurrence is saved, for sums as for products; trees have
    it saved already (`Sums.saved`).
    """
    registers = promotable(graph, moving)
    products: set[int] = set()
    for address, value in registers.items():
        start = graph.loads.get(address)
        if start is None or value < 0:
            continue
        path = longest_path(graph, start, value)
        products.update(n for n in path if graph.kind[n] == "mul" and _registered(graph, n))
    for n in products:
        operator = graph.operator[n]
        assert operator is not None
        graph.operator[n] = replace(operator, distance=operator.distance - saved)
    return graph


def _registered(graph: Graph, n: int) -> bool:
    operator = graph.operator[n]
    return operator is not None and operator.registered
