"""Parts of arrays: ``A[i]``, ``x[4:8]`` and names of them, ``row = A[i]``, which are no copies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dsl.expressions.affine import Affine
from dsl.expressions.types import ArrayType
from dsl.frontend.context import Context
from dsl.programs.inline import Slice, View
from dsl.programs.program import Array


def part_of(ctx: Context, found: object) -> tuple[View, Array] | None:
    """An array, or a name of a part of one, as that part, and as an array of its own shape."""
    if isinstance(found, Array):
        return View(found.name, tuple(Slice(Affine(), n) for n in found.shape)), found
    if isinstance(found, View):
        array = ctx.names.array(found.array)
        assert array is not None
        return found, replace(array, shape=type_of(found, array).shape)
    return None


def within(view: View, dims: Sequence[Affine | Slice]) -> View:
    """A part of a part."""
    own = iter(dims)

    def placed(outer: Slice, inner: Affine | Slice) -> Affine | Slice:
        if isinstance(inner, Slice):
            start = outer.start + inner.start * outer.step
            return Slice(start, inner.extent, outer.step * inner.step)
        return outer.start + inner * outer.step

    return View(
        view.array, tuple(placed(d, next(own)) if isinstance(d, Slice) else d for d in view.dims)
    )


def type_of(view: View, array: Array) -> ArrayType:
    """Element type and shape of a part of an array."""
    return ArrayType(array.dtype, tuple(d.extent for d in view.dims if isinstance(d, Slice)))
