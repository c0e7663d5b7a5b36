"""Distinct rows among many: what is the same is worked out once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]

_SPARSE = 8
"""Values that there might be, for each row, up to which a table has them all: no sorting."""


def distinct_rows(columns: Sequence[Counts], n: int) -> tuple[Counts, Counts]:
    """The first row of each distinct one, and which of them each row is.

    Args:
        columns: of shape (n,) each.
        n: rows.
    """
    code, size = np.zeros(n, np.int64), min(n, 1)
    for column in columns:
        values, number = _numbered(column)
        if len(values) <= 1:
            continue
        code = number if size == 1 else code * len(values) + number
        size *= len(values)
        if size > _SPARSE * n:
            values, code = _numbered(code)
            size = len(values)
    values, inverse = _numbered(code)
    first = np.empty(len(values), np.int64)
    first[inverse[::-1]] = np.arange(n)[::-1]
    return first, inverse


def _numbered(column: Counts) -> tuple[Counts, Counts]:
    """Distinct values in ascending order, and which of them each is."""
    if not len(column):
        return column, column
    low, high = int(column.min()), int(column.max())
    size = high - low + 1
    if size > _SPARSE * len(column):
        return np.unique(column, return_inverse=True)
    places = column - low if low else column
    there = np.zeros(size, np.bool_)
    there[places] = True
    values = np.flatnonzero(there)
    number = np.zeros(size, np.int64)
    number[values] = np.arange(len(values))
    return values + low, number[places]
