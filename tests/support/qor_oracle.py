"""Lower bounds on the interval of a pipeline by brute force: its iterations, one after the other.

Independent of the model's subscripts and distances: every iteration of a pipelined loop (or of a
nest that is flattened) is run on integers, so that it is known which operation's value each load
gets, and how many iterations later. The schedule of a pipeline is the same for all its iterations.
So a cycle of operations that hand values on, whose latencies add up to L and whose distances add up
to D, needs II * D >= L, whether the values pass through memory or are forwarded in registers; and
accesses of one iteration to one bank, none of which another iteration could have kept in a
register, need II * ports >= accesses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from math import ceil

from qor_gnn.design.region import Access, Kernel, Loop, Memory, Op, loops_in
from qor_gnn.tools.operators import Operator
from qor_gnn.tools.operators.multipliers import FABRIC, IMPLEMENTATIONS
from qor_gnn.tools.personality import Personality
from tests.support.pipeline_iterations import Instance, Place, entries, iterations

MOST = 6_000
"""Statement instances of a pipeline, over all its executions, that are enumerated."""

Element = tuple[str, tuple[int, ...]]
Use = tuple[Element, str, object]
"""An element, whether it is loaded or stored, and what `_alike` says of the access."""
_TARGET = -1
"""Stands for what a statement stores among the numbers of its operations."""
_CLASSES = {
    "add": "ring", "sub": "ring", "neg": "ring", "mul": "ring", "shl": "ring",
    "and": "logic", "or": "logic", "xor": "logic", "min": "min", "max": "max",
}  # fmt: skip
_SUMS = {"add": "sum", "sub": "sum", "neg": "sum", "mul": "product"}


class TooManyError(ValueError):
    """There are too many iterations to look at each."""


@dataclass(frozen=True, slots=True)
class Needed:
    """The least interval, and what asks for it."""

    interval: int
    reason: str


@dataclass(slots=True)
class _Pipeline:
    """What is known of the iterations of one pipeline so far."""

    tool: Personality
    chain: tuple[Loop, ...]
    free: bool
    instances: int = 0
    latency: dict[Place, int] = field(default_factory=dict)
    alike: dict[Place, str] = field(default_factory=dict)
    loads: set[Place] = field(default_factory=set)
    # From an operation to one that takes its value: the fewest iterations between.
    edges: dict[tuple[Place, Place], int] = field(default_factory=dict)
    # Accesses to elements that no other iteration accesses, and in which one they are.
    uses: list[dict[Use, int]] = field(default_factory=list)


def needed(
    kernel: Kernel,
    tool: Personality,
    chain: tuple[Loop, ...],
    interval: int,
    *,
    free: bool = False,
    copy: tuple[int, ...] | None = None,
) -> Needed | None:
    """What asks for a larger interval than a pipeline has; None where nothing does.

    Args:
        kernel: as the tool sees it.
        tool: whose operators and ports they are.
        chain: the loops that are one pipeline, outermost first.
        interval: that it is said to have.
        free: the schedule allows sums to be done in any order.
        copy: only the copy of these numbers, of those in `copies_of`.

    Raises:
        TooManyError: it has too many iterations.
    """
    memories = {m.name: m for m in kernel.memories}
    loops = [loop for function in kernel.functions for loop in loops_in(function.body)]
    # Each copy that an unrolled loop around makes has a schedule of its own.
    copies: dict[tuple[int, ...], _Pipeline] = {}
    for function in kernel.functions:
        for env in entries(function.body, {}, chain[0].iv):
            if copy is None or _copy(loops, env) == copy:
                own = copies.setdefault(_copy(loops, env), _Pipeline(tool, chain, free))
                _enter(own, memories, env)
    every = (_recurrence(p, interval) or _busy(p, memories, interval) for p in copies.values())
    return max((n for n in every if n is not None), key=lambda n: n.interval, default=None)


def copies_of(kernel: Kernel, chain: tuple[Loop, ...]) -> list[tuple[int, ...]]:
    """The copies that unrolled loops around make of a pipeline, in program order."""
    loops = [loop for function in kernel.functions for loop in loops_in(function.body)]
    return sorted(
        {
            _copy(loops, env)
            for function in kernel.functions
            for env in entries(function.body, {}, chain[0].iv)
        }
    )


def _copy(loops: Sequence[Loop], env: Mapping[str, int]) -> tuple[int, ...]:
    """Which copy of the pipeline is entered with these values of the loops around."""
    around = (loop for loop in loops if loop.iv in env and loop.factor > 1)
    return tuple(
        (env[loop.iv] - max(b.evaluate(env) for b in loop.lowers)) // loop.step % loop.factor
        for loop in around
    )


def _enter(found: _Pipeline, memories: Mapping[str, Memory], env: dict[str, int]) -> None:
    """Run a pipeline once."""
    written: dict[Element, tuple[int, Place]] = {}
    uses: dict[Use, set[int]] = {}
    every: list[tuple[int, Instance]] = []
    for t, iteration in enumerate(iterations(found.chain, env)):
        every += [(t, instance) for instance in iteration]
        if found.instances + len(every) > MOST:
            raise TooManyError
    found.instances += len(every)
    moving = _moving(every)
    for t, instance in _live(every):
        _instance(found, instance, t, moving, written, uses)
    everywhere = _times(every)
    found.uses.append(
        {
            (element, kind, alike): t
            for (element, kind, alike), times in uses.items()
            if len(everywhere[element]) == 1 and not memories[element[0]].in_registers
            for t in times
        }
    )


def _times(every: list[tuple[int, Instance]]) -> dict[Element, set[int]]:
    """The iterations that access each element."""
    found: dict[Element, set[int]] = {}
    for t, (_, stmt, env) in every:
        for access in (stmt.target, *(op.access for op in stmt.ops if op.access is not None)):
            found.setdefault(_element(access, env), set()).add(t)
    return found


def _live(every: list[tuple[int, Instance]]) -> list[tuple[int, Instance]]:
    """Those whose value is read by another of them, or is the last one of its element: a tool may
    leave out the rest.
    """
    wanted: dict[Element, bool] = {}  # at some time, going back; absent is the end
    kept = []
    for t, (place, stmt, env) in reversed(every):
        target = _element(stmt.target, env)
        if not wanted.get(target, True):
            continue
        wanted[target] = False
        for op in stmt.ops:
            if op.kind == "load" and op.access is not None:
                wanted[_element(op.access, env)] = True
        kept.append((t, (place, stmt, env)))
    return kept[::-1]


def _element(access: Access, env: Mapping[str, int]) -> Element:
    return access.memory, tuple(i.evaluate(env) for i in access.indices)


def _instance(
    found: _Pipeline,
    instance: Instance,
    t: int,
    moving: set[Place],
    written: dict[Element, tuple[int, Place]],
    uses: dict[Use, set[int]],
) -> None:
    place, stmt, env = instance
    for n, op in enumerate(stmt.ops):
        node = (*place, stmt.name, n)
        if op.kind == "load" and op.access is not None:
            found.loads.add(node)
            element = _element(op.access, env)
            if element in written:
                before, source = written[element]
                _edge(found, source, node, t - before)
            elif node in moving:
                uses.setdefault((element, "load", _alike(found.tool, op.access)), set()).add(t)
            continue
        if node not in found.latency:
            found.latency[node] = _latency(found.tool, op)
            found.alike[node] = _class(found, op)
        for k in op.operands:
            _edge(found, (*place, stmt.name, k), node, 0)
    target = _element(stmt.target, env)
    written[target] = t, (*place, stmt.name, len(stmt.ops) - 1)
    if (*place, stmt.name, _TARGET) in moving:
        uses.setdefault((target, "store", _alike(found.tool, stmt.target)), set()).add(t)


def _alike(tool: Personality, access: Access) -> object:
    """What accesses have in common that are counted together: where a tool takes those that move
    alike to be in the same banks, and others to meet too seldom to matter, the way they move.
    """
    return tuple(i.terms for i in access.indices) if tool.banks.rotating else ()


def _moving(every: list[tuple[int, Instance]]) -> set[Place]:
    """The accesses that are to several elements: others may be loaded before and stored behind."""
    elements: dict[Place, set[Element]] = {}
    for _, (place, stmt, env) in every:
        accesses = [(n, op.access) for n, op in enumerate(stmt.ops) if op.access is not None]
        for n, access in [*accesses, (_TARGET, stmt.target)]:
            elements.setdefault((*place, stmt.name, n), set()).add(_element(access, env))
    return {place for place, found in elements.items() if len(found) > 1}


def _edge(found: _Pipeline, source: Place, sink: Place, distance: int) -> None:
    key = (source, sink)
    if distance < found.edges.get(key, distance + 1):
        found.edges[key] = distance


def _latency(tool: Personality, op: Op) -> int:
    """The least states of an operator, whatever implementation is taken."""
    if op.kind in ("input", "const", "index"):
        return 0
    every: list[Operator] = [
        tool.operator(op.kind, op.type, op.width, impl, op.factors)
        for impl in (op.impl, "", *IMPLEMENTATIONS)
    ]
    if tool.recurrences.quicker and op.kind == "sub":  # an adder does both
        every.append(tool.operator("add", op.type, op.width, FABRIC))
    saved = tool.sums.saves(op.kind)
    return max(0, min(o.distance for o in every) - saved)


def _class(found: _Pipeline, op: Op) -> str:
    """Operators of one class that follow each other may be done in any order by the tool itself."""
    if op.type == "int":
        return _CLASSES.get(op.kind, "")
    return f"{op.type} {_SUMS[op.kind]}" if found.free and op.kind in _SUMS else ""


# -------------------------------------------------------------------------------------- recurrences


def _recurrence(found: _Pipeline, interval: int) -> Needed | None:
    """A cycle of operations that takes longer than the iterations between have time for."""
    edges = _without_loads(found)
    closing = found.tool.recurrences.closing
    weight: dict[tuple[Place, Place], int] = {}
    for (source, sink), distance in edges.items():
        states = found.latency[source]
        same = found.alike[source] and found.alike[source] == found.alike[sink]
        if same and (source != sink or found.tool.is_open):
            states = 0  # one operator does for both; the open backend sums up in several lanes
        elif source == sink:
            states = max(0, states - closing)
        weight[source, sink] = states - interval * distance
    cycle = _positive_cycle(weight)
    if cycle is None:
        return None if found.tool.is_open else _in_any_order(found, edges, interval)
    states = sum(weight[e] + interval * edges[e] for e in cycle)
    distance = sum(edges[e] for e in cycle)
    path = " -> ".join(f"{source[-2]}.{source[-1]}" for source, _ in cycle)
    return Needed(ceil(states / distance), f"{states} states over {distance} iterations: {path}")


def _in_any_order(
    found: _Pipeline, edges: Mapping[tuple[Place, Place], int], interval: int
) -> Needed | None:
    """A cycle of operators of one class alone passes one of them at least."""
    after: dict[Place, list[tuple[Place, int]]] = {}
    for (source, sink), distance in edges.items():
        if found.alike[source] and found.alike[source] == found.alike[sink]:
            after.setdefault(source, []).append((sink, distance))
    for start in after:
        states = min(found.latency[n] for n in after if found.alike[n] == found.alike[start])
        states -= found.tool.recurrences.closing
        if states <= interval:
            continue
        open_, best = [(0, 0, start)], {}
        numbers = count(1)
        while open_:
            distance, _, n = heappop(open_)
            if n == start and distance and interval * distance < states:
                return Needed(ceil(states / distance), f"one of {n[-2]}.{n[-1]} at {distance}")
            for sink, d in after.get(n, ()):
                if distance + d < best.get(sink, distance + d + 1):
                    best[sink] = distance + d
                    heappush(open_, (distance + d, next(numbers), sink))
    return None


def _without_loads(found: _Pipeline) -> dict[tuple[Place, Place], int]:
    """The edges between operators: what is loaded is the value that was stored."""
    into: dict[Place, dict[Place, int]] = {}
    out: dict[Place, dict[Place, int]] = {}
    for (source, sink), distance in found.edges.items():
        out.setdefault(source, {})[sink] = distance
        into.setdefault(sink, {})[source] = distance
    for load in found.loads:
        before, after = into.pop(load, {}), out.pop(load, {})
        before.pop(load, None)
        after.pop(load, None)
        for source, d in before.items():
            out[source].pop(load, None)
            for sink, e in after.items():
                best = min(d + e, out[source].get(sink, d + e))
                out[source][sink] = into[sink][source] = best
        for sink in after:
            into[sink].pop(load, None)
    return {(a, b): d for a, sinks in out.items() for b, d in sinks.items()}


def _positive_cycle(
    weight: Mapping[tuple[Place, Place], int],
) -> list[tuple[Place, Place]] | None:
    """A cycle of edges whose weights add up to more than 0 (Bellman and Ford)."""
    nodes = {n for edge in weight for n in edge}
    longest = dict.fromkeys(nodes, 0)
    before: dict[Place, Place] = {}
    last: Place | None = None
    for _ in range(len(nodes) + 1):
        last = None
        for (source, sink), w in weight.items():
            if longest[source] + w > longest[sink]:
                longest[sink] = longest[source] + w
                before[sink] = source
                last = sink
        if last is None:
            return None
    assert last is not None
    for _ in nodes:  # back until it is on the cycle
        last = before[last]
    cycle = [(before[last], last)]
    while cycle[-1][0] != last:
        cycle.append((before[cycle[-1][0]], cycle[-1][0]))
    return cycle[::-1]


# --------------------------------------------------------------------------------------------- ports


def _busy(found: _Pipeline, memories: Mapping[str, Memory], interval: int) -> Needed | None:
    """A bank that one iteration has to access more often than its ports allow."""
    best: Needed | None = None
    for uses in found.uses:
        counted: dict[tuple[int, str, tuple[int, ...], object], dict[str, int]] = {}
        for (element, kind, alike), t in uses.items():
            memory = memories[element[0]]
            if kind == "store" and not memory.argument:
                continue  # perhaps never stored at all
            key = (t, memory.name, _bank(memory, element[1]), alike)
            own = counted.setdefault(key, {"load": 0, "store": 0})
            own[kind] += 1
        iterations = {t for t, *_ in counted}
        if len(iterations) < 2:
            continue
        for (_, name, bank, _), own in counted.items():
            least = _intervals(found.tool, memories[name], own)
            if least > interval and (best is None or least > best.interval):
                best = Needed(least, f"bank {bank} of {name}: {own} in one iteration")
    return best


def _bank(memory: Memory, element: tuple[int, ...]) -> tuple[int, ...]:
    found = []
    for split, extent, x in zip(memory.splits, memory.shape, element, strict=True):
        blocks = split.kind == "block"
        found.append(x // -(-extent // split.factor) if blocks else x % split.factor)
    return tuple(found)


def _intervals(tool: Personality, memory: Memory, count: Mapping[str, int]) -> int:
    ports = tool.memories.ports(memory.storage, memory.argument)
    if tool.is_open:  # its scheduler has two ports for whatever is accessed
        return ceil(sum(count.values()) / max(ports.read, ports.both))
    kinds = (("load", ports.read), ("store", ports.write))
    own = [ceil(count[kind] / n) for kind, n in kinds if count[kind] and n]
    return max(*own, ceil(sum(count.values()) / ports.both), 1)
