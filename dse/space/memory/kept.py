"""Elements that inner loops read or add to again and again, kept in registers.

A tool has to read an element anew behind each assignment that may be of the same one, and to update it in
memory where another access may meet it. In ``A[i, j] -= A[i, k] * A[k, j]`` it does not know that ``A[i, k]`` is
never assigned, where dependences prove it. So each copy of the inner loop waits for the one before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from dse.space.nests.groups import groups
from dsl.expressions.expr import Access, loads
from dsl.schedules.steps import Buffer, Step
from polyhedral.schedule import tried
from polyhedral.scop.scheduled import Piece, ScheduledScop
from polyhedral.transforms.materialise import placed_statement

_MOST = 4  # copies: each is a nest or two more
_ROW = 64  # elements of a copy that is to be in registers


def kept(state: ScheduledScop, most: int) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The program with copies of single elements, and the steps that make them; none where none help.

    Args:
        state: a structure.
        most: see `dse.space.nests.groups.groups`.
    """
    steps: list[Step] = []
    wanted = (s for group in groups(state, most) for s in _wanted(group.pieces, group.end))
    for step in wanted:
        if len(steps) == _MOST:
            break
        moved = tried(state, step)
        if moved is not None and _is_element(state, moved):
            state = moved
            steps.append(step)
    return state, tuple(steps)


def rows_kept(state: ScheduledScop) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The program with copies of rows, and the steps that make them: of what a loop with an unrolled one inside
    reads in each of its iterations. It moves with the loop inside only, and other elements of the array
    are accessed there too, which then have the ports to themselves.
    """
    steps: list[Step] = []
    wanted = (s for group in groups(state) for s in _rows(group.pieces))
    for step in dict.fromkeys(wanted):
        if len(steps) == _MOST:
            break
        moved = tried(state, step)
        if moved is not None and _longest_new(state, moved) <= _ROW:
            state = moved
            steps.append(step)
    return state, tuple(steps)


def _rows(pieces: Sequence[Piece]) -> Iterator[Buffer]:
    for piece in pieces:
        if len(piece.dims) < 3:
            continue
        target, read = _accesses(piece)[0], _accesses(piece)[1:]
        around, pipelined, inner = piece.names[-3:]
        for access in read:
            others = [a for a in (target, *read) if a.array == access.array and a != access]
            rows = _moves(access, [inner]) and not _moves(access, [pipelined])
            if others and rows and access.array == target.array and access != target:
                yield Buffer(access.array, f"{piece.name}.{around}", "", str(access))


def _longest_new(before: ScheduledScop, after: ScheduledScop) -> int:
    """Elements of the largest of the locals that were added."""
    known = {a.name for a in before.scop.program.arrays}
    return max(prod(a.shape) for a in after.scop.program.arrays if a.name not in known)


def _is_element(before: ScheduledScop, after: ScheduledScop) -> bool:
    """Whether each new local has one element: nothing was to be copied with it."""
    known = {a.name for a in before.scop.program.arrays}
    new = [a for a in after.scop.program.arrays if a.name not in known]
    return all(set(a.shape) == {1} for a in new)


def _wanted(pieces: Sequence[Piece], end: int) -> Iterator[Buffer]:
    """Copies of what does not move with the loops inside of what the statements of a nest share."""
    touched = [(p, a) for p in pieces for a in _accesses(p)]
    written = {p.statement.stmt.target.array for p in pieces}
    seen: set[Access] = set()
    for piece, access in touched:
        depth = end if len(piece.dims) > end else len(piece.dims) - 1
        if depth < 1 or access in seen or access.array not in written or not access.indices:
            continue
        others = {a for _, a in touched if a.array == access.array}
        if len(others) > 1 and not _moves(access, piece.names[depth:]):
            seen.add(access)
            yield Buffer(access.array, f"{piece.name}.{piece.names[depth - 1]}", "", str(access))


def _moves(access: Access, loops: Sequence[str]) -> bool:
    return any(not index.variables().isdisjoint(loops) for index in access.indices)


def _accesses(piece: Piece) -> list[Access]:
    """What a statement assigns and reads, over its loops."""
    stmt = placed_statement(piece, piece.name)
    return [stmt.target, *loads(stmt.value)]
