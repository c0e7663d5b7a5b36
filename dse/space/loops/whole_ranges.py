"""Loops that a program is written with in tiles, or flattened, as loops over whole ranges.

What is searched, orders, copies and tiles that fit a device, begins with loops over whole ranges. Of tiles that are written
by hand as many iterations as one has are the most copies there can be, and a board's planner sees more loops than it
tiles. `join` makes one loop of each pair again, after `distribute` and `reorder` where these have to bring
them together; `unflatten` makes two of a loop whose quotient and remainder are subscripts. Both ways stay in the space.
"""

from __future__ import annotations

from collections.abc import Iterator

from dse.space.loops.regrouped import distributed
from dsl.expressions.affine import Affine, Atom, FloorDiv
from dsl.expressions.expr import Gather, Index, Load, Scatter, walk
from dsl.programs.program import Stmt
from dsl.schedules.range_steps import Join, Unflatten
from dsl.schedules.steps import Reorder, Step
from polyhedral.schedule import tried
from polyhedral.scop.lookup import with_loop
from polyhedral.scop.ranges import whole_range
from polyhedral.scop.scheduled import Dim, LoopId, Piece, ScheduledScop

_MANY = 12  # nests of a program: stages that were written out, each with subscripts like ``i ^ 4``


def in_whole_ranges(state: ScheduledScop) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The program with its tiles undone and its flattened loops apart, and the steps to there; none where there are none
    of either, dependences do not allow it, or the program is long: each of its structures would be there twice.
    """
    if len(_nests(state)) > _MANY or not _open(state):
        return state, ()
    whole, steps = _undone(state)
    if _open(whole):
        apart, cuts = distributed(whole)
        further, more = _undone(apart)
        if more:
            whole, steps = further, (*steps, *cuts, *more)
    return whole, steps


def _nests(state: ScheduledScop) -> set[int]:
    """Where its outermost loops stand."""
    return {piece.place[0] for piece in state.pieces if piece.dims}


def _open(state: ScheduledScop) -> bool:
    """Whether there is something to undo."""
    return next(_tiled(state), None) is not None or next(_flattened(state), None) is not None


def _undone(state: ScheduledScop) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """As far as that is legal in the nests as they are."""
    steps: tuple[Step, ...] = ()
    while (found := _next(state)) is not None:
        state, more = found
        steps += more
    return state, steps


def _next(state: ScheduledScop) -> tuple[ScheduledScop, tuple[Step, ...]] | None:
    """One pair of loops as one, or one loop as two; None where nothing more can be so."""
    for ways in (*_tiled(state), *_flattened(state)):
        for steps in ways:
            moved = tried(state, *steps)
            if moved is not None:
                return moved, steps
    return None


_Ways = tuple[tuple[Step, ...], ...]


def _tiled(state: ScheduledScop) -> Iterator[_Ways]:
    """For each pair of loops that is one range wherever it is used the ways to make it one loop."""
    seen: set[tuple[LoopId, LoopId]] = set()
    for piece in state.pieces:
        for inner in range(1, len(piece.dims)):
            for outer in reversed(range(inner)):
                pair = piece.dims[outer].uid, piece.dims[inner].uid
                if pair not in seen and _is_range(state, piece.dims[outer], piece.dims[inner]):
                    yield _ways(piece, outer, inner)
                seen.add(pair)


def _ways(piece: Piece, outer: int, inner: int) -> _Ways:
    """The two loops as one: in the place of the inner one, or in that of the outer one."""
    refs = [f"{piece.name}.{name}" for name in piece.names]
    one = Join(refs[outer], refs[inner])
    if inner == outer + 1:
        return ((one,),)
    between = refs[outer + 1 : inner]
    inwards = Reorder((*between, refs[outer], refs[inner]))
    outwards = Reorder((refs[outer], refs[inner], *between))
    return (inwards, one), (outwards, one)


def _is_range(state: ScheduledScop, outer: Dim, inner: Dim) -> bool:
    """Whether all statements in the inner loop use the two together only, as one loop over both counts them."""
    members = with_loop(state, inner.uid)
    width = whole_range(members)
    if width is None or any(p.level(outer.uid) is None for p, _ in members):
        return False
    used = False
    for stmt, values in {(p.statement.stmt, p.bindings) for p, _ in members}:
        for expr in _expressions(stmt):
            own = expr.substitute(dict(values))
            factors = own.coefficient(outer.name), own.coefficient(inner.name)
            divided = any(
                {outer.name, inner.name} & atom.numerator.variables()
                for atom, _ in own.terms
                if isinstance(atom, FloorDiv)
            )
            if divided or factors[0] != width.extent * factors[1]:
                return False
            used |= factors[1] != 0
    return used


def _expressions(stmt: Stmt) -> Iterator[Affine]:
    """What a statement says of its loops."""
    yield from stmt.target.indices
    for expr in walk(stmt.value):
        match expr:
            case Load(access=access) | Gather(access=access) | Scatter(access=access):
                yield from access.indices
            case Index(affine=affine):
                yield affine


def _flattened(state: ScheduledScop) -> Iterator[_Ways]:
    """For each loop of which statements use quotient and remainder the way to make two of it, the least number that is
    divided by first.
    """
    quotients: dict[str, set[int]] = {}
    remainders: set[str] = set()
    for piece in state.pieces:
        values = dict(piece.bindings)
        for expr in _expressions(piece.statement.stmt):
            own = expr.substitute(values)
            divided = [found for atom, _ in own.terms if (found := _alone(atom)) is not None]
            for name, size in divided:
                ref = f"{piece.name}.{name}"
                quotients.setdefault(ref, set()).add(size)
                if own.coefficient(name) or sum(other == name for other, _ in divided) > 1:
                    remainders.add(ref)
    for ref in [ref for ref in quotients if ref in remainders]:
        for size in sorted(quotients[ref]):
            yield ((Unflatten(ref, size),),)


def _alone(atom: Atom) -> tuple[str, int] | None:
    """A loop that is divided by itself, as a flattened one is, and by what."""
    if not isinstance(atom, FloorDiv) or atom.numerator.const or len(atom.numerator.terms) != 1:
        return None
    ((name, factor),) = atom.numerator.terms
    if factor != 1 or not isinstance(name, str) or not atom.numerator.is_linear:
        return None
    return name, atom.denominator
