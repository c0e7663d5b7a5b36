"""Remainders in affine expressions, which have floor divisions only: ``x - 4 * (x // 4)``."""

from __future__ import annotations

from dsl.expressions.affine import Affine


def split_remainders(affine: Affine) -> tuple[Affine, list[tuple[int, Affine, int]]]:
    """The expression as a rest plus ``scale * (numerator mod divisor)`` where that is shorter."""
    remainders = []
    for atom, c in affine.terms:
        if isinstance(atom, str) or c % atom.denominator:
            continue
        scale = -c // atom.denominator
        rest = affine - atom.numerator * scale - Affine(((atom, c),))
        if len(rest.terms) < len(affine.terms) - 1:
            remainders.append((scale, atom.numerator, atom.denominator))
            affine = rest
    return affine, remainders
