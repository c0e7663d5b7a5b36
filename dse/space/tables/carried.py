"""Values that iterations hand to later ones: in shift registers, where a table would have to be read for them.

Along the diagonals of a dynamic program, each entry waits for two that are one diagonal behind and one that is two::

    for t in range(2, 129):
      for i in range(max(1, t - 64), min(65, t)):
        L[i, t - i] = max(L[i - 1, t - i], L[i, t - i - 1]) ...

Banks of ``L`` differ from diagonal to diagonal, and the whole table in registers is large. Of the last two diagonals, each
entry has a register of its own; where the table is not needed otherwise, nothing else is left of it.
"""

from __future__ import annotations

from math import prod

from dse.space.nests.groups import Group, groups
from dsl.programs.program import Storage
from dsl.schedules.recurrence_steps import Carry
from dsl.schedules.steps import PartialSums, Reorder, Reuse, Skew, Step
from polyhedral.dependences.carried import Carried, carried
from polyhedral.schedule import tried
from polyhedral.scop.ranges import whole_range
from polyhedral.scop.scheduled import LoopId, Piece, ScheduledScop

MOST = 1024
"""Registers of an array, at most."""
SKEWS = (1, 2)


def wavefronts(
    state: ScheduledScop, before: tuple[Step, ...]
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The program with the diagonals of nests of two loops outermost, where both loops hand something on.

    Args:
        state: a structure.
        before: the steps that made it.
    """
    steps = before
    for group in groups(state):
        if not _may_be_diagonal(state, group):
            continue
        found = _diagonals(state, group)
        if found is not None:
            state, steps = found[0], (*steps, *found[1])
    return state, steps


def lane_sums(
    state: ScheduledScop, before: tuple[Step, ...]
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The program with sums and extrema over all entries of such nests as one for each iteration of the outer loop: of a
    diagonal, each entry has one of its own, which waits for nothing but itself.

    Args:
        state: the program as it is written, its sums in any order.
        before: the steps that made it.
    """
    steps = before
    for group in groups(state):
        if not _may_be_diagonal(state, group):
            continue
        first = group.pieces[0]
        found = whole_range([(first, 0)])
        for name in group.names:
            target = state.scop.statement(name).stmt.target
            moves = any(e.variables() for e in target.indices)
            if moves or name not in state.reassociated or found is None or found.extent > MOST:
                continue
            moved = tried(
                state, step := PartialSums(name, f"{name}.{first.names[0]}", found.extent)
            )
            if moved is not None:
                state, steps = moved, (*steps, step)
    return state, steps


def _may_be_diagonal(state: ScheduledScop, group: Group) -> bool:
    """Whether it is a nest of two loops that both hand something on, or of which the outer one does through rows that
    take turns, as ``A[t % 2, i]``.
    """
    first = group.pieces[0]
    if group.end != 2 or any(len(p.dims) > 2 for p in group.pieces):
        return False
    handing = {c.loop for c in _handed(state, group)}
    outer, inner = (dim.uid for dim in first.dims[:2])
    return outer in handing and (inner in handing or any(map(_takes_turns, group.pieces)))


def waits_for_nothing(state: ScheduledScop) -> bool:
    """Whether a program is one nest along diagonals of which each entry needs only what others have assigned before: then
    there is no cycle that an interval would have to be as long as.
    """
    (group, *more) = groups(state)
    if more or group.end != 2 or any(len(p.dims) > 2 for p in group.pieces):
        return False
    flows = [c.flow for c in carried(state, frozenset(group.names)) if c.flow]
    return all(len(flow) > 1 and flow[1] > 0 for flow in flows)


def _takes_turns(piece: Piece) -> bool:
    """Whether what a statement assigns moves with its outer loop in remainders alone."""
    values, loop = dict(piece.bindings), piece.names[0]
    target = [e.substitute(values) for e in piece.statement.stmt.target.indices]
    moving = [e for e in target if loop in e.variables()]
    return bool(moving) and not any(e.is_linear for e in moving)


def _diagonals(state: ScheduledScop, group: Group) -> tuple[ScheduledScop, tuple[Step, ...]] | None:
    """The nest along the first diagonals of which no entry waits for another one, else along the first that are legal."""
    first = group.pieces[0]
    outer, inner = (f"{first.name}.{name}" for name in first.names[:2])
    legal: tuple[ScheduledScop, tuple[Step, ...]] | None = None
    for factor in SKEWS:
        own = (Skew(outer, inner, factor), Reorder((inner, outer)))
        moved = tried(state, *own)
        if moved is None:
            continue
        if all(c.loop != first.dims[0].uid for c in _handed(moved, group)):
            return moved, own
        legal = legal or (moved, own)
    return legal


def _handed(state: ScheduledScop, group: Group) -> list[Carried]:
    """What iterations of a nest's loops hand on, but for sums."""
    return [c for c in carried(state, frozenset(group.names)) if not c.reduction]


def carried_on(
    state: ScheduledScop, before: tuple[Step, ...]
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The program with what its loops hand on in shift registers, the outermost loops that do first, and with what a
    diagonal reads of other arrays in windows that move with it.

    Args:
        state: a structure.
        before: the steps that made it.
    """
    steps = before
    for array in state.scop.program.arrays:
        if not array.shape or array.storage is Storage.SCRATCH:
            continue
        for step in _asked(state, array.name):
            moved = _small(state, step)
            if moved is None:
                continue
            state, steps = moved, (*steps, step)
            for other in _passing(state, step):
                moved = _small(state, other)
                if moved is not None:
                    state, steps = moved, (*steps, other)
            break
    return state, steps


def _small(state: ScheduledScop, step: Carry | Reuse) -> ScheduledScop | None:
    """The program with a step, if it is legal and makes no more registers than there may be."""
    moved = tried(state, step)
    if moved is None:
        return None
    known = {a.name for a in state.scop.program.arrays}
    new = [a for a in moved.scop.program.arrays if a.name not in known]
    return moved if all(prod(a.shape) <= MOST for a in new) else None


def _asked(state: ScheduledScop, array: str) -> list[Carry]:
    """For each nest that hands values on through an array, but for sums, its loops that move through the array, the
    outermost first.
    """
    found: dict[LoopId, tuple[int, Carry]] = {}
    for nest in _nests(state):
        for c in carried(state, frozenset(p.name for p in nest)):
            source = state.scop.statement(c.source).stmt.target.array
            if source != array or not c.flow or c.reduction:
                continue
            piece = state.of_statement(c.source)[0]
            level = piece.level(c.loop)
            if level is not None and _moves(piece, piece.names[level]):
                ref = f"{piece.name}.{piece.names[level]}"
                found.setdefault(c.loop, (level, Carry(array, ref)))
    return [step for _, step in sorted(found.values(), key=lambda pair: pair[0])]


def _moves(piece: Piece, loop: str) -> bool:
    """Whether what a statement assigns moves with a loop; what does not is as small already."""
    values = dict(piece.bindings)
    target = piece.statement.stmt.target
    return any(loop in e.substitute(values).variables() for e in target.indices)


def _nests(state: ScheduledScop) -> list[list[Piece]]:
    """The pieces in each outermost loop."""
    found: dict[int, list[Piece]] = {}
    for piece in state.pieces:
        if piece.dims:
            found.setdefault(piece.place[0], []).append(piece)
    return list(found.values())


def _passing(state: ScheduledScop, step: Carry) -> list[Reuse]:
    """Of arrays that move with the loop and with one inside of it, of which no banks tell elements apart."""
    leader, _, name = step.at.rpartition(".")
    first = state.of_statement(leader)[0]
    nest = [p for p in state.pieces if p.place[0] == first.place[0]]
    written = {p.statement.stmt.target.array for p in nest}
    found: dict[str, Reuse] = {}
    for piece in nest:
        values = dict(piece.bindings)
        for access in piece.statement.reads:
            moving = [e.substitute(values).variables() for e in access.indices if not e.is_data]
            if access.array not in written and any(name in v and len(v) > 1 for v in moving):
                found.setdefault(access.array, Reuse(access.array, step.at))
    return list(found.values())
