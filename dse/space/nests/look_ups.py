"""Subscripts that are data, as the search has them: what moves with all loops, to nobody knows where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod

from dsl.expressions.affine import Affine, FloorDiv
from dsl.expressions.expr import Scatter
from polyhedral.scop.scheduled import Piece

_FAR = 16  # bits of a distance at which no copies are in one bank of a power of two
_COPIES = 7  # bits of the copies of a loop that banks look at
_APART = 5  # loops whose copies are told apart within 64 bits
_SMALL = 16  # elements of a dimension that may all be registers
_CHOSEN = 256  # registers that a read may choose from

FAR = 16 * 720_720
"""A distance at which elements are in one bank of any factor up to 16, and of most that are used."""


def anywhere(variables: Iterable[str], number: int) -> Affine:
    """A subscript that differs in any two copies of a body, in no way that banks could follow.

    Args:
        variables: the loops around.
        number: of the access, which tells it from the others of an iteration.
    """
    total = Affine()
    for k, v in enumerate(sorted(variables)):
        total = total + Affine.of(v) * (1 << _FAR + _COPIES * min(k, _APART))
    return Affine(((FloorDiv(total * 2, 2), 1),), number * FAR)


def is_anywhere(index: Affine) -> bool:
    """It is one of `anywhere`: no other subscript divides what is a multiple."""
    match index.terms:
        case ((FloorDiv(numerator, 2), 1),):
            return not any(c % 2 for _, c in (*numerator.terms, ("", numerator.const)))
        case _:
            return False


def tells_part(pieces: Iterable[Piece], level: int) -> bool:
    """Whether a loop is in a subscript of what is updated at others that values tell: each of its iterations has a part of
    its own.
    """
    return any(
        piece.names[level] in index.substitute(dict(piece.bindings)).variables()
        for piece in pieces
        if isinstance(piece.statement.stmt.value, Scatter)
        for index in piece.statement.stmt.target.indices
        if not index.is_data
    )


def registers(
    indices: Sequence[Affine], dim: int, copies: Mapping[str, int], shape: Sequence[int]
) -> int:
    """The factor that copies which look up one dimension of a table ask for: banks are no help, so it is 1, or
    every element of a small one. All that is looked up has registers then, which each read chooses from.
    """
    several = any(copies.get(v, 1) > 1 for v in indices[dim].variables())
    known = prod(n for index, n in zip(indices, shape, strict=True) if is_anywhere(index))
    return shape[dim] if several and shape[dim] <= _SMALL and known <= _CHOSEN else 1
