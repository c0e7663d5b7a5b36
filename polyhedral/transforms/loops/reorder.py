"""``reorder(loops)`` and ``interchange(a, b)``.

Before::

    for i:
      for j:
        S(i, j)

After ``interchange("i", "j")``::

    for j:
      for i:
        S(i, j)
"""

from __future__ import annotations

from collections.abc import Sequence

from dsl.errors.errors import ScheduleError
from dsl.schedules.steps import Interchange, Reorder, Step
from polyhedral.scop.lookup import find_loop
from polyhedral.scop.scheduled import LoopId, Piece, Place, ScheduledScop
from polyhedral.transforms.registry import Order, transform


@transform(Interchange, order=Order.PERMUTED)
def interchange(state: ScheduledScop, step: Interchange) -> ScheduledScop:
    """Swap two loops; those between keep their places."""
    first, second = find_loop(state, step.a, step), find_loop(state, step.b, step)
    if first == second:
        raise ScheduleError("W204", f"'{step.a}' and '{step.b}' are the same loop", span=step.span)
    outermost = _in_present_order(state, [first, second], step)
    between = _between(state, outermost)
    return reorder_loops(state, [outermost[1], *between, outermost[0]], step)


@transform(Reorder, order=Order.PERMUTED)
def reorder(state: ScheduledScop, step: Reorder) -> ScheduledScop:
    """Put the named loops in the given order, in the places that they occupy together."""
    if not step.loops:
        raise ScheduleError("W204", "reorder needs loops", span=step.span)
    uids = [find_loop(state, ref, step) for ref in step.loops]
    if len(set(uids)) < len(uids):
        raise ScheduleError("W204", "a loop is named twice", span=step.span)
    return reorder_loops(state, uids, step)


def _in_present_order(state: ScheduledScop, uids: list[LoopId], step: Step) -> list[LoopId]:
    for piece in state.pieces:
        levels = {uid: piece.level(uid) for uid in uids}
        if None not in levels.values():
            return sorted(uids, key=lambda uid: levels[uid] or 0)
    raise _no_common_nest(step)


def _between(state: ScheduledScop, ends: list[LoopId]) -> list[LoopId]:
    for piece in state.pieces:
        first, last = piece.level(ends[0]), piece.level(ends[1])
        if first is not None and last is not None:
            return [d.uid for d in piece.dims[first + 1 : last]]
    return []


def _no_common_nest(step: Step) -> ScheduleError:
    return ScheduleError(
        "W204",
        f"the loops of {step.kind} are not in one nest",
        span=step.span,
        help="name loops that surround the same statement",
    )


def reorder_loops(state: ScheduledScop, uids: Sequence[LoopId], step: Step) -> ScheduledScop:
    """Permute loops by identity.

    The copies that remainder nests made are separated first, out to the outermost loop of the
    band: each then is a nest of its own.
    """
    if not uids:
        return state
    bands = {id(p): band for p in state.pieces if (band := _band(p, uids)) is not None}
    if not bands:
        raise _no_common_nest(step)
    _check_perfect(state, uids, bands, step)
    placed: list[tuple[Piece, Place]] = []
    for piece in state.pieces:
        band = bands.get(id(piece))
        if band is None:
            placed.append((piece, piece.place))
            continue
        outer, inner = band
        place: Place = (
            *piece.place[:outer],
            piece.place[outer : inner + 1],
            *[0] * (inner - outer),
            *piece.place[inner + 1 :],
        )
        placed.append((_permuted(piece, uids), place))
    return state.with_places(placed)


def _band(piece: Piece, uids: Sequence[LoopId]) -> tuple[int, int] | None:
    """Outermost and innermost level of the loops in a piece, None if it has not all of them."""
    levels = [piece.level(uid) for uid in uids]
    known = [k for k in levels if k is not None]
    return (min(known), max(known)) if len(known) == len(levels) else None


def _permuted(piece: Piece, uids: Sequence[LoopId]) -> Piece:
    levels = sorted(k for uid in uids if (k := piece.level(uid)) is not None)
    by_uid = {d.uid: d for d in piece.dims}
    dims = list(piece.dims)
    for level, uid in zip(levels, uids, strict=True):
        dims[level] = by_uid[uid]
    return piece if tuple(dims) == piece.dims else piece.transformed(dims, {})


def _check_perfect(
    state: ScheduledScop,
    uids: Sequence[LoopId],
    bands: dict[int, tuple[int, int]],
    step: Step,
) -> None:
    """W204 if a statement stands in the outer loops of the band but not in all of it."""
    inside = [p for p in state.pieces if id(p) in bands]
    for piece in inside:
        outer, _ = bands[id(piece)]
        for other in state.pieces:
            shares = other.place[: outer + 1] == piece.place[: outer + 1]
            if not shares or (id(other) in bands and bands[id(other)] == bands[id(piece)]):
                continue
            names = [d.name for d in piece.dims if d.uid in set(uids)]
            raise ScheduleError(
                "W204",
                f"the loops {', '.join(names)} are not perfectly nested: "
                f"{other.name} is in some of them only",
                span=step.span,
                help=f'distribute(["{other.name}"], depth={outer}) gives it loops of its own',
            )
