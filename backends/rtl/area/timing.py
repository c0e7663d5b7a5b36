"""The longest path between registers of a module on an ECP5 of speed grade 6, before it is placed.

Tables as `cover` has them, but none in a longer row than the module needs (`depth`); a wire's time
grows with the number of its ends, as where they are is not known. Of a chain of equal gates
synthesis makes a tree in which what is late goes in last. A module is done once, whatever drives it: what follows each bit of its inputs
and what comes before each bit of its outputs stands for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from math import log, log2

from backends.rtl.area.cover import Table
from backends.rtl.area.depth import depth
from backends.rtl.area.mapped import Mapped, mapped
from backends.rtl.area.net import Gate
from backends.rtl.area.netlist import (
    Adder,
    Bits,
    Comparator,
    Dropped,
    Fixed,
    Flop,
    Hard,
    Multiplier,
    Part,
    Port,
    outputs_of,
)
from backends.rtl.ir.module import Module, Style

NEVER = float("-inf")


@dataclass(frozen=True, slots=True)
class Delays:
    """In ns. A wire takes ``wire``, and ``fan`` more for each doubling of its ends.

    Attributes:
        memory: from the clock of a block memory.
        into_memory: to a block memory, the longer way to its column included.
        multiplier: ways to its column and back included.
        spread: more of that for each doubling of the multipliers that share an operand.
        apart: more of it where a product takes several.
    """

    register: float = 0.52
    memory: float = 5.0
    into_memory: float = 2.3
    table: float = 0.22
    wire: float = 0.43
    fan: float = 0.05
    onto_chain: float = 0.61
    chain_bit: float = 0.025
    off_chain: float = 0.52
    multiplier: float = 5.2
    spread: float = 0.07
    apart: float = 1.5
    setup: float = 0.08


ECP5 = Delays()


@dataclass(frozen=True, slots=True)
class Paths:
    """The longest paths of a module in ns; `NEVER` without one.

    Attributes:
        inside: From register to register.
        before: From a register to each bit of the outputs, the wire there not included.
        after: From each bit of the inputs to a register, the wire from there not included.
        through: From any input to any output.
    """

    inside: float
    before: tuple[float, ...]
    after: tuple[float, ...]
    through: float


@lru_cache(maxsize=1024)
def paths(
    module: Module, delays: Delays = ECP5, fixed: Fixed = (), dropped: Dropped = frozenset()
) -> Paths:
    """The longest paths of a module with all that it instantiates.

    Args:
        module: As built.
        delays: Of the cells.
        fixed: Bits of its inputs that are constant where it is used.
        dropped: Bits of its outputs that nothing needs there.
    """
    return _Walk(mapped(module, fixed, dropped), delays).run()


Place = int | tuple[int, int]
"""A node of the net, or a point inside of a cell: the cell's `id`, and a number."""


@dataclass(frozen=True, slots=True)
class _Tree:
    """Gates of one kind as one: what goes in, and how many of them a table takes."""

    leaves: tuple[int, ...]
    base: float


