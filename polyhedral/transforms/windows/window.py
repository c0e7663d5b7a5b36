"""What a loop nest reads of an array again, as a window that moves through the array.

The iterations of some loops, each of which moves along one dimension, read elements of a box with constant
extents (`polyhedral.transforms.tiles.footprint`). Its positions are ages: along a dimension that moves, the
last positions are those that the box did not have an iteration before. For ``A[y - 1 : y + 2, x - 1 : x + 2]``
position ``[a, b]`` is the element ``A[y - 1 + a, x - 1 + b]``, and ``[2, 2]`` alone is new. What is needed of
the window in an iteration follows backwards from what is read: an iteration needs what the ones
after it do not find in the array any more.

All sets are over the loops around and the positions, ``[r, w]``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import islpy as isl

from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access
from polyhedral.isl.text import affine_text, dims, map_of, positional, set_of
from polyhedral.transforms.tiles.footprint import Tile, Use, tile_of, union_of
from polyhedral.transforms.words import Words


@dataclass(frozen=True, slots=True)
class Axis:
    """A loop that moves the window.

    Attributes:
        level: loops around it.
        dim: the dimension of the array along which it moves.
        backwards: whether it moves to smaller subscripts.
        extent: of the window along that dimension.
        fresh: positions, the last ones, that an iteration does not find in the window before.
    """

    level: int
    dim: int
    backwards: bool
    extent: int
    fresh: int

    @property
    def kept(self) -> int:
        """Positions whose elements the iteration before had."""
        return self.extent - self.fresh


@dataclass(frozen=True, eq=False)
class Window:
    """The box that moves.

    Attributes:
        tile: the box, over all loops around, `names`.
        names: of these loops; the last ones are those of the axes.
        axes: outermost first.
    """

    tile: Tile
    names: tuple[str, ...]
    axes: tuple[Axis, ...]

    @property
    def takes_words(self) -> bool:
        """Whether what an iteration reads anew of a row is one word of a packed array."""
        last, words = self.axes[-1], self.tile.words
        return (
            words is not None
            and last.dim == len(words.shape) - 1
            and last.fresh == words.lanes
            and not last.backwards
            and words.row % words.lanes == 0
        )

    @property
    def outer(self) -> tuple[str, ...]:
        """The loops in one iteration of which the window moves."""
        return self.names[: len(self.names) - len(self.axes)]

    def position(self, access: Access) -> tuple[Affine, ...]:
        """Of an element that a statement reads."""
        places = (e - o for e, o in zip(access.indices, self.tile.offsets, strict=True))
        return self._turned(tuple(places))

    def element(self, position: Sequence[Affine]) -> tuple[Affine, ...]:
        """The subscripts of the element at a position."""
        turned = self._turned(position)
        return tuple(p + o for p, o in zip(turned, self.tile.offsets, strict=True))

    def _turned(self, position: Sequence[Affine]) -> tuple[Affine, ...]:
        """Along dimensions that are passed backwards, counted from the other end."""
        backwards = {axis.dim for axis in self.axes if axis.backwards}
        extents = self.tile.extents
        return tuple(
            Affine.of(extents[d] - 1) - p if d in backwards else p for d, p in enumerate(position)
        )

    def read(self, shape: Sequence[int], whole: bool) -> isl.Set:
        """What statements read.

        Args:
            shape: of the array.
            whole: all of the box that is in the array, in each iteration that reads any.
        """
        depth, rank = len(self.names), len(shape)
        elements = union_of([u.elements for u in self.tile.uses])
        own, w = positional(self.names, "r"), dims(rank, "w")
        at = self.element([Affine.of(n) for n in w])
        text = [affine_text(e, {**own, **{n: n for n in w}}) for e in at]
        space = ", ".join([*own.values(), *w])
        if not whole:
            return elements.apply(
                map_of(f"{{ [{space}] -> [{', '.join([*own.values(), *text])}] }}").reverse()
            )
        runs = elements.project_out(isl.dim_type.set, depth, rank)
        limits = [
            f"0 <= {n} < {extent} and 0 <= {t} < {size}"
            for n, extent, t, size in zip(w, self.tile.extents, text, shape, strict=True)
        ]
        box = set_of(f"{{ [{space}] : {' and '.join(limits)} }}")
        return box.intersect(runs.add_dims(isl.dim_type.set, rank)).coalesce()

    def moved(self, needed: isl.Set, axis: Axis, count: int) -> isl.Set:
        """Where the elements of some positions were, iterations of one loop before."""
        own, w = positional(self.names, "r"), dims(len(self.tile.extents), "w")
        there = [*own.values(), *w]
        back = list(there)
        back[axis.level] += f" - {count}"
        back[len(own) + axis.dim] += f" + {count * axis.fresh}"
        text = f"{w[axis.dim]} + {count * axis.fresh} < {axis.extent}"
        return needed.apply(map_of(f"{{ [{', '.join(there)}] -> [{', '.join(back)}] : {text} }}"))

    def since(self, needed: isl.Set, axis: Axis) -> isl.Set:
        """Some positions, and those where their elements were in all iterations before.

        Together they mostly are one conjunction, which isl sees where it is asked for any number of iterations: of a
        window that moves by 2, position ``p`` is needed from iteration ``-p // 2`` on. Parts, one for each number, would be
        statements of their own.
        """
        steps = (axis.extent - 1) // axis.fresh
        there = [*positional(self.names, "r").values(), *dims(len(self.tile.extents), "w")]
        back = list(there)
        level, dim = axis.level, len(self.names) + axis.dim
        back[level], back[dim] = "before", "place"
        every = (
            f"before = {there[level]} - count and place = {there[dim]} + {axis.fresh} count and "
            f"place < {axis.extent} and 0 <= count <= {steps}"
        )
        text = f"{{ [{', '.join(there)}] -> [{', '.join(back)}] : exists count : {every} }}"
        found = needed.apply(map_of(text)).coalesce()
        if found.is_equal(found.remove_divs()):
            return found.remove_divs()
        return union_of([self.moved(needed, axis, count) for count in range(steps + 1)])

    def split(self, needed: isl.Set, axis: Axis) -> tuple[isl.Set, isl.Set]:
        """Those of some positions that the iteration before had, and those that are new."""
        at = len(self.names) + axis.dim
        kept = needed.upper_bound_val(isl.dim_type.set, at, isl.Val(axis.kept - 1))
        return kept, needed.lower_bound_val(isl.dim_type.set, at, isl.Val(axis.kept))


def window_of(
    uses: Sequence[Use], names: Sequence[str], first: int, words: Words | None = None
) -> Window | None:
    """The window of some reads; None where a loop from `first` on does not move along a dimension of its own.

    Args:
        uses: the reads, all in the loops.
        names: of the loops around.
        first: the outermost one that moves it.
        words: of a packed array: the window is of whole ones.
    """
    found = _moved_by(tile_of(uses, names, words), names, first)
    # All of an array is as small as a box that moves through it from end to end.
    return found or _moved_by(tile_of(uses, names, words, names[first]), names, first)


def _moved_by(tile: Tile, names: Sequence[str], first: int) -> Window | None:
    """The window that is a box, if each loop from ``first`` on moves it along a dimension of its own."""
    axes: list[Axis] = []
    for level in range(first, len(names)):
        moving = [(d, o.coefficient(names[level])) for d, o in enumerate(tile.offsets)]
        moving = [(d, step) for d, step in moving if step]
        if len(moving) != 1 or any(axis.dim == moving[0][0] for axis in axes):
            return None
        ((dim, step),) = moving
        extent = tile.extents[dim]
        axes.append(Axis(level, dim, step < 0, extent, min(abs(step), extent)))
    found = Window(tile, tuple(names), tuple(axes))
    moves = set(names[first:])
    if any(p.variables() & moves for use in tile.uses for p in found.position(use.access)):
        return None
    return found


def stages(window: Window, read: isl.Set) -> Iterator[tuple[Axis, isl.Set, isl.Set]]:
    """What is needed, for each loop that moves the window, innermost first.

    Args:
        window: the window.
        read: what statements read of it.

    Yields:
        The loop; the positions that an earlier iteration of it had, and those that are new to it, which
        the loop around it, or at last the array, provides.
    """
    needed = read
    for axis in reversed(window.axes):
        kept, needed = window.split(window.since(needed, axis), axis)
        yield axis, kept.coalesce(), needed.coalesce()
