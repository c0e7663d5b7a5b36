"""What a program does in neighbouring ranges of a loop, by two statements, as one statement in one loop.

A factorisation that is written row by row has a loop for what is left of the diagonal and one for the rest, with the same
sum in both. With the step of elimination outermost (`dse.space.loops.alignment`) that is one nest then, and not two.
"""

from __future__ import annotations

from collections.abc import Iterator

from dsl.programs.program import Program, Stmt, Storage
from dsl.programs.united import NotUnitedError
from dsl.programs.united import united as as_one
from dsl.schedules.range_steps import Unite
from dsl.schedules.steps import Step
from polyhedral.schedule import tried
from polyhedral.scop.scheduled import ScheduledScop

_MOST = 64  # statements of a program that are compared


def united(
    state: ScheduledScop, before: tuple[Step, ...]
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The program with one statement wherever two do the same in neighbouring ranges; as it is where none do.

    Args:
        state: the program as it is written.
        before: the steps that made it.
    """
    steps = before
    program = state.scop.program
    # Those in most loops first: what stands around them goes with them.
    inner = {s.name: -len(s.loops) for s in state.scop.statements}
    for one, other in sorted(_pairs(program), key=lambda pair: inner[pair[0]]):
        names = {s.name for s in state.scop.statements}
        step = Unite(one, other)
        if names >= {one, other} and (moved := tried(state, step)) is not None:
            state, steps = moved, (*steps, step)
    return state, steps


def _pairs(program: Program) -> Iterator[tuple[str, str]]:
    """Statements that may be one, by what they assign and where they stand."""
    statements: tuple[Stmt, ...] = program.statements()
    for n, one in enumerate(statements if len(statements) <= _MOST else ()):
        for other in statements[n + 1 :]:
            mine, its = program.array(one.target.array), program.array(other.target.array)
            local = mine.storage is its.storage is Storage.LOCAL
            if mine == its or (local and mine.scope_depth == its.scope_depth > 0):
                try:
                    next(as_one(program, one.name, other.name))
                except NotUnitedError:
                    continue
                yield one.name, other.name
