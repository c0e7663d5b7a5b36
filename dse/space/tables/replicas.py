"""Where it is data which elements of an array are read: copies of the array, as many as are read at once.

No partition tells elements apart whose subscripts are values, so that all reads of an iteration, and of all its
copies, wait for the ports of one memory. Of several memories with the same content each serves one.
"""

from __future__ import annotations

from collections.abc import Iterable

from dse.space.loops.regrouped import distributed
from dsl.expressions.expr import Gather, walk
from dsl.programs.located import trips
from dsl.programs.program import statements_in
from dsl.programs.replicated import turns_of
from dsl.schedules.port_steps import Replicate
from dsl.schedules.steps import Split, Step
from polyhedral.schedule import tried
from polyhedral.scop.scheduled import ScheduledScop
from polyhedral.transforms.arrays.replicate import MOST, loop_around

TURNS = (1, 2, 4, 8, 16)
"""Iterations whose reads have copies of their own."""
_PORTS = 2  # reads that a copy serves in a cycle


def replicated(
    state: ScheduledScop, before: tuple[Step, ...], turns: int
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The program with copies of each array that innermost loops look up, its nests apart and those loops in blocks; as
    it is where there is none.

    Args:
        state: the program as it is written.
        before: the steps that made it.
        turns: iterations of such a loop whose reads have copies of their own; they divide its iterations.
    """
    steps, cuts = before, dict[str, Split]()
    for array, name in look_ups(state).items():
        depth = len(state.scop.statement(name).loops)
        loop = loop_around(state.scop.program, name, depth - 1)
        count = turns * turns_of(loop, array).count
        if not 2 <= count <= MOST or (trips(loop) or 1) % turns:
            continue
        moved = tried(state, Replicate(array, f"{name}.{loop.var}", count))
        if moved is not None:
            state, steps = moved, (*steps, Replicate(array, f"{name}.{loop.var}", count))
            if turns > 1:
                cuts[name] = Split(f"{name}.{loop.var}", turns)
    if steps == before:
        return state, before
    state, apart = distributed(state)
    return cut(state, (*steps, *apart), cuts.values())


def served_at_once(
    state: ScheduledScop, before: tuple[Step, ...], depth: int
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The program with copies for all reads of an iteration of a loop around short ones, which are unrolled then; as it is
    where there is none.

    Args:
        state: the program as it is written.
        before: the steps that made it.
        depth: 0 for the outermost loop of which so many copies are possible, 1 for the next one.
    """
    steps = before
    for array, name in look_ups(state).items():
        levels = range(len(state.scop.statement(name).loops) - 1)
        around = [loop_around(state.scop.program, name, level) for level in levels]
        fitting = [loop for loop in around if 2 < turns_of(loop, array).count <= _PORTS * MOST]
        if depth >= len(fitting):
            continue
        count = -(-turns_of(fitting[depth], array).count // _PORTS)
        moved = tried(state, step := Replicate(array, f"{name}.{fitting[depth].var}", count))
        if moved is not None:
            state, steps = moved, (*steps, step)
    if steps == before:
        return state, before
    state, apart = distributed(state)
    return state, (*steps, *apart)


def cut(
    state: ScheduledScop, steps: tuple[Step, ...], cuts: Iterable[Split]
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """With loops in blocks, those that can be: an iteration of a block for each copy or part."""
    for each in cuts:
        moved = tried(state, each)
        if moved is not None:
            state, steps = moved, (*steps, each)
    return state, steps


def look_ups(state: ScheduledScop) -> dict[str, str]:
    """Arrays that are read at subscripts which are data, where nothing assigns to them, and who reads them so."""
    found: dict[str, str] = {}
    for statement in state.scop.statements:
        for expr in walk(statement.stmt.value):
            if isinstance(expr, Gather) and statement.loops:
                found.setdefault(expr.access.array, statement.name)
    for array, name in list(found.items()):
        depth = len(state.scop.statement(name).loops)
        loop = loop_around(state.scop.program, name, depth - 1)
        if any(stmt.target.array == array for stmt in statements_in(loop)):
            del found[array]
    return found
