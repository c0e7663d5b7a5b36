"""Text for isl: affine expressions, conditions and spaces over positional dimension names.

User names never reach isl's parser: statements are ``s0, s1 …``, arrays ``a0 …`` and dimensions
``d0, d1 …`` in isl, whatever they are called in the program.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import assert_never

import islpy as isl

from dsl.expressions.affine import Affine, And, Atom, Cond, Constraint, FloorDiv, Or


def affine_text(expr: Affine, names: Mapping[str, str]) -> str:
    """An affine expression in isl's syntax; ``names`` maps variables to isl dimensions."""

    def atom_text(atom: Atom) -> str:
        if isinstance(atom, FloorDiv):
            return f"floor(({affine_text(atom.numerator, names)})/{atom.denominator})"
        return names[atom]

    return expr.render(atom_text)


def subscript_texts(
    indices: Sequence[Affine], names: Mapping[str, str], shape: Sequence[int]
) -> tuple[list[str], list[str]]:
    """Subscripts in isl's syntax, for the range of a map, and the conditions on them.

    One that is data is a new dimension ``e<k>`` there, of any value that the array has.

    Args:
        indices: of an access.
        names: variables to isl dimensions, none of them called so.
        shape: of the array; nothing where such a dimension may be left unbounded.
    """
    texts = [
        f"e{k}" if index.is_data else affine_text(index, names) for k, index in enumerate(indices)
    ]
    limits = [
        f"0 <= {text} < {extent}"
        for text, index, extent in zip(texts, indices, shape, strict=False)
        if index.is_data
    ]
    return texts, limits


def constraint_text(constraint: Constraint, names: Mapping[str, str]) -> str:
    """``expr >= 0`` or ``expr = 0``."""
    relation = ">=" if constraint.kind == ">=" else "="
    return f"{affine_text(constraint.expr, names)} {relation} 0"


def cond_text(cond: Cond, names: Mapping[str, str]) -> str:
    """A condition in isl's syntax, fully parenthesised."""
    match cond:
        case Constraint():
            return constraint_text(cond, names)
        case And(parts):
            return "(" + " and ".join(cond_text(p, names) for p in parts) + ")" if parts else "true"
        case Or(parts):
            return "(" + " or ".join(cond_text(p, names) for p in parts) + ")" if parts else "false"
        case _:
            assert_never(cond)


def dims(count: int, prefix: str = "d") -> list[str]:
    """``d0, d1, …``."""
    return [f"{prefix}{k}" for k in range(count)]


def positional(variables: Sequence[str], prefix: str = "d") -> dict[str, str]:
    """Variables to their isl names by position."""
    return {v: f"{prefix}{k}" for k, v in enumerate(variables)}


def conjunction(parts: Iterable[str]) -> str:
    """The parts joined by ``and``; true when there are none."""
    return " and ".join(parts) or "true"


# Parsing is a good part of isl's time here and the same few texts come back all the time, within
# one schedule and from one schedule to the next. isl's objects are immutable.


@lru_cache(maxsize=4096)
def set_of(text: str) -> isl.Set:
    """The set that the text says."""
    return isl.Set(text)


@lru_cache(maxsize=4096)
def map_of(text: str) -> isl.Map:
    """The map that the text says."""
    return isl.Map(text)


@lru_cache(maxsize=4096)
def multi_aff_of(text: str) -> isl.MultiAff:
    """The function that the text says."""
    return isl.MultiAff(text)


def first_point(points: isl.Set) -> isl.Point:
    """The lexicographic minimum, for a telling example. On some sets with strides isl's parametric
    integer programming fails or finds none: then any point.
    """
    try:
        first = points.lexmin()
    except isl.Error:
        return points.sample_point()
    return (points if first.is_empty() else first).sample_point()


def coordinates(point: isl.Point, count: int) -> tuple[int, ...]:
    """The first coordinates of a point."""
    return tuple(point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(count))
