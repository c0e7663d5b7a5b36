"""Updates of elements that are data, as of a histogram: parts of the array, which iterations take in turn.

Any element may be the one of the iteration before, so that an iteration waits for the update before it, and all
updates for the ports of one memory. With parts of the array, added up behind the loop, as many iterations run at once.
"""

from __future__ import annotations

from dse.space.loops.regrouped import distributed
from dse.space.tables.replicas import cut, replicated
from dsl.expressions.expr import Scatter
from dsl.programs.located import trips
from dsl.schedules.steps import PartialSums, Split, Step
from polyhedral.schedule import tried
from polyhedral.scop.scheduled import ScheduledScop
from polyhedral.scop.scop import Statement

PARTS = (2, 4, 8, 16)


def in_turn(
    state: ScheduledScop, before: tuple[Step, ...], parts: int
) -> list[tuple[str, ScheduledScop, tuple[Step, ...]]]:
    """The program with parts of each array that is updated so, its nests apart and their loops in blocks, by itself and
    with copies of what is looked up; nothing where there is no such update.

    Args:
        state: the program as it is written, its sums in any order.
        before: the steps that made it.
        parts: of each array; where they do not divide the iterations of the loop, its last block is under a guard.
    """
    steps, cuts = before, list[Split]()
    for statement in state.scop.statements:
        if (
            not isinstance(statement.stmt.value, Scatter)
            or statement.name not in state.reassociated
        ):
            continue
        for loop, uneven in _loops(statement, parts):
            step = PartialSums(statement.name, loop, parts)
            moved = tried(state, step)
            if moved is not None:
                state, steps = moved, (*steps, step)
                cuts.append(Split(loop, parts, tail="guard" if uneven else "remainder"))
                break
    if not cuts:
        return []
    name = f"distributed, updates in {parts} parts"
    whole, apart = distributed(state)
    found = [(name, *cut(whole, (*steps, *apart), cuts))]
    copies, longer = replicated(state, steps, parts)
    if longer != steps:
        found.append((f"{name}, copies for reads", *cut(copies, longer, cuts)))
    return found


def _loops(statement: Statement, parts: int) -> list[tuple[str, bool]]:
    """The loops that the element does not move with, the outermost first, in which parts take turns, and whether a block
    is left over. Those without come first: they have no guards.
    """
    moving = {v for e in statement.stmt.target.indices if not e.is_data for v in e.variables()}
    found = [
        (f"{statement.name}.{loop.var}", count % parts != 0)
        for loop in statement.loops
        if loop.var not in moving and (count := trips(loop) or 1) >= parts
    ]
    return sorted(found, key=lambda one: one[1])
