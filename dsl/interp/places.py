"""Where the accesses of a statement are in memory, for all iterations of a space at once.

An access whose subscripts run evenly along the axes is a strided view of the array: any stencil,
transposition or diagonal is read and written without a copy. What is left (points of a triangle,
floor divisions) is gathered and scattered by index arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from dsl.arrays.exact import ArrayFault
from dsl.expressions.affine import Affine, FloorDiv
from dsl.expressions.expr import Access
from dsl.expressions.numeric import FaultKind
from dsl.interp.memory import Store
from dsl.interp.space import Ints, Ramp, Space, evaluate


@dataclass(frozen=True, slots=True)
class Strides:
    """A view: extents, the position of the first element, and steps, in elements."""

    shape: tuple[int, ...]
    offset: int
    steps: tuple[int, ...]

    def view(self, data: NDArray[Any]) -> NDArray[Any]:
        """The elements; it shares the memory of ``data``, which must be contiguous."""
        size = data.itemsize
        steps = tuple(step * size for step in self.steps)
        if data.dtype.hasobject:
            view: NDArray[Any] = as_strided(data.reshape(-1)[self.offset :], self.shape, steps)
            return view
        strided: NDArray[Any] = np.ndarray(self.shape, data.dtype, data, self.offset * size, steps)
        return strided

    def put(self, data: NDArray[Any], values: Any) -> None:
        """Set the elements; the values must broadcast to the view."""
        self.view(data)[...] = values


@dataclass(frozen=True, slots=True)
class Indices:
    """Index arrays, one for each dimension."""

    index: tuple[int | Ints, ...]

    def view(self, data: NDArray[Any]) -> NDArray[Any]:
        """A copy of the elements."""
        elements: NDArray[Any] = data[self.index]
        return elements

    def put(self, data: NDArray[Any], values: Any) -> None:
        """Set the elements; the values must broadcast to the index arrays."""
        data[self.index] = values


Place = Strides | Indices


@dataclass(frozen=True, slots=True)
class Sum:
    """A subscript or position: ``const + ints + floors + ramps``, what varies with its factors."""

    const: int
    ints: tuple[tuple[str, int], ...]
    floors: tuple[tuple[FloorDiv, int], ...]
    ramps: tuple[tuple[str, int, int], ...]  # variable, axis, factor

    def reach(self, space: Space) -> tuple[int, int]:
        """The smallest and the largest value in the space."""
        low = high = self.first(space)
        for name, _, factor in self.ramps:
            ramp = space.axes[name]
            assert isinstance(ramp, Ramp)
            far = factor * ramp.step * (ramp.count - 1)
            low, high = (low, high + far) if far > 0 else (low + far, high)
        return low, high

    def first(self, space: Space) -> int:
        """The value at position 0 of all axes."""
        value = self.const
        for name, factor in self.ints:
            value += factor * space.ints[name]
        for floor, factor in self.floors:
            value += factor * (floor.numerator.evaluate(space.ints) // floor.denominator)
        for name, _, factor in self.ramps:
            value += factor * space.axes[name].start  # type: ignore[union-attr]
        return value


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to find a view in spaces of one kind: the row-major position of the element.

    ``checks`` are subscripts with the extents that they must stay below.
    """

    position: Sum
    checks: tuple[tuple[Sum, int], ...]


def locate(store: Store, access: Access, space: Space) -> Place:
    """The place of an access.

    Raises:
        ArrayFault: where a subscript is out of bounds.
    """
    key = (id(access), space.kind)
    recipe = store.recipes.get(key, store)
    if recipe is store:
        recipe = store.recipes[key] = _recipe(store, access, space)
    if recipe is None:
        return _indices(store, access, space)
    for subscript, extent in recipe.checks:
        low, high = subscript.reach(space)
        if low < 0 or high >= extent:
            return _indices(store, access, space)
    rank = len(space.shape)
    shape, steps = [1] * rank, [0] * rank
    for name, axis, factor in recipe.position.ramps:
        ramp = space.axes[name]
        assert isinstance(ramp, Ramp)
        shape[axis] = ramp.count
        steps[axis] += factor * ramp.step
    return Strides(tuple(shape), recipe.position.first(space), tuple(steps))


def _recipe(store: Store, access: Access, space: Space) -> Recipe | None:
    """How to find views in spaces of this kind; None where there are none."""
    position = Affine()
    checks = []
    subscripts = (*store.prefix, *access.indices)
    for affine, extent in zip(subscripts, store.data.shape, strict=True):
        found = _sum(affine, space)
        if found is None:
            return None
        checks.append((found, extent))
        position = position * extent + affine
    for affine, extent in access.limits:
        found = _sum(affine, space)
        if found is None:
            return None
        checks.append((found, extent))
    whole = _sum(position, space)
    assert whole is not None
    return Recipe(whole, () if id(access) in store.inside else tuple(checks))


def _sum(affine: Affine, space: Space) -> Sum | None:
    ints, floors, ramps = [], [], []
    for atom, factor in affine.terms:
        if isinstance(atom, FloorDiv):
            if any(name in space.axes for name in atom.numerator.variables()):
                return None
            floors.append((atom, factor))
        elif atom not in space.axes:
            ints.append((atom, factor))
        elif isinstance(value := space.axes[atom], Ramp):
            ramps.append((atom, value.axis, factor))
        else:
            return None
    return Sum(affine.const, tuple(ints), tuple(floors), tuple(ramps))


def gathered(store: Store, access: Access, data: Sequence[NDArray[Any]], space: Space) -> Indices:
    """The place of an access whose subscripts are partly data, in order in ``data``.

    Raises:
        ArrayFault: where a subscript is out of bounds.
    """
    values = iter(data)
    subscripts = (*store.prefix, *access.indices)
    found = {i: next(values) if i.is_data else evaluate(i, space) for i in subscripts}
    _check_limits(access, found, space)
    return _checked(store, tuple(found[i] for i in subscripts), space)


def _indices(store: Store, access: Access, space: Space) -> Indices:
    subscripts = (*store.prefix, *access.indices)
    _check_limits(access, {}, space)
    return _checked(store, tuple(evaluate(affine, space) for affine in subscripts), space)


def _check_limits(access: Access, known: Mapping[Affine, int | Ints], space: Space) -> None:
    for affine, extent in access.limits:
        value = known[affine] if affine in known else evaluate(affine, space)
        _check(value, extent, space)


def _checked(store: Store, found: tuple[int | Ints, ...], space: Space) -> Indices:
    for value, extent in zip(found, store.data.shape, strict=True):
        _check(value, extent, space)
    return Indices(
        tuple(v if isinstance(v, int) else v.astype(np.int64, copy=False) for v in found)
    )


def _check(value: int | Ints, extent: int, space: Space) -> None:
    values = np.full((1,) * len(space.shape), value) if isinstance(value, int) else value
    if values.min() < 0 or values.max() >= extent:
        raise ArrayFault(FaultKind.OUT_OF_BOUNDS, (values < 0) | (values >= extent))
