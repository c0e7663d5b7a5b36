"""Loops as the tool meets them: copies of an unrolled body, nests that flatten, single bodies."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import ceil
from typing import Any

from dsl.expressions.affine import Affine
from polyhedral.requests.outside import RETURN
from qor_gnn.body.bank_divisions import rows_divided
from qor_gnn.body.body import Body, block, loop_body
from qor_gnn.body.graph import STORE, Graph
from qor_gnn.body.quicker_sums import quickened
from qor_gnn.body.reassociation import Exit, adds_integers, hastened, reassociated
from qor_gnn.body.register_promotion import promotable
from qor_gnn.body.word_expander import expander_of
from qor_gnn.design.region import (
    Guard,
    Kernel,
    Loop,
    Mode,
    Node,
    Statement,
    accesses_in,
    loops_in,
    trips_of,
    walk,
)
from qor_gnn.memory.addresses import Addresses
from qor_gnn.memory.bursts import burst_loops
from qor_gnn.schedule.intervals.carried import Nest, carried_distance, starts_anywhere
from qor_gnn.schedule.intervals.interval import only_load
from qor_gnn.tools.personality import Personality

Placed = tuple[Node, dict[str, Affine]]
"""A node with the variables around it placed."""

_COPY = "@"  # begins the name of a copy's number


@dataclass(slots=True)
class Scope:
    """What the evaluation of one design shares: the tool, the memories, the address table."""

    kernel: Kernel
    personality: Personality
    mode: Mode = "average"
    addresses: Addresses = field(init=False)
    numbers: dict[str, int] = field(init=False)
    order: dict[str, int] = field(default_factory=dict)  # of counters, if that tells about banks
    from_zero: frozenset[str] = field(init=False)  # counters of loops with constant lower bounds
    loops: dict[str, Loop] = field(init=False)  # by variable
    bodies: dict[object, Any] = field(default_factory=dict)  # `qor_gnn.schedule.known_bodies`
    given_up: Counter[tuple[str, ...]] = field(
        default_factory=Counter
    )  # copies of a nest, `recurrences`
    unpipelined: set[str] = field(default_factory=set)  # loops that the tool gave up
    serial: set[str] = field(default_factory=set)  # of these, those that were to be flattened
    apart: set[str] = field(default_factory=set)  # loops that it does not flatten into others

    def __post_init__(self) -> None:
        self.numbers = {m.name: n for n, m in enumerate(self.kernel.memories)}
        banks = self.personality.banks
        self.addresses = Addresses(self.kernel.memories, banks.hidden_by_innermost)
        loops = [loop for f in self.kernel.functions for loop in loops_in(f.body)]
        self.loops = {loop.iv: loop for loop in loops}
        if banks.hidden_by_others:
            self.order = {loop.iv: n for n, loop in enumerate(loops)}
        for loop in loops:
            values = -(-loop.trips.maximum // loop.factor)
            self.addresses.counters[loop.iv] = (values, loop.factor * loop.step)
        self.from_zero = frozenset(loop.iv for loop in loops if not starts_anywhere(loop))
        if self.personality.outside is not None:
            self.apart |= burst_loops(self.kernel)
        self.addresses.cancelled.update(
            self.numbers[access.memory]
            for function in self.kernel.functions
            for access in accesses_in(function.body)
            for index in access.indices
            if not index.is_linear and index.variables() - self.from_zero
        )

    def taken(self, mode: Mode) -> Scope:
        """The same design with the average, the least or the most of its trip counts: its bodies are the same."""
        return self.lent(Scope(self.kernel, self.personality, mode))

    def lent(self, other: Scope) -> Scope:
        """The other one, with the bodies of this one as its own: see `qor_gnn.schedule.alike`."""
        other.addresses, other.bodies, other.given_up = self.addresses, self.bodies, self.given_up
        return other

    def iterations(self, loop: Loop) -> float:
        """How often the (unrolled) body runs."""
        trips, copies = trips_of(loop, self.mode), loop.factor
        match self.personality.unrolling.last_iteration:
            case "partial":
                return trips / copies if trips % copies else trips // copies
            case "whole":
                around = sole_loop(loop) is not None and not innermost(loop)
                if around and starts_late(loop):
                    return max(1, trips // copies)
                return ceil(trips / copies)

    def starts(self, loop: Loop) -> float:
        """How often a pipeline starts its (unrolled) body: of a trip count that is known the last time in part, as any other."""
        return self.iterations(loop) if loop.constant_trips is None else ceil(self.iterations(loop))

    def pipeline_ii(self, loop: Loop) -> int | None:
        """The interval that is asked of a loop, by the user or by the tool itself."""
        if loop.iv in self.unpipelined:
            return None
        if loop.ii is not None:
            return loop.ii
        automatic = self.personality.directives.auto_pipeline
        free = automatic and loop.automatic and loop.unroll != 0
        return 1 if free and innermost(loop) else None


def starts_late(loop: Loop) -> bool:
    """Its counter is known to begin elsewhere than at 0."""
    return all(b.is_const for b in loop.lowers) and max(b.const for b in loop.lowers) != 0


def nest_of(scope: Scope, chain: Sequence[Loop], env: Mapping[str, Affine]) -> Nest:
    """The loops of a pipeline as the distances of its recurrences need them."""
    copies = chain[-1].factor
    trips = {loop.iv: max(1, loop.trips.maximum) for loop in chain}
    trips[chain[-1].iv] = ceil(trips[chain[-1].iv] / copies)
    return Nest(trips, scope.loops, env, copies, frozenset(chain[-1].independent))


def innermost(loop: Loop) -> bool:
    """No loop is left inside when those unrolled completely are gone."""
    return all(inner.unroll == 0 for inner in loops_in(loop.body))


def has_pipeline(scope: Scope, loop: Loop) -> bool:
    """It is pipelined, or a loop inside is."""
    return any(isinstance(n, Loop) and scope.pipeline_ii(n) is not None for n in walk((loop,)))


def sole_loop(loop: Loop, imperfect: bool = False) -> Loop | None:
    """The loop that is all of the body, or (``imperfect``) all but statements."""
    inner = [n for n in loop.body if loops_in((n,))]
    if len(inner) != 1 or not isinstance(inner[0], Loop):
        return None
    return inner[0] if imperfect or len(loop.body) == 1 else None


def running(loop: Loop, copies: int) -> Affine:
    """The variable of a loop that still runs, unrolled by ``copies``, in terms of its counter."""
    scaled = Affine(((loop.iv, copies * loop.step),))
    lowers = [b for b in loop.lowers if b.is_const]
    return scaled + (max(b.const for b in lowers) if len(lowers) == len(loop.lowers) else 0)


def placed_copies(loop: Loop, env: dict[str, Affine]) -> list[dict[str, Affine]]:
    """The environments of the copies of an unrolled loop's body."""
    copies = loop.factor
    if loop.unroll == 0:
        first = [b.substitute(env) for b in loop.lowers]
        start = next((b for b in first if not b.is_const), None)
        if start is None:
            start = Affine((), max(b.const for b in first))
        return [{**env, loop.iv: start + c * loop.step} for c in range(copies)]
    base = running(loop, copies)
    return [{**env, loop.iv: base + c * loop.step} for c in range(copies)]


