"""Where another loop should be outermost: imperfect nests whose sums and recurrences are innermost.

A factorisation or a solver that is written row by row has a sum innermost that waits for itself, and
statements around it that tie all of its loops together::

    for i:
      for j < i:
        for k < j: A[i, j] -= A[i, k] * A[k, j]
        A[i, j] /= A[j, j]

No loop can be distributed or interchanged. With the step of elimination outermost, ``k`` of the first
statement and ``j`` of the second, nothing inside of it carries a dependence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dse.space.nests.groups import Group, groups
from dsl.schedules.steps import Reorder, Step
from polyhedral.dependences.alignments import alignments
from polyhedral.dependences.carried import carried
from polyhedral.schedule import tried
from polyhedral.scop.execution_order import shared_levels
from polyhedral.scop.scheduled import Piece, ScheduledScop

_TRIED = 3  # alignments of a nest, those first that free most; the first legal one is taken


def aligned(
    state: ScheduledScop, before: tuple[Step, ...]
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The program with each nest aligned where that frees loops; as it is where it does nowhere.

    Args:
        state: a structure, its statements distributed as far as is legal.
        before: the steps that made it.
    """
    steps = before
    done: set[str] = set()
    for nest, depth in _imperfect(state.pieces, 0):
        if done.isdisjoint(p.name for p in nest):
            for step in alignments(state, nest, depth)[:_TRIED]:
                moved = tried(state, step)
                if moved is not None:
                    state, steps = moved, (*steps, step)
                    done.update(step.stmts)
                    break
    return state, steps


def waiting_turned(
    state: ScheduledScop, before: tuple[Step, ...]
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """As `turned`, of the nests alone whose innermost loop hands something on."""
    return turned(state, before, _waits)


def _waits(state: ScheduledScop, group: Group) -> bool:
    inner = group.pieces[0].dims[-1].uid if group.pieces[0].dims else None
    return any(c.loop == inner for c in carried(state, frozenset(group.names)))


def turned(
    state: ScheduledScop,
    before: tuple[Step, ...],
    wanted: Callable[[ScheduledScop, Group], bool] = lambda _, __: True,
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The loops of each perfect nest in the reverse order, inside of what it shares with others, where that is
    legal. An element of a row or of a column is kept in a register by the loop that it does not move with.
    """
    steps = before
    for group in groups(state):
        if not wanted(state, group):
            continue
        leader = group.pieces[0]
        others = [p for p in state.pieces if p.name not in group.names]
        level = max((shared_levels(leader, p) for p in others), default=0)
        loops = tuple(f"{leader.name}.{name}" for name in leader.names[level : group.end])
        moved = tried(state, step := Reorder(loops[::-1])) if len(loops) > 1 else None
        if moved is not None:
            state, steps = moved, (*steps, step)
    return state, steps


def _imperfect(pieces: Sequence[Piece], depth: int) -> Iterator[tuple[list[Piece], int]]:
    """Imperfect nests, and the loops around each; outer ones before those in them."""
    found: dict[int, list[Piece]] = {}
    for piece in pieces:
        if len(piece.dims) > depth:
            found.setdefault(piece.place[depth], []).append(piece)
    for nest in found.values():
        if any(shared_levels(nest[0], p) < max(len(p.dims), len(nest[0].dims)) for p in nest[1:]):
            yield nest, depth
            yield from _imperfect(nest, depth + 1)
