"""Tables that an innermost loop reads by rows and by columns: a second array for what it reads in another direction.

An interval program looks at all ways to split an interval, of which the parts are in its row and in its column::

    for length in range(1, 32):
      for i in range(32 - length):
        for k in range(length):
          best = min(best, T[i, i + k] + T[i + k + 1, i + length])

Copies of the loop over ``k`` ask for a bank for each column, and for each row: a register for each element. Two
arrays have banks of their own. So that which bank is the same in all iterations, the loop is made to run along
``i + k``, as far as that is possible.
"""

from __future__ import annotations

from collections.abc import Iterator

from dse.space.memory.kept import kept
from dse.space.nests.groups import volumes
from dsl.expressions.expr import Access, loads
from dsl.programs.program import Storage
from dsl.schedules.port_steps import Mirror
from dsl.schedules.steps import Skew, Step
from polyhedral.schedule import tried
from polyhedral.scop.scheduled import LoopId, Piece, ScheduledScop
from polyhedral.transforms.materialise import placed_statement

_MOST = 2
"""Mirrors, at most: each is stored to as often as the array is."""


def mirrored(
    state: ScheduledScop, before: tuple[Step, ...]
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The program with mirrors of arrays that innermost loops read in several directions, what such loops accumulate in
    registers; as it is where there is none.

    Args:
        state: a structure.
        before: the steps that made it.
    """
    if not any(_asked(state)):
        return state, before
    at, copies = kept(state, (0, *volumes(state))[-1])
    # Behind mirrors the loops are those of a program, so that what they accumulate may be in parts: skews come in front.
    for straight in (True, False):
        moved = at, (*before, *copies)
        made = _with_mirrors(*(_straightened(*moved) if straight else moved))
        if made is not None:
            return made if straight else _straightened(*made)
    return state, before


def _with_mirrors(
    state: ScheduledScop, steps: tuple[Step, ...]
) -> tuple[ScheduledScop, tuple[Step, ...]] | None:
    found = 0
    for step in list(_asked(state)):
        moved = tried(state, step) if found < _MOST else None
        if moved is not None:
            state, steps, found = moved, (*steps, step), found + 1
    return (state, steps) if found else None


def _asked(state: ScheduledScop) -> Iterator[Mirror]:
    """For each innermost loop, and array that it moves through in several directions: what its statements read in all but
    the first of them.
    """
    inside = {s.name for s in state.scop.program.arrays if s.storage is not Storage.SCRATCH}
    seen: set[Mirror] = set()
    for accesses, loop in _read_together(state):
        ways: dict[str, dict[tuple[int, ...], list[Access]]] = {}
        for access in dict.fromkeys(accesses):
            way = _along(access, loop)
            if way and access.array in inside:
                ways.setdefault(access.array, {}).setdefault(way, []).append(access)
        for array, each in ways.items():
            for own in list(each.values())[1:]:
                step = Mirror(array, str(own[0]))
                if len(own) == 1 and step not in seen:
                    seen.add(step)
                    yield step


def _read_together(state: ScheduledScop) -> Iterator[tuple[list[Access], str]]:
    """What the statements of each innermost loop read, and the loop."""
    found: dict[LoopId, tuple[list[Access], str]] = {}
    for piece in state.pieces:
        if len(piece.dims) > 1:
            accesses, _ = found.setdefault(piece.dims[-1].uid, ([], piece.names[-1]))
            accesses += loads(placed_statement(piece, piece.name).value)
    yield from found.values()


def _along(access: Access, loop: str) -> tuple[int, ...]:
    """The dimensions that an access moves through with a loop."""
    if any(index.is_data for index in access.indices):
        return ()
    return tuple(d for d, index in enumerate(access.indices) if loop in index.variables())


def _straightened(
    state: ScheduledScop, before: tuple[Step, ...]
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The program with innermost loops skewed where their subscripts move with them alone then."""
    steps = before
    for name in dict.fromkeys(p.name for p in state.pieces):
        pieces = state.of_statement(name)
        if len(pieces) != 1 or len(pieces[0].dims) < 2:
            continue
        inner = pieces[0].names[-1]
        for outer in pieces[0].names[:-1]:
            bent = _bent(pieces[0])
            if not any(outer in each for each in bent):
                continue
            for factor in (1, -1):
                step = Skew(f"{name}.{outer}", f"{name}.{inner}", factor)
                moved = tried(state, step)
                if moved is not None and len(_bent(moved.of_statement(name)[0])) < len(bent):
                    state, steps = moved, (*steps, step)
                    break
    return state, steps


def _bent(piece: Piece) -> list[frozenset[str]]:
    """The loops of subscripts that move with the innermost loop and with others."""
    stmt = placed_statement(piece, piece.name)
    found = [i.variables() for access in loads(stmt.value) for i in access.indices if not i.is_data]
    return [v for v in found if piece.names[-1] in v and len(v) > 1]
