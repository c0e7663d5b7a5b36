"""Builds the operations of a body, copy by copy, as a compiler's front end leaves them.

Loops inside are unrolled, common subexpressions and loads merged, stores forwarded to loads, and
only the last store to an address is kept. Reductions stay in program order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import assert_never

from dsl.expressions.affine import Affine
from qor_gnn.body.graph import LOAD, STORE, STORE_STATES, Conditional, Graph, When
from qor_gnn.body.guarded_values import GuardedValues, Held, undecided
from qor_gnn.body.meetings import Accesses, Elements
from qor_gnn.body.ordered_updates import CopiesInOrder
from qor_gnn.body.outside import Outside
from qor_gnn.body.plans import Plan, Plans, Step, first_of
from qor_gnn.body.subscript_values import SubscriptValues, named
from qor_gnn.body.words import gathered, word_of
from qor_gnn.design.operations import type_of
from qor_gnn.design.region import Access, Guard, Loop, Node, Statement, walk
from qor_gnn.memory.addresses import Addresses, Site, site
from qor_gnn.tools.personality import Personality

Env = Mapping[str, Affine]
"""Loop variables as expressions of the counters of loops that still run."""


@dataclass(slots=True)
class Expander:
    """Builds a `Graph` copy by copy.

    ``env`` places the variables of the loops around, ``copied`` are the variables of loops that
    are unrolled inside (and copy numbers of the unrolled loop itself).
    """

    personality: Personality
    addresses: Addresses
    memory_numbers: Mapping[str, int]
    env: Env
    copied: frozenset[str]
    from_zero: frozenset[str] = frozenset()  # counters that are never less
    graph: Graph = field(init=False)
    _values: dict[int, int] = field(default_factory=dict)  # address -> value it holds
    _inside: GuardedValues = field(default_factory=GuardedValues)  # stored in the guards around
    _again: dict[int, list[int]] = field(default_factory=dict)  # memory -> not from its stores
    _merged: dict[tuple[object, ...], int] = field(default_factory=dict)
    _outside: Outside = field(init=False)
    _placed: dict[Affine, Affine] = field(default_factory=dict)  # subscripts, by the written ones
    _plans: Plans = field(init=False)
    _shapes: dict[int, set[int]] = field(default_factory=dict)  # memory -> shapes in the body
    _mixed: set[int] = field(default_factory=set)  # memories in more than one shape
    _touched: dict[int, Accesses] = field(default_factory=dict)  # memory -> accesses so far
    when: When = "always"
    guard: frozenset[str] = frozenset()  # counters that the guards around depend on
    copy: int = 0  # of the unrolled loop, the one that is appended
    _seen: dict[int, int] = field(default_factory=dict)  # address -> the last copy that accesses it
    _elements: Elements = field(init=False)
    _accessed: dict[int, set[int]] = field(default_factory=dict)  # mixed memory -> shapes so far
    _stored: dict[int, int] = field(default_factory=dict)  # address -> the copy that stores it
    _order: CopiesInOrder = field(default_factory=CopiesInOrder)
    _follows: bool = False  # values move with counters: subscripts that are data, or what is computed of counters
    _moved: SubscriptValues = field(default_factory=SubscriptValues)
    _copy_of: dict[int, int] = field(default_factory=dict)  # load or early store -> its copy

    def __post_init__(self) -> None:
        self.graph = Graph(self.addresses)
        self._elements = Elements(self.addresses)
        self._outside = Outside(self.personality.guards.folds_constants)
        memories, copied = self.addresses.memories, self.copied
        self._plans = Plans(self._site, self._outside, self.personality, memories, copied)

    def prepare(self, nodes: tuple[Node, ...], env: Env | None = None) -> None:
        """Read the statements below before any is run; ``env`` places them anew."""
        if env is not None and env != self.env:
            self.env = env
            self._plans.forget()
            self._placed.clear()
        for node in (node for node in walk(nodes) if isinstance(node, Statement)):
            self._follows |= any(op.kind == "index" for op in node.ops)
            plan = self._plans.read(node, self.env)
            for access in () if plan is None else plan.at_data:
                self._shapes.setdefault(self.memory_numbers[access.memory], set()).add(-1)
                self._follows = True
        self._mixed = {m for m, shapes in self._shapes.items() if self._mixes(shapes)}
        self.graph.mixed = bool(self._mixed)

    def _mixes(self, shapes: Set[int]) -> bool:
        """Whether addresses of these shapes may be of one element without being equal."""
        return len(shapes) > 1 or -1 in shapes or any(map(self._blurred, shapes))

    def _blurred(self, shape: int) -> bool:
        return any(map(self.addresses.blurs, self.addresses.shapes[shape].terms))

    def run(self, nodes: tuple[Node, ...], copies: dict[str, int]) -> None:
        """Append one copy of the nodes; ``copies`` gives the value of each copied variable."""
        for node in nodes:
            match node:
                case Statement():
                    self._statement(node, copies)
                case Loop():
                    first = first_of(node, copies, self.env)
                    outermost = self._order.enter()
                    for c in range(node.trips.maximum):
                        copies[node.iv] = first + c * node.step
                        self._order.copy += outermost
                        self.run(node.body, copies)
                    if outermost:
                        self._order.leave()
                case Guard():
                    self._guarded(node, copies)
                case _:
                    assert_never(node)

    def _guarded(self, guard: Guard, copies: dict[str, int]) -> None:
        """A body that runs where constraints hold: never, always, or nobody knows."""
        if (unknown := undecided(guard, self.env, copies, self.from_zero)) is None:
            return
        self.graph.compared.update(unknown)
        decided, counters = not unknown, self.guard.union(*(e.variables() for e in unknown))
        outer, around = self.when, self.guard
        if not decided and outer == "always":
            self.when = "guarded"
        self.guard = counters
        if decided:
            self.run(guard.body, copies)
        else:
            self._inside.enter()
            self.run(guard.body, copies)
            for address, held in self._inside.leave().items():
                self._behind_guard(address, held)
        self.when, self.guard = outer, around

    def _behind_guard(self, address: int, held: Held) -> None:
        """An element that was stored under the guard that ends: it may have been, or not."""
        blurred = self.when == "guarded" and not self._told_apart(held.memory)
        before = None if blurred else held.before
        if before is None:
            self._forget(address)
            return
        value = self._either(held.memory, held.value, before, held.statement)
        if self._inside:
            self._inside.store(address, Held(value, before, held.memory, held.statement))
        else:
            self._values[address] = value

    def _told_apart(self, memory: int) -> bool:
        """Whether all elements of a memory that were accessed so far are known to be equal or different."""
        return memory not in self._mixed or not self._mixes(self._accessed.get(memory, set()))

    def _held(self, address: int) -> int | None:
        """The value of an element, if it is known."""
        return self._values.get(address) if (v := self._inside.value(address)) is None else v

    def _forget(self, address: int) -> None:
        self._values.pop(address, None)
        self._inside.forget(address)

    # ------------------------------------------------------------------------- statements

    def _statement(self, statement: Statement, copies: Mapping[str, int]) -> None:
        plan = self._plans.at(statement, copies)
        values: list[int] = []
        merged, graph, zeros = self._merged, self.graph, self._outside.zeros
        folds = self.personality.sums.reassociates and bool(zeros)
        for step in self._steps(plan, copies):
            operator = step.operator
            if operator is not None:
                operands = tuple([values[k] for k in step.operands])
                if folds and step.kind == "add" and not zeros.isdisjoint(operands):
                    values.append(next((v for v in operands if v not in zeros), operands[0]))
                    continue
                if (constant := self._outside.computed(step.head, operands)) is not None:
                    values.append(constant)
                    continue
                key = (step.head, operands)
                found = merged.get(key)
                if found is None:
                    deps = operands if min(operands) >= 0 else tuple(v for v in operands if v >= 0)
                    found = merged[key] = graph.add(step.kind, operator, deps, -1, statement)
                    if self._follows:
                        self._moved.computed(graph, found, operands)
                    if self.when == "first":
                        graph.at_first.add(found)
                values.append(found)
            elif step.site is not None:
                values.append(self._load(step.site, statement, copies))
            elif step.gather is not None:
                data = [values[k] for k in step.operands]
                place = self._site(named(step.gather, data))
                values.append(self._load(place, statement, copies, data))
                self._moved.loaded(graph, values[-1], data)
            elif step.index is not None:
                held = tuple(copies.get(v, 0) for v in sorted(step.index.indices[0].variables()))
                values.append(self._outside.value(("index", step.index, held)))
                if self._follows:
                    moved = step.index.indices[0].substitute(self.env).variables()
                    self._moved.counters[values[-1]] = moved - self.copied
            else:
                values.append(step.outside)
        target = plan.target
        if target is None:
            data = [values[k] for k in plan.subscripts]
            target = self._site(named(statement.target, data))
            graph.places[target.place(self.addresses, copies)] = tuple(v for v in data if v >= 0)
        self._store(target, statement, values[-1], copies)

    def _steps(self, plan: Plan, copies: Mapping[str, int]) -> tuple[Step, ...]:
        """Under a guard products are regrouped whose first factors are known outside of it."""
        guards = self.graph.guards if self.guard and plan.regrouped else {}
        early = (guards.get(s.place(self.addresses, copies), self.guard) for s in plan.early)
        return plan.regrouped if guards and not any(early) else plan.steps

    def _site(self, access: Access) -> Site:
        placed = self._placed
        for e in access.indices:
            if e not in placed:
                placed[e] = e.substitute(self.env)
        memory = self.memory_numbers[access.memory]
        held = self.addresses.memories[memory]
        indices = word_of(held, [placed[e] for e in access.indices], self.personality)
        found = site(self.addresses, memory, indices, self.copied, access.late)
        self._shapes.setdefault(memory, set()).add(found.shape)
        return found

    def _load(
        self,
        place: Site,
        statement: Statement,
        copies: Mapping[str, int],
        data: Sequence[int] = (),
    ) -> int:
        address = place.place(self.addresses, copies)
        ordered = self._touch_in_order(place.memory, address)
        self.graph.guards[address] = self.graph.guards.get(address, self.guard) & self.guard
        self._sees(address)
        graph = self.graph
        if graph.loaded.setdefault(address, self.when) != self.when:
            graph.loaded[address] = "always"
        if (found := self._held(address)) is not None:
            return found
        if place.memory in self._mixed:
            self._accessed.setdefault(place.memory, set()).add(self.addresses.shape_of[address])
            self._commit(place.memory, address, read=True)
            if address in graph.conditional and graph.conditional[address].when == "guarded":
                self._early(place.memory, address, graph.conditional.pop(address).value)
        self._values[address] = found = graph.add(
            LOAD, None, tuple(v for v in data if v >= 0), address, statement
        )
        self._copy_of[found] = self.copy
        graph.loads.setdefault(address, found)
        self._again.setdefault(place.memory, []).append(address)
        graph.order += [(n, found, STORE_STATES) for n in ordered]
        if (later := graph.conditional.get(address)) is not None:
            self._values[address] = self._either(place.memory, later.value, found, statement)
        if place.memory in self._mixed:
            self._ordered_after_stores(found, address)
            self._touches(place.memory, found, address)
        return self._values.get(address, found)

    def _either(self, memory: int, new: int, old: int, statement: Statement) -> int:
        """The value of an element after a conditional store: selected from both."""
        type_, width = type_of(self.addresses.memories[memory].dtype)
        operator = self.personality.operator("select", type_, width)
        deps = tuple(v for v in (new, old) if v >= 0)
        return self.graph.add("select", operator, deps, -1, statement)

    def _store(
        self, place: Site, statement: Statement, value: int, copies: Mapping[str, int]
    ) -> None:
        address = place.place(self.addresses, copies)
        self._touch_in_order(place.memory, address)
        if place.memory in self._mixed:
            self._accessed.setdefault(place.memory, set()).add(self.addresses.shape_of[address])
            self._commit(place.memory, address, read=False)
            for other in self._elements.near(address):
                if self._alias(address, other, self._seen[other] == self.copy):
                    self._forget(other)
        self._sees(address)
        self._stored[address] = self.copy
        self._elements.written.add(place.memory)
        graph = self.graph
        if self.personality.accesses.merged == "between_stores":
            self._load_again(place.memory, address)
        when = self.when
        if (port := self.addresses.memories[place.memory].port) is not None and port.lanes:
            value, when = gathered(graph, address, value, when, statement, self.personality)
        if when == "always":
            self._values[address] = value
            graph.stores[address] = value
            graph.conditional.pop(address, None)
        else:
            kept = self._with_earlier(place.memory, address, value, statement)
            graph.conditional[address] = Conditional(kept, when)
            self._again.setdefault(place.memory, []).append(address)
            self._store_at_times(place.memory, address, value, statement)
        graph.stored_by[address] = statement

    def _with_earlier(self, memory: int, address: int, value: int, statement: Statement) -> int:
        """What a register holds behind a guard, if another guard of the iteration may have stored it before."""
        earlier = self.graph.conditional.get(address)
        if earlier is None or not self.when == earlier.when == "guarded":
            return value
        in_registers = self.addresses.memories[memory].in_registers
        if not in_registers or self.graph.needs(value, earlier.value):
            return value
        return self._either(memory, value, earlier.value, statement)

    def _store_at_times(self, memory: int, address: int, value: int, statement: Statement) -> None:
        """A store that is not made in every iteration."""
        old = self._held(address)
        if self._inside:
            self._inside.store(address, Held(value, old, memory, statement))
            return
        self._values.pop(address, None)
        if old is not None:
            self._values[address] = self._either(memory, value, old, statement)

    def _touch_in_order(self, memory: int, address: int) -> list[int]:
        """The stores that a load waits for in an array that is updated in order."""
        if not self.addresses.memories[memory].in_order:
            return []
        for gone in self._order.touch(memory, address, self._made):
            self._forget(gone)
        return self._order.stored.get(memory, [])

    def _made(self, memory: int, address: int) -> int | None:
        self._touched.pop(memory, None)  # the copies' order is all that there is to keep
        value = self.graph.stores.pop(address, None)
        return None if value is None else self._early(memory, address, value)

    def _load_again(self, memory: int, stored: int) -> None:
        """What has been loaded of an array is loaded again behind a store to it."""
        for a in self._again.pop(memory, ()):
            if a != stored and a not in self.graph.stores:
                self._forget(a)

    # ---------------------------------------------------- accesses that may be the same element

    def _sees(self, address: int) -> None:
        if address not in self._seen:
            self._elements.append(address)
        self._seen[address] = self.copy

    def _commit(self, memory: int, address: int, read: bool) -> None:
        """Stores that may be to the address become operations, which later ones cannot undo.

        Copies of one store are known to be of different elements, but not those of a load.
        """
        graph = self.graph
        for other in self._elements.near(address, graph.stores):
            if self._alias(address, other, not read or self._stored[other] == self.copy):
                self._early(memory, other, graph.stores.pop(other))
        for other in self._elements.near(address, graph.conditional):
            together = not read or self._stored[other] == self.copy
            if graph.conditional[other].when == "guarded" and self._alias(address, other, together):
                self._early(memory, other, graph.conditional.pop(other).value)

    def _alias(self, a: int, b: int, together: bool) -> bool:
        table = self.addresses
        return table.may_alias(a, b) if together else table.may_alias_in_copies(a, b)

    def _early(self, memory: int, address: int, value: int) -> int:
        """A store in its place among the accesses to its memory."""
        graph, deps = self.graph, self.graph.stored(address, value)
        self._again.setdefault(memory, []).append(address)
        done = graph.add(STORE, None, deps, address, graph.stored_by[address])
        self._copy_of[done] = self._stored[address]
        for before in self._meeting(memory, done, address):
            graph.order.append((before, done, 0 if graph.kind[before] == LOAD else 1))
        graph.early_stores.append(done)
        self._touches(memory, done, address)
        return done

    def _touches(self, memory: int, operation: int, address: int) -> None:
        if memory not in self._touched:
            self._touched[memory] = Accesses(self.addresses, bool(self.addresses.blurred))
        self._touched[memory].append(operation, address)

    def _ordered_after_stores(self, load: int, address: int) -> None:
        memory, reload = self.addresses.shape(address).memory, self.personality.accesses.reload
        for before in self._meeting(memory, load, address):
            if self.graph.kind[before] == STORE:
                other = self.graph.address[before]
                far = other == address or not self.addresses.may_alias(other, address)
                self.graph.order.append((before, load, STORE_STATES if far else reload))

    def _meeting(self, memory: int, operation: int, address: int) -> list[int]:
        """The accesses to a memory so far that may be of the element that an operation touches."""
        touched = self._touched.get(memory)
        if touched is None or memory not in self._elements.written:  # loads meet stores alone
            return []
        met, places, copies = touched.may_meet(address), self.graph.address, self._copy_of
        if not touched.blurred:
            return met
        apart = [copies[a] != copies[operation] or places[a] == address for a in met]
        alias = self.addresses.may_alias
        return [a for a, far in zip(met, apart, strict=True) if far or alias(places[a], address)]
