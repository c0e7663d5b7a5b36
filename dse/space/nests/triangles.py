"""Innermost loops that have other bounds each time, as in a triangle, and may be unrolled all the same.

Each copy then runs under a guard: of ``for i: for j < i: S(i, j)`` there are as many copies of S as j has
iterations at the most, and half of them are idle on average. Of statements with operators that is worth it
where nothing else keeps the loop around from a short interval; what only copies needs no operators.
"""

from __future__ import annotations

from collections.abc import Sequence

from dse.space.nests.groups import MOST, iterations
from dsl.expressions.expr import Load
from polyhedral.scop.scheduled import Piece


def is_short(pieces: Sequence[Piece], level: int) -> bool:
    """Whether the loop at a level never has too many iterations to be unrolled under guards."""
    return max(iterations(p, level) for p in pieces) <= MOST


def only_copies(pieces: Sequence[Piece]) -> bool:
    """Whether each statement assigns an element as it is."""
    return all(isinstance(p.statement.stmt.value, Load) for p in pieces)
