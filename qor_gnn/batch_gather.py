"""Distinct rows and distinct combinations among many: what is the same is worked out once."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]

_SPARSE = 8
"""Combinations that there might be, for each that there is, up to which a table has them all."""


def unique_rows(columns: Counts) -> tuple[Counts, Counts]:
    """Distinct rows and which of them each row is: by one integer a row, which is faster."""
    code = np.zeros(len(columns), np.int64)
    for c in range(columns.shape[1]):
        values, inverse = np.unique(columns[:, c], return_inverse=True)
        code = code * len(values) + inverse
        if len(values) > 1:
            _, code = np.unique(code, return_inverse=True)
    _, first, inverse = np.unique(code, return_index=True, return_inverse=True)
    return columns[first], inverse


def combinations(columns: Sequence[Counts], sizes: Sequence[int]) -> tuple[Counts, Counts]:
    """As `unique_rows` of columns of numbers from 0 to below ``sizes``, few of them."""
    size, n = prod(sizes), len(columns[0])
    if size > _SPARSE * n + 1024:
        return unique_rows(np.stack(columns, axis=1))
    code = np.zeros(n, np.int64)
    for column, many in zip(columns, sizes, strict=True):
        code *= many
        code += column
    there = np.zeros(size, np.bool_)
    there[code] = True
    distinct = np.flatnonzero(there)
    place = np.zeros(size, np.int64)
    place[distinct] = np.arange(len(distinct))
    rows = np.stack(np.unravel_index(distinct, tuple(sizes)), axis=1)
    return rows, place[code]


def grouped(columns: Sequence[Counts]) -> tuple[Counts, list[int]]:
    """Points with the same numbers in all columns: the group of each, and one point of each."""
    sizes = [int(column.max(initial=0)) + 1 for column in columns]
    rows, inverse = combinations(columns, sizes)
    first = np.full(len(rows), -1, np.int64)
    first[inverse[::-1]] = np.arange(len(inverse))[::-1]
    return inverse, first.tolist()
