"""A block as scheduling sees it: who waits for whom, for how long, and which ports it takes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import networkx as nx

from backends.rtl.graph import Block, Dep, DepKind, Graph, Kind, Memory, Op
from backends.rtl.operators.library import Key
from backends.rtl.schedule.edge import Edge
from backends.rtl.schedule.implied import necessary
from backends.rtl.schedule.timing import (
    ANYTIME,
    Fabric,
    SpecOf,
    Timed,
    in_shared_unit,
    timed,
)

Port = tuple[str, int, str]
"""Array, bank, and ``"r"`` or ``"w"``; of operators the key's text, 0 and ``"u"``."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A block with its times; lists are indexed by `Op.id`.

    Attributes:
        budget: ns of a cycle that logic may take.
        operands: of each operation the operations it uses, those without a cycle apart.
        early: of each operation the delay of those, where it starts in cycle 0.
        users: the converse of ``operands``.
        into: order edges that end at each operation, where no others imply them; ``out`` those
            that begin there.
        ports: of RAM, and shared operators, that each operation takes in its cycle.
        several: how many there are of a port, where it is not one.
        shared: operations that go to shared operators.
        back: loads, and the operation whose result of the iteration before they are
            (see `carry`); ``forth`` is the converse.
        waits: whether the block accesses memory outside, which may let it wait.
    """

    block: Block
    timing: tuple[Timed, ...]
    budget: float
    operands: tuple[tuple[int, ...], ...]
    early: tuple[float, ...]
    users: tuple[tuple[int, ...], ...]
    into: tuple[tuple[Edge, ...], ...]
    out: tuple[tuple[Edge, ...], ...]
    ports: tuple[tuple[Port, ...], ...]
    several: Mapping[Port, int] = field(default_factory=dict)
    shared: frozenset[int] = frozenset()
    back: Mapping[int, int] = field(default_factory=dict)
    forth: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    waits: bool = False

    def capacity(self, port: Port) -> int:
        """How many operations a port takes in a cycle."""
        return self.several.get(port, 1)

    @property
    def size(self) -> int:
        """Number of operations."""
        return len(self.block.ops)

    def anytime(self, op: int) -> bool:
        """Whether it needs no cycle."""
        return self.block.ops[op].kind in ANYTIME


def problem(
    graph: Graph,
    block: Block,
    *,
    period: float,
    fabric: Fabric,
    spec: SpecOf,
    carried: bool,
    back: Mapping[int, int] | None = None,
) -> Problem:
    """The problem of a block.

    Args:
        graph: With the arrays.
        block: Operations and order.
        period: ns.
        fabric: Delays of memories.
        spec: The operator library.
        carried: Whether iterations overlap, so that order between them counts.
        back: Loads that take the value of a store of the iteration before, from `carry`.
    """
    stored = back or {}
    produced = {load: block.ops[store].operands[0].op for load, store in stored.items()}
    forth: dict[int, list[int]] = defaultdict(list)
    for load, producer in produced.items():
        forth[producer].append(load)
    timing = tuple(timed(graph, block, op, fabric, spec) for op in block.ops)
    users: list[list[int]] = [[] for _ in block.ops]
    operands: list[tuple[int, ...]] = []
    early: list[float] = []
    for op in block.ops:
        used = dict.fromkeys(u.op for u in op.operands)
        free = [u for u in used if block.ops[u].kind in ANYTIME]
        operands.append(tuple(u for u in used if u not in free))
        early.append(max((timing[u].delay_in for u in free), default=0.0))
        for u in operands[-1]:
            users[u].append(op.id)
    into: dict[int, list[Edge]] = defaultdict(list)
    out: dict[int, list[Edge]] = defaultdict(list)
    uses = [(used, op, timing[used].latency) for op, all_ in enumerate(operands) for used in all_]
    for edge in necessary(len(block.ops), uses, order(graph, block, stored, carried=carried)):
        into[edge.dst].append(edge)
        out[edge.src].append(edge)
    return Problem(
        block,
        timing,
        max(0.0, period - fabric.margin),
        tuple(operands),
        tuple(early),
        tuple(tuple(u) for u in users),
        tuple(tuple(into[i]) for i in range(len(block.ops))),
        tuple(tuple(out[i]) for i in range(len(block.ops))),
        tuple(_ports(graph, op) for op in block.ops),
        back=produced,
        forth={op: tuple(loads) for op, loads in forth.items()},
        waits=any(graph.array(op.place.array).outside for op in block.ops if op.place is not None),
    )


def order(graph: Graph, block: Block, stored: Mapping[int, int], *, carried: bool) -> list[Edge]:
    """All order of memory accesses in a block.

    Args:
        graph: With the arrays.
        block: Operations and dependences.
        stored: Loads that take a store's value from a register, and need no order.
        carried: Whether iterations overlap.
    """
    return [
        Edge(dep.src, dep.dst, _latency(graph, block, dep), dep.distance)
        for dep in block.deps
        if dep.src not in stored and dep.dst not in stored
        if dep.distance == 0 or carried
    ]


def sharing(given: Problem, ops: Mapping[int, Key], turns: int, fabric: Fabric) -> Problem:
    """The problem with operations on shared operators, each for so many of them.

    Args:
        given: Without.
        ops: The operations, and what they are.
        turns: Operations of an operator: in a pipeline the initiation interval.
        fabric: Delays.
    """
    ports: dict[int, Port] = {op: (str(key), 0, "u") for op, key in ops.items()}
    count = Counter(ports.values())
    return replace(
        given,
        timing=tuple(
            in_shared_unit(t, fabric) if op in ops else t for op, t in enumerate(given.timing)
        ),
        ports=tuple(
            (*taken, ports[op]) if op in ports else taken for op, taken in enumerate(given.ports)
        ),
        several={port: -(-number // turns) for port, number in count.items()},
        shared=frozenset(ops),
    )


def recurrent(given: Problem) -> frozenset[int]:
    """The operations on cycles of operands and order between iterations."""
    among: nx.DiGraph[int] = nx.DiGraph()
    among.add_nodes_from(range(given.size))
    for op in range(given.size):
        after = (*given.users[op], *(e.dst for e in given.out[op]), *given.forth.get(op, ()))
        among.add_edges_from((op, user) for user in after)
    # Within an iteration nothing is circular: what is, passes an edge between iterations.
    group: dict[int, frozenset[int]] = {}
    for members in nx.strongly_connected_components(among):
        group |= dict.fromkeys(members, frozenset(members))
    between = [(e.src, e.dst) for edges in given.out for e in edges if e.distance]
    between += [(producer, load) for load, producer in given.back.items()]
    return frozenset[int]().union(*(group[a] for a, b in between if b in group[a]))


def _latency(graph: Graph, block: Block, dep: Dep) -> int:
    """Cycles from start to start that keep the order; see the rules of memories in docs/rtl.md."""
    if dep.kind is not DepKind.ANTI:
        return 1
    place = block.ops[dep.src].place
    assert place is not None
    return 0 if graph.array(place.array).memory is Memory.REGISTERS else 1


def _ports(graph: Graph, op: Op) -> tuple[Port, ...]:
    if op.place is None or op.kind not in (Kind.LOAD, Kind.STORE):
        return ()
    array = graph.array(op.place.array)
    if array.memory is Memory.REGISTERS:
        return ()
    way = "r" if op.kind is Kind.LOAD else "w"
    banks = range(array.banks) if op.place.bank is None else (op.place.bank,)
    return tuple((array.name, bank, way) for bank in banks)