def nest_graph(scope: Scope, chain: tuple[Loop, ...], env: dict[str, Affine]) -> Graph:
    """The operations of one iteration of a nest whose loops are each the only one in the one above.

    The innermost body is unrolled as its loop asks, all inside it completely. Statements around a
    loop run in its first or its last iteration.
    """
    inner = chain[-1]
    copies = inner.factor
    number = _COPY + inner.iv
    once = inner.constant_trips is not None and copies >= inner.constant_trips
    base = Affine((), running(inner, 1).const) if once else running(inner, copies)
    own = {**env, **{loop.iv: running(loop, 1) for loop in chain[:-1]}}
    own[inner.iv] = base + Affine(((number, inner.step),))
    copied = frozenset({number, *(each.iv for each in loops_in(inner.body))})
    partial = inner.trips.maximum % copies  # copies in front of the only exit
    if partial and starts_late(inner) and not scope.personality.unrolling.compares_copies:
        scope.addresses.blurred.add(inner.iv)
    scope.addresses.order = {} if inner.iv in scope.unpipelined else scope.order
    expander = expander_of(
        scope.personality,
        scope.addresses,
        scope.numbers,
        own,
        copied,
        scope.from_zero,
        {number: copies},
    )
    expander.prepare(chain[0].body)
    before, after = [], []
    for outer, loop in pairwise(chain):
        at = outer.body.index(loop)
        before.append(outer.body[:at])
        after.append(outer.body[at + 1 :])
    expander.when = "first"
    for nodes in before:
        expander.run(nodes, {})
    expander.graph.set_first.update(expander.graph.conditional)
    expander.when = "always"
    at = 0
    for c in range(copies):
        at = at if c != partial else len(expander.graph.kind)
        expander.copy = c
        expander.run(inner.body, {number: c})
    expander.when = "last"
    for nodes in reversed(after):
        expander.run(nodes, {})
    sums = scope.personality.sums
    if inner.requests.unbalanced:
        return expander.graph
    reals = sums.reassociates
    if not reals:
        if not adds_integers(expander.graph):
            return expander.graph
        sums = replace(sums, order="root")  # of integers, which are balanced anyway
    if sums.order == "leaf" and (inner.ii or 1) > 1:
        sums = replace(sums, order="root")
    tree = len(chain) == 1 and inner.iv not in scope.serial
    if one_by_one(scope, inner):
        sums = replace(sums, saved=0)
    exit_ = Exit(at, "tree" if tree else "chain") if partial else None
    carried = _carried_loads(scope, expander.graph, inner, env) if len(chain) == 1 else ()
    load = scope.personality.accesses.load
    return reassociated(expander.graph, sums, load, exit_, carried, reals)


