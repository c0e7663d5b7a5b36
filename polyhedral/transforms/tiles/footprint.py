"""What an iteration of a loop touches of an array: its elements, and the box that they are in.

The elements are exact, as sets over the loops around and subscripts, ``[r, x]``. The box of a tile has
constant extents and begins where an affine function of the loops says: of the linear functions
that the subscripts and the bounds of the elements suggest, the one with which the least extent is
enough for all iterations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from math import prod

import islpy as isl

from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access
from polyhedral.isl.conditions import limits_of
from polyhedral.isl.text import (
    affine_text,
    conjunction,
    dims,
    map_of,
    positional,
    set_of,
    subscript_texts,
)
from polyhedral.scop.execution_order import lex_order, shared_loops
from polyhedral.scop.scheduled import Piece
from polyhedral.transforms.words import Words


@dataclass(frozen=True, eq=False)
class Use:
    """An access of a statement over the loops of its piece.

    Attributes:
        name: of the statement.
        piece: its iterations.
        access: the element.
        writes: whether it is assigned.
        depth: loops around the region.
        shape: of the array.
    """

    name: str
    piece: Piece
    access: Access
    writes: bool
    depth: int
    shape: tuple[int, ...]

    @cached_property
    def touched(self) -> isl.Map:
        """From its iterations to ``[r, x]``."""
        names = positional(self.piece.names, "t")
        space = list(names.values())
        values, limits = subscript_texts(self.access.indices, names, self.shape)
        to = ", ".join([*space[: self.depth], *values])
        where = f" : {conjunction(limits)}" if limits else ""
        found = map_of(f"{{ [{', '.join(space)}] -> [{to}]{where} }}")
        return found.intersect_domain(self.piece.domain)

    @property
    def is_gather(self) -> bool:
        """It is one of several elements, nobody knows which."""
        return any(e.is_data for e in self.access.indices)

    @cached_property
    def elements(self) -> isl.Set:
        """The elements that the region touches through it."""
        return self.touched.range()


def union_of(sets: Sequence[isl.Set]) -> isl.Set:
    """All of some sets."""
    return reduce(isl.Set.union, sets).coalesce()


def read_first(uses: Sequence[Use]) -> isl.Set | None:
    """The elements that an iteration of the region reads before it writes them, if it does."""
    found: list[isl.Set] = []
    for use in uses:
        if use.writes:
            continue
        if use.is_gather:
            elements = _gathered_first(use, uses)
            found += [] if elements.is_empty() else [elements]
            continue
        first = use.piece.domain
        for other in uses:
            if other.writes and not first.is_empty():
                same = use.touched.apply_range(other.touched.reverse())
                before = _before(use.piece, other.piece)
                if before is not None:
                    first = first.subtract(same.intersect(before).domain())
        if not first.is_empty():
            found.append(use.touched.intersect_domain(first).range())
    return union_of(found) if found else None


def _gathered_first(use: Use, uses: Sequence[Use]) -> isl.Set:
    """The elements that a gather may read where they were not written before."""
    left = use.touched
    for other in uses:
        before = _before(use.piece, other.piece) if other.writes else None
        if before is not None:
            left = left.subtract(before.apply_range(other.touched))
    return left.range()


def _before(p: Piece, q: Piece) -> isl.Map | None:
    """Iterations of ``p`` with those of ``q`` that run before them; None if none does. A statement
    reads before it writes.
    """
    shared = shared_loops(p.place, q.place)
    tie = p is not q and q.place[shared] < p.place[shared]
    if shared == 0:
        everything = isl.Map.from_domain_and_range(p.domain, q.domain)
        return everything if tie else None
    return lex_order(len(p.dims), len(q.dims), shared, tie)


@dataclass(frozen=True, eq=False)
class Tile:
    """Accesses that share a copy, and the box that it is.

    Attributes:
        uses: in the order of the statements.
        offsets: the first element of the box in each dimension, over the loops around the region.
        extents: of the box.
        words: of the array, if it is packed: the box begins with one, and is of whole ones.
    """

    uses: tuple[Use, ...]
    offsets: tuple[Affine, ...]
    extents: tuple[int, ...]
    words: Words | None = None

    @property
    def size(self) -> int:
        """Elements of the box."""
        return prod(self.extents)

    @cached_property
    def elements(self) -> isl.Set:
        """What is touched, as ``[r, x]``, the whole of a word that is written in part."""
        found = union_of([u.elements for u in self.uses])
        return found if self.stored is None else found.union(self.stored)

    @cached_property
    def written(self) -> isl.Set | None:
        """What is written, as ``[r, x]``."""
        found = [u.elements for u in self.uses if u.writes]
        return union_of(found) if found else None

    @cached_property
    def stored(self) -> isl.Set | None:
        """What is copied out: what is written, or where words are written in part the rectangle around it, of
        the whole words of the box: it is copied in as a whole, and one rectangle is one burst.
        """
        if self.written is None or self.words is None:
            return self.written
        if self.words.completed(self.written).is_subset(self.written):
            return self.written
        box = self._box(self.words.shape)
        for dim in range(len(self.words.shape) - 1):
            box = box.intersect(_between(self.written, self.uses[0].depth, dim))
        return box.coalesce()

    def _box(self, shape: Sequence[int]) -> isl.Set:
        """The elements of the box that are in the array, as ``[r, x]``."""
        use = self.uses[0]
        own = positional(use.piece.names[: use.depth], "r")
        x = dims(len(shape), "x")
        limits = [
            f"0 <= {a} < {n} and {first} <= {a} < {first} + {extent}"
            for a, n, offset, extent in zip(x, shape, self.offsets, self.extents, strict=True)
            for first in (affine_text(offset, own),)
        ]
        space = ", ".join([*own.values(), *x])
        runs = union_of([u.elements for u in self.uses])
        runs = runs.project_out(isl.dim_type.set, use.depth, len(shape))
        box = set_of(f"{{ [{space}] : {' and '.join(limits)} }}")
        return box.intersect(runs.add_dims(isl.dim_type.set, len(shape)))

    @cached_property
    def loaded(self) -> isl.Set | None:
        """What is copied in: what is read before it is written, and the rest of a word that is
        written in part.
        """
        first = read_first(self.uses)
        if self.stored is None or self.words is None or self.stored.is_subset(self.written):
            return first
        rest = self.stored.subtract(self.written)
        return rest if first is None else first.union(rest)

    def inside(self, elements: isl.Set, names: Sequence[str]) -> isl.Set:
        """``[r, x]`` as ``[r, y]``, subscripts of the box; ``names`` are those of the loops."""
        own = positional(names, "r")
        x = dims(len(self.offsets), "x")
        moved = [
            f"{a} - ({affine_text(offset, own)})" for a, offset in zip(x, self.offsets, strict=True)
        ]
        space = ", ".join([*own.values(), *x])
        return elements.apply(map_of(f"{{ [{space}] -> [{', '.join([*own.values(), *moved])}] }}"))


def tile_of(
    uses: Sequence[Use], names: Sequence[str], words: Words | None = None, mover: str = ""
) -> Tile:
    """The smallest box, of those that are looked at, for some accesses.

    Args:
        uses: the accesses.
        names: of the loops.
        words: of the array, if it is packed.
        mover: a loop with which the box moves, rather than that it stays, where it is as small then.
    """
    elements = union_of([u.elements for u in uses])
    rank = len(uses[0].access.indices)
    found = [_side(elements, uses, names, d, mover=mover) for d in range(rank)]
    if words is not None:
        found[-1] = words.around(*_side(elements, uses, names, rank - 1, words.lanes))
    return Tile(tuple(uses), tuple(o for o, _ in found), tuple(e for _, e in found), words)


def _side(
    elements: isl.Set,
    uses: Sequence[Use],
    names: Sequence[str],
    dim: int,
    every: int = 1,
    mover: str = "",
) -> tuple[Affine, int]:
    """The first element and the extent of one dimension; the box moves by multiples of ``every``."""
    depth = len(names)
    own = positional(names, "r")
    side = along(elements, depth, dim)
    best: tuple[int, bool, int, str, Affine] | None = None
    for linear in dict.fromkeys(_candidates(side, uses, names, dim)):
        if any(coefficient % every for _, coefficient in linear.terms):
            continue
        space = ", ".join([*own.values(), "x"])
        moved = side.apply(map_of(f"{{ [{space}] -> [x - ({affine_text(linear, own)})] }}"))
        low, high = (v.to_python() for v in (moved.dim_min_val(0), moved.dim_max_val(0)))
        stays = not linear.coefficient(mover)
        key = (high - low + 1, stays, len(linear.terms), str(linear), linear + low)
        if best is None or key[:4] < best[:4]:
            best = key
    assert best is not None
    return best[4], best[0]


def along(elements: isl.Set, depth: int, dim: int) -> isl.Set:
    """``[r, x]`` with one of the subscripts alone; ``depth`` is the number of loops."""
    rank = elements.dim(isl.dim_type.set) - depth
    kept = elements.project_out(isl.dim_type.set, depth + dim + 1, rank - dim - 1)
    return kept.project_out(isl.dim_type.set, depth, dim)


def _between(elements: isl.Set, depth: int, dim: int) -> isl.Set:
    """``[r, x]`` of which a subscript is between two of some elements, in the same iteration of the loops."""
    own, x = dims(depth, "r"), dims(elements.dim(isl.dim_type.set) - depth, "x")
    side = along(elements, depth, dim)
    space, head = f"[{', '.join([*own, *x])}]", ", ".join([*own, "y"])
    above, below = (
        side.apply(map_of(f"{{ [{head}] -> {space} : {x[dim]} {op} y }}")) for op in (">=", "<=")
    )
    return above.intersect(below)


def _candidates(
    side: isl.Set, uses: Sequence[Use], names: Sequence[str], dim: int
) -> Iterator[Affine]:
    """Linear functions of the loops that the elements may move with."""
    yield Affine()
    lowers, uppers = limits_of(side, [*names, ""])
    seen = (*lowers, *uppers, *(u.access.indices[dim] for u in uses))
    for expr in seen:
        yield Affine.collected({n: expr.coefficient(n) for n in names}, 0)
