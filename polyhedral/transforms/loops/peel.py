"""``peel(loop, n, at, before)``: index-set splitting.

Before::

    for i in range(100):
      S(i)

After ``peel("i", 1)`` (a loop of one iteration is none in the code)::

    S(0)
    for i in range(1, 100):
      S(i)

and after ``peel("i", 2, "end")``::

    for i in range(98):
      S(i)
    for i in range(98, 100):
      S(i)

Of a loop whose bounds move with loops around it the first iterations are those of its whole range, wherever it starts::

    for i in range(8):                # after peel("j", 2): two nests in i, over j < 2 and j >= 2
      for j in range(i, 8):
        S(i, j)

With ``before`` the border moves with the loops around. After ``peel("k", before="8*i_0")``::

    for i_0 in range(4):
      for k in range(8 * i_0):
        S(i_0, k)
      for k in range(8 * i_0, 8 * i_0 + 8):
        S(i_0, k)

The order stays as it is. Both parts are the same loop to later steps, as the nests are that `split` leaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from dsl.errors.errors import ScheduleError, did_you_mean
from dsl.errors.shown import shown
from dsl.expressions.affine import Affine, Constraint
from dsl.expressions.affine_text import read_affine
from dsl.schedules.range_steps import End, Peel
from dsl.schedules.step_calls import MAX_NUMBER
from polyhedral.scop.lookup import check_unannotated, dim_of, find_loop, with_loop
from polyhedral.scop.ranges import loop_copies, whole_range
from polyhedral.scop.scheduled import LoopId, Piece, Place, ScheduledScop
from polyhedral.transforms.registry import Order, transform


@transform(Peel, order=Order.KEPT)
def peel(state: ScheduledScop, step: Peel) -> ScheduledScop:
    """Cut the loop in two; see the module.

    Raises:
        ScheduleError: W252 nothing would be left of the loop, or it has no bounds that are numbers; W207 the number
            of iterations, the end or the border; W201 a border of other loops; W214 it is annotated already.
    """
    if step.at not in get_args(End):
        raise ScheduleError(
            "W207",
            f"no end is called '{step.at}'",
            span=step.span,
            help=did_you_mean(step.at, get_args(End)) or f"it is {' or '.join(get_args(End))}",
        )
    if step.n < 1:
        raise ScheduleError("W207", f"{step.n} iterations, not at least 1", span=step.span)
    uid = find_loop(state, step.loop, step)
    check_unannotated(dim_of(with_loop(state, uid)), step)
    if step.before:
        if (step.n, step.at) != (1, "start"):
            text = f"iterations in front of {shown(step.before)}, and a number of them as well"
            raise ScheduleError("W207", text, span=step.span, help="say one of the two")
        return _at_border(state, uid, step)
    changed: dict[int, list[tuple[Piece, Place]]] = {}
    for members in loop_copies(state, uid):
        whole = whole_range(members)
        if whole is None:
            raise _refused(step, f"'{step.loop}' has no bounds that are numbers")
        if whole.extent <= step.n:
            continue
        border = whole.first + step.n if step.at == "start" else whole.last + 1 - step.n
        for piece, level in members:
            changed[id(piece)] = _parts(piece, level, Affine.of(border))
    if not changed:
        raise _refused(
            step, f"'{step.loop}' has no more than {step.n} iterations", "peel fewer of them"
        )
    return _with_parts(state, changed)


def _at_border(state: ScheduledScop, uid: LoopId, step: Peel) -> ScheduledScop:
    """The loop cut at an affine function of the loops around it.

    Raises:
        ScheduleError: W201 a loop that is not around it; W207 no affine function; W252 all iterations are on one side.
    """
    changed: dict[int, list[tuple[Piece, Place]]] = {}
    behind: set[bool] = set()
    for piece in state.pieces:
        level = piece.level(uid)
        if level is not None:
            parts = changed[id(piece)] = _parts(piece, level, _border(piece, level, step))
            behind |= {place[level] == (piece.place[level], 1) for _, place in parts}
    if len(behind) < 2:
        raise _refused(
            step,
            f"all iterations of '{step.loop}' are on one side of {step.before}",
            "peel at an iteration inside of its range",
        )
    return _with_parts(state, changed)


def _border(piece: Piece, level: int, step: Peel) -> Affine:
    """The first iteration of the second part, over the loops around."""
    around = piece.names[:level]
    try:
        border = read_affine(step.before)
        if max(abs(c) for c in (border.const, *(c for _, c in border.terms))) > MAX_NUMBER:
            raise ValueError(f"numbers of at most {MAX_NUMBER}")
    except ValueError:
        raise ScheduleError(
            "W207",
            f"'{step.loop}' cannot be cut in front of {shown(step.before)}",
            span=step.span,
            help='say a sum of loops around it and whole numbers: "16*i_0", "i + 1"',
        ) from None
    for name in sorted(border.variables() - set(around)):
        raise ScheduleError(
            "W201",
            f"no loop around '{step.loop}' is called {shown(name)}",
            span=step.span,
            help=did_you_mean(name, around),
        )
    return border


def _with_parts(
    state: ScheduledScop, changed: Mapping[int, list[tuple[Piece, Place]]]
) -> ScheduledScop:
    placed: list[tuple[Piece, Place]] = []
    for piece in state.pieces:
        placed += changed.get(id(piece), [(piece, piece.place)])
    return state.with_places(placed)


def _parts(piece: Piece, level: int, border: Affine) -> list[tuple[Piece, Place]]:
    """The iterations below the border, and those from there on, in loops of their own."""
    now = Affine.of(piece.dims[level].name)
    sides = (Constraint(-now + (border - 1)), Constraint(now - border))
    found: list[tuple[Piece, Place]] = []
    for part, side in enumerate(sides):
        new = piece.transformed(piece.dims, {}, (side,))
        place: Place = (*piece.place[:level], (piece.place[level], part), *piece.place[level + 1 :])
        if not new.domain.is_empty():
            found.append((new, place))
    return found


def _refused(step: Peel, text: str, help_: str | None = None) -> ScheduleError:
    return ScheduleError("W252", text, span=step.span, help=help_)
