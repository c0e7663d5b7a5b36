"""The arrays that a nest accesses, as numbers: banks that its copies ask for, and what ports they need.

The same rules as `dse.space.memory.banks`, asked so often that the answers are kept: copies are tuples in the
order of the nest's loops, factors tuples in the order of `Arrays.places`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import gcd
from operator import ge

from dse.ranking.memories import Stored
from dse.space.memory.banks import Demand, interval_at, widest_of
from dse.space.nests.look_ups import is_anywhere
from dse.space.nests.nest import Order, Use
from polyhedral.banks.wanted import common
from qor_gnn.tools.personality import Personality

Copies = tuple[int, ...]  # of each loop of the nest, those inside included
Factors = tuple[int, ...]  # of each dimension of each array
Gone = tuple[bool, ...]  # of each loop whether nothing of it is left to run

OWN, COMPLETE = 1, 0
Spread = tuple[int, ...]
"""For each dimension of each array how many times as many banks as the nest itself asks for: `OWN` as many,
`COMPLETE` where every element is a bank. Few stand for many.
"""

_DIVIDED = 3  # times as many banks stand for all whose number is no power of two
_NEIGHBOURS = 4  # elements side by side that a nest may access in turn


@dataclass(frozen=True, slots=True)
class _Array:
    """Accesses of one array, the loops that they move with, and where its factors are."""

    uses: tuple[Use, ...]
    moving: tuple[tuple[str, int], ...]
    first: int
    dims: int
    known: dict[tuple[Copies, Factors, str], int] = field(default_factory=dict)
    reaches: dict[Copies, Factors] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.uses[0].array

    def enough(self, copies: Copies) -> Factors:
        """Of each dimension banks of which more change nothing at the ports: twice as many as there are elements from the
        first that the copies of a body access to the last (twice, as patterns of many copies are looked at in part).
        """
        found = self.reaches.get(copies)
        if found is None:
            times = {v: u for (v, _), u in zip(self.moving, copies, strict=True)}
            found = self.reaches[copies] = tuple(self._reach(d, times) for d in range(self.dims))
        return found

    def _reach(self, d: int, copies: dict[str, int]) -> int:
        """Twice the elements of one dimension; all of them where its subscripts are not linear."""
        ends: list[int] = []
        for use in self.uses:
            index = use.indices[d]
            if not index.is_linear:
                return use.shape[d]
            far = [c * (copies.get(str(v), 1) - 1) for v, c in index.terms]
            ends += [index.const + sum(min(0, n) for n in far)]
            ends += [index.const + sum(max(0, n) for n in far)]
        return 2 * (max(ends) - min(ends) + 1)


@dataclass(frozen=True, slots=True)
class _Asking:
    """A subscript that asks for banks: of an access its dimension, where the factor of that is, and the loops that it
    moves with.
    """

    use: Use
    dim: int
    place: int
    moving: tuple[int, ...]
    known: dict[tuple[tuple[int, bool], ...], int] = field(default_factory=dict)


class Arrays:
    """Of one order of a nest."""

    def __init__(self, order: Order, tool: Personality) -> None:
        """Nothing is known yet."""
        self._types = tool.memories
        self._remainders = bool(tool.indices.remainder_stages)
        self.loops = tuple(loop.name for loop in order.loops)
        self.uses = order.uses
        self.places: tuple[tuple[str, int], ...] = ()
        self.extents: tuple[int, ...] = ()
        self._arrays: list[_Array] = []
        place = {name: k for k, name in enumerate(self.loops)}
        for name in dict.fromkeys(use.array for use in self.uses):
            own = tuple(use for use in self.uses if use.array == name)
            names = {str(v) for use in own for index in use.indices for v in index.variables()}
            moving = tuple((v, place[v]) for v in sorted(names & place.keys()))
            shape = own[0].shape
            self._arrays.append(_Array(own, moving, len(self.places), len(shape)))
            self.places += tuple((name, d) for d in range(len(shape)))
            self.extents += shape
        self.first = tuple(self._first(use) for use in self.uses)
        self._still = tuple(self._variables(array, d) for array, d in self.places)
        self._asking = tuple(self._asked())
        self._demands: dict[tuple[Copies, Gone], Factors] = {}
        times = Counter(use.array for use in self.uses)
        spots = Counter(array for array, _ in {(use.array, use.indices) for use in self.uses})
        self._again = tuple(times[array] > 1 for array, _ in self.places)
        self._near = tuple(spots[array] > 1 for array, _ in self.places)

    def _asked(self) -> Iterator[_Asking]:
        """The subscripts, each with the loops that the banks it asks for depend on."""
        for use, first in zip(self.uses, self.first, strict=True):
            for dim, index in enumerate(use.indices):
                # Of a look-up all subscripts tell which elements a copy may want.
                mine = use.indices if is_anywhere(index) else (index,)
                names = frozenset[str]().union(*(each.variables() for each in mine))
                moving = tuple(k for k, name in enumerate(self.loops) if name in names)
                yield _Asking(use, dim, first + dim, moving)

    def _first(self, use: Use) -> int:
        """Where the factors of the array of an access begin."""
        return self.places.index((use.array, 0)) if use.shape else 0

    def _variables(self, array: str, d: int) -> frozenset[int]:
        """Loops that a subscript moves with."""
        own = (use.indices[d].variables() for use in self.uses if use.array == array)
        names = frozenset[str]().union(*own)
        return frozenset(k for k, name in enumerate(self.loops) if name in names)

    def factors(self, banks: Demand) -> Factors:
        """Those of a design."""
        return tuple(banks.get(place, 1) for place in self.places)

    def demand(self, copies: Copies, gone: Gone) -> Factors:
        """What the nest asks for."""
        key = (copies, gone)
        found = self._demands.get(key)
        if found is None:
            asked = [1] * len(self.places)
            for one in self._asking:
                mine = tuple([(copies[k], gone[k]) for k in one.moving])
                factor = one.known.get(mine)
                if factor is None:
                    factor = one.known[mine] = self._widest(one, copies, gone)
                asked[one.place] = common(asked[one.place], factor, self.extents[one.place])
            found = self._demands[key] = tuple(asked)
        return found

    def _widest(self, one: _Asking, copies: Copies, gone: Gone) -> int:
        unrolled = dict(zip(self.loops, copies, strict=True))
        names = zip(self.loops, gone, strict=True)
        return widest_of(one.use, one.dim, unrolled, frozenset(name for name, g in names if g))

    def interval(self, copies: Copies, factors: Factors, stored: Stored = ()) -> int:
        """Cycles that the accesses of a body need at the ports."""
        found = 1
        types = {kept.array: kept.storage for kept in stored} if stored else {}
        for array in self._arrays:
            own = factors[array.first : array.first + array.dims]
            if all(map(ge, own, array.uses[0].shape)):
                continue  # registers
            storage = types.get(array.name, "")
            mine = tuple([copies[k] for _, k in array.moving])
            own = tuple(map(min, own, array.enough(mine)))
            key = (mine, own, storage)
            cycles = array.known.get(key)
            if cycles is None:
                moving = tuple((v, copies[k]) for v, k in array.moving)
                uses = self._through(array.uses, storage)
                cycles = array.known[key] = interval_at(uses, moving, own)
            found = max(found, cycles)
        return found

    def intervals(
        self, copies: Copies, few: Factors, many: Factors, stored: Stored = ()
    ) -> tuple[int, int]:
        """As `interval`, in two numbers of banks. Elements in different banks stay so where each bank is several of the
        others: what is done in a cycle in ``few`` banks takes no more than that in ``many``.
        """
        first = self.interval(copies, few, stored)
        if first == 1 and all(b % a == 0 for a, b in zip(few, many, strict=True)):
            return 1, 1
        return first, self.interval(copies, many, stored)

    def _through(self, uses: tuple[Use, ...], storage: str) -> tuple[Use, ...]:
        """Accesses with the ports of a type of storage, where one was chosen."""
        if not storage:
            return uses
        ports = self._types.ports(storage, argument=False)
        return tuple(replace(u, ports=(ports.read, ports.write, ports.both)) for u in uses)

    def served(self, own: Factors, joint: Factors, gone: Gone) -> Factors:
        """Of the banks of a design those that matter to the nest: more than its own do it no harm."""
        return tuple(
            mine
            if given < n and (given % mine == 0 or (given > mine and self._fixed(k, gone)))
            else given
            for k, (mine, given, n) in enumerate(zip(own, joint, self.extents, strict=True))
        )

    def _fixed(self, place: int, gone: Gone) -> bool:
        return all(gone[k] for k in self._still[place])

    def spread(self, own: Factors, joint: Factors, gone: Gone, divides: bool) -> Spread:
        """How the banks of a design differ from those of the nest itself.

        Args:
            own: of the nest.
            joint: of the design.
            gone: loops of which nothing is left to run.
            divides: the tool divides subscripts by the number of banks; else an array that is accessed
                once in an iteration cannot be in its own way.
        """
        found = []
        # Of an array of which all accesses are of one element, one dimension stands for all.
        turning = ""
        for k, (mine, given, n) in enumerate(zip(own, joint, self.extents, strict=True)):
            divided = self._remainders and _is_divided(given, mine)
            if given >= n > 1:
                found.append(COMPLETE)
            elif given == mine or self._fixed(k, gone):
                found.append(OWN)
            elif divides or self._near[k]:
                tells = divides or divided or self._again[k]
                found.append(_times(given, mine) if tells else OWN)
            elif divided:
                found.append(_DIVIDED)
            elif not self._again[k]:
                found.append(OWN)
            else:
                found.append(OWN if turning == self.places[k][0] else 2)
                turning = self.places[k][0]
        return tuple(found)

    def spreading(self, own: Factors, spread: Spread) -> Factors:
        """The banks of a relative of a nest whose own are given."""
        return tuple(
            n if times == COMPLETE else min(n, mine * times)
            for mine, times, n in zip(own, spread, self.extents, strict=True)
        )


def rotates(spread: Spread) -> bool:
    """Whether the bank of some access is not the same in each iteration."""
    return any(times > OWN for times in spread)


def only_complete(spread: Spread) -> Spread:
    """Without the banks between which accesses rotate."""
    return tuple(min(times, OWN) for times in spread)


def _is_divided(joint: int, mine: int) -> bool:
    """Whether only the remainder of a division tells the bank of an access (`qor_gnn.body.bank_divisions`)."""
    divisor = joint // gcd(joint, mine)
    return bool(divisor & (divisor - 1))


def _times(joint: int, mine: int) -> int:
    """How many times as many banks stand for those that there are: enough for neighbours to differ; an odd
    number for what is no power of two.
    """
    times = -(-joint // mine)
    if times <= _NEIGHBOURS:
        return times
    return 2 * _NEIGHBOURS - 1 if joint & (joint - 1) else 2 * _NEIGHBOURS


def named(arrays: Arrays, factors: Sequence[int]) -> Demand:
    """Factors by array and dimension."""
    return dict(zip(arrays.places, factors, strict=True))
