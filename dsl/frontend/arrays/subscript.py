"""Subscripts: elements of arrays, entries of captured tables, and types such as ``f32[N, M]``."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dsl.errors.errors import LanguageError, did_you_mean
from dsl.expressions import values
from dsl.expressions.affine import Affine
from dsl.expressions.elements import element, is_subscript
from dsl.expressions.expr import Expr, Gather, Load, loads
from dsl.expressions.types import ArrayType, ConstType, DType, Overflow, Quant, const, fixed
from dsl.frontend.arrays.from_end import from_end
from dsl.frontend.arrays.parts import part_of
from dsl.frontend.arrays.tables import looked_up, without_slices
from dsl.frontend.capture import describe, dtype_of, is_number
from dsl.frontend.context import Context
from dsl.frontend.operands import bounded, example_access, value
from dsl.frontend.syntax.unsupported import EXPRESSIONS
from dsl.programs.inline import Slice, View
from dsl.programs.program import MAX_EXTENT, Array

AFFINE_HELP = "write sums of loop variables times constants, with // and % by positive constants"


def subscript(ctx: Context, node: ast.Subscript) -> object:
    """``A[i, j]`` (also as ``A[i][j]``), ``A[x[i]]``, ``TABLE[2]`` or ``f32[N]``."""
    found = element_of(ctx, node)
    return found[1] if isinstance(found, tuple) else found


def element_of(ctx: Context, node: ast.Subscript) -> tuple[Array, Load | Gather] | object:
    """The array and the element that is read or assigned; for anything else, its value."""
    found = _subscripted(ctx, node)
    if not isinstance(found, tuple):
        return found
    (view, array), subscripts = found
    places = [_index(ctx, array, dim, n) for dim, n in enumerate(subscripts)]
    return array, _placed(ctx, view, array, places, node)


def _placed(
    ctx: Context, view: View, array: Array, places: list[values.Value], node: ast.Subscript
) -> Load | Gather:
    """The element of a part of an array, or of all of it."""
    span = ctx.span(node)
    own = iter(places)
    whole: list[values.Value] = []
    limits: list[tuple[Affine, int]] = []
    for d in view.dims:
        if not isinstance(d, Slice):
            whole.append(d)
            continue
        place = next(own)
        affine = values.as_affine(place)
        if affine is not None:
            whole.append(d.start + affine * d.step)
            limits.append((affine, d.extent))
            continue
        if d.start != Affine() or d.step != 1 or d.extent != _extent_of(ctx, view, len(whole)):
            raise ctx.error(
                "W151",
                f"{ctx.source.text(node)} is at a subscript that is data, of a part that is not the whole dimension",
                node,
                "subscript the whole array, and say where the part begins",
            )
        whole.append(place)
    found = element(view.array, array.dtype, whole, span)
    if whole == places:  # of the whole array
        return found
    access = replace(found.access, limits=tuple(limits))
    return replace(found, access=access)


def _extent_of(ctx: Context, view: View, dim: int) -> int:
    array = ctx.names.array(view.array)
    assert array is not None
    return array.shape[dim]


def _subscripted(
    ctx: Context, node: ast.Subscript
) -> tuple[tuple[View, Array], list[ast.expr]] | object:
    """An array, or a part of one, and as many subscripts as it has dimensions; for anything else, its value."""
    chain: list[ast.Subscript] = []
    base: ast.expr = node
    while isinstance(base, ast.Subscript):
        chain.insert(0, base)
        base = base.value
    found = _listed(ctx, base) if isinstance(base, ast.Tuple | ast.List) else ctx.evaluate(base)
    part = part_of(ctx, found)
    if part is not None:
        parts = [n.slice for n in chain]
        subscripts = [i for p in parts for i in (p.elts if isinstance(p, ast.Tuple) else [p])]
        return part, _counted(ctx, part[1], subscripts, node)
    found, chain = without_slices(ctx, found, chain)
    if (entry := looked_up(ctx, found, chain)) is not None:
        return entry
    for link in chain:
        found = _item(ctx, found, link)
    return found


def _listed(ctx: Context, node: ast.expr) -> object:
    """The values that are written in a tuple or list, as a table of them."""
    if isinstance(node, ast.Tuple | ast.List) and not any(
        isinstance(n, ast.Starred) for n in node.elts
    ):
        return tuple(_listed(ctx, n) for n in node.elts)
    return value(ctx, node)


def _counted(
    ctx: Context, array: Array, subscripts: list[ast.expr], node: ast.Subscript
) -> list[ast.expr]:
    if len(subscripts) != len(array.shape):
        count, rank = len(subscripts), len(array.shape)
        raise ctx.error(
            "W142",
            f"'{array.name}' has {_dimensions(rank)}, but is given {_subscripts(count)}",
            node,
            f"its type is {array.type}: write {example_access(array)}",
        )
    return subscripts


def _dimensions(count: int) -> str:
    return "1 dimension" if count == 1 else f"{count} dimensions"


def _subscripts(count: int) -> str:
    return "1 subscript" if count == 1 else f"{count} subscripts"


def _index(ctx: Context, array: Array, dim: int, node: ast.expr) -> values.Value:
    """A subscript: affine, or an integer that is data."""
    if isinstance(node, ast.Slice):
        return affine_index(ctx, array, dim, node)
    index = value(ctx, node)
    if values.as_affine(index) is None and is_subscript(index):
        return from_end(ctx, index, array.shape[dim], ctx.span(node))
    if isinstance(index, Expr) and loads(index):
        raise ctx.error(
            "W140",
            f"the subscript of '{array.name}' is a value of type {index.dtype}, not an integer",
            node,
            f"convert it: weft.i32({ctx.source.text(node)})",
        )
    return from_end(ctx, affine_index(ctx, array, dim, node), array.shape[dim], ctx.span(node))


def affine_index(ctx: Context, array: Array, dim: int, node: ast.expr) -> Affine:
    """A subscript, or an end of a slice, that follows from loop variables alone.

    Raises:
        LanguageError: W105 a slice, W140 it is not affine, W145 a negative number.
    """
    if isinstance(node, ast.Slice):
        what, instead = EXPRESSIONS[ast.Slice]
        raise ctx.error("W105", f"{what} is not supported in a kernel", node, instead)
    index = value(ctx, node)
    affine = values.as_affine(index)
    if affine is None:
        raise not_affine(ctx, "W140", f"the subscript of '{array.name}'", node)
    if affine.is_const and affine.const < 0:  # counts from the end, as in Python
        place = array.shape[dim] + affine.const
        if place < 0:
            message = (
                f"the subscript {affine.const} is in front of '{array.name}', which is {array.type}"
            )
            raise ctx.error("W145", message, node)
        return Affine.of(place)
    return affine


def not_affine(ctx: Context, code: str, what: str, node: ast.expr) -> LanguageError:
    """The error for an expression that should be affine; it points to the part that is not."""
    part = _culprit(ctx, node)
    text = ctx.source.text(part)
    found = value(ctx, part)
    if isinstance(found, Expr) and (read := loads(found)):
        reason = f"{text} depends on data"
        if isinstance(part, ast.Subscript | ast.Name):
            reason = f"it reads {read[0]}"
        instead = "a part follows from loop variables alone: pass the whole array, or write the loop over its elements"
        if code == "W141":
            instead = (
                "a loop runs a fixed number of times: write the most that there may be, and leave "
                "it with 'if ...: break'"
            )
        return ctx.error(code, f"{what} is not affine: {reason}", part, instead)
    if is_number(found):
        instead = AFFINE_HELP
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div):
            instead = "write // for the integer quotient"
        return ctx.error(code, f"{what} is {text}, not an integer", part, instead)
    match part:
        case ast.BinOp(op=ast.Mult() | ast.Pow()):
            reason = f"{text} multiplies loop variables"
        case ast.BinOp(op=ast.FloorDiv() | ast.Mod()):
            reason = f"{text} does not divide by a positive constant"
        case ast.BinOp(op=ast.Div()):
            reason = f"{text} is not an integer; // is the division that rounds down"
        case _:
            reason = f"{text} is none of + - * // %"
    return ctx.error(code, f"{what} is not affine: {reason}", part, AFFINE_HELP)


def _culprit(ctx: Context, node: ast.expr) -> ast.expr:
    """The innermost part that is not affine although its own parts are."""
    match node:
        case ast.BinOp():
            parts = [node.left, node.right]
        case ast.UnaryOp():
            parts = [node.operand]
        case _:
            return node
    for part in parts:
        if values.as_affine(value(ctx, part)) is None:
            return _culprit(ctx, part)
    return node


# -------------------------------------------------------------------------- tables and types


def _item(ctx: Context, base: object, node: ast.Subscript) -> object:
    """One entry of a captured table, or a type made with brackets."""
    part = node.slice
    dtype = dtype_of(base)
    if dtype is not None:
        return _array_type(ctx, dtype, part)
    if isinstance(base, type(fixed)):
        return _fixed_type(ctx, base, part)
    if isinstance(base, type(const)):
        inner = ctx.evaluate(part)
        if not isinstance(inner, ArrayType) and dtype_of(inner) is None:
            message = f"weft.const takes a type, not {describe(inner)}"
            raise ctx.error("W103", message, part, "write weft.const[f32[8]]")
        return ConstType(inner)  # type: ignore[arg-type]
    if isinstance(base, (Sequence, Mapping)) or hasattr(base, "__array__"):
        return _entry(ctx, base, node)
    text = ctx.source.text(node.value)
    raise ctx.error(
        "W113",
        f"{text} is {'a scalar' if isinstance(base, Expr) else describe(base)}, and has no "
        "elements",
        node,
        "arrays are arguments or locals: tmp: f32[8]",
    )


def _array_type(ctx: Context, dtype: DType, part: ast.expr) -> ArrayType:
    extents = part.elts if isinstance(part, ast.Tuple) else [part]
    return ArrayType(dtype, tuple(_extent(ctx, n) for n in extents))


def _extent(ctx: Context, node: ast.expr) -> int:
    instead = "sizes are positive integers that are known when the kernel is compiled"
    if isinstance(node, ast.Slice):
        raise ctx.error("W144", "an extent is not a slice", node, instead)
    found = ctx.evaluate(node)
    text = ctx.source.text(node)
    if isinstance(found, (Affine, Expr, Array)):
        raise ctx.error("W144", f"the extent {text} is not a constant", node, instead)
    if isinstance(found, bool) or not isinstance(found, int):
        message = f"the extent {text} is {describe(found)}, not an integer"
        raise ctx.error("W144", message, node, instead)
    if not 1 <= found <= MAX_EXTENT:
        shown = text if text == str(found) else f"{text} = {found}"
        raise ctx.error("W144", f"the extent {shown} is out of range", node, instead)
    return found


def _fixed_type(ctx: Context, factory: Any, part: ast.expr) -> object:
    nodes = part.elts if isinstance(part, ast.Tuple) else [part]
    params = [ctx.evaluate(n) for n in nodes]
    instead = 'write fixed[16, 8] (16 bits, 8 left of the point) or fixed[16, 8, "rnd", "sat"]'
    modes = ((2, Quant, "rounding"), (3, Overflow, "overflow"))
    for position, kind, what in modes:
        known = [mode.value for mode in kind]
        if position < len(params) and params[position] not in known:
            message = f"there is no {what} mode {params[position]!r}"
            near = did_you_mean(str(params[position]), known)
            raise ctx.error("W103", message, nodes[position], near)
    if not 2 <= len(params) <= 4 or not all(type(p) is int for p in params[:2]):
        raise ctx.error("W103", "this is no fixed-point type", part, instead)
    try:
        return factory[tuple(params)]
    except ValueError as e:
        raise ctx.error("W103", str(e), part, instead) from None


def _entry(ctx: Context, base: Any, node: ast.Subscript) -> object:
    part, text = node.slice, ctx.source.text(node.value)
    key = _key(ctx, part)
    if isinstance(key, (Affine, Expr)):
        raise ctx.error(
            "W113",
            f"{text} is a captured table, and {ctx.source.text(part)} is not a constant",
            part,
            "pass the table as an argument of type weft.const[...], e.g. weft.const[f32[8]]",
        )
    try:
        return bounded(ctx, values.plain(base[key]), node)
    except (LookupError, TypeError, ValueError) as e:
        reason = "no such key" if isinstance(e, KeyError) else str(e)
        message = f"{ctx.source.text(node)} has no value: {reason}"
        raise ctx.error("W114", message, node) from None


def _key(ctx: Context, part: ast.expr) -> object:
    """A constant key: a number, a string, or a tuple of them."""
    if isinstance(part, ast.Slice):
        what, instead = EXPRESSIONS[ast.Slice]
        raise ctx.error("W105", f"{what} is not supported in a kernel", part, instead)
    if not isinstance(part, ast.Tuple):
        return ctx.evaluate(part)
    keys = [ctx.evaluate(n) for n in part.elts]
    moving = next((k for k in keys if isinstance(k, (Affine, Expr))), None)
    return tuple(keys) if moving is None else moving
