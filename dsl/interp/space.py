"""Many iterations at once: loop variables as axes of NumPy arrays.

A `Space` is a box of iterations. Each loop variable in it is an integer (the same in all of
them), a `Ramp` along one axis (an arithmetic progression) or a `Table` along one axis (anything).
Where conditions or triangular bounds leave no box, the points that remain become one axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsl.affine import Affine, And, Cond, Constraint, FloorDiv, Or
from dsl.arrays.exact import ArrayFault
from dsl.numeric import FaultKind

Ints = NDArray[np.int64]
Truths = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Ramp:
    """``start + step * n`` at position ``n`` of ``count`` along ``axis``."""

    axis: int
    start: int
    step: int
    count: int


@dataclass(frozen=True, slots=True)
class Table:
    """``values[n]`` at position ``n`` along ``axis``."""

    axis: int
    values: Ints


Value = int | Ramp | Table


@dataclass(slots=True)
class Space:
    """Iterations: the extent of each axis, and what each variable is."""

    shape: tuple[int, ...]
    values: dict[str, Value]

    def fork(self) -> Space:
        """A copy whose variables can be set without an effect on this one."""
        return Space(self.shape, dict(self.values))

    def along(self, name: str, start: int, step: int, count: int) -> Space:
        """With a new axis, along which a variable counts."""
        ramp = Ramp(len(self.shape), start, step, count)
        return Space((*self.shape, count), {**self.values, name: ramp})

    def count(self, name: str, axis: int) -> None:
        """Let a variable count the positions along an axis."""
        self.values[name] = Ramp(axis, 0, 1, self.shape[axis])

    def keep(self, mask: Truths) -> Space:
        """Only the iterations where the mask holds, along a single axis."""
        positions = np.nonzero(np.broadcast_to(mask, self.shape))
        return self._gather(positions)

    def _gather(self, positions: tuple[Ints, ...]) -> Space:
        values: dict[str, Value] = {}
        for name, value in self.values.items():
            match value:
                case Ramp(axis, start, step, _):
                    values[name] = Table(0, positions[axis] * step + start)
                case Table(axis, table):
                    values[name] = Table(0, table[positions[axis]])
                case int():
                    values[name] = value
        return Space((len(positions[0]),), values)

    def spread(self, name: str, starts: Ints, step: int, counts: Ints) -> Space:
        """Each iteration ``counts`` times, a variable counting from its ``starts``: one axis."""
        counts = np.broadcast_to(counts, self.shape)
        flat = self._gather(np.nonzero(np.ones(self.shape, dtype=np.bool_)))
        repeats = counts.ravel()
        total = int(repeats.sum())
        rows = np.repeat(np.arange(repeats.size), repeats)
        first = np.repeat(np.cumsum(repeats) - repeats, repeats)
        spread = flat._gather((rows,))
        begin = np.broadcast_to(starts, self.shape).ravel()[rows]
        spread.values[name] = Table(0, begin + (np.arange(total) - first) * step)
        return spread

    def iteration(self, where: Truths, names: tuple[str, ...]) -> dict[str, int]:
        """The variables in the first iteration where the mask holds."""
        full = np.broadcast_to(where, self.shape)
        position = np.unravel_index(int(np.argmax(full)), self.shape)
        found = {}
        for name in names:
            match self.values[name]:
                case Ramp(axis, start, step, _):
                    found[name] = start + step * int(position[axis])
                case Table(axis, table):
                    found[name] = int(table[position[axis]])
                case int() as value:
                    found[name] = value
        return found


def _aligned(values: Ints, axis: int, rank: int) -> Ints:
    shape = [1] * rank
    shape[axis] = len(values)
    return values.reshape(shape)


def _as_array(value: Ramp | Table, rank: int) -> Ints:
    if isinstance(value, Table):
        return _aligned(value.values, value.axis, rank)
    values = np.arange(value.count, dtype=np.int64) * value.step + value.start
    return _aligned(values, value.axis, rank)


def evaluate(affine: Affine, space: Space) -> int | Ints:
    """The value in all iterations: an integer, or an array that broadcasts to the space."""
    total: int | Ints = affine.const
    for atom, factor in affine.terms:
        part: int | Ints
        if isinstance(atom, FloorDiv):
            part = evaluate(atom.numerator, space) // atom.denominator
        else:
            value = space.values[atom]
            part = value if isinstance(value, int) else _as_array(value, len(space.shape))
        total = total + part * factor
    return total


def holds(cond: Cond, space: Space) -> bool | Truths:
    """Where a condition holds: everywhere, nowhere, or a mask that broadcasts to the space."""
    match cond:
        case Constraint(expr, kind):
            value = evaluate(expr, space)
            return value >= 0 if kind == ">=" else value == 0
        case And(parts):
            result: bool | Truths = True
            for part in parts:
                result = result & holds(part, space)
            return result
        case Or(parts):
            result = False
            for part in parts:
                result = result | holds(part, space)
            return result


@dataclass(frozen=True, slots=True)
class Place:
    """How to index an array so that the result broadcasts to the space.

    ``axes`` is None for index arrays; for slices, the axis of the space that each dimension of
    the result runs along.
    """

    index: tuple[int | slice | Ints, ...]
    axes: tuple[int, ...] | None
    rank: int

    def view(self, array: NDArray[Any]) -> NDArray[Any]:
        """The elements; a view of the array where slices do it."""
        part = array[self.index]
        if self.axes is None:
            return part
        if not self.axes:
            single = np.empty((1,) * self.rank, dtype=array.dtype)
            single[...] = part
            return single
        order = sorted(range(len(self.axes)), key=self.axes.__getitem__)
        if order != list(range(len(order))):
            part = part.transpose(order)
        if len(order) == self.rank:
            return part
        wanted = tuple(slice(None) if axis in self.axes else None for axis in range(self.rank))
        return part[wanted]

    def put(self, array: NDArray[Any], values: Any) -> None:
        """Set the elements; the values must broadcast to what `view` gives."""
        if self.axes is None:
            array[self.index] = values
        elif not self.axes:
            array[self.index] = np.reshape(values, ())[()]
        else:
            self.view(array)[...] = values


def locate(subscripts: tuple[Affine, ...], shape: tuple[int, ...], space: Space) -> Place:
    """The place of an access.

    Raises:
        ArrayFault: where a subscript is out of bounds.
    """
    found = [_subscript(affine, space) for affine in subscripts]
    for value, extent in zip(found, shape, strict=True):
        _check(value, extent, space)
    rank = len(space.shape)
    ramps = [value for value in found if isinstance(value, Ramp)]
    sliceable = not any(isinstance(value, np.ndarray) for value in found)
    if sliceable and len({ramp.axis for ramp in ramps}) == len(ramps):
        index = tuple(_slice(v) if isinstance(v, Ramp) else v for v in found)
        return Place(index, tuple(ramp.axis for ramp in ramps), rank)
    arrays = tuple(_as_array(v, rank) if isinstance(v, Ramp) else v for v in found)
    return Place(arrays, None, rank)


def _subscript(affine: Affine, space: Space) -> int | Ramp | Ints:
    """Like `evaluate`, but what runs along one axis evenly stays a ramp."""
    ramp: Ramp | None = None
    const = affine.const
    for atom, factor in affine.terms:
        value = space.values[atom] if isinstance(atom, str) else None
        if isinstance(value, int):
            const += value * factor
        elif isinstance(value, Ramp) and ramp is None:
            ramp = Ramp(value.axis, value.start * factor, value.step * factor, value.count)
        else:
            return evaluate(affine, space)
    if ramp is None:
        return const
    return Ramp(ramp.axis, ramp.start + const, ramp.step, ramp.count)


def _slice(ramp: Ramp) -> slice:
    stop = ramp.start + ramp.step * ramp.count
    return slice(ramp.start, stop if stop >= 0 else None, ramp.step)


def _check(value: int | Ramp | Ints, extent: int, space: Space) -> None:
    match value:
        case Ramp(_, start, step, count):
            last = start + step * (count - 1)
            if min(start, last) >= 0 and max(start, last) < extent:
                return
            values = _as_array(value, len(space.shape))
        case int():
            if 0 <= value < extent:
                return
            values = np.full((1,) * len(space.shape), value)
        case _:
            if value.size == 0 or (value.min() >= 0 and value.max() < extent):
                return
            values = value
    raise ArrayFault(FaultKind.OUT_OF_BOUNDS, (values < 0) | (values >= extent))
