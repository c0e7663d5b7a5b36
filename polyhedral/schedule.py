"""``apply(program, schedule)``: carry out the steps, each proven legal or refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import (
    BindOp,
    BindStorage,
    Dataflow,
    Distribute,
    Flatten,
    Fuse,
    Interchange,
    Interface,
    PartialSums,
    Partition,
    Pipeline,
    Reassociate,
    Reorder,
    Reverse,
    Shift,
    Skew,
    Split,
    Step,
    Stream,
    Tile,
    Unroll,
)
from polyhedral.annotations import check_annotations
from polyhedral.check import check_program
from polyhedral.complete import check_complete
from polyhedral.guarding import with_guards
from polyhedral.help import suggestion
from polyhedral.legality import IllegalStep, violations
from polyhedral.lifetimes import check_lifetimes
from polyhedral.scheduled import ScheduledScop, original
from polyhedral.transforms.binding import bind_op, bind_storage, interface
from polyhedral.transforms.dataflow import check_region, dataflow, stream
from polyhedral.transforms.distribute import distribute
from polyhedral.transforms.fuse import fuse
from polyhedral.transforms.partial_sums import partial_sums
from polyhedral.transforms.partition import partition
from polyhedral.transforms.pipeline import flatten, pipeline
from polyhedral.transforms.reassociate import reassociate
from polyhedral.transforms.reorder import interchange, reorder
from polyhedral.transforms.reverse import reverse
from polyhedral.transforms.shift import shift
from polyhedral.transforms.skew import skew
from polyhedral.transforms.split import split
from polyhedral.transforms.tile import tile
from polyhedral.transforms.unroll import unroll

_TRANSFORMS: dict[type[Step], Callable[[ScheduledScop, Any], ScheduledScop]] = {
    Interchange: interchange,
    Reorder: reorder,
    Split: split,
    Tile: tile,
    Skew: skew,
    Reverse: reverse,
    Shift: shift,
    Fuse: fuse,
    Distribute: distribute,
    Reassociate: reassociate,
    PartialSums: partial_sums,
    Unroll: unroll,
    Pipeline: pipeline,
    Flatten: flatten,
    Partition: partition,
    BindStorage: bind_storage,
    BindOp: bind_op,
    Interface: interface,
    Dataflow: dataflow,
    Stream: stream,
}
# Those that can change which iteration runs first. Cutting a loop into blocks or into a main and
# a remainder part keeps the order, as does anything that only annotates.
_REORDERING = (Interchange, Reorder, Tile, Skew, Reverse, Shift, Fuse, Distribute)


def apply(program: Program, schedule: Schedule) -> ScheduledScop:
    """The program under the schedule.

    Raises:
        ScheduleError: W203 (as `polyhedral.legality.IllegalStep`, with a witness) when a step
            would reverse a dependence, other W2xx when it names what is not there or cannot be
            done; the step's span is the error's.
        LanguageError: W16x when the program itself accesses an array out of bounds or reads a
            local before it is written.
    """
    state = original(check_program(program))
    for step in schedule:
        state = apply_step(state, step)
    check_complete(state)
    return state


def apply_step(state: ScheduledScop, step: Step) -> ScheduledScop:
    """One step on one state; see `apply`."""
    new = _TRANSFORMS[type(step)](state, step)
    known = {id(p) for p in state.pieces}
    changed = [p for p in new.pieces if id(p) not in known]
    if isinstance(step, _REORDERING):
        check_order(state, new, frozenset(p.name for p in changed), step)
    new = with_guards(new, changed)
    check_annotations([p for p in new.pieces if id(p) not in known], step)
    check_region(state, new, step)
    return new


def check_order(
    before: ScheduledScop, after: ScheduledScop, changed: frozenset[str], step: Step
) -> None:
    """Raise `IllegalStep` if ``after`` runs dependent iterations in the wrong order.

    ``changed`` names the statements of which a piece was changed or moved.
    """
    if not changed:
        return
    for _ in violations(after, changed, before, in_order=False):
        found = partial(violations, after, changed, before)
        raise IllegalStep(found, step, partial(suggestion, apply_step, before, step))
    check_lifetimes(after, step)
