"""``fuse(stmts, depth)``: let nests share their outermost loops (POM's ``after``).

Before::

    for i in range(N):
      S0(i)
    for k in range(N):
      S1(k)

After ``fuse(["S0", "S1"], 1)``::

    for i in range(N):
      S0(i)
      S1(i)

The nests move to the place of the first statement named, in the order named; the shared loops
take its loops' names. With ``last`` they move to the place of the last one: what sets it up, such as a sum that is set
to zero between the two nests, may stay where it is.
"""

from __future__ import annotations

from dsl.errors.errors import ScheduleError
from dsl.expressions.affine import Affine
from dsl.schedules.steps import Fuse
from polyhedral.scop.execution_order import shared_levels
from polyhedral.scop.lookup import find_statement
from polyhedral.scop.scheduled import Piece, Place, ScheduledScop
from polyhedral.transforms.registry import transform


@transform(Fuse)
def fuse(state: ScheduledScop, step: Fuse) -> ScheduledScop:
    """Fuse the nests of the statements; see the module."""
    if len(step.stmts) < 2 or len(set(step.stmts)) < len(step.stmts):
        raise ScheduleError("W210", "fuse needs two or more different statements", span=step.span)
    base, *others = reversed(step.stmts) if step.last else step.stmts
    for name in others:
        state = _join(state, _only(state, base, step), _only(state, name, step), step)
    return state


def _only(state: ScheduledScop, name: str, step: Fuse) -> Piece:
    pieces = find_statement(state, name, step)
    if len(pieces) != 1:
        what = "has no iterations" if not pieces else f"is in {len(pieces)} nests already"
        raise ScheduleError(
            "W210",
            f"{name} {what}",
            span=step.span,
            help="fuse before splitting loops whose extents the factors do not divide",
        )
    if not 1 <= step.depth <= len(pieces[0].dims):
        raise ScheduleError(
            "W210",
            f"depth is {step.depth}, but {name} has {len(pieces[0].dims)} loops",
            span=step.span,
        )
    return pieces[0]


def _join(state: ScheduledScop, base: Piece, other: Piece, step: Fuse) -> ScheduledScop:
    """Move the nest of ``other`` into the loops of ``base``, behind what is there, or in front of it."""
    shared = shared_levels(base, other)
    if shared >= step.depth:
        return state
    nest = other.place[: shared + 1]
    placed: list[tuple[Piece, Place]] = []
    for piece in state.pieces:
        if piece.place[: shared + 1] != nest:
            at = (int(step.last), *piece.place[step.depth : step.depth + 1])
            inside = piece.place[: step.depth] == base.place[: step.depth]
            deep = len(piece.place) > step.depth
            placed.append((piece, _at(piece, step.depth, at) if inside and deep else piece.place))
            continue
        if piece.place[: step.depth] != other.place[: step.depth]:
            raise ScheduleError(
                "W204",
                f"{piece.name} stands between the loops of {other.name}",
                span=step.span,
                help=f'distribute(["{other.name}"], depth={shared}) first',
            )
        beside = (int(not step.last), piece.place[step.depth])
        place: Place = (*base.place[: step.depth], beside, *piece.place[step.depth + 1 :])
        placed.append((_adopted(piece, base, step), place))
    return state.with_places(placed)


def _at(piece: Piece, level: int, key: tuple[int, ...]) -> Place:
    return (*piece.place[:level], key, *piece.place[level + 1 :])


def _adopted(piece: Piece, base: Piece, step: Fuse) -> Piece:
    """The piece with the outer loops of ``base``, names and annotations included."""
    outer = base.dims[: step.depth]
    inner = piece.dims[step.depth :]
    clash = {d.name for d in outer} & {d.name for d in inner}
    if clash:
        raise ScheduleError(
            "W208",
            f"{piece.name} has an inner loop called '{min(clash)}' as well",
            span=step.span,
            help="split it by 1 with other names, or name the loops apart in the kernel",
        )
    values = {
        old.name: Affine.of(new.name)
        for old, new in zip(piece.dims, outer, strict=False)
        if old.name != new.name
    }
    return piece.transformed((*outer, *inner), values)
