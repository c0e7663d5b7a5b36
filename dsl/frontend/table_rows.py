"""Rows of captured tables at subscripts that are no constants: ``KERNEL[r]`` in a loop over ``r``, and names of them."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from dsl.expressions.values import plain
from dsl.frontend.capture import is_number


@dataclass(frozen=True, slots=True)
class TableRow:
    """A part of a table: its first subscripts are given.

    Attributes:
        table: nested lists of numbers, or an array of NumPy.
        links: the subscripts, each an expression of the table at one more of them.
        shape: of the part.
        is_steady: no subscript is data, which may be another one later.
    """

    table: object
    links: tuple[ast.Subscript, ...]
    shape: tuple[int, ...]
    is_steady: bool

    def __deepcopy__(self, memo: dict[int, object]) -> TableRow:
        return self  # what its subscripts are is known by their nodes

    def __len__(self) -> int:
        return self.shape[0]


def shape_of(table: object) -> tuple[int, ...] | None:
    """The extents of a table of numbers whose rows have one length; None of all else."""
    if hasattr(table, "__array__"):
        return tuple(getattr(table, "shape", ()))
    if is_number(plain(table)):
        return ()
    if not isinstance(table, list | tuple) or not table:
        return None
    inner = {shape_of(row) for row in table}
    (first, *others) = inner
    return None if others or first is None else (len(table), *first)
