"""The clock period that csynth estimates: the longest chain of what is passed in one state.

Chains are cut at the usable part of the period (the clock less the uncertainty) wherever there are two
operators to cut between. What is longer is what cannot be cut: the counters of a flattened nest, which
have to be there again in the next cycle; the last stage of an adder and the register of the sum that it
closes a recurrence through; and operators that the tool puts into one state to keep an interval that was
asked for (docs/qor-model.md, The clock). Like csynth's estimate it is without the uncertainty. Of timing
classes whose estimates were never compared, ordinary chains are taken to be cut.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from qor_gnn.body.body import Body
from qor_gnn.body.graph import LOAD
from qor_gnn.memory.made_of import made_of
from qor_gnn.schedule.reasons import Chain, Link, Recurrence
from qor_gnn.schedule.regions import Region
from qor_gnn.tools.delays import Delays, delays_of
from qor_gnn.tools.operators.library import Operator
from qor_gnn.tools.personality import Personality

_COUNTER, _WORD = 16, 32  # bits: of a counter as adders are timed, and of a value
_FABRIC = "_fabric"
_SUMS = ("add", "sub")
_MEMORIES = {"bram": "memory", "lutram": "LUTRAM", "uram": "URAM"}  # what their loads are called
_SHORTER, _LONGER, _HURRIED = 0.9, 1.12, 1.25
"""The range of an estimate: of ordinary chains, and how much longer hurried ones are at most. Whether the tool
hurries is less sure than how long it takes then, so that an estimate may be as short as without (docs/lab/clock.md)."""


@dataclass(frozen=True, slots=True)
class Clock:
    """A clock that a design is scheduled for, and the period in ns that csynth would estimate.

    Attributes:
        target_ns, usable_ns: the clock asked for, and what of it chains may take.
        estimate_ns: the longest chain.
        low_ns, high_ns: about where it is.
        chain: that chain; None of a design in which nothing has a delay.
    """

    target_ns: float
    usable_ns: float
    estimate_ns: float
    low_ns: float
    high_ns: float
    chain: Chain | None

    @property
    def met(self) -> bool:
        """The estimate is within the clock asked for, be it in the part that the tool keeps free."""
        return self.estimate_ns <= self.target_ns

    @property
    def period_ns(self) -> float:
        """What the design can be run at: the clock asked for, or the estimate where that is missed."""
        return max(self.target_ns, self.estimate_ns)


def clock_of(functions: Iterable[Iterable[Region]], tool: Personality, outside: bool) -> Clock:
    """The estimate of a scheduled design.

    Args:
        functions: the scheduled regions of each function.
        tool: whose clock was aimed at.
        outside: the design has ports of memory outside, whose requests are timed to take all that is usable.
    """
    delays, usable = delays_of(tool), tool.usable_ns
    found = [chain for regions in functions for chain in _chains(regions, delays)]
    if outside:
        found.append(Chain((Link("request of a port", usable),), (), ()))
    if not found:
        return Clock(tool.clock_ns, usable, 0.0, 0.0, 0.0, None)
    compared = delays is not None and delays.of.compared

    def expected(chain: Chain) -> float:
        if compared or chain.hurried:
            return chain.ns
        return max(min(chain.ns, usable), *(link.ns for link in chain.links))

    chain = max(found, key=expected)
    ordinary = max((expected(c) for c in found if not c.hurried), default=0.0)
    most = _HURRIED * chain.ns if chain.hurried else max(_LONGER * c.ns for c in found)
    if any(not link.ns for c in found for link in c.links):
        most = max(most, usable)  # stages of cores that no report shows fit, or they were others
    return Clock(tool.clock_ns, usable, expected(chain), _SHORTER * ordinary, most, chain)


def _chains(regions: Iterable[Region], delays: Delays | None) -> Iterator[Chain]:
    for region in regions:
        if region.body is not None and region.times is not None:
            yield from _combinational(region)
            if delays is not None:
                yield from _timed(region, region.body, delays).chains()
        yield from _chains(region.children, delays)


def _combinational(region: Region) -> Iterator[Chain]:
    """What ends in the state that it starts in, behind what is in front of it there: the last of it."""
    assert region.body is not None
    assert region.times is not None
    graph = region.body.graph
    operators = ((graph.operator[n], offset, n) for n, offset in region.times.offset.items())
    timed = [
        (o.delay, offset, o.core, n) for o, offset, n in operators if o is not None and o.delay
    ]
    if not timed:
        return
    for delay, offset, core, node in {max(timed), max(timed, key=lambda t: (t[0] + t[1], t))}:
        links = [Link("what is in front", offset)] if offset else []
        links.append(Link(core, delay))
        yield Chain(tuple(links), _names(region), (graph.statement[node].name,))


@dataclass(frozen=True, slots=True)
class _Timed:
    """The chains of a region whose device reports tell delays of."""

    region: Region
    delays: Delays
    cores: Counter[str]  # how many operations each pipelined core has
    adders: frozenset[str]  # those of the cores that add
    memories: tuple[int, ...]  # numbers of those that are loaded from

    def chains(self) -> Iterator[Chain]:
        """Of its counters, its pipelined operators, and the recurrences that it closes."""
        if self.region.pipeline is not None:
            yield self._counters()
        yield from self._loads()
        yield from self._stages()
        yield from self._sums_of_logic()
        yield from self._hurried()

    def _counters(self) -> Chain:
        """An inner counter is compared, which selects the outer one, added to and written."""
        one = self.delays
        gate = Link("condition of the nest", one.logic("logic", 1))
        return self._chain(
            Link("comparison of a counter", one.logic("cmp", _COUNTER)),
            *[gate] * (len(self.region.loops) + 2),
            Link("selection", one.logic("select", _COUNTER)),
            Link("addition", one.logic("add", _COUNTER)),
            Link("register", one.register),
        )

    def _loads(self) -> Iterator[Chain]:
        """A word comes out of its memory or FIFO in a state of its own."""
        body, one = self.region.body, self.delays
        assert body is not None
        for number in self.memories:
            memory = body.addresses.memories[number]
            if memory.in_order:
                yield self._chain(Link("FIFO", one.fifo))
            elif not memory.in_registers:
                kind = made_of(memory, body.personality)
                yield self._chain(Link(_MEMORIES[kind], one.load(kind)))

    def _stages(self) -> Iterator[Chain]:
        """Pipelined operators, behind a multiplexer of their operands where several share a unit."""
        pipeline = self.region.pipeline
        for core, operations in self.cores.items():
            units = pipeline.units.get(core, operations) if pipeline is not None else 1
            if units < operations:
                selection = Link("multiplexer of operands", self.delays.register)
                yield self._chain(selection, self._stage(core))
            else:
                yield self._chain(self._stage(core))

    def _sums_of_logic(self) -> Iterator[Chain]:
        """Adders of logic are taken where a sum is to close in fewer states than others leave: it ends in
        the register that it is kept in, or in the FIFO or memory behind a sum that is not.
        """
        body, pipeline, one = self.region.body, self.region.pipeline, self.delays
        assert body is not None
        kept = {o.core for n in body.registers.values() if n >= 0 and (o := self._pipelined(n))}
        register = Link("register of the sum", one.register)
        for core in sorted(c for c in self.cores if c.endswith(_FABRIC)):
            if core not in kept:
                if pipeline is not None and pipeline.interval == 1:
                    yield self._late((self._stage(core), Link("FIFO or memory", one.fifo)))
            else:
                # The first iteration of a nest takes the initial value.
                initial = [Link("selection", one.logic("select", _WORD))]
                nest = len(self.region.loops) > 1
                yield self._chain(self._stage(core), *(initial if nest else ()), register)

    def _hurried(self) -> Iterator[Chain]:
        """Operators in front of a sum that does not close at the interval asked for: in one state."""
        pipeline, core = self.region.pipeline, self._adder()
        asked = self.region.loops[-1].ii if self.region.loops else None
        if pipeline is None or asked is None or core is None:
            return
        adder = self._stage(core)
        late, first = pipeline.hurried, pipeline.limits[0]
        if late is not None and late.delay - late.distance * asked <= _adders(late):
            selection = Link("selection", self.delays.logic("select", _WORD))
            yield self._late((adder, adder, selection), late)
        elif late is not None:  # a state less for each adder is not enough: shorter ones are taken
            yield self._late(
                (self._stage(core + _FABRIC), Link("FIFO or memory", self.delays.fifo)), late
            )
        if (
            pipeline.body.personality.sums.order == "leaf"
            and isinstance(first, Recurrence)
            and first.through == "register"
            and first.interval > asked
            and _adders(first) > 1
        ):
            yield self._late((adder, adder), first)

    def _adder(self) -> str | None:
        """The slowest core of floating point that adds, as the tool chooses it."""
        cores = {core.removesuffix(_FABRIC) for core in self.adders}
        return max(sorted(cores), key=self.delays.stage, default=None)

    def _pipelined(self, node: int) -> Operator | None:
        assert self.region.body is not None
        operator = self.region.body.graph.operator[node]
        return operator if operator is not None and operator.registered else None

    def _stage(self, core: str) -> Link:
        return Link(f"stage of {core}", self.delays.stage(core))

    def _chain(self, *links: Link) -> Chain:
        return Chain(links, _names(self.region), ())

    def _late(self, links: tuple[Link, ...], late: Recurrence | None = None) -> Chain:
        statements = late.statements if late is not None else ()
        return Chain(links, _names(self.region), statements, hurried=True)


def _timed(region: Region, body: Body, delays: Delays) -> _Timed:
    """A region with what its body has of each core and memory, seen once: bodies are large."""
    graph, shapes = body.graph, body.addresses
    cores: Counter[str] = Counter()
    adders, memories = set(), set()
    for n in (*body.hoisted, *body.nodes):
        if graph.kind[n] == LOAD:
            memories.add(shapes.shape(graph.address[n]).memory)
    for n in body.nodes:
        operator = graph.operator[n]
        if operator is not None and operator.distance:
            cores[operator.core] += 1
            if graph.kind[n] in _SUMS:
                adders.add(operator.core)
    return _Timed(region, delays, cores, frozenset(adders), tuple(sorted(memories)))


def _adders(late: Recurrence) -> int:
    return sum(kind in _SUMS for kind in late.operators)


def _names(region: Region) -> tuple[str, ...]:
    return tuple(loop.name for loop in region.loops)
