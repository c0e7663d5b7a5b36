"""What the accesses of one block see: stores forwarded to loads, loads shared, dead stores gone.

Every access has a time: the n-th store of the block is at ``2n + 1``, a load at the even number
after the last store that it may see. So a load may stand earlier than its statement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from backends.rtl.front.accesses.promote import Indices, Span
from backends.rtl.front.values.builder import Builder
from backends.rtl.front.values.scope import Scope, contradict, implies
from backends.rtl.front.values.val import FALSE, Guard, Val, constant
from backends.rtl.graph import Array, Kind, Place
from backends.rtl.graph import Memory as Storage
from dsl.expressions.affine import Affine, Constraint
from polyhedral.banks.splits import Split


@dataclass(slots=True)
class Access:
    """A `LOAD` or `STORE` of the block; ``value`` is what a store stores."""

    op: int
    is_store: bool
    array: str
    indices: Indices
    guard: Guard
    time: int
    value: Val | None = None

    def at(self, op: int) -> Access:
        """The same access by an operation of another number."""
        return Access(op, self.is_store, self.array, self.indices, self.guard, self.time)


@dataclass(frozen=True, slots=True)
class Address:
    """Where an access goes at a computed subscript: the values are the offset, and the bank if it is not known."""

    place: Place
    values: tuple[Val, ...]


@dataclass(slots=True)
class _History:
    """The accesses of one array so far."""

    stores: list[Access] = field(default_factory=list)
    loads: dict[Indices, Access] = field(default_factory=dict)
    all_loads: list[Access] = field(default_factory=list)
    shapes: set[tuple[object, ...]] = field(default_factory=set)
    by_indices: dict[Indices, list[Access]] = field(default_factory=dict)


@dataclass(slots=True)
class Memory:
    """The arrays as one block uses them; ``signed`` says how the elements of each are read."""

    builder: Builder
    scope: Scope
    arrays: Mapping[str, Array]
    signed: Mapping[str, bool]
    spans: Mapping[tuple[str, Indices], Span] = field(default_factory=dict)
    taken: int = 0
    registers: list[Array] = field(default_factory=list)
    time: int = 0
    histories: dict[str, _History] = field(default_factory=dict)
    _apart: dict[tuple[Affine, ...], bool] = field(default_factory=dict)
    _current: dict[tuple[str, Indices], Val] = field(default_factory=dict)
    held: dict[tuple[str, Indices], Array] = field(default_factory=dict)
    _written: set[tuple[str, Indices]] = field(default_factory=set)

    def load(self, array: str, indices: Indices, guard: Guard) -> Val:
        """The element's value at this point."""
        if (array, indices) in self.spans:
            return self._now((array, indices))
        if (word := self._constant(array, indices)) is not None:
            return word
        history = self.histories.setdefault(array, _History())
        pending: list[Access] = []
        seen = 0
        for store in self._candidates(history, indices):
            if contradict(store.guard, guard):
                continue
            if store.indices != indices:
                if self._distinct(store.indices, indices):
                    continue
                seen = store.time + 1
                break
            if implies(guard, store.guard):
                assert store.value is not None
                return self._chosen(pending, store.value)
            pending.append(store)
        return self._chosen(pending, self._loaded(history, array, indices, guard, seen))

    def _constant(self, array: str, indices: Indices) -> Val | None:
        """The element of a table of constants at known subscripts, as its bits are read; None of all else."""
        info, place = self.arrays[array], 0
        if not info.contents or not all(i.is_const for i in indices):
            return None
        for index, extent in zip(indices, info.shape, strict=True):
            if not 0 <= index.const < extent:
                return None  # under a guard that does not hold there
            place = place * extent + index.const
        word = info.contents[place]
        if self.signed[array] and word >> (info.width - 1):
            word -= 1 << info.width
        return constant(word)

    def gather(self, array: str, indices: Indices, place: Address, guard: Guard) -> Val:
        """The value of an element at a computed place; ``indices`` tell such elements apart."""
        history = self.histories.setdefault(array, _History())
        seen = 0
        for store in history.stores[::-1]:
            if not contradict(store.guard, guard) and not self._distinct(store.indices, indices):
                seen = store.time + 1
                break
        return self._loaded(history, array, indices, guard, seen, place)

    def _chosen(self, pending: list[Access], base: Val) -> Val:
        """What guarded stores, the latest first, make of an older value."""
        for store in reversed(pending):
            assert store.value is not None
            base = self.builder.select(self.builder.holds(store.guard), store.value, base)
        return base

    def _candidates(self, history: _History, indices: Indices) -> list[Access]:
        """Stores that may be of this element, the latest first."""
        shape = tuple(i.terms for i in indices)
        if history.shapes <= {shape}:  # all others differ by a constant
            return history.by_indices.get(indices, [])[::-1]
        return history.stores[::-1]

    def _distinct(self, a: Indices, b: Indices) -> bool:
        key = tuple(x - y for x, y in zip(a, b, strict=True))
        found = self._apart.get(key)
        if found is None:
            zero = (Affine(),) * len(key)
            found = self._apart[key] = self.scope.distinct(key, zero)
        return found

    def _loaded(
        self,
        history: _History,
        array: str,
        indices: Indices,
        guard: Guard,
        time: int,
        computed: Address | None = None,
    ) -> Val:
        old = history.loads.get(indices)
        info = self.arrays[array]
        if old is not None and old.time >= time:
            if old.guard:
                old.guard = tuple(c for c in old.guard if c in guard)
                op = self.builder.ops[old.op]
                self.builder.ops[old.op] = replace(op, guard=old.guard)
            return self.builder.loaded(old.op, info.width, self.signed[array])
        place = place_of(info, indices, self.scope) if computed is None else computed.place
        values = () if computed is None else computed.values
        op_id = self.builder.access(Kind.LOAD, info.width, place, guard, *values)
        load = Access(op_id, False, array, indices, guard, time)
        history.loads[indices] = load
        history.all_loads.append(load)
        return self.builder.loaded(op_id, info.width, self.signed[array])

    def store(
        self,
        array: str,
        indices: Indices,
        guard: Guard,
        value: Val,
        computed: Address | None = None,
    ) -> None:
        """Write an element, maybe at a computed place; ``indices`` tell such elements apart."""
        info = self.arrays[array]
        read = self.builder.signed if self.signed[array] else self.builder.unsigned
        value = read(value, info.width)
        key = (array, indices)
        if key in self.spans:
            if guard:
                value = self.builder.replaced(self.builder.holds(guard), value, self._now(key))
            self._current[key] = value
            self._written.add(key)
            return
        history = self.histories.setdefault(array, _History())
        for old in self._candidates(history, indices):
            if old.indices == indices and implies(old.guard, guard):
                if not self._read_since(history, old):
                    history.stores.remove(old)
                    history.by_indices[indices].remove(old)
                break
            if old.indices != indices and not self._distinct(old.indices, indices):
                break
        self._stored(history, array, indices, guard, value, computed)

    def _stored(
        self,
        history: _History,
        array: str,
        indices: Indices,
        guard: Guard,
        value: Val,
        computed: Address | None = None,
    ) -> None:
        info = self.arrays[array]
        place = place_of(info, indices, self.scope) if computed is None else computed.place
        values = () if computed is None else computed.values
        op_id = self.builder.access(Kind.STORE, info.width, place, guard, value, *values)
        store = Access(op_id, True, array, indices, guard, 2 * self.time + 1, value)
        self.time += 1
        history.stores.append(store)
        history.by_indices.setdefault(indices, []).append(store)
        history.shapes.add(tuple(i.terms for i in indices))

    def _read_since(self, history: _History, store: Access) -> bool:
        """Some load that was not forwarded may see the store."""
        return any(
            load.time > store.time and not self._distinct(load.indices, store.indices)
            for load in history.all_loads
        )

    def _now(self, key: tuple[str, Indices]) -> Val:
        """The value of an element that lives in a register."""
        found = self._current.get(key)
        if found is not None:
            return found
        array, indices = key
        info, span = self.arrays[array], self.spans[key]
        name = f"{array}$r{self.taken + len(self.registers)}"
        held = Array(name, info.width, (), (), Storage.REGISTERS, False)
        if span.lanes:
            held = Array(name, info.width, (span.lanes,), (Split(),), Storage.LUTRAM, False)
        self.registers.append(held)
        self.held[key] = held
        where, later = self._lane(span)
        value = constant(span.identity)
        if later is not None:
            place = place_of(held, where, self.scope)
            op = self.builder.access(Kind.LOAD, info.width, place, later)
            history = self.histories.setdefault(held.name, _History())
            history.all_loads.append(Access(op, False, held.name, where, later, 0))
            value = self.builder.loaded(op, info.width, self.signed[array])
        start = constant(span.identity)
        if not span.private:
            history = self.histories.setdefault(array, _History())
            before = self._loaded(history, array, indices, span.first, 0)
            test = self.builder.holds(span.first)
            if span.lanes:
                start = self.builder.select(test, before, start)
            else:
                value = self.builder.select(test, before, value)
        if span.lanes:
            test = FALSE if later is None else self.builder.holds(later)
            value = self.builder.select(test, value, start)
        self._current[key] = value
        return value

    def _lane(self, span: Span) -> tuple[Indices, Guard | None]:
        """Which partial result it is, and when it is not the first of it; None: never."""
        if not span.lanes:
            return (), ()
        assert span.turn is not None
        later = self.scope.guard([Constraint(span.turn - span.lanes)])
        return (self.scope.simplified(span.turn % span.lanes),), later

    def finish(self) -> None:
        """Write back what lives in registers: to the register always, to the array at last."""
        for key, value in self._current.items():
            if key not in self._written:
                continue
            array, indices = key
            span = self.spans[key]
            held = self.held.get(key)
            if held is not None:
                where, _ = self._lane(span)
                place = place_of(held, where, self.scope)
                op = self.builder.access(Kind.STORE, held.width, place, (), value)
                store = Access(op, True, held.name, where, (), 2 * self.time + 1, value)
                self.histories.setdefault(held.name, _History()).stores.append(store)
                self.time += 1
            if not span.private and not span.lanes:
                history = self.histories.setdefault(array, _History())
                self._stored(history, array, indices, span.last, value)

    def accesses(self) -> list[Access]:
        """Those that are left, in their order.

        A load at a computed place comes after the loads that its place is computed from.
        """
        found = [a for h in self.histories.values() for a in (*h.all_loads, *h.stores)]
        own = {a.op: a.time for a in found}
        times: list[int] = []
        for n, op in enumerate(self.builder.ops):
            times.append(max([own.get(n, 0), *(times[use.op] for use in op.operands)]))
        return sorted(found, key=lambda a: (times[a.op], a.op))


def place_of(array: Array, indices: Indices, scope: Scope) -> Place:
    """Bank and offset of an element; the bank's number where it is the same in all iterations."""
    bank = scope.simplified(array.bank(indices))
    offset = scope.simplified(array.offset(indices))
    if bank.is_const:
        return Place(array.name, offset, bank.const)
    return Place(array.name, offset, None, bank)
