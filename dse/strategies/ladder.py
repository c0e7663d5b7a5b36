"""The vectors of factors of one nest that may be worth it, by the cost that they are estimated at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import ceil, inf
from operator import attrgetter

from dse.bounds.bounds import MAX_BANKS
from dse.space.costs.cost import Cost, cost, sharing_interval, uneven
from dse.space.nests.nest import Nest, NestLoop, Order, Vector
from dse.space.space import Choice
from dse.strategies.fewest import fewest

_MODEST = 16  # copies that are never too many
_MULTIPLY_ADD = 5  # DSP of a multiplication and an addition of f32
SHARING = 4096
"""Copies that share units, and cycles from one iteration to the next, at most: the tool has to schedule
them all."""
_LONGEST = 16  # where what is shared is no tree of sums
_LONGER = 2  # times the interval: with half of the copies it is as it was
_OF_PORTS = 3  # times the interval, where ports alone make it: 32 copies in five cycles may fit where 16 in two do not
_DIVIDING = 8  # cycles in which copies share units only because their number divides a loop
_DIVIDERS = 4  # such vectors
_SHOWN = 12  # vectors of so many copies
_TIMES = (1.25, 1.6, 2.0, 3.0)  # the interval, at which units are fewer


@dataclass(frozen=True, slots=True)
class Rung:
    """A vector of an order of a nest with the interval asked for, and about what it costs.

    One that ``fills`` writes a constant to more elements at once than other nests have copies: worth it
    where these are in banks of their own anyway.
    """

    order: int
    vector: Vector
    cost: Cost
    asked: int = 1
    fills: bool = False
    choice: Choice = field(init=False, compare=False, repr=False)
    """Of a point."""
    key: tuple[float, float, int, Vector] = field(init=False, compare=False, repr=False)
    """What they are sorted by, the fastest first."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "choice", Choice(self.order, self.vector, self.asked))
        key = (self.cost.cycles, self.cost.dsp, self.order, self.vector)
        object.__setattr__(self, "key", key)


@lru_cache(maxsize=512)
def _rungs(_: Nest) -> dict[tuple[int, Vector], Rung]:
    """What is known of a nest's vectors, by order: budgets share it."""
    return {}