def _carried_loads(scope: Scope, graph: Graph, loop: Loop, env: Mapping[str, Affine]) -> list[int]:
    """Loads of other elements than are stored, which the iteration before has stored."""
    nest = nest_of(scope, (loop,), env)
    stored: dict[int, list[int]] = {}
    for a in graph.stores:
        stored.setdefault(graph.addresses.shape_of[a], []).append(a)
    return [
        load
        for a, load in graph.loads.items()
        if only_load(graph, a)
        and any(
            s != a and carried_distance(graph.addresses, s, a, nest) == 1
            for s in stored.get(graph.addresses.shape_of[a], ())
        )
    ]


def innermost_body(scope: Scope, loop: Loop, env: dict[str, Affine]) -> Body:
    """The body of a loop by itself."""
    graph = nest_graph(scope, (loop,), env)
    if one_by_one(scope, loop):
        _in_blocks(graph)
    if loop.iv == RETURN:
        return block(graph, scope.personality)
    return loop_body(graph, scope.personality, (loop.iv,))


def one_by_one(scope: Scope, loop: Loop) -> bool:
    """It is not pipelined, and its copies are blocks of code with exits between them that the tool
    cannot compare (`Unrolling.compares_copies`).
    """
    return loop.iv in scope.unpipelined and loop.iv in scope.addresses.blurred


def _in_blocks(graph: Graph) -> None:
    """Operators of a copy start when the copy before has stored its result, or as it is stored."""
    graph.order = [(a, b, 0 if graph.kind[a] == STORE else n) for a, b, n in graph.order]
    stores = sorted(graph.early_stores)
    for n, operator in enumerate(graph.operator):
        if operator is not None and (before := bisect_left(stores, n)):
            graph.order.append((stores[before - 1], n, 0))


