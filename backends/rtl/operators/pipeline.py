"""Cutting an operator into pipeline stages: the shortest stage for a number of them.

Registers stand behind nodes that take time, and narrow slices; what costs nothing (concatenations,
extensions, inversions) is made again in each stage that needs it. The last stage ends in a
register, the first begins at the inputs: a result has nothing but a register before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backends.rtl.ir import Expr, Lit, Module, ModuleBuilder, Ref
from backends.rtl.ir import nodes as ir
from backends.rtl.ir.rewrite import with_children
from backends.rtl.operators.delays import delay

HEAD = 0.8
"""ns left in the first stage for what comes before the operator."""

_LARGE = 1500  # nodes, above which stages stay as early as they can be


@dataclass(frozen=True, slots=True)
class Network:
    """An operator as a graph: nodes that take time by number, operands before users.

    Attributes:
        order: every expression, operands first.
        number: of an expression that takes time, is an input or a narrow part: its node.
        sources: of every expression: the nodes that its value comes from, without delay.
        nodes: those expressions.
        delays: of the nodes, in ns; 0 for inputs.
        users: of a node: the nodes that use it.
        ends: nodes that the outputs come from.
    """

    order: tuple[Expr, ...]
    number: dict[int, int]
    sources: dict[int, frozenset[int]]
    nodes: tuple[Expr, ...]
    delays: tuple[float, ...]
    before: tuple[tuple[int, ...], ...]
    users: tuple[tuple[int, ...], ...]
    ends: frozenset[int]


def network(roots: Sequence[Expr]) -> Network:
    """The graph of an operator."""
    order = tuple(ir.topological(roots))
    number: dict[int, int] = {}
    sources: dict[int, frozenset[int]] = {}
    nodes: list[Expr] = []
    before: list[tuple[int, ...]] = []
    for e in order:
        came = frozenset[int]().union(*(sources[id(c)] for c in ir.children(e)))
        if isinstance(e, Ref) or delay(e) > 0 or _narrows(e):
            number[id(e)] = len(nodes)
            sources[id(e)] = frozenset([len(nodes)])
            nodes.append(e)
            before.append(tuple(sorted(came)))
        else:
            sources[id(e)] = came
    users: list[list[int]] = [[] for _ in nodes]
    for n, came_from in enumerate(before):
        for b in came_from:
            users[b].append(n)
    ends = frozenset[int]().union(*(sources[id(r)] for r in roots))
    delays = tuple(delay(e) for e in nodes)
    fixed = tuple(map(tuple, users))
    return Network(order, number, sources, tuple(nodes), delays, tuple(before), fixed, ends)


def _narrows(e: Expr) -> bool:
    """A part that may outlive the whole, and then has registers of its own."""
    return isinstance(e, ir.Slice) and 2 * e.width <= e.arg.width


@dataclass(frozen=True, slots=True)
class Plan:
    """Stages by node. ``period`` is the longest of them in the model's ns, ``first`` the first."""

    depth: int
    period: float
    first: float
    stages: tuple[int, ...]


def critical(net: Network) -> float:
    """From inputs to outputs without any register, in the model's ns."""
    _, arrivals = _earliest(net, float("inf"), 0.0)
    return max((arrivals[n] for n in net.ends), default=0.0)


def plan(net: Network, depth: int) -> Plan:
    """Stages of nearly equal length, as few registers between as a local search finds.

    Args:
        net: From `network`.
        depth: Number of stages, at least 1.
    """
    low, high = max(net.delays, default=0.0), critical(net) + HEAD
    while high - low > 0.02:
        middle = (low + high) / 2
        if stages_for(net, middle) <= depth:
            high = middle
        else:
            low = middle
    stages, _ = _earliest(net, high, HEAD)
    if len(net.nodes) <= _LARGE:
        _settle(net, stages, depth, high)
    arrivals = _arrivals(net, stages)
    inside = [a for a, s in zip(arrivals, stages, strict=True) if s == 0]
    return Plan(depth, high, max(0.0, max(inside, default=0.0) - HEAD), tuple(stages))


def stages_for(net: Network, period: float) -> int:
    """The fewest stages of at most so many ns of the model."""
    return 1 + max(_earliest(net, period, HEAD)[0], default=0)


