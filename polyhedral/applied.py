"""Designs of a search: a schedule is carried out once, and its loops are generated once, for all that is asked of it.

A search asks for the memories of a design under its schedule, and then for its figures under that schedule, with steps that
bind these memories behind it. What was made last is kept: a state never changes.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from polyhedral.codegen.generate import loop_tree
from polyhedral.looptree.tree import LoopTree
from polyhedral.schedule import apply, completed
from polyhedral.scop.scheduled import ScheduledScop

_MOST = 48
"""States that are kept: some more than a search plans at a time."""


@dataclass(slots=True)
class _Design:
    program: Program
    schedule: Schedule
    state: ScheduledScop
    tree: LoopTree | None = None


_LAST: deque[_Design] = deque(maxlen=_MOST)


def applied(program: Program, schedule: Schedule) -> ScheduledScop:
    """The program under the schedule: continued from one that was carried out, where that is how it begins.

    Programs are known by their identity. Errors of steps are as `polyhedral.schedule.apply` raises them, but for their places
    in a source, of which the steps of a search have none.

    Raises:
        ScheduleError, LanguageError: as `polyhedral.schedule.apply`.
    """
    start = _longest(program, schedule)
    if start is None:
        state = apply(program, schedule)
    elif len(start.schedule) == len(schedule):
        return start.state
    else:
        state = completed(start.state, schedule.steps[len(start.schedule) :])
    _LAST.append(_Design(program, schedule, state))
    return state


def _longest(program: Program, schedule: Schedule) -> _Design | None:
    """The design that has the most of the first steps of a schedule."""
    found: _Design | None = None
    for design in _LAST:
        steps = design.schedule.steps
        is_longer = found is None or len(steps) > len(found.schedule)
        if design.program is program and is_longer and schedule.steps[: len(steps)] == steps:
            found = design
    return found


def tree_of(state: ScheduledScop) -> LoopTree:
    """The loops of a state, those of `applied` once.

    Raises:
        IRError, ScheduleError: as `polyhedral.codegen.generate.loop_tree`.
    """
    design = next((d for d in reversed(_LAST) if d.state is state), None)
    if design is None:
        return loop_tree(state)
    if design.tree is None:
        design.tree = loop_tree(state)
    return design.tree
