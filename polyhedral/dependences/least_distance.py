"""How many iterations of a flattened nest lie at least between two accesses of one element."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import islpy as isl

from dsl.expressions.affine import Affine
from polyhedral.dependences.axes import Axis, Spot
from polyhedral.dependences.enumerated_pairs import nearest
from polyhedral.isl.text import affine_text, conjunction, constraint_text, dims

ITERATIONS = 8192
"""Up to which all are gone through: less than a question to isl takes."""


def meets(around: Sequence[Axis], a: Spot, b: Spot) -> bool:
    """Whether two accesses touch one element in the same iteration of the loops around."""
    names = dict(zip((x.iv for x in around), dims(len(around), "o"), strict=True))
    parts = [*domain_text(around, names), *_conditions(a, names), *_conditions(b, names)]
    parts += _equal(a.indices, names, b.indices, names)
    return not _is_empty(f"{{ [{', '.join(names.values())}] : {conjunction(parts)} }}")


def least_distance(outer: Sequence[Axis], axes: Sequence[Axis], a: Spot, b: Spot) -> int | None:
    """The least number of iterations by which ``b`` follows ``a`` at the same element, at least 1.

    It is counted along ``axes``, the loops of a nest that runs as one; those in ``outer`` stand
    still. It is exact where all axes but the first have constant trip counts, and a lower bound
    otherwise. None: it never follows.
    """
    known = nearest(outer, axes, a, b, ITERATIONS)
    if known is not None:
        return known or None
    still = dict(zip((x.iv for x in outer), dims(len(outer), "o"), strict=True))
    first = {**still, **dict(zip((x.iv for x in axes), dims(len(axes), "x"), strict=True))}
    second = {**still, **dict(zip((x.iv for x in axes), dims(len(axes), "y"), strict=True))}
    first |= dict(zip((x.iv for x in a.inside), dims(len(a.inside), "u"), strict=True))
    second |= dict(zip((x.iv for x in b.inside), dims(len(b.inside), "w"), strict=True))
    parts = [*domain_text(outer, still), *domain_text(axes, first), *domain_text(axes, second)]
    parts += [*domain_text(a.inside, first), *domain_text(b.inside, second)]
    parts += [*_conditions(a, first), *_conditions(b, second)]
    parts += _equal(a.indices, first, b.indices, second)
    variables = [*dict.fromkeys((*still.values(), *first.values(), *second.values())), "d"]
    found: list[int] = []
    for level, text in enumerate(_distances(axes, first, second)):
        same = [f"x{k} = y{k}" for k in range(level)]
        order = [*same, f"x{level} < y{level}", f"d = {text}"]
        least = _minimum(
            f"{{ [{', '.join(variables)}] : {conjunction([*parts, *order])} }}", len(variables) - 1
        )
        if least is not None:
            found.append(max(1, least))
    return min(found, default=None)


def _distances(
    axes: Sequence[Axis], first: Mapping[str, str], second: Mapping[str, str]
) -> Iterator[str]:
    """For each axis that may be the outermost to differ: the distance, or less."""
    strides = [1]
    for axis in reversed(axes[1:]):
        trips = axis.trips
        strides.append(0 if trips is None else trips * strides[-1])
    strides.reverse()
    for level, axis in enumerate(axes):
        inside = axes[level + 1 :]
        if all(x.trips is not None for x in inside):
            terms = [
                f"{strides[k]} * ({turn(axes[k], second)} - {turn(axes[k], first)})"
                for k in range(level, len(axes))
            ]
            yield " + ".join(terms)
            continue
        # At least what is left of the innermost loop and what has run of it again.
        last = inside[-1]
        text = f"y{level} - x{level}" if axis.step == 1 else "1"
        if len(last.lowers) == len(last.uppers) == 1 and last.step == 1:
            left = f"{affine_text(last.uppers[0], first)} - 1 - {first[last.iv]}"
            run = f"{second[last.iv]} - ({affine_text(last.lowers[0], second)})"
            text = f"{text} + {left} + {run}"
        yield text


def turn(axis: Axis, names: Mapping[str, str]) -> str:
    """Which iteration of its loop a value is, but for a constant if it always starts the same."""
    value = names[axis.iv]
    start = max(axis.lowers, key=lambda low: low.const, default=None)
    if start is not None and all((start - low).is_const for low in axis.lowers):
        value = f"({value} - ({affine_text(start, names)}))"
    return value if axis.step == 1 else f"floor({value} / {axis.step})"


def domain_text(axes: Sequence[Axis], names: Mapping[str, str]) -> Iterator[str]:
    """The conditions that the iterations of loops meet."""
    for axis in axes:
        name = names[axis.iv]
        for low in axis.lowers:
            yield f"{name} >= {affine_text(low, names)}"
        for high in axis.uppers:
            yield f"{name} < {affine_text(high, names)}"
        if axis.step != 1 and len(axis.lowers) == 1:
            yield f"({name} - ({affine_text(axis.lowers[0], names)})) mod {axis.step} = 0"


def _conditions(spot: Spot, names: Mapping[str, str]) -> Iterator[str]:
    for c in spot.guard:
        yield constraint_text(c, names)


def _equal(
    a: Sequence[Affine], first: Mapping[str, str], b: Sequence[Affine], second: Mapping[str, str]
) -> Iterator[str]:
    """Constants on one side, so that copies with the same difference are the same question."""
    for x, y in zip(a, b, strict=True):
        if x.is_data or y.is_data:
            continue  # they may be equal whatever the iterations are
        left = affine_text(Affine(x.terms), first)
        yield f"{left} = {affine_text(Affine(y.terms, y.const - x.const), second)}"


@lru_cache(maxsize=65536)
def _is_empty(text: str) -> bool:
    return bool(isl.Set(text).is_empty())


@lru_cache(maxsize=65536)
def _minimum(text: str, dim: int) -> int | None:
    points = isl.Set(text)
    if points.is_empty():
        return None
    found = points.dim_min_val(dim)
    return int(found.to_python()) if found.is_int() else None
