"""What became of the loops and blocks of a function, in execution order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from qor_gnn.body.body import Body
from qor_gnn.design.region import Loop, Memory
from qor_gnn.schedule.list_schedule import Times
from qor_gnn.schedule.pipeline import Pipeline

_PORTS = 2  # of a bank, that the calls that run at the same time may take together


@dataclass(slots=True)
class Region:
    """What became of a loop, a flattened nest or a block, in execution order.

    Attributes:
        kind: ``pipeline``, ``sequential`` (an innermost loop), ``nest``, ``block``, or ``process`` (of a
            nest whose body is a dataflow region: it has no loop of its own).
        loops: the loops, outermost first; more than one where they were flattened.
        iterations: how often its body runs, each time that it is entered.
        depth: states of one iteration.
        latency: states that it takes its parent to run it once.
        prologue: states in front of it, in its parent.
        body, times, pipeline: how it was scheduled; of a nest there is none.
        children: the regions in its body.
        beside: it runs at the same time as the region before it.
        outlined: a sequential loop that the tool wanted to pipeline: a module of its own.
        start: the state of its parent's iteration (or of the function) in which it begins.
        interval: states from one iteration to the next of a nest whose iterations overlap.
        slowest: the first statement of the process that has that interval.
    """

    kind: Literal["pipeline", "sequential", "nest", "block", "process"]
    loops: tuple[Loop, ...]
    iterations: float
    depth: float
    latency: float
    prologue: int = 0
    body: Body | None = None
    times: Times | None = None
    pipeline: Pipeline | None = None
    children: list[Region] = field(default_factory=list)
    beside: bool = False
    outlined: bool = False
    start: float = 0
    interval: float | None = None
    slowest: str = ""

    @property
    def memories(self) -> frozenset[int]:
        """Numbers of the memories that its own body touches."""
        if self.body is None:
            return frozenset().union(*(child.memories for child in self.children))
        graph = self.body.graph
        touched = {a for a in (*graph.address, *self.body.registers) if a >= 0}
        return frozenset(graph.addresses.shape(a).memory for a in touched)

    @property
    def stores(self) -> frozenset[int]:
        """Numbers of the memories that its own body stores to."""
        if self.body is None:
            return frozenset().union(*(child.stores for child in self.children))
        body, table = self.body, self.body.addresses
        kept = [body.graph.address[n] for n in body.graph.early_stores]
        stored = (*body.store_value, *body.conditional, *body.registers, *kept)
        return frozenset(table.shape(a).memory for a in stored)

    def places(self, memory: int) -> tuple[frozenset[tuple[int, int]], ...]:
        """For each dimension of a memory what is known of the banks that it accesses: moduli and
        remainders.
        """
        if self.body is None:
            inside = [p for child in self.children if (p := child.places(memory))]
            return tuple(frozenset().union(*dims) for dims in zip(*inside, strict=True))
        table = self.body.addresses
        touched = {a for a in (*self.body.graph.address, *self.body.registers) if a >= 0}
        residues = [table.residues[a] for a in touched if table.shape(a).memory == memory]
        return tuple(map(frozenset, zip(*residues, strict=True)))

    def busiest(self, memory: int) -> int:
        """The most accesses of an iteration of its own body to one bank of a memory."""
        if self.body is None:
            return max((child.busiest(memory) for child in self.children), default=0)
        keys = self.body.port_keys
        taken = (r for ports in self.body.ports.values() for r, _ in ports)
        uses = Counter(r for r in taken if keys[r][0] == memory)
        return max(uses.values(), default=0)

    @property
    def iterations_latency(self) -> float:
        """Cycles from the first to the last of its iterations."""
        if self.pipeline is not None:
            last = max(1, self.depth - 1)
            return max(0.0, self.iterations - 1) * self.pipeline.interval + last
        if self.interval is not None:
            return max(0.0, self.iterations - 1) * self.interval + self.depth - 1
        return self.iterations * self.depth


def side_by_side(memories: Sequence[Memory], region: Region, others: Sequence[Region]) -> bool:
    """It shares with the others scalars, and arrays split completely, that they only read, through
    two ports together; or is known to access other banks than they do.
    """
    for number in region.memories:
        memory = memories[number]
        met = [
            other
            for other in others
            if number in other.memories and not _in_other_banks(memories, number, region, other)
        ]
        if not met:
            continue
        if any(number in r.stores for r in (region, *met)):
            return False
        if memory.in_registers:
            continue
        extents = zip(memory.splits, memory.shape, strict=True)
        if not any(s.factor >= n > 1 for s, n in extents):
            return False
        if sum(r.busiest(number) for r in (region, *met)) > _PORTS:
            return False
    return True


def loaded_alike(region: Region, others: Sequence[Region]) -> bool:
    """Pipelines whose loads in front are those of the first, which are merged, and that share no memory otherwise.

    Gesummv of Vitis HLS 2022.2: both sums keep x in registers, which are loaded once, and run at the same time.
    """
    first = _in_front(region)
    if not first or any(_in_front(other) != first for other in others):
        return False
    stored = frozenset().union(*(r.stores for r in (region, *others)))
    taken = {memory for memory, _ in first}
    return not stored & taken and all(not _inside(region) & _inside(other) for other in others)


def _in_front(region: Region) -> frozenset[tuple[int, int]]:
    """Memory and address of the loads in front of a pipeline; none where there is anything else."""
    body = region.body
    if body is None or region.pipeline is None:
        return frozenset()
    addresses = [body.graph.address[n] for n in body.hoisted]
    if any(a < 0 for a in addresses) or body.registers:
        return frozenset()
    return frozenset((body.graph.addresses.shape(a).memory, a) for a in addresses)


def _inside(region: Region) -> frozenset[int]:
    """Numbers of the memories that the iterations of a pipeline touch."""
    body = region.body
    assert body is not None, "a pipeline has one"
    hoisted = set(body.hoisted)
    used = {body.graph.address[n] for n in body.nodes if n not in hoisted}
    used |= set(body.store_value)
    return frozenset(body.graph.addresses.shape(a).memory for a in used if a >= 0)


def _in_other_banks(memories: Sequence[Memory], number: int, region: Region, other: Region) -> bool:
    """In some dimension the banks of both are known, and none is of both."""
    dims = zip(memories[number].splits, region.places(number), other.places(number), strict=True)
    return any(
        mine.isdisjoint(theirs) and all(modulus == split.factor for modulus, _ in mine | theirs)
        for split, mine, theirs in dims
    )


def bodies_in(regions: Sequence[Region]) -> Iterator[Body]:
    """The scheduled bodies of regions and of what they hold."""
    for region in regions:
        if region.body is not None:
            yield region.body
        yield from bodies_in(region.children)
