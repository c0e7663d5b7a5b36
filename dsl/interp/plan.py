"""A program prepared to be run: its tree with what is known about each loop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

from dsl.affine import Cond
from dsl.expr import Binary, loads
from dsl.interp.parallel import is_parallel, summand
from dsl.interp.ranges import Range, loop_range, trips
from dsl.program import Array, If, Loop, Node, Program, Stmt


@dataclass(frozen=True, slots=True)
class StmtPlan:
    """A statement; ``names`` are the loop variables around it, outermost first."""

    stmt: Stmt
    names: tuple[str, ...]
    ranges: Mapping[str, Range]


@dataclass(frozen=True, slots=True)
class IfPlan:
    """A condition with its branches."""

    cond: Cond
    then: tuple[Plan, ...]
    orelse: tuple[Plan, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LoopPlan:
    """A loop.

    Attributes:
        loop: as it is in the program.
        body: its nodes.
        depth: 1 is outermost.
        names: the loop variables around it.
        parallel: its iterations touch disjoint elements.
        total: set if the loop only sums up (see `summand`).
        fresh: locals declared in the body: each iteration has its own.
        trips: at most so many iterations.
        weight: at most so many elements per iteration if all parallel loops inside run at once.
    """

    loop: Loop
    body: tuple[Plan, ...]
    depth: int
    names: tuple[str, ...]
    parallel: bool
    total: Binary | None
    fresh: tuple[Array, ...]
    trips: int
    weight: int


Plan = StmtPlan | IfPlan | LoopPlan


def plan_program(program: Program, fast: bool, min_trips: int) -> tuple[Plan, ...]:
    """Prepare a program.

    Args:
        program: to run.
        fast: look for loops that can run at once; loops of fewer than ``min_trips`` iterations
            are not worth it.
        min_trips: see ``fast``.
    """
    return _Planner(program, fast, min_trips).nodes(program.body, (), {})


def at_once(plan: Plan) -> bool:
    """Whether some loop here runs all iterations at once."""
    match plan:
        case StmtPlan():
            return False
        case IfPlan(then=then, orelse=orelse):
            return any(map(at_once, then)) or any(map(at_once, orelse))
        case LoopPlan(body=body, parallel=parallel, total=total):
            return parallel or total is not None or any(map(at_once, body))


def deepest(plans: tuple[Plan, ...]) -> int:
    """The depth of the deepest loop."""
    depth = 0
    for plan in plans:
        match plan:
            case StmtPlan():
                own = len(plan.names)
            case IfPlan():
                own = deepest((*plan.then, *plan.orelse))
            case LoopPlan():
                own = max(plan.depth, deepest(plan.body))
        depth = max(depth, own)
    return depth


@dataclass(frozen=True, slots=True)
class _Planner:
    program: Program
    fast: bool
    min_trips: int

    def nodes(
        self, nodes: tuple[Node, ...], names: tuple[str, ...], ranges: Mapping[str, Range]
    ) -> tuple[Plan, ...]:
        return tuple(self.node(node, names, ranges) for node in nodes)

    def node(self, node: Node, names: tuple[str, ...], ranges: Mapping[str, Range]) -> Plan:
        match node:
            case Stmt():
                return StmtPlan(node, names, ranges)
            case If():
                then = self.nodes(node.then, names, ranges)
                return IfPlan(node.cond, then, self.nodes(node.orelse, names, ranges), names)
            case Loop():
                return self.loop(node, names, ranges)

    def loop(self, loop: Loop, names: tuple[str, ...], ranges: Mapping[str, Range]) -> LoopPlan:
        depth = len(names) + 1
        inside = {**ranges, loop.var: loop_range(loop, ranges)}
        body = self.nodes(loop.body, (*names, loop.var), inside)
        count = trips(loop, ranges)
        worth = self.fast and count >= self.min_trips
        parallel = worth and is_parallel(self.program, loop, depth, ranges)
        total = summand(self.program, loop, ranges) if worth and not parallel else None
        used = frozenset(_arrays(loop.body))
        fresh = tuple(a for a in self.program.locals if a.scope_depth == depth and a.name in used)
        weight = max([_weight(body), *(prod(a.shape) for a in fresh)])
        return LoopPlan(loop, body, depth, names, parallel, total, fresh, count, weight)


def _weight(plans: tuple[Plan, ...]) -> int:
    heaviest = 1
    for plan in plans:
        match plan:
            case StmtPlan():
                continue
            case IfPlan():
                own = _weight((*plan.then, *plan.orelse))
            case LoopPlan():
                own = plan.weight * (plan.trips if plan.parallel else 1)
        heaviest = max(heaviest, own)
    return heaviest


def _arrays(nodes: tuple[Node, ...]) -> Iterator[str]:
    for node in nodes:
        match node:
            case Stmt():
                yield node.target.array
                yield from (access.array for access in loads(node.value))
            case If():
                yield from _arrays((*node.then, *node.orelse))
            case Loop():
                yield from _arrays(node.body)
