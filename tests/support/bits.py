"""Equality of arrays, bit for bit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def same(a: NDArray[np.generic], b: NDArray[np.generic]) -> bool:
    """Equal bits, but any NaN is like any other."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.hasobject:
        return bool((a == b).all())
    if a.dtype.kind == "f":
        equal = (a == b) & (np.signbit(a) == np.signbit(b))
        return bool((equal | (np.isnan(a) & np.isnan(b))).all())
    return bool((a == b).all())
