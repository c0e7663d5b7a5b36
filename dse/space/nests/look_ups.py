"""Subscripts that are data, as the search has them: what moves with all loops, to nobody knows where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dsl.expressions.affine import Affine, FloorDiv

_FAR = 16  # bits of a distance at which no copies are in one bank of a power of two
_COPIES = 7  # bits of the copies of a loop that banks look at
_APART = 5  # loops whose copies are told apart within 64 bits
_SMALL = 16  # elements of a table that may all be registers

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


def registers(index: Affine, copies: Mapping[str, int], extent: int) -> int:
    """The factor that copies which look up one dimension of a table ask for: banks are no help, so it is 1, or
    every element of a small one.
    """
    several = any(copies.get(v, 1) > 1 for v in index.variables())
    return extent if several and extent <= _SMALL else 1