class _Walk:
    def __init__(self, whole: Mapped, delays: Delays) -> None:
        self._netlist, self._used = whole.netlist, whole.used
        self._delays = delays
        self._trees: dict[Place, _Tree] = {}
        self._into: dict[Place, list[tuple[Place, float]]] = {}
        self._starts: dict[Place, float] = {}
        self._ends: list[tuple[Place, float]] = []
        self._inside = NEVER
        self._times: dict[Place, float] = {0: NEVER}
        self._cones: dict[Place, tuple[float, float]] = {}
        ends = self._used.ends()
        self._depth = depth(whole.netlist.net, ends) + 1
        for node, table in whole.tables.items():
            if not table.chained:
                base = 2.0 if table.gate is Gate.MUX else 4.0
                self._trees[node] = _Tree(tuple(_leaves(whole.tables, table)), base)
        self._factors = Counter(
            bit >> 1
            for hard in self._used.hard.values()
            if isinstance(hard, Multiplier)
            for bit in set(self._used.inputs(hard))
        )
        self._far = self._apart()
        for hard in self._used.hard.values():
            self._add(hard)
        uses = Counter(n for tree in self._trees.values() for n in tree.leaves)
        uses.update(bit >> 1 for bit in ends)
        self._wires: dict[Place, float] = {
            n: delays.wire + delays.fan * log2(count) for n, count in uses.items()
        }

    # ------------------------------------------------------------------------------------- edges

    def _add(self, hard: Hard) -> None:
        delays, inputs = self._delays, self._used.inputs(hard)
        match hard:
            case Adder():
                self._sum(hard)
            case Comparator():
                along = delays.onto_chain + delays.chain_bit * len(hard.lhs) + delays.off_chain
                self._block(hard, inputs, [hard.result], along)
            case Multiplier():
                shared = max(self._factors[bit >> 1] for bit in inputs)
                along = delays.multiplier + delays.spread * log2(max(1, shared))
                if id(hard) in self._far:
                    along += delays.apart
                self._block(hard, inputs, hard.product, along)
            case Port(clocked=False, word=word) if word:
                self._block(hard, inputs, word, delays.table)
            case Port() if hard.memory.style is Style.BLOCK:
                self._clocked(hard, inputs, delays.memory, delays.into_memory)
            case Port():  # other memories are read at once, into registers behind them
                self._clocked(hard, inputs, delays.register, delays.setup + delays.table)
            case Flop():
                self._clocked(hard, inputs, delays.register, delays.setup)
            case Part():
                self._part(hard)

    def _clocked(self, hard: Hard, inputs: Bits, start: float, end: float) -> None:
        """Paths end at its inputs and begin at its outputs."""
        self._starts.update((bit >> 1, start) for bit in outputs_of(hard))
        self._ends += [(bit >> 1, end) for bit in inputs]

    def _block(self, hard: Hard, inputs: Bits, outputs: Bits, delay: float) -> None:
        """Every input to every output."""
        middle = (id(hard), 0)
        self._into[middle] = [(bit >> 1, 0.0) for bit in inputs]
        self._into.update((bit >> 1, [(middle, delay)]) for bit in outputs)

    def _sum(self, adder: Adder) -> None:
        delays = self._delays
        for n, bit in enumerate(adder.total[: self._used.widths[id(adder)]]):
            here, pair = (id(adder), n), (adder.lhs[n] >> 1, adder.rhs[n] >> 1)
            self._into[here] = [(node, delays.onto_chain) for node in pair]
            if n:
                self._into[here].append(((id(adder), n - 1), delays.chain_bit))
            self._into[bit >> 1] = [(here, delays.off_chain)]

    def _apart(self) -> set[int]:
        """The `id` of multipliers that one product takes three of: they are far apart."""
        owners = {
            bit >> 1: id(hard)
            for hard in self._used.hard.values()
            if isinstance(hard, Multiplier)
            for bit in hard.product
        }
        found: set[int] = set()
        for adder in self._used.hard.values() if owners else ():
            if isinstance(adder, Adder):
                for a, b in zip(adder.lhs, adder.rhs, strict=True):
                    leaves = [leaf for bit in (a, b) for leaf in self._sources(bit >> 1)]
                    together = {owners[n] for n in (a >> 1, b >> 1, *leaves) if n in owners}
                    found |= together if len(together) > 2 else set()
        return found

    def _part(self, part: Part) -> None:
        inner = paths(part.module, self._delays, part.fixed, self._used.dropped(part))
        self._inside = max(self._inside, inner.inside)
        self._ends += [(b >> 1, t) for b, t in zip(part.inputs, inner.after, strict=True)]
        own = zip(part.outputs, inner.before, strict=True)
        self._starts.update((bit >> 1, t) for bit, t in own if t != NEVER)
        if inner.through != NEVER:
            self._block(part, part.inputs, part.outputs, inner.through)

    # ------------------------------------------------------------------------------------- times

    def run(self) -> Paths:
        """Forward from registers, then back from them."""
        order = self._order()
        inputs = {bit >> 1 for bit in self._netlist.inputs}
        follows = self._followers(order, inputs)
        self._forward(order)
        after = self._back(order, follows)
        inside = max(
            (self._arrives(n) + self._wire(n) + rest for n, rest in self._ends), default=NEVER
        )
        outputs = [bit >> 1 for bit in self._used.outputs]
        passes = any(follows.get(n) for n in outputs)
        through = self._through(order, inputs, outputs) if passes else NEVER
        return Paths(
            max(inside, self._inside),
            tuple(self._arrives(bit >> 1) for bit in self._netlist.outputs),
            tuple(after.get(bit >> 1, NEVER) for bit in self._netlist.inputs),
            through,
        )

    def _wire(self, place: Place) -> float:
        return self._wires.get(place, 0.0)

    def _sources(self, place: Place) -> Iterable[Place]:
        if place in self._trees:
            return self._trees[place].leaves
        return [source for source, _ in self._into.get(place, ())]

    def _order(self) -> list[Place]:
        """All places, each after its sources."""
        order: list[Place] = []
        seen: set[Place] = {0}
        todo: list[tuple[Place, bool]] = [(n, False) for n, _ in self._ends]
        todo += [(bit >> 1, False) for bit in self._used.outputs]
        while todo:
            place, ready = todo.pop()
            if ready:
                order.append(place)
            elif place not in seen:
                seen.add(place)
                todo.append((place, True))
                todo += [(s, False) for s in self._sources(place) if s not in seen]
        return order

    def _followers(self, order: list[Place], inputs: set[int]) -> dict[Place, bool]:
        """Whether inputs have a say in a place."""
        follows: dict[Place, bool] = {0: False}
        for place in order:
            follows[place] = place in inputs or any(follows[s] for s in self._sources(place))
        return follows

    def _forward(self, order: list[Place]) -> None:
        """When each place has its value after the clock."""
        level = self._delays.table + self._delays.wire
        for place in order:
            if place in self._trees:
                self._tree(place, self._trees[place], level)
                continue
            time = self._starts.get(place, NEVER)
            for source, delay in self._into.get(place, ()):
                time = max(time, self._arrives(source) + self._wire(source) + delay)
            self._times[place] = time

    def _tree(self, place: Place, tree: _Tree, level: float) -> None:
        """A tree of tables: what is late goes in last."""
        found = [self._times[leaf] + self._wire(leaf) for leaf in tree.leaves]
        last = max(found)
        simple = last + self._delays.table
        time = max(simple, _merged(found, tree.base, level) - self._delays.wire)
        self._times[place] = time
        if last != NEVER:
            begin, levels = self._cones.get(tree.leaves[found.index(last)], (last, 0.0))
            self._cones[place] = begin, levels + 1 + (time - simple) / level

    def _arrives(self, place: Place) -> float:
        """When a place has its value: synthesis makes no cone of tables deeper than it must."""
        time = self._times.get(place, NEVER)
        if place not in self._cones:
            return time
        begin, levels = self._cones[place]
        return begin + (time - begin) * min(1.0, self._depth / levels)

    def _back(self, order: list[Place], follows: dict[Place, bool]) -> dict[Place, float]:
        """How long it is from each place's wire to a register."""
        after: dict[Place, float] = dict.fromkeys(order, NEVER)
        for place, delay in self._ends:
            after[place] = max(after.get(place, NEVER), delay)
        level = self._delays.table + self._delays.wire
        for place in reversed(order):
            rest = after[place] + self._wire(place)
            if place in self._trees:
                tree = self._trees[place]
                late = max(1, sum(follows[s] for s in tree.leaves))
                along = self._delays.table + level * max(0.0, log(late, tree.base) - 1)
                for leaf in tree.leaves:
                    after[leaf] = max(after.get(leaf, NEVER), rest + along)
            for source, delay in self._into.get(place, ()):
                after[source] = max(after.get(source, NEVER), rest + delay)
        return after

    def _through(self, order: list[Place], inputs: set[int], outputs: list[int]) -> float:
        times: dict[Place, float] = {0: NEVER}
        for place in order:
            time = 0.0 if place in inputs else NEVER
            for leaf in self._trees[place].leaves if place in self._trees else ():
                time = max(time, times[leaf] + self._wire(leaf) + self._delays.table)
            for source, delay in self._into.get(place, ()):
                time = max(time, times[source] + self._wire(source) + delay)
            times[place] = time
        return max((times.get(n, NEVER) for n in outputs), default=NEVER)


def _leaves(tables: dict[int, Table], table: Table) -> list[int]:
    found, todo = [], sorted(table.inputs)
    while todo:
        n = todo.pop()
        if n in tables and tables[n].chained and tables[n].gate is table.gate:
            todo += sorted(tables[n].inputs)
        else:
            found.append(n)
    return found


def _merged(times: list[float], base: float, level: float) -> float:
    """When a tree of gates with ``base`` inputs and ``level`` ns each has all of them."""
    last = max(times)
    if last == NEVER:
        return NEVER
    return last + level * log(sum(base ** ((t - last) / level) for t in times), base)
