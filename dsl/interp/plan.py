"""A program prepared to be run: its tree with what is known about each loop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod

from dsl.expressions.affine import Cond
from dsl.expressions.expr import Binary, loads
from dsl.interp.parallel import is_parallel, summand
from dsl.interp.ranges import Range, loop_range, stays_inside, trips
from dsl.interp.wave import slope
from dsl.programs.program import Array, If, Loop, Node, Program, Stmt


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
        slope: set if this loop and the one in it can run as wavefronts (see `wave`).
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
    slope: int | None
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
    return _Planner(program, fast, min_trips).nodes(program.body, _Around())


def at_once(plan: Plan) -> bool:
    """Whether some loop here runs all iterations at once."""
    match plan:
        case StmtPlan():
            return False
        case IfPlan(then=then, orelse=orelse):
            return any(map(at_once, then)) or any(map(at_once, orelse))
        case LoopPlan(body=body, parallel=parallel, total=total, slope=waves):
            special = total is not None or waves is not None
            return parallel or special or any(map(at_once, body))


def one_by_one(plans: tuple[Plan, ...]) -> int:
    """How many statements at most run one after the other, in loops of which none runs at once."""
    return sum(map(_one_by_one, plans))


def _one_by_one(plan: Plan) -> int:
    match plan:
        case StmtPlan():
            return 1
        case IfPlan(then=then, orelse=orelse):
            return max(one_by_one(then), one_by_one(orelse))
        case LoopPlan():
            special = plan.parallel or plan.total is not None or plan.slope is not None
            return 0 if special else plan.trips * one_by_one(plan.body)


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


def inside(plans: tuple[Plan, ...], program: Program) -> frozenset[int]:
    """The accesses, by ``id``, that are proven to be in bounds wherever they occur."""
    shapes = {array.name: array.shape for array in program.arrays}
    proofs = list(_proofs(plans, shapes))
    return frozenset(a for a, proven in proofs if proven) - {
        a for a, proven in proofs if not proven
    }


def _proofs(
    plans: tuple[Plan, ...], shapes: Mapping[str, tuple[int, ...]]
) -> Iterator[tuple[int, bool]]:
    for plan in plans:
        match plan:
            case StmtPlan():
                for access in (plan.stmt.target, *loads(plan.stmt.value)):
                    proven = stays_inside(access, shapes[access.array], plan.ranges)
                    yield id(access), proven
            case IfPlan():
                yield from _proofs((*plan.then, *plan.orelse), shapes)
            case LoopPlan():
                yield from _proofs(plan.body, shapes)


@dataclass(frozen=True, slots=True)
class _Around:
    """The loops around a node, outermost first, and the ranges of their variables."""

    loops: tuple[Loop, ...] = ()
    ranges: Mapping[str, Range] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(loop.var for loop in self.loops)

    def within(self, loop: Loop) -> _Around:
        ranges = {**self.ranges, loop.var: loop_range(loop, self.ranges)}
        return _Around((*self.loops, loop), ranges)


@dataclass(frozen=True, slots=True)
class _Planner:
    program: Program
    fast: bool
    min_trips: int

    def nodes(self, nodes: tuple[Node, ...], around: _Around) -> tuple[Plan, ...]:
        return tuple(self.node(node, around) for node in nodes)

    def node(self, node: Node, around: _Around) -> Plan:
        match node:
            case Stmt():
                return StmtPlan(node, around.names, around.ranges)
            case If():
                then, orelse = self.nodes(node.then, around), self.nodes(node.orelse, around)
                return IfPlan(node.cond, then, orelse, around.names)
            case Loop():
                return self.loop(node, around)

    def loop(self, loop: Loop, around: _Around) -> LoopPlan:
        depth = len(around.loops) + 1
        body = self.nodes(loop.body, around.within(loop))
        count = trips(loop, around.ranges)
        worth = self.fast and count >= self.min_trips
        parallel = worth and is_parallel(self.program, loop, around.loops)
        total = summand(self.program, loop, around.loops) if worth and not parallel else None
        waves = slope(self.program, loop, depth) if worth and not parallel else None
        if any(plan.parallel for plan in body if isinstance(plan, LoopPlan)):
            waves = None
        used = frozenset(_arrays(loop.body))
        fresh = tuple(a for a in self.program.locals if a.scope_depth == depth and a.name in used)
        weight = max([_weight(body), *(prod(a.shape) for a in fresh)])
        return LoopPlan(
            loop, body, depth, around.names, parallel, total, waves, fresh, count, weight
        )


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
