"""Iterations that a program tells apart, in nests of their own: which they are is no condition, and no remainder, then.

Rows that take turns, ``u[(t + 1) % 2, i] = f(u[t % 2, i - 1], ...)``, are one array to whoever looks for what waits for
what, of which no bank is known. With a round of the loop written out each iteration of it names its rows::

    for t_0 in range(16):
      for i in range(1, 1023):
        S0: u[1, i] = f(u[0, i - 1], ...)
      for i in range(1, 1023):
        S0_2: u[0, i] = f(u[1, i - 1], ...)

Where the first iterations of a loop that hands something on are other ones (``if i == 0``, what a recurrence begins with),
each value on its way round is chosen between two. In a nest of their own they leave the others without a condition.
"""

from __future__ import annotations

from collections.abc import Iterator

from dsl.expressions.affine import Affine
from dsl.schedules.range_steps import Peel, Separate
from dsl.schedules.steps import Split, Step
from polyhedral.dependences.carried import carried
from polyhedral.schedule import tried
from polyhedral.scop.ranges import Interval, loop_copies, whole_range
from polyhedral.scop.scheduled import LoopId, Piece, ScheduledScop

_TURNS = 4
"""Rows that take turns, at most: each is a nest of its own."""
_FIRST = 8
"""Iterations apart from a loop, at most."""
_SHARE = 4
"""Times as many iterations as are apart are left, at least."""


def turns_written_out(
    state: ScheduledScop, before: tuple[Step, ...]
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The program with each iteration of a round of its loops, through rows that take turns, in nests of its own; as it
    is where none do.

    Args:
        state: the program as it is written.
        before: the steps that made it.
    """
    at, steps = state, before
    for uid in _loops(state):
        name, count = _round(state, uid)
        moved = _written_out(at, name, count) if count else None
        if moved is not None:
            at, steps = moved[0], (*steps, *moved[1])
    return (at, steps) if steps != before else (state, before)


def _written_out(
    state: ScheduledScop, loop: str, count: int
) -> tuple[ScheduledScop, tuple[Step, ...]] | None:
    stmt, _, var = loop.rpartition(".")
    rest = tuple(Peel(f"{stmt}.{var}_1", 1) for _ in range(count - 1))
    steps = (Split(loop, count, f"{var}_0", f"{var}_1"), *rest, Separate())
    moved = tried(state, *steps)
    return None if moved is None else (moved, steps)


def _round(state: ScheduledScop, uid: LoopId) -> tuple[str, int]:
    """A name of a loop, and how many of its iterations make a round of rows that are assigned and read again in turns; 0
    where none do.
    """
    members = [(p, k) for p in state.pieces if (k := p.level(uid)) is not None]
    (first, level), *_ = members
    count = 0
    for piece, at in members:
        for affine in piece.statement.stmt.target.indices:
            count = max(count, _divisor(affine.substitute(dict(piece.bindings)), piece.names[at]))
    whole = whole_range(members)
    runs = whole is not None and whole.extent >= _SHARE * count
    handed = count and any(c.loop == uid and c.flow for c in carried(state, _names(members)))
    return f"{first.name}.{first.names[level]}", count if runs and handed else 0


def _divisor(affine: Affine, loop: str) -> int:
    """By how much a subscript divides a loop's variable for a remainder."""
    found = 0
    for atom, c in affine.terms:
        if not isinstance(atom, str) and c == -atom.denominator:
            step = atom.numerator.coefficient(loop)
            if step % atom.denominator and atom.denominator <= _TURNS:
                found = max(found, atom.denominator)
    return found


def first_apart(
    state: ScheduledScop, before: tuple[Step, ...]
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The program with those first iterations in nests of their own that statements of a loop which hands something on are
    told apart by; as it is where there are none.

    Args:
        state: a structure.
        before: the steps that made it.
    """
    at, steps = state, before
    for uid in _loops(state):
        for step in _apart(state, uid):
            moved = tried(at, step)
            if moved is not None:
                at, steps = moved, (*steps, step)
    own = tried(at, Separate()) if steps != before else None
    return (state, before) if own is None else (own, (*steps, Separate()))


def _apart(state: ScheduledScop, uid: LoopId) -> Iterator[Peel]:
    """What is cut off a loop, so that each statement that assigns what the loop hands on runs in all iterations that are left
    but for some of the last, or in none.
    """
    copies = loop_copies(state, uid)
    whole = whole_range(copies[0])
    if len(copies) > 1 or whole is None or len(copies[0]) < 2:
        return
    members = _handing(state, uid, copies[0])
    ranges = [own for member in members if (own := whole_range([member])) is not None]
    starts = {n - whole.first for own in ranges for n in (own.first, own.last + 1)}
    most = min(_FIRST, whole.extent // (_SHARE + 1))
    count = max((n for n in starts if 0 < n <= most), default=0)
    # What nobody needs any more, some of the last iterations do not hand on.
    rest = Interval(whole.first + count, whole.last - most)
    if count and all(_alike(own, rest) for own in ranges):
        piece, level = members[0]
        yield Peel(f"{piece.name}.{piece.names[level]}", count)


def _handing(
    state: ScheduledScop, uid: LoopId, members: list[tuple[Piece, int]]
) -> list[tuple[Piece, int]]:
    """Those of the statements in a loop that assign to arrays through which it hands something on."""
    flows = (c for c in carried(state, _names(members)) if c.loop == uid and c.flow)
    arrays = {state.scop.statement(c.source).stmt.target.array for c in flows}
    return [(p, k) for p, k in members if p.statement.stmt.target.array in arrays]


def _alike(own: Interval, rest: Interval) -> bool:
    """Whether a statement runs in all of some iterations, or in none."""
    none = own.last < rest.first or own.first > rest.last
    return none or (own.first <= rest.first and own.last >= rest.last)


def _names(members: list[tuple[Piece, int]]) -> frozenset[str]:
    return frozenset(piece.name for piece, _ in members)


def _loops(state: ScheduledScop) -> list[LoopId]:
    """Of the program, outer ones first."""
    dims = ((k, dim.uid) for piece in state.pieces for k, dim in enumerate(piece.dims))
    return list(dict.fromkeys(uid for _, uid in sorted(dims, key=lambda pair: pair[0])))