@lru_cache(maxsize=4096)
def ladder(nest: Nest, number: int, budget: int) -> tuple[Rung, ...]:
    """Vectors of one order within a budget of DSP, fastest first.

    Of each magnitude of copies those of the fewest iterations are priced, and a nest that can be unrolled completely: it
    has nothing to pipeline, and no iterations to count. Nests whose operators cost
    no DSP have about as many copies as the others can have: their multiplexers cost LUTs. Where sums
    wait for themselves, there are more copies, which share the units meanwhile.
    """
    order, rungs = nest.orders[number], _rungs(nest)

    def rung(vector: Vector) -> Rung:
        known = rungs.get((number, vector))
        if known is None:
            known = rungs[number, vector] = Rung(number, vector, cost(nest, order, vector))
        return known

    least = rung(order.plain).cost
    modest = copies = min(MAX_BANKS, max(_MODEST, budget // _MULTIPLY_ADD)) * order.inside
    if not order.operations and all(use.write for use in order.uses):
        copies = MAX_BANKS
    if least.dsp:
        # Operations that are shared by copies make the first copy dearer than the others.
        each = sum({o.core: o.dsp for o in order.operations if _widens(order, o.loops)}.values())
        copies = int(budget / each) + 1 if each else copies
        copies = max(copies, min(MAX_BANKS, copies * order.waits))
    every = [rung(vector) for vector in fewest(nest, number, max(1, copies))]
    every += [rung(vector) for vector in whole(order, copies)]
    most, interval = max(budget, least.dsp), longest(nest, order)
    found = [r for r in (_within(nest, each, most, interval) for each in every) if r is not None]
    found = [_asking(nest, r, budget, interval) for r in found]
    if least.dsp and interval > 1:
        within = (r.cost.cycles for r in found if r.cost.dsp <= budget)
        found += _dividing(nest, every, budget, min(within, default=inf))
    if not least.dsp:
        found = [replace(r, fills=True) if r.cost.copies > modest else r for r in found]
    if least.dsp and not order.skewed and nest.shares_units(order):
        fits = (r.cost.cycles for r in found if r.cost.dsp <= budget)
        found += _sharing(nest, number, budget, copies, min(fits, default=inf))
    return tuple(sorted(found, key=attrgetter("key")))


def whole(order: Order, copies: int) -> Iterator[Vector]:
    """The vector that unrolls all loops, where that is at most so many copies."""
    extents = [loop.extent for loop in order.band if loop.extent in loop.factors]
    if extents and len(extents) == len(order.band) and not order.given:
        vector = (*extents, *order.plain[len(extents) :])
        if order.copies(vector) <= copies:
            yield vector


def longest(nest: Nest, order: Order) -> int:
    """Cycles from one iteration to the next that may be asked for, at most."""
    return SHARING if nest.shares_units(order) else _LONGEST if nest.may_ask(order) else 1


def _at(nest: Nest, rung: Rung, asked: int) -> Rung:
    """The rung with copies that start so many cycles apart."""
    priced = cost(nest, nest.orders[rung.order], rung.vector, asked=asked)
    return Rung(rung.order, rung.vector, priced, asked, rung.fills)


def _shared(nest: Nest, rung: Rung, least: int, budget: float, most: int) -> Rung | None:
    """The rung with the least interval, of ``least`` to ``most`` cycles, at which its units fit the budget, if there is one."""
    asked = sharing_interval(nest, nest.orders[rung.order], rung.vector, least, int(budget))
    return None if asked is None or asked > most else _at(nest, rung, asked)


def _within(nest: Nest, rung: Rung, budget: float, most: int) -> Rung | None:
    """The rung; where it has too many units and waits for itself anyway, with the least interval at which they fit. None
    where they do not, or at an interval of more than ``most`` cycles. Of copies that do not wait, fewer are as fast.
    """
    if rung.cost.dsp <= budget:
        return rung
    interval = rung.cost.interval
    if interval == 1:
        return None
    waits = any(loop.carries for loop in nest.orders[rung.order].loops)
    times = _LONGER if waits else _OF_PORTS
    return _shared(nest, rung, interval, budget, min(most, times * interval))


def _dividing(nest: Nest, every: list[Rung], budget: int, slowest: float) -> list[Rung]:
    """The fastest of copies that have all ports they want and too many units, where these share units over some cycles.

    As many fewer copies would do the same in a cycle, but where a number that divides the loop is not among these: what
    is left then is a pipeline more, that fills and drains.
    """
    found: list[Rung] = []
    for rung in every:
        order = nest.orders[rung.order]
        if rung.cost.dsp <= budget or rung.cost.interval > 1 or uneven(order, rung.vector):
            continue
        shared = _shared(nest, rung, 1, budget, _DIVIDING)
        if shared is not None and shared.cost.cycles < slowest:
            found.append(shared)
    return sorted(found, key=attrgetter("key"))[:_DIVIDERS]


def _asking(nest: Nest, rung: Rung, budget: int, most: int) -> Rung:
    """The rung with the interval asked for at which its units fit the budget, where it is estimated to have a longer one
    anyway: a schedule that turns out to have none would take more units than there are. ``most`` cycles may be asked for.
    """
    if rung.cost.interval == 1 or rung.asked > 1:
        return rung
    order = nest.orders[rung.order]
    least = sharing_interval(nest, order, rung.vector, 1, budget)
    waits = least is not None and 1 < least <= min(most, rung.cost.interval)
    return replace(rung, asked=least or 1) if waits else rung


def _sharing(nest: Nest, number: int, budget: int, copies: int, slowest: float) -> list[Rung]:
    """The fastest vectors of more copies than the budget has units for.

    While a sum waits for the one of the iteration before, units do the work of several copies. Of each magnitude there are
    longer intervals, too: a plan may have LUTs for fewer units only.
    """
    order = nest.orders[number]
    found: list[Rung] = []
    for vector in vectors(order, SHARING):
        if (order.copies(vector) <= copies and order.inside == 1) or uneven(order, vector):
            continue  # what is guarded is no tree
        alone = Rung(number, vector, cost(nest, order, vector))
        shared = _shared(nest, alone, alone.cost.interval, budget, SHARING)
        if shared is not None and shared.cost.cycles < slowest:
            found.append(shared)
    found.sort(key=lambda r: (r.cost.cycles, r.cost.copies))
    # Long intervals look best and cost multiplexers: of each magnitude of copies one is there.
    best: dict[int, Rung] = {}
    for rung in found:
        best.setdefault(rung.cost.copies.bit_length(), rung)
    chosen = list(dict.fromkeys((*found[:_SHOWN], *best.values())))
    for rung in best.values():
        for asked in (ceil(times * rung.asked) for times in _TIMES):
            longer = _at(nest, rung, asked)
            fewer = longer.cost.units != rung.cost.units
            if asked <= SHARING and longer.cost.cycles < slowest and fewer:
                chosen.append(longer)
    return chosen


def _widens(order: Order, loops: frozenset[str]) -> bool:
    """Whether an operation is copied whatever loop is unrolled."""
    return all(loop.name in loops for loop in order.loops if len(loop.factors) > 1)


def vectors(order: Order, copies: int) -> Iterator[Vector]:
    """The vectors of at most so many copies that leave at least one loop with blocks.

    Copies of what is inside of the loops that all statements share are there anyway.
    """
    band = order.band
    inside = order.plain[len(band) :]
    for vector in _products(band, max(1, copies // order.inside)):
        left = [loop for loop, u in zip(band, vector, strict=True) if u != loop.extent]
        if left or all(loop.extent == 1 for loop in band):
            yield (*vector, *inside)


def _products(loops: tuple[NestLoop, ...], copies: int) -> Iterator[Vector]:
    if not loops:
        yield ()
        return
    for u in loops[0].factors:
        if u > copies:
            break
        for rest in _products(loops[1:], copies // u):
            yield (u, *rest)
