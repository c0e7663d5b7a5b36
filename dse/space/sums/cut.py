"""Where a sum reads what its own sweep has just computed, and what is left of the sweep before: each of these in a loop of its own.

A sweep in place over unknowns, as that of Gauss and Seidel, reads all of them::

    for i:
      total = b[i]
      for j != i: total -= A[i, j] * x[j]
      x[i] = total / A[i, i]

What is above ``i`` is known as the sweep begins, for all rows. Only what is below waits, and only if it is added last::

      for j > i: total -= A[i, j] * x[j]
      for j < i: total -= A[i, j] * x[j]

The first loop is a product of a triangle and a vector then, in front of all, and of the other one
the unknown that was just computed may be outermost (`dse.space.loops.alignment`).
"""

from __future__ import annotations

from collections.abc import Iterator

from dse.space.loops.regrouped import reassociated
from dsl.expressions.affine import Affine
from dsl.programs.updates_in_line import line_of, loops_around
from dsl.schedules.range_steps import Peel, Separate
from dsl.schedules.recurrence_steps import CriticalLast
from dsl.schedules.steps import Step
from polyhedral.schedule import tried
from polyhedral.scop.execution_order import shared_levels
from polyhedral.scop.scheduled import Piece, ScheduledScop


def cut(state: ScheduledScop, before: tuple[Step, ...]) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The program with all such sums in two loops; as it is where there is none.

    Args:
        state: the program as it is written, with what may be added in any order.
        before: the steps that made it.
    """
    at, steps = state, before
    for name in sorted(state.reassociated):
        for apart in _ways(at, name):
            moved = tried(at, *apart)
            if moved is not None:
                at, steps = moved, (*steps, *apart)
                break
    if steps == before:
        return state, before
    # What was moved is another sum to what comes now.
    at, free = reassociated(at, floats=True)
    return at, (*steps, *free)


def _ways(state: ScheduledScop, name: str) -> Iterator[tuple[Step, ...]]:
    """Steps that may put what waits behind what does not: where the loops are two already, and where they are one."""
    pieces = state.of_statement(name)
    if not pieces:  # of a condition that never holds
        return
    inner = pieces[0].names
    program = state.scop.program
    if line_of(program, name) and loops_around(program, name) < len(inner):
        yield (CriticalLast(name),)
    for border in dict.fromkeys(_borders(state, name)):
        apart = Peel(f"{name}.{inner[-1]}", before=str(border)), Separate()
        yield (*apart, CriticalLast(name))
        yield apart  # what waits comes last already


def _borders(state: ScheduledScop, name: str) -> Iterator[Affine]:
    """Where a sum's loop comes to what is assigned in this iteration of the loop around."""
    pieces = state.of_statement(name)
    if len(pieces) != 1 or len(pieces[0].dims) < 2:
        return
    (mine,) = pieces
    inner = mine.names[-1]
    for read in mine.statement.reads:
        if read.array == mine.statement.stmt.target.array:
            continue
        for other in state.pieces:
            shared = shared_levels(mine, other)
            if other.statement.stmt.target.array != read.array or not shared:
                continue
            if shared == len(mine.dims) or any(i.is_data for i in read.indices):
                continue
            border = _border(mine, other, read.indices, inner, mine.names[shared - 1])
            if border is not None:
                yield border


def _border(
    mine: Piece, other: Piece, read: tuple[Affine, ...], inner: str, outer: str
) -> Affine | None:
    """The first iteration of an inner loop that reads what is assigned in this iteration of the outer loop, or the one behind
    it where what was assigned before comes behind.
    """
    found: Affine | None = None
    target = other.statement.stmt.target.indices
    for its, own in zip(target, read, strict=True):
        if its.is_data:
            return None
        written = its.substitute(dict(other.bindings))
        reads = own.substitute(dict(mine.bindings))
        factor = reads.coefficient(inner)
        if not factor:
            if written != reads:
                return None
            continue
        moves = written.coefficient(outer)
        rest = written - Affine.of(outer) * moves
        plain = abs(factor) == 1 and moves and rest.is_const and found is None
        if not plain or (reads - Affine.of(inner) * factor).variables():
            return None
        same = (written - (reads - Affine.of(inner) * factor)) * factor
        found = same if moves * factor > 0 else same + 1
    return found
