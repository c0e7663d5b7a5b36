"""A program with its statements apart as far as is legal, or neighbouring nests of the same loops as one."""

from __future__ import annotations

from collections.abc import Sequence, Set

from dse.space.nests.groups import Group, groups
from dsl.expressions.expr import Binary, BinaryOp, stored_value
from dsl.expressions.types import FloatType
from dsl.schedules.recurrence_steps import CriticalLast
from dsl.schedules.steps import Distribute, Fuse, Reassociate, Step
from polyhedral.dependences.direct import flows_within
from polyhedral.schedule import tried
from polyhedral.scop.ranges import constant_interval
from polyhedral.scop.scheduled import Piece, ScheduledScop
from polyhedral.scop.scop import Statement, reduction_access


def reassociated(state: ScheduledScop, floats: bool) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """Sums that are exact in any order; those of floats if they may."""
    steps: list[Step] = []
    for statement in state.scop.statements:
        target = state.scop.program.array(statement.stmt.target.array)
        exact = not isinstance(target.dtype, FloatType)  # or the step is refused
        if (floats or exact) and reduction_access(statement) is not None:
            moved = tried(state, Reassociate(statement.name))
            if moved is not None:
                state = moved
                steps.append(Reassociate(statement.name))
    return state, tuple(steps)


def has_chains(state: ScheduledScop) -> bool:
    """Whether the order of extrema, products or logic is free: of these no tool makes trees by itself, as of sums of integers."""
    ops = (
        stored_value(s.stmt.value)
        for s in state.scop.statements
        if s.name in state.reassociated and s.loops
    )
    return any(isinstance(x, Binary) and x.op not in (BinaryOp.ADD, BinaryOp.SUB) for x in ops)


def critical_last(state: ScheduledScop, floats: bool) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """Sums of floats with the terms last that come from the nearest iterations, where their order is free; those that
    only add to themselves are for `reassociated`.
    """
    steps: list[Step] = []
    for statement in state.scop.statements if floats else ():
        if statement.loops and not (
            reduction_access(statement) and _feeds_itself(state, statement)
        ):
            moved = tried(state, CriticalLast(statement.name))
            if moved is not None:
                state = moved
                steps.append(CriticalLast(statement.name))
    return state, tuple(steps)


def _feeds_itself(state: ScheduledScop, statement: Statement) -> bool:
    """Whether a statement adds to what it has left itself, which no other order of its terms makes shorter."""
    return any(d.source is d.sink is statement for d in flows_within(state.scop, [statement]))


def distributed(state: ScheduledScop) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """Every statement in loops of its own from the least depth where that is legal."""
    steps: list[Step] = []
    for name in [s.name for s in state.scop.statements]:
        pieces = state.of_statement(name)
        for depth in range(len(pieces[0].dims) if pieces else 0):
            moved = tried(state, step := Distribute((name,), depth))
            if moved is not None:
                steps.append(step)
                state = moved
                break
    return state, tuple(steps)


def merged(
    state: ScheduledScop, alone: Set[str] = frozenset()
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """Neighbouring nests of the same loops fused, where that is legal, but for statements that stay ``alone``."""
    steps: list[Step] = []
    current = groups(state)
    k = 0
    while k + 1 < len(current):
        joined = None
        if alone.isdisjoint(current[k + 1].names):
            joined = _with_one_before(state, current[: k + 2], alone)
        if joined is None:
            k += 1
            continue
        state, step = joined
        steps.append(step)
        current = groups(state)
    return state, tuple(steps)


def _with_one_before(
    state: ScheduledScop, nests: Sequence[Group], alone: Set[str]
) -> tuple[ScheduledScop, Step] | None:
    """The last of these nests in one with the nearest that has the same loops, if that is legal: what stands between
    them, such as a sum that is set to zero, keeps its place.
    """
    *before, last = nests
    end = last.pieces[0]
    for n, other in enumerate(reversed(before)):
        start = other.pieces[0]
        if not _alike(start, end):
            continue
        if not alone.isdisjoint(other.names):
            return None
        for there in (False, True) if n else (False,):
            step = Fuse((start.name, end.name), len(start.dims), there)
            moved = tried(state, step)
            if moved is not None:
                return moved, step
        return None
    return None


def _alike(a: Piece, b: Piece) -> bool:
    """The same number of loops, of the same constant bounds."""
    if len(a.dims) != len(b.dims) or not a.dims:
        return False
    found = [(constant_interval(a, k), constant_interval(b, k)) for k in range(len(a.dims))]
    return all(x is not None and x == y for x, y in found)