def _earliest(net: Network, period: float, head: float) -> tuple[list[int], list[float]]:
    stages: list[int] = []
    arrivals: list[float] = []
    for n, before in enumerate(net.before):
        stage, at = max(((stages[b], arrivals[b]) for b in before), default=(0, 0.0))
        if isinstance(net.nodes[n], Ref):
            stage, at = 0, head
        elif at + net.delays[n] > period + 1e-9 and at > 0:
            stage, at = stage + 1, net.delays[n]
        else:
            at += net.delays[n]
        stages.append(stage)
        arrivals.append(at)
    return stages, arrivals


def _arrivals(net: Network, stages: Sequence[int]) -> list[float]:
    arrivals: list[float] = []
    for n, before in enumerate(net.before):
        at = max((arrivals[b] for b in before if stages[b] == stages[n]), default=0.0)
        arrivals.append(HEAD if isinstance(net.nodes[n], Ref) else at + net.delays[n])
    return arrivals


def _tails(net: Network, stages: Sequence[int]) -> list[float]:
    """What follows a node in its stage."""
    tails = [0.0] * len(net.nodes)
    for n in range(len(net.nodes) - 1, -1, -1):
        after = (u for u in net.users[n] if stages[u] == stages[n])
        tails[n] = max((net.delays[u] + tails[u] for u in after), default=0.0)
    return tails


def _settle(net: Network, stages: list[int], depth: int, period: float) -> None:
    """Move nodes between stages while that saves registers and every stage keeps the period."""

    def lives(n: int) -> int:
        last = depth if n in net.ends else stages[n]
        return max([last, *(stages[u] for u in net.users[n])])

    def cost(n: int) -> int:
        around = (n, *net.before[n])
        return sum(net.nodes[a].width * (lives(a) - stages[a]) for a in around)

    for sweep in range(6):
        moved = False
        backward = sweep % 2 == 0
        numbers = range(len(net.nodes))
        for n in reversed(numbers) if backward else numbers:
            if isinstance(net.nodes[n], Ref):
                continue
            step = 1 if backward else -1
            low = max((stages[b] for b in net.before[n]), default=0)
            high = min((stages[u] for u in net.users[n]), default=depth - 1)
            while low <= stages[n] + step <= high:
                before = cost(n)
                stages[n] += step
                if cost(n) < before and _fits(net, stages, n, period):
                    moved = True
                    continue
                stages[n] -= step
                break
        if not moved and not backward:
            return


def _fits(net: Network, stages: Sequence[int], n: int, period: float) -> bool:
    """Whether the stage that a node was moved to keeps the period."""
    arrivals = _arrivals(net, stages)
    return arrivals[n] + _tails(net, stages)[n] <= period + 1e-9


def registers(net: Network, cut: Plan) -> int:
    """Bits of all registers of a pipeline; synthesis leaves out those that nobody reads."""
    total = 0
    for n, node in enumerate(net.nodes):
        last = cut.depth if n in net.ends else cut.stages[n]
        last = max([last, *(cut.stages[u] for u in net.users[n])])
        total += node.width * (last - cut.stages[n])
    return total


def pipelined(name: str, inputs: Sequence[Ref], output: Expr, net: Network, cut: Plan) -> Module:
    """The module of an operator: ports as ``inputs``, and ``y`` `Plan.depth` cycles later."""
    b = ModuleBuilder(name)
    ports = {ref.name: b.input(ref.name, ref.width) for ref in inputs}
    values: dict[tuple[int, int], Expr] = {}

    def at(e: Expr, stage: int) -> Expr:
        """The value of an expression in a stage."""
        if isinstance(e, Lit):
            return e
        key = (id(e), stage)
        if key not in values:
            n = net.number.get(id(e))
            if n is None:
                values[key] = with_children(e, [at(c, stage) for c in ir.children(e)])
            else:
                _delay(e, cut.stages[n], stage)
        return values[key]

    def _delay(e: Expr, made: int, stage: int) -> None:
        for s in range(made + 1, stage + 1):
            if (id(e), s) not in values:
                previous = values[(id(e), s - 1)]
                if isinstance(previous, Lit):
                    values[(id(e), s)] = previous
                else:
                    values[(id(e), s)] = b.reg(f"s{s}", e.width, next=previous)

    for e in net.order:
        n = net.number.get(id(e))
        if n is None:
            continue
        stage = cut.stages[n]
        if isinstance(e, Ref):
            values[(id(e), 0)] = ports[e.name]
        else:
            values[(id(e), stage)] = with_children(e, [at(c, stage) for c in ir.children(e)])
    b.output("y", at(output, cut.depth))
    return b.build()
