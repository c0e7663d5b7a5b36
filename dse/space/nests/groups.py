"""Which statements of a program make one nest.

A perfect nest is the statements that share all their loops. An imperfect one, whose statements share
some loops and have others of their own inside, is one nest too where these are short: they are
unrolled, and what is pipelined is the innermost loop that all statements share (outer-loop
pipelining). Else each part of it is a nest that runs in the loops around.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from polyhedral.scop.execution_order import shared_levels
from polyhedral.scop.ranges import whole_range
from polyhedral.scop.scheduled import Piece, ScheduledScop

MOST = 512
"""Statements that run in an iteration of a nest with loops inside, at most."""


@dataclass(frozen=True, slots=True)
class Group:
    """The pieces of a nest, in execution order, and the number of loops that all of them share."""

    pieces: tuple[Piece, ...]
    end: int

    @property
    def names(self) -> tuple[str, ...]:
        """The statements, the leader first."""
        return tuple(p.name for p in self.pieces)

    @property
    def volume(self) -> int:
        """How many statements an iteration of the shared loops runs at the most; what moves registers is one."""
        total = 0
        for p in self.pieces:
            inside = (iterations(p, k) for k in range(self.end, p.depth))
            total += prod(inside)
        return total


def groups(state: ScheduledScop, most: int = 0) -> list[Group]:
    """The nests of a program, in execution order of the first statement of each.

    Args:
        state: the program.
        most: imperfect nests of at most so many statements an iteration are one.
    """
    return list(_parts(state.pieces, 0, most))


def own_level(state: ScheduledScop, group: Group) -> int:
    """The level from which on the loops are the group's alone."""
    mine = {id(p) for p in group.pieces}
    others = [p for p in state.pieces if id(p) not in mine]
    return max((shared_levels(group.pieces[0], p) for p in others), default=0)


def volumes(state: ScheduledScop, most: int = MOST) -> list[int]:
    """How many statements the iterations of imperfect nests run, up to ``most``, ascending."""
    return sorted({v for g in _imperfect(state.pieces, 0) if (v := g.volume) <= most})


def iterations(piece: Piece, level: int) -> int:
    """From the first to the last that a loop of a piece has in any of its executions."""
    found = whole_range([(piece, level)])
    return 0 if found is None else found.extent


def _parts(pieces: Sequence[Piece], level: int, most: int) -> Iterator[Group]:
    """Of pieces that share ``level`` loops."""
    for mine in _nested(pieces, level):
        group = _group(mine)
        perfect = all(_left(p) <= group.end for p in mine)
        if perfect or (group.volume <= most and _distinct(group)):
            yield group
        else:
            yield from _parts(mine, group.end, most)


def _left(piece: Piece) -> int:
    """The loops of a piece without those innermost that its schedule unrolls already."""
    count = piece.depth
    while count and piece.dims[count - 1].unroll == 0:
        count -= 1
    return count


def _imperfect(pieces: Sequence[Piece], level: int) -> Iterator[Group]:
    for mine in _nested(pieces, level):
        group = _group(mine)
        if any(p.depth > group.end for p in mine):
            if _distinct(group):
                yield group
            yield from _imperfect(mine, group.end)


def _nested(pieces: Sequence[Piece], level: int) -> list[list[Piece]]:
    """Pieces that share ``level`` loops, by the next loop; neighbours that have none are together."""
    found: dict[object, list[Piece]] = {}
    for piece in pieces:
        deeper = piece.depth > level
        key = (
            piece.place[: level + 1] if deeper else (piece.place[:level] if level else piece.place)
        )
        found.setdefault((deeper, key), []).append(piece)
    return list(found.values())


def _group(pieces: Sequence[Piece]) -> Group:
    end = min((shared_levels(pieces[0], p) for p in pieces[1:]), default=pieces[0].depth)
    end = min(end, *(p.depth for p in pieces))
    return Group(tuple(pieces), end)


def _distinct(group: Group) -> bool:
    """No loop inside has the name of one around: names tell them apart."""
    around = set(group.pieces[0].names[: group.end])
    return all(around.isdisjoint(p.names[group.end :]) for p in group.pieces)
