"""Many iterations at once: loop variables as axes of NumPy arrays.

A `Space` is a box of iterations. Each loop variable in it is an integer (the same in all of
them), a `Ramp` along one axis (an arithmetic progression) or a `Table` along one axis (anything).
Where conditions or triangular bounds leave no box, the points that remain become one axis.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dsl.expressions.affine import Affine, And, Cond, Constraint, FloorDiv, Or

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


@dataclass(slots=True, eq=False)
class Kind:
    """What spaces that came about in the same way have in common; compared by identity.

    How an access is resolved depends on the kind only, so it is worked out once for each.
    """

    children: dict[Hashable, Kind] = field(default_factory=dict)

    def child(self, how: Hashable) -> Kind:
        """The kind of the spaces that are made from those of this kind in that way."""
        found = self.children.get(how)
        if found is None:
            found = self.children[how] = Kind()
        return found


@dataclass(slots=True)
class Space:
    """Iterations: the extent of each axis, and what each variable is.

    ``ints`` may be changed in place, the rest not.
    """

    shape: tuple[int, ...]
    ints: dict[str, int]
    axes: dict[str, Ramp | Table]
    kind: Kind

    def fork(self) -> Space:
        """A copy whose integers can be set without an effect on this one."""
        return Space(self.shape, dict(self.ints), self.axes, self.kind)

    def along(self, name: str, start: int, step: int, count: int) -> Space:
        """With a new axis, along which a variable counts."""
        axes = {**self.axes, name: Ramp(len(self.shape), start, step, count)}
        return Space((*self.shape, count), self.ints, axes, self.kind.child(("along", name)))

    def ramp(self, name: str, axis: int, start: int, step: int) -> Space:
        """With one more variable that counts along an axis there is."""
        axes = {**self.axes, name: Ramp(axis, start, step, self.shape[axis])}
        return Space(self.shape, self.ints, axes, self.kind.child(("ramp", name, axis)))

    def table(self, name: str, values: Ints) -> Space:
        """With one more variable that has these values along the only axis."""
        axes = {**self.axes, name: Table(0, values)}
        return Space(self.shape, self.ints, axes, self.kind.child(("table", name)))

    def keep(self, mask: Truths) -> Space:
        """Only the iterations where the mask holds, along a single axis."""
        return self._gather(np.nonzero(np.broadcast_to(mask, self.shape)))

    def points(self) -> Space:
        """The same iterations along a single axis, in order."""
        return self.keep(np.ones(self.shape, dtype=np.bool_))

    def _gather(self, positions: tuple[Ints, ...]) -> Space:
        axes: dict[str, Ramp | Table] = {}
        for name, value in self.axes.items():
            match value:
                case Ramp(axis, start, step, _):
                    axes[name] = Table(0, positions[axis] * step + start)
                case Table(axis, table):
                    axes[name] = Table(0, table[positions[axis]])
        return Space((len(positions[0]),), self.ints, axes, self.kind.child("points"))

    def spread(self, name: str, starts: Ints, step: int, counts: Ints) -> Space:
        """Each iteration ``counts`` times, a variable counting from its ``starts``: one axis."""
        repeats = np.broadcast_to(counts, self.shape).ravel()
        rows = np.repeat(np.arange(repeats.size), repeats)
        first = np.repeat(np.cumsum(repeats) - repeats, repeats)
        begin = np.broadcast_to(starts, self.shape).ravel()[rows]
        each = self.points()._gather((rows,))
        return each.table(name, begin + (np.arange(rows.size) - first) * step)

    def iteration(self, where: Truths, names: tuple[str, ...]) -> dict[str, int]:
        """The variables in the first iteration where the mask holds."""
        full = np.broadcast_to(where, self.shape)
        position = np.unravel_index(int(np.argmax(full)), self.shape)
        found = {}
        for name in names:
            match self.axes.get(name):
                case Ramp(axis, start, step, _):
                    found[name] = start + step * int(position[axis])
                case Table(axis, table):
                    found[name] = int(table[position[axis]])
                case None:
                    found[name] = self.ints[name]
        return found


def _as_array(value: Ramp | Table, rank: int) -> Ints:
    if isinstance(value, Ramp):
        values: Ints = np.arange(value.count, dtype=np.int64) * value.step + value.start
    else:
        values = value.values
    shape = [1] * rank
    shape[value.axis] = len(values)
    return values.reshape(shape)


def evaluate(affine: Affine, space: Space) -> int | Ints:
    """The value in all iterations: an integer, or an array that broadcasts to the space."""
    total: int | Ints = affine.const
    for atom, factor in affine.terms:
        part: int | Ints
        if isinstance(atom, FloorDiv):
            part = evaluate(atom.numerator, space) // atom.denominator
        elif atom in space.axes:
            part = _as_array(space.axes[atom], len(space.shape))
        else:
            part = space.ints[atom]
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
