"""Distinct rows: against sets of tuples."""

import numpy as np
import pytest

from qor_gnn.batch.gather import distinct_rows


def check(table: np.ndarray) -> int:
    first, inverse = distinct_rows(list(table.T), len(table))
    rows = [tuple(row) for row in table.tolist()]
    assert len(first) == len(set(rows))
    assert [rows[n] for n in first[inverse]] == rows
    assert all(rows.index(rows[n]) == n for n in first.tolist())
    return len(first)


@pytest.mark.parametrize("values", [3, 100, 1 << 40])
@pytest.mark.parametrize("columns", [1, 2, 7])
def test_random_tables(values: int, columns: int) -> None:
    rng = np.random.default_rng(columns)
    table = rng.integers(-values, values, (300, columns))
    assert check(np.concatenate([table, table[:50]])) <= 300


def test_many_columns_do_not_overflow() -> None:
    table = np.random.default_rng(0).integers(0, 1000, (200, 40))
    assert check(table) == 200


def test_nothing() -> None:
    first, inverse = distinct_rows([], 4)
    assert (first.tolist(), inverse.tolist()) == ([0], [0, 0, 0, 0])
    first, inverse = distinct_rows([np.zeros(0, np.int64)], 0)
    assert len(first) == len(inverse) == 0
