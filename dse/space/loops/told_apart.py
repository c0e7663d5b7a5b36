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
from dsl.schedules.range_steps import End, Peel, Separate
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
    """The program with those first, and last, iterations in nests of their own that statements of a loop which hands something
    on are told apart by; as it is where there are none.

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
    """What is cut off a loop, at either end, so that each statement runs in all iterations that are left, or in none."""
    copies = loop_copies(state, uid)
    members = copies[0]
    whole = whole_range(members)
    if len(copies) > 1 or whole is None or len(members) < 2:
        return
    cuts: dict[End, set[int]] = {"start": set(), "end": set()}
    for member in members:
        own = whole_range([member])
        if own is not None:
            cuts["start"] |= {own.first - whole.first, own.last + 1 - whole.first}
            cuts["end"] |= {whole.last - own.last, whole.last + 1 - own.first}
    most = min(_FIRST, whole.extent // (_SHARE + 1))
    found = {end: max((n for n in c if 0 < n <= most), default=0) for end, c in cuts.items()}
    rest = Interval(whole.first + found["start"], whole.last - found["end"])
    if rest == whole or not all(_alike(whole_range([member]), rest) for member in members):
        return
    if any(c.loop == uid and c.flow for c in carried(state, _names(members))):
        piece, level = members[0]
        for end, count in found.items():
            if count:
                yield Peel(f"{piece.name}.{piece.names[level]}", count, end)


def _alike(own: Interval | None, rest: Interval) -> bool:
    """Whether a statement runs in all iterations that are left, or in none."""
    if own is None:
        return False
    none = own.last < rest.first or own.first > rest.last
    return none or (own.first <= rest.first and own.last >= rest.last)


def _names(members: list[tuple[Piece, int]]) -> frozenset[str]:
    return frozenset(piece.name for piece, _ in members)


def _loops(state: ScheduledScop) -> list[LoopId]:
    """Of the program, outer ones first."""
    dims = ((k, dim.uid) for piece in state.pieces for k, dim in enumerate(piece.dims))
    return list(dict.fromkeys(uid for _, uid in sorted(dims, key=lambda pair: pair[0])))
