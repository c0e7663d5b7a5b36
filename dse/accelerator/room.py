"""Whether copies of a board's plan keep to the block RAM as the tool stores them.

A plan counts bits. The tool rounds words up, and where a pipeline takes both ports of a memory its words are half as wide: what
is copied as a whole then takes two to three times its bits, and no design of such a plan fits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from backends.deploy.tiles import Allowance
from dse.estimates.estimation import Setting, ranked
from dsl.errors.errors import ToolError
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Buffer, Pipeline
from polyhedral.schedule import apply, tried

_SMALLER = 0.8
"""Of the room that would be enough if what is stored shrank with it: rounding does not."""
_TRIES = 3


def fitting(
    program: Program,
    where: Setting,
    most: int,
    allowed: Allowance,
    planned: Callable[[Allowance], Schedule],
) -> tuple[Schedule, Allowance]:
    """The plan whose smallest designs fit, with less room for copies where they do not otherwise; and what it may use.

    Args:
        program: the kernel.
        where: the tool and the device.
        most: memories of 18 Kib that designs may use.
        allowed: what the first plan may use.
        planned: makes a plan.
    """
    first = plan = planned(allowed)
    own = allowed
    for _ in range(_TRIES):
        used = _stored(program, plan, where)
        if used <= most:
            return plan, own
        own = replace(own, room=own.room * _SMALLER * most / used)
        plan = planned(own)
    return (plan, own) if _stored(program, plan, where) <= most else (first, allowed)


def _stored(program: Program, plan: Schedule, where: Setting) -> float:
    """Memories of 18 Kib of the plan with its innermost loops pipelined, in no more banks than it says; 0 where it copies
    nothing, or is not estimated.
    """
    if where.tool.is_open or not any(isinstance(step, Buffer) for step in plan):
        return 0
    state = apply(program, plan)
    runs = [[dim for dim in piece.dims if dim.unroll is None] for piece in state.pieces]
    # A statement that stands alone in a loop around others would have all of these unrolled.
    around = {dim.uid for loops in runs for dim in loops[:-1]}
    for piece, loops in zip(state.pieces, runs, strict=True):
        if not loops or loops[-1].uid in around:
            continue
        if all(dim.pipeline_ii is None for dim in loops):
            state = tried(state, Pipeline(f"{piece.name}.{loops[-1].name}")) or state
    try:
        return ranked(state, plan, where).answer.bram18 or 0
    except ToolError:
        return 0  # an operator that the tool does not know is said where designs are evaluated
