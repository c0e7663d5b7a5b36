"""Where values of a running sum are used: blocks of iterations, each summed up by itself.

What `run += x[i]` hands from one iteration to the next is a sum, and where others read it in between, no partial
sums take its place. In blocks, a block waits for the one before for one operation.
"""

from __future__ import annotations

from collections.abc import Callable

from dsl.expressions.expr import Access, Binary, BinaryOp, Expr, Load, loads
from dsl.expressions.types import FloatType
from dsl.programs.located import trips
from dsl.schedules.recurrence_steps import Scan
from dsl.schedules.steps import Step, Tail
from polyhedral.schedule import tried
from polyhedral.scop.scheduled import ScheduledScop
from polyhedral.scop.scop import ASSOCIATIVE, Scop, Statement, common_loops

FACTORS = (4, 8, 16, 32)
"""Iterations of a block."""


def scanned(
    state: ScheduledScop,
    before: tuple[Step, ...],
    factor: int,
    floats: bool,
    tail: Tail = "remainder",
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The program with each running sum in blocks where that is legal; as it is where there is none.

    Args:
        state: the program as it is written.
        before: the steps that made it.
        factor: iterations of a block.
        floats: whether sums of floats may round otherwise.
        tail: what becomes of the iterations that a factor leaves.
    """
    found, steps = _scanned(state, before, factor, tail, lambda scop, s: _may_be(scop, s, floats))
    if steps == before:
        return state, before
    # Of extrema no tool makes trees: beside a recurrence in blocks they would be the longest chain.
    blocks = {s.stmt for s in steps if isinstance(s, Scan)}
    return _scanned(
        found, steps, factor, tail, lambda scop, s: _is_extremum_beside(scop, s, blocks, floats)
    )


def _scanned(
    state: ScheduledScop,
    steps: tuple[Step, ...],
    factor: int,
    tail: Tail,
    wanted: Callable[[Scop, Statement], bool],
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The program with wanted statements in blocks where that is legal, and the steps that made it."""
    done: set[str] = set()
    for name in [s.name for s in state.scop.statements]:
        statement = state.scop.statement(name)
        array = statement.stmt.target.array
        if array in done or not statement.loops or not wanted(state.scop, statement):
            continue
        own: Tail = tail if (trips(statement.loops[-1]) or 0) % factor else "remainder"
        step = Scan(name, f"{name}.{statement.loops[-1].var}", factor, own)
        moved = tried(state, step)
        if moved is not None:
            state, steps = moved, (*steps, step)
            done.add(array)
    return state, steps


def _is_extremum_beside(scop: Scop, mine: Statement, blocks: set[str], floats: bool) -> bool:
    """Whether it is a minimum or maximum in a loop with a recurrence in blocks."""
    value = mine.stmt.value
    if not isinstance(value, Binary) or value.op not in (BinaryOp.MIN, BinaryOp.MAX):
        return False
    if mine.name in blocks or (isinstance(value.dtype, FloatType) and not floats):
        return False
    return any(
        other.name in blocks and common_loops(mine, other) == len(mine.loops)
        for other in scop.statements
    )


def _may_be(scop: Scop, mine: Statement, floats: bool) -> bool:
    """Whether it hands on what no other structure helps."""
    stmt = mine.stmt
    if isinstance(stmt.value.dtype, FloatType) and not floats:
        return False
    own = [access for access in loads(stmt.value) if access.array == stmt.target.array]
    depth = len(mine.loops)
    others = [
        other.stmt.target.array
        for other in scop.statements
        if other is not mine and common_loops(mine, other) == depth
    ]
    if not own:
        # What it reads may be computed from the element in the same iteration.
        return stmt.target.array not in others and any(
            access.array in others for access in loads(stmt.value)
        )
    is_sum = isinstance(stmt.value, Binary) and stmt.value.op in (*ASSOCIATIVE, BinaryOp.SUB)
    alone = is_sum and stmt.target.array not in others
    return not alone or _is_used(scop, mine) or not _is_one_operator(stmt.value, own[0])


def _is_one_operator(value: Expr, old: Access) -> bool:
    """Whether an operator joins the element and what is added: partial sums are as good where no value is used."""
    sides = (value.lhs, value.rhs) if isinstance(value, Binary) else ()
    return any(isinstance(side, Load) and side.access == old for side in sides)


def _is_used(scop: Scop, mine: Statement) -> bool:
    """Whether values in between are: others in its loop read them, or each has an element of its own."""
    depth, target = len(mine.loops), mine.stmt.target
    if any(mine.loops[-1].var in index.variables() for index in target.indices):
        return True
    return any(
        other is not mine and common_loops(mine, other) == depth and other.touches(target.array)
        for other in scop.statements
    )
