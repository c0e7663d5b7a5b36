"""Where sums are rescaled to a running extremum: the extremum first, then the sums.

In one pass an iteration waits for the product and the sum of the one before it, and has an exponential more: no
structure of such a loop is as fast as one of two loops, which are a reduction each. So searches begin with two, and
the least work is that of two.
"""

from __future__ import annotations

from collections.abc import Iterator

from dsl.expressions.expr import Unary, UnaryOp, walk
from dsl.schedules.recurrence_steps import TwoPass
from dsl.schedules.steps import Expand, Step
from polyhedral.legality.rescaled import NotRescaledError, rescaled, sums_in
from polyhedral.schedule import tried
from polyhedral.scop.scheduled import ScheduledScop


def two_passes(
    state: ScheduledScop, before: tuple[Step, ...], floats: bool
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The program with two passes wherever it has such sums; as it is where there is none.

    Args:
        state: the program as it is written.
        before: the steps that made it.
        floats: whether they may round otherwise.
    """
    steps = before
    for name, var in [*_loops(state)] if floats else ():
        moved = _two(state, name, var)
        if moved is not None:
            state, steps = moved[0], (*steps, *moved[1])
    return state, steps


def _loops(state: ScheduledScop) -> Iterator[tuple[str, str]]:
    """Loops with exponentials inside, the innermost ones first."""
    for s in state.scop.statements:
        if any(isinstance(x, Unary) and x.op is UnaryOp.EXP for x in walk(s.stmt.value)):
            for loop in reversed(s.loops):
                yield s.name, loop.var


def _two(
    state: ScheduledScop, name: str, var: str
) -> tuple[ScheduledScop, tuple[Step, ...]] | None:
    """The program with two passes of one loop, and the steps that make it."""
    steps: tuple[Step, ...] = ()
    if name not in {s.name for s in state.scop.statements}:
        return None
    while True:
        program, variables = state.scop.program, state.scop.statement(name).variables
        if var not in variables:
            return None
        level = variables.index(var)
        sums = sums_in(program, name, level)
        if not sums:
            return None
        try:
            rescaled(program, sums, level)
        except NotRescaledError as error:
            step: Step = Expand(error.array or "", f"{name}.{var}")
        else:
            step = TwoPass(sums, f"{name}.{var}")
        if isinstance(step, Expand) and not step.array:
            return None
        moved = tried(state, step)
        if moved is None:
            return None
        state, steps = moved, (*steps, step)
        if isinstance(step, TwoPass):
            return state, steps
