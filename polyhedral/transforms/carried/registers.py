"""The registers of `carry`: an array of cells by ages, or, where ages differ from cell to cell, one of what is assigned now
and one of what is older, which has no more cells than something old is read of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import islpy as isl

from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access
from dsl.programs.program import Array, Storage
from polyhedral.isl.text import affine_text, map_of, positional
from polyhedral.transforms.carried.ages import NOW, Ages, union
from polyhedral.transforms.carried.cells import Element


@dataclass(frozen=True, slots=True)
class Registers:
    """The arrays, and where in them a cell is.

    Attributes:
        old: cells by ages; from age 1 on where there is ``now``.
        lows: its first cell.
        now: cells of age 0; None where ``old`` has them.
        first: its first cell, which is that of ``old`` without it.
        extents: how many cells there are along each dimension.
    """

    old: Array
    lows: tuple[int, ...]
    now: Array | None
    first: tuple[int, ...]
    extents: tuple[int, ...]

    @property
    def arrays(self) -> tuple[Array, ...]:
        """Both, or the one."""
        return (self.old,) if self.now is None else (self.now, self.old)

    def at(self, cell: Element, age: Affine, near: Access | None = None) -> Access:
        """The register of a cell and an age."""
        span = None if near is None else near.span
        if self.now is not None and age == NOW:
            return Access(self.now.name, _from(cell, self.first), span)
        start = 0 if self.now is None else 1
        return Access(self.old.name, (*_from(cell, self.lows), age - start), span)


def _from(cell: Element, lows: Sequence[int]) -> Element:
    return tuple(c - low for c, low in zip(cell, lows, strict=True))


def registers_of(ages: Ages, name: Callable[[str], str]) -> Registers:
    """The registers of what a loop hands on.

    Args:
        ages: what that is.
        name: makes a new name for an array.
    """
    points = union([ages.written, *(p for read in ages.reads for _, p in read.before)])
    cells = points.project_out(isl.dim_type.set, 0, ages.level + 1)
    first, extents = _box(cells, ages.cells.count)
    whole = Array(
        name(f"{ages.array.name}_carry"),
        ages.array.dtype,
        (*extents, ages.oldest + 1),
        Storage.LOCAL,
        False,
        ages.level,
        ages.array.span,
    )
    if not ages.vary or not ages.cells.count:
        return Registers(whole, first, None, first, extents)
    lows, counts = _box(
        read_cells(ages).project_out(isl.dim_type.set, ages.cells.count, 1), len(first)
    )
    now = replace(whole, name=name(f"{ages.array.name}_now"), shape=extents)
    return Registers(replace(whole, shape=(*counts, ages.oldest)), lows, now, first, extents)


def read_cells(ages: Ages) -> isl.Set:
    """The cells of which something old is read, with the ages up to the oldest that is, from 1 on."""
    found: list[isl.Set] = []
    for read in ages.reads:
        s = read.reader
        names = positional(s.variables)
        cell = [affine_text(e, names) for e in ages.register(s, read.access, read.age)]
        limits = f"0 < k <= {affine_text(read.age, names)}"
        text = f"{{ {s.space} -> [{', '.join([*cell, 'k'])}] : {limits} }}"
        found.append(map_of(text).intersect_domain(s.domain).range())
    return union(found)


def _box(cells: isl.Set, count: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The first cell, and how many there are, along each dimension."""
    ends = [
        (cells.dim_min_val(k).to_python(), cells.dim_max_val(k).to_python()) for k in range(count)
    ]
    return tuple(low for low, _ in ends), tuple(high - low + 1 for low, high in ends)
