"""Comparing raw arrays: the same bits, or a distance in units in the last place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dsl.expressions.types import FloatType
from dsl.programs.program import Array

_PRECISION = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
_SMALLEST = {"f16": -24, "bf16": -133, "f32": -149, "f64": -1074}


@dataclass(frozen=True, slots=True)
class Difference:
    """The result for one array.

    ``wrong`` elements are further away than allowed; ``max_ulp`` is the largest distance of all, in
    units in the last place (of the raw integer for integers and fixed point), infinite where one
    side is infinite or no number. ``first`` says where the first wrong one is.
    """

    array: str
    wrong: int
    max_ulp: float
    first: str = ""


def ulp(dtype: FloatType, magnitude: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The unit in the last place of numbers of a magnitude, in float64; finite arguments."""
    _, exponent = np.frexp(magnitude)
    spacing = exponent - _PRECISION[dtype.name]
    spacing = np.where(magnitude > 0, spacing, _SMALLEST[dtype.name])
    return np.asarray(np.ldexp(1.0, np.maximum(spacing, _SMALLEST[dtype.name])))


def same_bits(want: npt.NDArray[Any], got: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Equal bits; any NaN is like any other, and the sign of zero counts."""
    equal = np.asarray(want == got, dtype=bool)
    if want.dtype.kind != "f":
        return equal
    signs = np.signbit(want) == np.signbit(got)
    return np.asarray((equal & signs) | (np.isnan(want) & np.isnan(got)))


def _distance(
    array: Array, want: npt.NDArray[Any], got: npt.NDArray[Any], scale: npt.NDArray[Any] | None
) -> npt.NDArray[Any]:
    if not isinstance(array.dtype, FloatType):
        exact = np.abs(want.astype(object) - got.astype(object))
        return np.asarray(exact, dtype=np.float64)
    w, g = want.astype(np.float64), got.astype(np.float64)
    magnitude = np.maximum(np.abs(w), np.abs(g))
    if scale is not None:
        magnitude = np.maximum(magnitude, scale)
    finite = np.isfinite(w) & np.isfinite(g)
    safe = np.where(np.isfinite(magnitude), magnitude, 0.0)
    with np.errstate(invalid="ignore", over="ignore"):
        distance = np.abs(np.where(finite, w - g, np.inf)) / ulp(array.dtype, safe)
    return np.asarray(distance)


def difference(
    array: Array,
    want: npt.NDArray[Any],
    got: npt.NDArray[Any],
    tolerance: int = 0,
    scale: npt.NDArray[Any] | None = None,
) -> Difference:
    """Compare one array with the reference.

    Args:
        array: Its declaration.
        want: The reference, a raw array.
        got: The other one, a raw array of the same shape.
        tolerance: Allowed distance in units in the last place. For integers and fixed point that
            depend on inexact floats it counts as one unit of the raw integer.
        scale: Magnitudes (see `backends.tolerance`) that the units are taken of, where larger.
    """
    same = same_bits(want, got)
    if same.all():
        return Difference(array.name, 0, 0.0)
    distance = np.where(same, 0.0, _distance(array, want, got, scale))
    allowed = tolerance if isinstance(array.dtype, FloatType) else min(tolerance, 1)
    # Without a tolerance a zero of the other sign is wrong, though its distance is 0.
    wrong = distance > allowed if allowed else ~same
    first = ""
    if wrong.any():
        place = tuple(int(n) for n in np.argwhere(wrong)[0])
        index = f"[{', '.join(map(str, place))}]" if place else ""
        first = f"{array.name}{index} is {got[place]!s}, expected {want[place]!s}"
    return Difference(array.name, int(wrong.sum()), float(distance.max()), first)


def limited_scale(scale: npt.NDArray[Any], want: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
    """Magnitudes that are fit to be a scale, at most 2**16 times the largest result.

    None where they overflowed; without the limit an exp of magnitudes would allow everything.
    """
    values = np.abs(scale.astype(np.float64))
    if not np.isfinite(values).all():
        return None
    results = np.abs(want.astype(np.float64))
    largest = results[np.isfinite(results)].max(initial=0.0)
    return np.asarray(np.minimum(values, largest * 65536.0))
