"""``unflatten(loop, size)``: two loops of one that was flattened by hand.

Before::

    for t in range(60):
      S: B[t // 10, t % 10] = A[t]

After ``unflatten("t", 10, "i", "j")``::

    for i in range(6):
      for j in range(10):
        S: B[i, j] = A[10*i + j]

The order is that of `split`, with a remainder nest where the size does not divide. Other than after `split` the program has
the two loops, and what divided by the size names them: so orders, tiles, banks and windows are found that are not found of
subscripts with divisions. A loop that was made of three takes the step twice: first by the innermost extent.
"""

from __future__ import annotations

from dsl.errors.errors import LanguageError, ScheduleError
from dsl.expressions.affine import FloorDiv
from dsl.schedules.range_steps import Unflatten
from dsl.schedules.steps import Split
from polyhedral.looptree.settled import divisions_of
from polyhedral.scop.lookup import find_loop
from polyhedral.scop.scheduled import ScheduledScop
from polyhedral.transforms.loops.split import split
from polyhedral.transforms.registry import Order, transform
from polyhedral.transforms.renewed import renewed


@transform(Unflatten, order=Order.KEPT)
def unflatten(state: ScheduledScop, step: Unflatten) -> ScheduledScop:
    """Split the loop and name what divided by the size; see the module.

    Raises:
        ScheduleError: W251 no subscript divides by the size then; W207, W208, W214 as of `split`.
    """
    find_loop(state, step.loop, step)
    try:
        found = renewed(cut(state, step))
    except LanguageError as error:
        text = f"'{step.loop}' cannot be two loops: not all accesses are known to be in bounds then"
        raise _refused(step, text, (error.message, *error.notes)) from error
    before, after = _divisions(state), _divisions(found)
    if not any(after.get(name, count) < count for name, count in before.items()):
        raise _refused(
            step,
            f"nothing in '{step.loop}' divides by {step.size}",
            help_="the size is what subscripts divide by, as 10 in t // 10 and t % 10; split cuts any loop",
        )
    return found


def cut(state: ScheduledScop, step: Unflatten) -> ScheduledScop:
    """The state with two loops, over the program as it is."""
    names = (step.outer or None, step.inner or None)
    return split(state, Split(step.loop, step.size, *names, span=step.span))


def _divisions(state: ScheduledScop) -> dict[str, int]:
    """How many divisions there are in each statement."""
    return {s.name: sum(map(_depth, divisions_of(s.stmt))) for s in state.scop.statements}


def _depth(division: FloorDiv) -> int:
    """Divisions in it, itself among them."""
    inner = (atom for atom, _ in division.numerator.terms if isinstance(atom, FloorDiv))
    return 1 + sum(map(_depth, inner))


def _refused(
    step: Unflatten, text: str, notes: tuple[str, ...] = (), help_: str | None = None
) -> ScheduleError:
    return ScheduleError("W251", text, span=step.span, notes=notes, help=help_)
