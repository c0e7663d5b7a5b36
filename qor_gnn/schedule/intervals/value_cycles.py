"""Recurrences of values: what a pipeline's iterations hand on, whatever elements it passes through.

Where the accesses of an array move differently (``A[j] = A[i]``), pairs of them say too little: which
store gives a load its value hangs on the stores between. Here dataflow says it exactly
(`polyhedral.dependences.value_distances`), for each copy of each statement. A schedule is the same
for all iterations: the latencies on any cycle of values are at most the interval times the
iterations along it (Rau, Iterative modulo scheduling, 1994). This is a lower bound, since values
may be handed on in registers: what memory takes in addition is with `qor_gnn.schedule.intervals.interval`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

from dsl.expressions.affine import Affine, Constraint
from polyhedral.dependences.axes import Axis
from polyhedral.dependences.touches import Touch
from polyhedral.dependences.value_distances import value_distances
from qor_gnn.body.reassociation import REAL_SUMS
from qor_gnn.design.iteration import Around, Copy, around, axis_of, copies_of
from qor_gnn.design.region import (
    Access,
    Kernel,
    Loop,
    Op,
    Statement,
    accesses_in,
    walk,
)
from qor_gnn.schedule.intervals.interval import Cycle
from qor_gnn.schedule.reasons import Recurrence
from qor_gnn.tools.personality import Personality

MOST_ACCESSES = 160
"""Of one iteration. Beyond that only pairs of accesses are looked at."""

_RING, _MINIMUM, _MAXIMUM, _LOGIC = "ring", "minimum", "maximum", "logic"
# Operators on integers that the tool may do in any order if they follow each other.
_EXCHANGED = {
    "add": _RING, "sub": _RING, "neg": _RING, "mul": _RING, "shl": _RING,
    "min": _MINIMUM, "max": _MAXIMUM, "and": _LOGIC, "or": _LOGIC, "xor": _LOGIC,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Operation:
    """An operator of a copy."""

    states: int
    exchanged: str  # with neighbours of the same class; "" with none
    op: Op
    statement: Statement


@dataclass(slots=True)
class _Values:
    """The operations of an iteration, and the least distances between them."""

    operations: list[_Operation] = field(default_factory=list)
    edges: dict[tuple[int, int], int] = field(default_factory=dict)

    def connect(self, source: int, sink: int, distance: int) -> None:
        """The second takes a value of the first, so many iterations later at the least."""
        if distance < self.edges.get((source, sink), distance + 1):
            self.edges[source, sink] = distance


def value_cycles(
    kernel: Kernel,
    tool: Personality,
    chain: tuple[Loop, ...],
    env: Mapping[str, Affine],
    interval: int,
) -> list[Cycle] | None:
    """Cycles of values that ask for more than an interval, each for more than the one before.

    Args:
        kernel: the design.
        tool: whose operators they are.
        chain: the loops that run as one pipeline, outermost first.
        env: variables of unrolled loops around it, in the copy that is asked for.
        interval: that is needed anyway.

    Returns:
        Nothing where all accesses of each array that is stored to move alike and by no division:
        pairs say it all. None where finding the distances was given up as too much work.
    """
    if not _coupled(chain):
        return []
    copies = copies_of(chain, MOST_ACCESSES)
    if copies is None:
        return []
    nest = (*map(axis_of, chain[:-1]), axis_of(chain[-1], chain[-1].factor))
    values = _values(tool, around(kernel, chain[0], env), nest, copies)
    if values is None:
        return None
    found: list[Cycle] = []
    for find in (_slowest, _in_any_order):
        while (cycle := find(values, tool, interval)) is not None:
            assert cycle.interval > interval, "it was found because the interval is too short"
            found.append(cycle)
            interval = cycle.interval
    return found


def _coupled(chain: tuple[Loop, ...]) -> bool:
    """An array that is stored to has accesses that move in different ways, as copies of one access
    do in which a division is, or of whose loop not all copies are in each iteration.
    """
    if any(isinstance(n, Loop) and not _constant(n) for n in walk(chain[-1].body)):
        return True
    statements = [n for n in walk(chain[0].body) if isinstance(n, Statement)]
    if any(s.scatters for s in statements):
        return False  # no store is known to be the last one to an element
    stored = {s.target.memory for s in statements}
    ways: dict[str, tuple[object, ...]] = {}
    for access in accesses_in(chain[0].body):
        if access.memory in stored:
            way = tuple(index.terms for index in access.indices)
            if any(not isinstance(v, str) for terms in way for v, _ in terms):
                return True
            if ways.setdefault(access.memory, way) != way:
                return True
    return False


def _constant(loop: Loop) -> bool:
    """Its bounds are the same in all iterations of the loops around."""
    return len(loop.lowers) == len(loop.uppers) == 1 and all(
        bound.is_const for bound in (*loop.lowers, *loop.uppers)
    )


# --------------------------------------------------------------------------------------- dataflow


def _values(
    tool: Personality, around: Around, nest: tuple[Axis, ...], copies: Sequence[Copy]
) -> _Values | None:
    """What takes whose values; None where that is too much work."""
    found = _Values()
    touches: dict[str, list[Touch]] = {}
    places: dict[str, list[int]] = {}  # by access: the load, or the operation that is stored
    begun: dict[tuple[int, ...], int] = {}
    for copy in copies:
        first = begun.setdefault(copy.place, len(found.operations))
        if first == len(found.operations):
            _operate(found, tool, copy.statement)
        for k, op in enumerate(copy.statement.ops):
            if op.kind == "load" and op.access is not None:
                places.setdefault(op.access.memory, []).append(first + k)
                touch = _touch(op.access, copy, around.guard, stores=False)
                touches.setdefault(op.access.memory, []).append(touch)
        target = copy.statement.target
        places.setdefault(target.memory, []).append(first + len(copy.statement.ops) - 1)
        touch = _touch(target, copy, around.guard, stores=True)
        touches.setdefault(target.memory, []).append(touch)
    for memory, accesses in touches.items():
        distances = value_distances(around.axes, nest, tuple(accesses))
        if distances is None:
            return None
        for (store, load), distance in distances.items():
            found.connect(places[memory][store], places[memory][load], distance)
    _leave_out_loads(found)
    return found


def _operate(values: _Values, tool: Personality, statement: Statement) -> None:
    """Add the operations of a statement."""
    first = len(values.operations)
    for k, op in enumerate(statement.ops):
        values.operations.append(_operation(tool, op, statement))
        for d in op.operands:
            values.connect(first + d, first + k, 0)


def _touch(access: Access, copy: Copy, guard: tuple[Constraint, ...], *, stores: bool) -> Touch:
    indices = tuple(index.substitute(copy.env) for index in access.place)
    return Touch(indices, (*guard, *copy.guard), stores)


def _operation(tool: Personality, op: Op, statement: Statement) -> _Operation:
    """The operator in its fastest implementation."""
    if not op.computes or not op.operands:
        return _Operation(0, "", op, statement)
    if op.type == "int":
        exchanged = _EXCHANGED.get(op.kind, "")
    else:
        free = tool.sums.reassociates and op.kind in REAL_SUMS
        exchanged = f"{op.type} {REAL_SUMS[op.kind]}" if free else ""
    fastest = min(o.distance for o in tool.operators_of(op))
    states = max(0, fastest - tool.sums.saves(op.kind))
    return _Operation(states, exchanged, op, statement)


def _leave_out_loads(values: _Values) -> None:
    """Connect what is stored to what takes it when it is loaded."""
    into: dict[int, dict[int, int]] = {}
    out: dict[int, dict[int, int]] = {}
    for (source, sink), distance in values.edges.items():
        out.setdefault(source, {})[sink] = distance
        into.setdefault(sink, {})[source] = distance
    for load, operation in enumerate(values.operations):
        if operation.op.kind != "load":
            continue
        before, after = into.pop(load, {}), out.pop(load, {})
        before.pop(load, None)  # an element that is copied to itself
        after.pop(load, None)
        for source in before:
            out[source].pop(load, None)
        for sink in after:
            into[sink].pop(load, None)
        for source, d in before.items():
            for sink, e in after.items():
                if d + e < out.get(source, {}).get(sink, d + e + 1):
                    out.setdefault(source, {})[sink] = d + e
                    into.setdefault(sink, {})[source] = d + e
    values.edges = {(a, b): d for a, sinks in out.items() for b, d in sinks.items()}


# ----------------------------------------------------------------------------------------- cycles


def _slowest(values: _Values, tool: Personality, interval: int) -> Cycle | None:
    """A cycle that takes longer than an interval has time for (Bellman and Ford)."""
    weights = {edge: _states(values, tool, edge) - interval * d for edge, d in values.edges.items()}
    cycle = _positive_cycle(weights)
    if cycle is None:
        return None
    states = sum(_states(values, tool, edge) for edge in cycle)
    return _shown(values, cycle, states, sum(values.edges[edge] for edge in cycle))


def _states(values: _Values, tool: Personality, edge: tuple[int, int]) -> int:
    """From the start of an operation to that of the one that takes its value, at the least."""
    source, sink = (values.operations[n] for n in edge)
    alike = source.exchanged and source.exchanged == sink.exchanged
    if alike and (edge[0] != edge[1] or tool.is_open):
        return 0  # one operator does for both; the open backend sums up in several lanes
    return max(0, source.states - tool.recurrences.closing) if edge[0] == edge[1] else source.states


def _in_any_order(values: _Values, tool: Personality, interval: int) -> Cycle | None:
    """A cycle of operators that may be exchanged passes one of them at least."""
    if tool.is_open:
        return None
    after: dict[int, list[tuple[int, int]]] = {}
    least: dict[str, int] = {}
    for (source, sink), distance in values.edges.items():
        own = values.operations[source]
        if own.exchanged and own.exchanged == values.operations[sink].exchanged:
            after.setdefault(source, []).append((sink, distance))
            least[own.exchanged] = min(least.get(own.exchanged, own.states), own.states)
    for start in after:
        states = least[values.operations[start].exchanged] - tool.recurrences.closing
        if states <= interval:
            continue
        turns = _round(after, start)
        if turns is not None and interval * turns < states:
            return _shown(values, [(start, start)], states, turns)
    return None


def _round(after: Mapping[int, Sequence[tuple[int, int]]], start: int) -> int | None:
    """The fewest iterations in which a value comes back to an operation (Dijkstra)."""
    open_, best = [(d, n) for n, d in after[start]], dict[int, int]()
    heapify(open_)
    while open_:
        distance, n = heappop(open_)
        if n == start:
            return distance
        if n in best:
            continue
        best[n] = distance
        for sink, d in after.get(n, ()):
            heappush(open_, (distance + d, sink))
    return None


def _positive_cycle(weights: Mapping[tuple[int, int], int]) -> list[tuple[int, int]] | None:
    """A cycle of edges whose weights add up to more than 0."""
    longest = dict.fromkeys((n for edge in weights for n in edge), 0)
    before: dict[int, int] = {}
    last = None
    for _ in range(len(longest) + 1):
        last = None
        for (source, sink), weight in weights.items():
            if longest[source] + weight > longest[sink]:
                longest[sink] = longest[source] + weight
                before[sink] = source
                last = sink
        if last is None:
            return None
    assert last is not None, "there is at least one pass"
    for _ in longest:  # back until it is certain to be on the cycle
        last = before[last]
    cycle = [(before[last], last)]
    while cycle[-1][0] != last:
        cycle.append((before[cycle[-1][0]], cycle[-1][0]))
    return cycle[::-1]


def _shown(values: _Values, cycle: Sequence[tuple[int, int]], states: int, distance: int) -> Cycle:
    """The cycle as a limit of the pipeline."""
    operations = [values.operations[source] for source, _ in cycle]
    names = tuple(dict.fromkeys(o.statement.name for o in operations))
    # What carries it: the array that an operation's statement stores, where iterations change.
    target = next(
        (values.operations[a].statement.target for a, b in cycle if values.edges.get((a, b))),
        operations[-1].statement.target,
    )
    told = Recurrence(
        target.memory,
        str(target),
        names,
        tuple(o.op.kind for o in operations),
        states,
        distance,
        "memory",
        -(-states // distance),
    )
    return Cycle(-1, (), states, distance, "memory", told)
