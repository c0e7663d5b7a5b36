"""Scheduled bodies as hardware modules: which bodies, in which module, with which units.

A pipeline is a module of its own unless it is all of its function; sequential loops and blocks are
states of the function itself.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from qor_gnn.area.access_places import Place, Steps, places
from qor_gnn.area.binding import region_units
from qor_gnn.body.body import Body
from qor_gnn.body.graph import LOAD, STORE
from qor_gnn.body.longest_paths import register_paths
from qor_gnn.design.region import Loop
from qor_gnn.schedule.alap import alap_times, waits_for_use
from qor_gnn.schedule.in_place_updates import old_values
from qor_gnn.schedule.list_schedule import Times, schedule
from qor_gnn.schedule.pipeline import concurrency
from qor_gnn.schedule.regions import Region, bodies_in
from qor_gnn.tools.operators import Operator

OWN = 0
"""The module of what a function does itself."""

_HOLDING = ("add", "sub")
"""Operators whose operands stay in their registers until the result is there."""

_OVERLAPPED = 2
"""Up to this interval pipelines do not hold operands: they move with their iteration."""


@dataclass(slots=True)
class Leaf:
    """A scheduled body.

    Attributes:
        module: number of its module within the function; `OWN` for the function itself.
        period: states after which an operation runs again: the interval of a pipeline, the states
            of an iteration elsewhere.
        times: when operations run as far as registers tell: loads and what they feed may wait.
        units: of each core.
        last: for each operation the start of the last operation of its iteration that takes its
            result; an operation whose result nobody takes in the iteration is not there.
        around: the nests that it is in, outermost first.
        steps: how many values the counters of its loops and of those around have.
        places: of its accesses, by shape.
        pipelined: its iterations overlap.
        work: operations that need a unit, and what they are.
        register: for operations whose result is kept in a register that others use too, which.
    """

    region: Region
    body: Body
    times: Times
    module: int
    period: int
    units: dict[str, int]
    last: dict[int, int]
    around: tuple[Region, ...]
    steps: Steps
    places: dict[int, Place]
    pipelined: bool
    work: list[tuple[int, Operator]]
    register: dict[int, object] = field(default_factory=dict)

    def accesses(self) -> list[int]:
        """Loads and stores of every iteration."""
        address = self.body.graph.address
        return [n for n in self.body.nodes if address[n] >= 0]

    @property
    def overlaps(self) -> bool:
        """It is a pipeline; one in which no two iterations overlap may be as a sequential body is."""
        control = self.body.personality.control
        return self.pipelined and control.overlap(self.times.states, self.period)

    @property
    def counts(self) -> bool:
        """Its nest copies an array, and has one counter."""
        counted = self.body.personality.control.counted_copies
        return self.pipelined and counted and self.body.copies_array

    def loads(self) -> list[int]:
        """Loads of every iteration."""
        kind = self.body.graph.kind
        return [n for n in self.body.nodes if kind[n] == LOAD]

    def stores(self) -> list[int]:
        """Stores of every iteration."""
        kind = self.body.graph.kind
        return [n for n in self.body.nodes if kind[n] == STORE]


def leaves(regions: Sequence[Region], among_others: bool = False) -> list[Leaf]:
    """The scheduled bodies of a function, in execution order, copies included.

    Args:
        regions: of the function.
        among_others: they are not all that the function has.
    """
    found: list[Leaf] = []
    _collect(regions, (), found)
    only = len(found) == 1 and not among_others
    if only and not found[0].around and not found[0].region.prologue:
        return found
    number = OWN
    for leaf in found:
        if leaf.pipelined or leaf.region.outlined:
            number += 1
            leaf.module = number
    return found


def called_pipelines(own: Sequence[Leaf]) -> int:
    """How many pipelines of a function cost LUTs, each but one: copies that count do not."""
    return sum((leaf.pipelined or leaf.region.outlined) and not leaf.counts for leaf in own)


def _collect(regions: Sequence[Region], around: tuple[Region, ...], found: list[Leaf]) -> None:
    for region in regions:
        if region.body is not None and region.times is not None:
            found.append(_leaf(region, region.body, region.times, around))
        _collect(region.children, (*around, region), found)


def _leaf(region: Region, body: Body, times: Times, around: tuple[Region, ...]) -> Leaf:
    units = region_units(region)
    pipeline = region.pipeline
    hold = True
    if pipeline is None:
        period = max(1, times.states)
        away = region.kind != "sequential" or body.in_order or body.in_blocks
        if waits_for_use(body) and away:
            times = alap_times(body, times)
        elif region.kind == "sequential" and not body.in_order:
            times = _delayed(body, times, units)
    else:
        period = pipeline.interval
        hold = period > _OVERLAPPED
        if period == 1:
            times = _sunk(body, times)
        else:
            times = old_values(body, times, period)
    last = last_uses(body, times, hold)
    if pipeline is not None and hold and (states := body.personality.binding.shared_product):
        for n in _beside_shared(body):
            last[n] += states
    steps = _steps((*(loop for nest in around for loop in nest.loops), *region.loops))
    found = places(body, steps)
    piped = pipeline is not None
    operators = body.graph.operator
    work = [(n, o) for n in body.nodes if (o := operators[n]) is not None and o.distance > 0]
    return Leaf(region, body, times, OWN, period, units, last, around, steps, found, piped, work)


def _steps(loops: Sequence[Loop]) -> dict[str, int]:
    """How many values each counter has; a loop whose start varies may have more in all."""
    fixed = (loop for loop in loops if all(b.is_const for b in loop.lowers))
    return {loop.iv: -(-loop.trips.maximum // loop.factor) for loop in fixed}


def _sunk(body: Body, times: Times) -> Times:
    """The schedule with everything as late as what uses it allows.

    In a pipeline at interval 1: ports and units are free in every state.
    """
    start = dict(times.start)
    kinds, operators = body.graph.kind, body.graph.operator
    usable = body.personality.usable_ns
    taken: dict[int, float] = defaultdict(float)
    fixed = {n for _, _, path in register_paths(body) for n in path} if body.registers else set()
    for n in sorted(body.nodes, key=lambda n: (start[n], n), reverse=True):
        after = body.succs[n]
        if after and kinds[n] != STORE and n not in fixed:
            latest = start[after[0][0]] - after[0][1]
            for m, states in after:
                latest = min(latest, start[m] - states)
            operator = operators[n]
            if operator is not None and operator.delay:
                behind = [taken[m] for m, _ in after if start[m] == latest and taken[m]]
                taken[n] = operator.delay + max(behind, default=0.0) * (not operator.registered)
                if behind and taken[n] > usable:
                    latest, taken[n] = latest - 1, operator.delay
            start[n] = latest
    return Times(start, times.states)


def _delayed(body: Body, times: Times, units: dict[str, int]) -> Times:
    """The schedule where a sequential body has fewer units than would be busy at once."""
    if body.registers:
        return times
    if all(n <= units.get(core, n) for core, n in concurrency(body, times).items()):
        return times
    return schedule(body, units)


def last_uses(body: Body, times: Times, hold: bool) -> dict[int, int]:
    """For each operation the start of the last one in its iteration that takes its result.

    Args:
        body: the operations.
        times: when they start.
        hold: adders keep their operands until they are done.
    """
    last: dict[int, int] = {}
    start, deps, kinds = times.start, body.graph.deps, body.graph.kind
    get = last.get
    for n in body.nodes:
        taken = deps[n]
        if not taken:
            continue
        at = start[n]
        if hold and kinds[n] in _HOLDING:
            at += body.lengths[n] - 1
        for d in taken:
            if at > get(d, -1):
                last[d] = at
    return last


def _beside_shared(body: Body) -> set[int]:
    """Loads that are multiplied by a product that several others take as well."""
    graph = body.graph
    products = [n for n in body.nodes if graph.kind[n] == "mul"]
    taken = Counter(d for n in products for d in graph.deps[n] if graph.kind[d] == "mul")
    shared = {d for d, times in taken.items() if times > 1}
    beside = (n for n in products if not shared.isdisjoint(graph.deps[n])) if shared else ()
    return {d for n in beside for d in graph.deps[n] if graph.kind[d] == LOAD}


def stored_apart(leaf: Leaf, loaded: set[int]) -> set[int]:
    """Of addresses that are loaded those to whose array the nest that the body is in stores, but not to
    them alone: what is loaded may be another value each time.
    """
    if not loaded:
        return set()
    table, own = leaf.body.addresses, leaf.body.stored
    mine = {table.memory(a).name for a in own}
    nest = {b.addresses.memory(a).name for b in bodies_in(leaf.around[:1]) for a in b.stored}
    names = {a: table.memory(a).name for a in loaded - own}
    return {a for a, name in names.items() if name in mine or name in nest}