def flattened_body(scope: Scope, chain: tuple[Loop, ...], env: dict[str, Affine]) -> Body | None:
    """The body of a nest that runs as one pipeline; None where the nest does not flatten.

    Where accumulators are promoted first, it does not if the innermost loop by itself keeps some of
    memory in registers.
    """
    if (
        len(chain) > 1
        and not scope.personality.flattening.guarded_updates
        and _guarded_update(chain[-1])
    ):
        return None
    graph = nest_graph(scope, chain, env)
    if len(chain) > 1 and _loops_between_exits(scope, chain[-1]):
        return None
    if len(chain) > 1 and scope.personality.flattening.promotes_first:
        kept = promotable(graph, frozenset({chain[-1].iv}))
        if any(not graph.addresses.memory(a).in_registers for a in kept):
            return None
    if (
        len(chain) > 1
        and scope.personality.division is not None
        and rows_divided(graph, chain[-1].iv)
    ):
        return None
    if chain[-1].iv == RETURN:  # the function: all of it runs at each call
        return block(graph, scope.personality)
    variables = tuple(loop.iv for loop in chain)
    if saved := scope.personality.sums.saved:
        graph = hastened(graph, frozenset(variables), saved)
    asked = chain[-1].ii
    if asked is not None and scope.personality.recurrences.quicker:
        graph = quickened(graph, variables, asked, scope.personality)
    body = loop_body(graph, scope.personality, variables, bool(env))
    return None if len(chain) > 1 and _crowded(body, asked or 1) else body


def _crowded(body: Body, asked: int) -> bool:
    """What the innermost loop holds in registers has more accesses to a bank than an interval has states: its own
    loop is a pipeline, and they are made around it.
    """
    uses: Counter[int] = Counter()
    for n, taken in body.ports.items() if body.held else ():
        if body.graph.address[n] in body.held:
            uses.update(resource for resource, _ in taken)
    most = {resource: limit for taken in body.ports.values() for resource, limit in taken}
    return any(count > asked * most[resource] for resource, count in uses.items())


def _loops_between_exits(scope: Scope, loop: Loop) -> bool:
    """Its copies, with exits between them that the tool cannot see through, held loops when nests were flattened."""
    return loop.iv in scope.addresses.blurred and bool(loops_in(loop.body))


def _guarded_update(loop: Loop) -> bool:
    """Under a guard the loop updates an element of an array that it stays at."""
    own = {loop.iv, *(each.iv for each in loops_in(loop.body))}
    guarded = [n for node in walk(loop.body) if isinstance(node, Guard) for n in walk(node.body)]
    for node in guarded:
        if isinstance(node, Statement) and node.target.indices:
            stays = not any(index.variables() & own for index in node.target.indices)
            if stays and any(op.access == node.target for op in node.ops):
                return True
    return False


def straight_block(scope: Scope, nodes: list[Placed]) -> Body:
    """Operations that run once, between regions."""
    copied = frozenset(loop.iv for node, _ in nodes for loop in loops_in((node,)))
    env = nodes[0][1]
    scope.addresses.order = {}
    expander = expander_of(scope.personality, scope.addresses, scope.numbers, env, copied)
    for node, env in nodes:
        expander.prepare((node,), env)
        expander.run((node,), {})
    graph, tool = expander.graph, scope.personality
    if not tool.is_open and adds_integers(graph):
        sums = replace(tool.sums, order="root")
        graph = reassociated(graph, sums, tool.accesses.load, reals=False)
    return block(graph, tool)


def inlined(nodes: list[Placed]) -> list[Placed]:
    """Guards opened, and loops that are unrolled completely but hold other loops copied out."""
    found: list[Placed] = []
    for node, env in nodes:
        match node:
            case Guard(body=body):
                if loops_in(body):
                    found += inlined([(n, env) for n in body])
                else:
                    found.append((node, env))
            case Loop() if node.unroll == 0 and node.ii is None and not innermost(node):
                for around in placed_copies(node, env):
                    found += inlined([(n, around) for n in node.body])
            case _:
                found.append((node, env))
    return found


def is_straight(scope: Scope, node: Node) -> bool:
    """It becomes straight-line code: a statement, or loops that are unrolled completely."""
    match node:
        case Statement():
            return True
        case Guard(body=body):
            return all(is_straight(scope, n) for n in body)
        case Loop():
            return node.unroll == 0 and scope.pipeline_ii(node) is None and innermost(node)
