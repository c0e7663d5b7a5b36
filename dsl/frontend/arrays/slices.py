"""Slices of arrays that are passed to other kernels: ``A[i, :]``, ``A[4 * i:4 * i + 4]``, rows as ``A[i]``."""

from __future__ import annotations

import ast

from dsl.errors.errors import LanguageError
from dsl.expressions import values
from dsl.expressions.affine import Affine
from dsl.frontend.arrays.parts import part_of, within
from dsl.frontend.arrays.subscript import affine_index
from dsl.frontend.context import Context
from dsl.frontend.operands import value
from dsl.programs.inline import Slice, View
from dsl.programs.program import Array


def view_of(ctx: Context, node: ast.expr) -> View | None:
    """The part of an array that an argument of a call is; None where it is something else, or one element.

    Raises:
        LanguageError: W140, W145, W151 what is wrong with a slice.
    """
    subscripts: list[ast.expr] = []
    whole: tuple[View, Array] | None = None
    while isinstance(node, ast.Subscript):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if any(map(is_new_dimension, parts)):
            return None
        if subscripts and any(isinstance(part, ast.Slice) for part in parts):
            whole = part_of(ctx, view_of(ctx, node))  # a part of a part
            break
        subscripts[:0] = parts
        node = node.value
    if whole is None and isinstance(node, ast.Name):
        whole = part_of(ctx, ctx.evaluate(node))
    if whole is None or len(subscripts) > len(whole[1].shape):
        return None
    view, array = whole
    slices = any(isinstance(part, ast.Slice) for part in subscripts)
    if len(subscripts) == len(array.shape) and not slices:
        return None  # an element
    dims = [
        _slice(ctx, array, d, part)
        if isinstance(part, ast.Slice)
        else affine_index(ctx, array, d, part)
        for d, part in enumerate(subscripts)
    ]
    dims += [Slice(Affine(), extent) for extent in array.shape[len(subscripts) :]]
    return within(view, dims)


def of_sliced(ctx: Context, node: ast.Subscript) -> ast.Subscript:
    """An element of a slice, ``x[2:8][i]``, as one of a name of that part; any other subscript as it is."""
    inside = node.value
    while isinstance(inside, ast.Subscript):
        parts = inside.slice.elts if isinstance(inside.slice, ast.Tuple) else [inside.slice]
        if any(isinstance(part, ast.Slice) for part in parts):
            break
        inside = inside.value
    view = view_of(ctx, inside) if isinstance(inside, ast.Subscript) else None
    if view is None:
        return node
    name = ast.copy_location(ast.Name(view.array, ast.Load()), inside)
    ctx.given[name] = view
    return _with_base(node, inside, name)


def _with_base(node: ast.Subscript, old: ast.expr, new: ast.expr) -> ast.Subscript:
    base = new if node.value is old else node.value
    if base is node.value:
        assert isinstance(base, ast.Subscript)
        base = _with_base(base, old, new)
    return ast.copy_location(ast.Subscript(base, node.slice, node.ctx), node)


def is_new_dimension(part: ast.expr) -> bool:
    """Whether a subscript is ``None`` or ``np.newaxis``."""
    if isinstance(part, ast.Constant):
        return part.value is None
    return isinstance(part, ast.Attribute) and part.attr == "newaxis"


def _slice(ctx: Context, array: Array, dim: int, node: ast.Slice) -> Slice:
    whole = array.shape[dim]
    low = Affine() if node.lower is None else affine_index(ctx, array, dim, node.lower)
    high = Affine((), whole) if node.upper is None else affine_index(ctx, array, dim, node.upper)
    step = 1 if node.step is None else values.as_affine(value(ctx, node.step))
    if isinstance(step, Affine):
        step = step.const if step.is_const else 0
    if step is not None and step < 0:
        return _backwards(ctx, array, dim, node, step)
    if step is None or step < 1:
        raise _refused(
            ctx, "the step of a slice is a constant", node.step or node, "write a loop instead"
        )
    length = high - low
    if not length.is_const or length.const < 1:
        text = ctx.source.text(node)
        instead = "write as many elements for all iterations, as in A[4 * i:4 * i + 4]"
        raise _refused(ctx, f"the slice {text} has no constant length of at least 1", node, instead)
    if low.is_const and not 0 <= low.const <= high.const <= whole:
        text = f"the slice {ctx.source.text(node)} leaves '{array.name}', which is {array.type}"
        raise _refused(ctx, text, node, f"dimension {dim} has the elements 0 to {whole - 1}")
    return Slice(low, -(-length.const // step), step)


def _backwards(ctx: Context, array: Array, dim: int, node: ast.Slice, step: int) -> Slice:
    """``x[::-1]``, between constants or ends."""
    ends = [
        None if n is None else values.as_affine(value(ctx, n)) for n in (node.lower, node.upper)
    ]
    given = [n for n in (node.lower, node.upper) if n is not None]
    known = [e.const for e in ends if e is not None and e.is_const]
    if len(known) != len(given):
        message = "a slice with a negative step is between constants"
        raise _refused(ctx, message, node, "write a loop instead")
    numbers = [None if e is None else e.const for e in ends]
    first, end = numbers
    places = range(*slice(first, end, step).indices(array.shape[dim]))
    if not places:
        raise _refused(ctx, f"the slice {ctx.source.text(node)} is empty", node, "swap its ends")
    return Slice(Affine.of(places[0]), len(places), step)


def _refused(ctx: Context, message: str, node: ast.expr, instead: str) -> LanguageError:
    return ctx.error("W151", message, node, instead)
