"""A window and its rows as local arrays, and the statements that move and fill them (see `reuse`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import islpy as isl

from dsl.errors.errors import ScheduleError
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, Load
from dsl.programs.names import unused
from dsl.programs.program import MAX_EXTENT, Array, Stmt, Storage
from dsl.schedules.steps import Partition, Reuse
from polyhedral.isl.text import affine_text, dims, map_of, positional
from polyhedral.scop.scheduled import Dim, Piece
from polyhedral.scop.scop import Statement
from polyhedral.transforms.materialise import Spanned
from polyhedral.transforms.windows.window import Axis, Window, stages

Position = Sequence[Affine]
At = Callable[[Position], Access]


@dataclass(slots=True)
class Names:
    """Those that are taken of arrays and of statements."""

    arrays: set[str]
    stmts: set[str]

    def array(self, base: str) -> str:
        """A new name."""
        found = unused(base, self.arrays)
        self.arrays.add(found)
        return found

    def stmt(self, base: str) -> str:
        """A new name."""
        found = unused(base, self.stmts)
        self.stmts.add(found)
        return found


@dataclass(frozen=True, eq=False)
class Shifting:
    """What moves with the loops.

    Attributes:
        window: the local that statements read, position by position.
        arrays: the locals, `window` first.
        partitions: of them, such that an iteration accesses each memory once.
        load: the statement that reads the array.
        statements: all, in order; they run in front of all else in the innermost of the loops.
    """

    window: str
    arrays: tuple[Array, ...]
    partitions: tuple[Partition, ...]
    load: str
    statements: tuple[Spanned, ...]


def shifting(window: Window, read: isl.Set, array: Array, names: Names, step: Reuse) -> Shifting:
    """The locals and statements for a window.

    Args:
        window: the window.
        read: what is read of it.
        array: through which it moves.
        names: those that are taken; the new ones are added.
        step: for errors.

    Raises:
        ScheduleError: W207 a local would be too large.
    """
    return _Maker(window, array, window.tile.uses[0].piece, names, step).made(read)


@dataclass(frozen=True, slots=True)
class _Maker:
    """Makes locals, partitions and statements."""

    window: Window
    array: Array
    near: Piece
    names: Names
    step: Reuse

    def made(self, read: isl.Set) -> Shifting:
        """See `shifting`."""
        whole = self._local("window", self.window.tile.extents)
        partitions = _complete(whole, [axis.dim for axis in self.window.axes])
        arrays = [whole]
        moves: list[Spanned] = []
        fills: list[Spanned] = []
        found = [*stages(self.window, read)][::-1]
        load = self._statement("load", found[0][2], _of(whole), self._outside)
        for axis, kept, _ in found:
            if kept.is_empty():
                continue
            if axis is self.window.axes[-1]:
                moves.append(self._statement("shift", kept, _of(whole), _of(whole, axis)))
                continue
            line = self._line(axis, kept)
            arrays.append(line.array)
            partitions += line.partitions
            before = self._earlier(kept, axis)
            fills.append(self._statement("take", kept, _of(whole), line.access))
            fills.append(self._statement("keep", before, line.access, _of(whole, axis)))
        done = [*moves, load, *fills]
        placed = tuple(self._placed(s, n - len(done)) for n, s in enumerate(done))
        return Shifting(whole.name, tuple(arrays), tuple(partitions), load.name, placed)

    def _outside(self, position: Position) -> Access:
        return Access(self.array.name, self.window.element(position))

    def _local(self, what: str, shape: Sequence[int]) -> Array:
        name = self.names.array(f"{self.array.name}_{what}")
        size = prod(shape)
        if size > MAX_EXTENT:
            text = f"'{name}' would have {size:,} elements"
            raise ScheduleError("W207", text, span=self.step.span)
        scope = len(self.window.outer)
        return Array(
            name, self.array.dtype, tuple(shape), Storage.LOCAL, False, scope, self.array.span
        )

    def _line(self, axis: Axis, kept: isl.Set) -> _Line:
        """What holds some positions from one iteration of a loop to the next, for all iterations of the
        loops inside: along the dimensions of these it has all elements that they pass.
        """
        inside = {a.dim: a for a in self.window.axes if a.level > axis.level}
        shape, origins = list(self.window.tile.extents), {}
        shape[axis.dim] = axis.kept
        for dim in inside:
            low, high = self._passed(kept, dim)
            origins[dim] = self._around(dim) + low
            shape[dim] = high - low + 1
        array = self._local("line", shape)
        partitions = _complete(array, [a.dim for a in self.window.axes if a.level <= axis.level])
        partitions += [
            Partition(array.name, d, "cyclic", a.fresh) for d, a in inside.items() if a.fresh > 1
        ]
        return _Line(array, tuple(partitions), self.window, origins)

    def _around(self, dim: int) -> Affine:
        """How far the loops around those that move the window move it."""
        offset = self.window.tile.offsets[dim]
        return Affine.collected({n: offset.coefficient(n) for n in self.window.outer}, 0)

    def _passed(self, points: isl.Set, dim: int) -> tuple[int, int]:
        """The first and the last element along a dimension, from where the loops around have it."""
        own, w = positional(self.window.names, "r"), dims(len(self.array.shape), "w")
        element = self.window.element([Affine.of(n) for n in w])[dim] - self._around(dim)
        text = affine_text(element, {**own, **{n: n for n in w}})
        values = points.apply(map_of(f"{{ [{', '.join([*own.values(), *w])}] -> [{text}] }}"))
        low, high = _ends(values, 0)
        return low.to_python(), high.to_python()

    def _earlier(self, points: isl.Set, axis: Axis) -> isl.Set:
        """The positions, an iteration of a loop before."""
        own = dims(len(self.window.names) + len(self.array.shape), "r")
        back = list(own)
        back[axis.level] += " - 1"
        return points.apply(map_of(f"{{ [{', '.join(own)}] -> [{', '.join(back)}] }}"))

    def _statement(self, does: str, points: isl.Set, target: At, source: At) -> Spanned:
        """What copies at some positions, in loops over these with constant bounds. Those along the
        window's way are inside and unrolled: registers move at once.
        """
        depth, kind = len(self.window.names), isl.dim_type.set
        name = self.names.stmt(f"{does}_{self.array.name}")
        moving = {axis.dim for axis in self.window.axes}
        rank = len(self.array.shape)
        word = rank - 1 if does == "load" and self.window.takes_words else None
        own: dict[int, Dim] = {}
        position = [Affine()] * rank
        for d in sorted(range(rank), key=lambda d: (d in moving, d)):
            low, high = (v.to_python() for v in _ends(points, depth + d))
            position[d] = Affine.of(low)
            if low < high:
                var = unused(f"{name}_{'lane' if d == word else d}", self.window.names)
                own[d] = _loop(var, d in moving, d == word)
                position[d] = Affine.of(var) + (low if d == word else 0)
        r, w = dims(depth, "r"), dims(rank, "w")
        firsts = {d: low.const for d, low in enumerate(position) if d == word}
        kept = ", ".join([*r, *(f"{w[d]} - {firsts.get(d, 0)}" for d in own)])
        domain = points.apply(map_of(f"{{ [{', '.join([*r, *w])}] -> [{kept}] }}"))
        span = domain.project_out(kind, depth, len(own)).add_dims(kind, len(own))
        for k in range(depth, depth + len(own)):
            low, high = _ends(domain, k)
            span = span.lower_bound_val(kind, k, low).upper_bound_val(kind, k, high)
        stmt = Stmt(name, target(position), Load(source(position), self.array.dtype))
        loops = (*self.near.dims[:depth], *own.values())
        bindings = tuple((loop.name, Affine.of(loop.name)) for loop in loops)
        piece = Piece(
            Statement(0, stmt, (), (), (), ()), loops, (), domain, bindings, domain, domain
        )
        return Spanned(name, piece, span)

    def _placed(self, new: Spanned, position: int) -> Spanned:
        """In front of all else in the innermost loop that moves the window."""
        depth = len(self.window.names)
        inner = len(new.piece.dims) - depth
        place = (*self.near.place[:depth], position, *(0,) * inner)
        return replace(new, piece=new.piece.at(place))


@dataclass(frozen=True, eq=False)
class _Line:
    """A local of what one iteration of a loop hands to the next."""

    array: Array
    partitions: tuple[Partition, ...]
    window: Window
    origins: Mapping[int, Affine]

    def access(self, position: Position) -> Access:
        """Its element of a position of the window."""
        elements = self.window.element(position)
        return Access(
            self.array.name,
            tuple(
                elements[d] - self.origins[d] if d in self.origins else p
                for d, p in enumerate(position)
            ),
        )


def _loop(name: str, moving: bool, lane: bool) -> Dim:
    """Over positions along a dimension: unrolled if the window moves along it, or over the lanes of a word."""
    return Dim(name, (name,), unroll=0 if moving else None, lane=lane, held=moving and not lane)


def _of(local: Array, axis: Axis | None = None) -> At:
    """Its element of a position, or of the one that becomes this position in the next iteration."""

    def access(position: Position) -> Access:
        at = list(position)
        if axis is not None:
            at[axis.dim] += axis.fresh
        return Access(local.name, tuple(at))

    return access


def _complete(array: Array, along: Sequence[int]) -> list[Partition]:
    return [Partition(array.name, d, "complete") for d in along if array.shape[d] > 1]


def _ends(points: isl.Set, dim: int) -> tuple[isl.Val, isl.Val]:
    return points.dim_min_val(dim), points.dim_max_val(dim)
