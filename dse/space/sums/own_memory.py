"""Several sums over one array, each in memory of its own: what is added to mirrored elements waits for nothing else.

Where a triangle stands for a symmetric matrix, an iteration adds to an element of its row and to one of its column::

    for i in range(N):
      for j in range(i):
        y[i] += A[i, j] * x[j]
        y[j] += A[i, j] * x[i]

No order of the loops is free of both sums, and each update waits for the other's, which may be of the same element.
With one accumulator for each element of the second sum (`partial_sums` of 1) the first is a row's as in any product of a
matrix and a vector, here in parts, and the second goes to another element in each iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

from dse.space.nests.groups import iterations
from dse.space.sums.accumulated import Structure
from dse.space.sums.chains import shortest
from dsl.schedules.steps import PartialSums, Step
from polyhedral.schedule import tried
from polyhedral.scop.scheduled import ScheduledScop
from polyhedral.scop.scop import Statement, accumulate_alike, common_loops

_NAME = "sums in memory of their own"
_Move = Callable[[ScheduledScop, tuple[Step, ...]], tuple[ScheduledScop, tuple[Step, ...]]]


def apart(state: ScheduledScop, before: tuple[Step, ...], rectangles: _Move) -> list[Structure]:
    """The program with the mirrored ones of its sums in memory of their own, rows in parts, and triangles in rectangles,
    if it has such sums.

    Args:
        state: the program as it is written, its sums in any order.
        before: the steps that made it.
        rectangles: gives loops of variable bounds whole ranges.
    """
    steps: list[PartialSums] = []
    for one, other in _pairs(state):
        own = next(_still(other), None)
        along = next(_still(one), None)
        if own is None or along is None or own == along:
            continue
        loops = {loop.var: k for k, loop in enumerate(one.loops)}
        piece = state.of_statement(one.name)[0]
        mirrored = PartialSums(other.name, f"{other.name}.{own}", 1)
        moved = tried(state, mirrored)
        if moved is None:
            continue
        state = moved
        steps.append(mirrored)
        parts = PartialSums(
            one.name, f"{one.name}.{along}", shortest(iterations(piece, loops[along]))
        )
        if parts.count > 1 and (moved := tried(state, parts)) is not None:
            state = moved
            steps.append(parts)
    return [(_NAME, *rectangles(state, (*before, *steps)))] if steps else []


def _pairs(state: ScheduledScop) -> Iterator[tuple[Statement, Statement]]:
    """Neighbouring sums of one array, of different elements in the same loops."""
    free = [s for s in state.scop.statements if s.name in state.reassociated]
    for one, other in pairwise(free):
        same = len(one.loops) == len(other.loops) == common_loops(one, other)
        different = one.stmt.target.indices != other.stmt.target.indices
        if same and different and accumulate_alike(one, other):
            yield one, other


def _still(s: Statement) -> Iterator[str]:
    """The loops that the element of a sum does not move with, the outermost first."""
    moving = {v for index in s.stmt.target.indices for v in index.variables()}
    return (loop.var for loop in s.loops if loop.var not in moving)
