"""Arrays of NumPy whose elements are expressions of elements: ``np.roll``, ``np.outer``, ``reshape``, ``x[p]``, ``x[:, None]``.

A part at subscripts that are an array is a gather; one at truth values, a mask, has no constant length, and is summed or
assigned only (`masked`).
"""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Sequence

from dsl.errors.errors import LanguageError
from dsl.expressions.affine import Affine
from dsl.expressions.types import boolean
from dsl.frontend.arrays.axes import squares_of
from dsl.frontend.arrays.einsum import einsum
from dsl.frontend.arrays.joined import joined, padded, repeated
from dsl.frontend.arrays.matrices import CONSTANT, MATRICES, constant, matrix
from dsl.frontend.arrays.parts import part_of
from dsl.frontend.arrays.shapes import ArrayExpr, Exprs, Shape, numpy_name
from dsl.frontend.arrays.slices import is_new_dimension, view_of
from dsl.frontend.arrays.tables import is_of_module
from dsl.frontend.capture import is_number

_WRITTEN = {
    "roll": "write np.roll(x, 1), or np.roll(x, 1, axis=0)",
    "reshape": "write np.reshape(x, (4, 2))",
    "diff": "write x[1:] - x[:-1]",
    "outer": "its operands are two arrays of one dimension",
}
_METHODS = ("reshape", "ravel", "flatten", "clip")


def numpy_array(exprs: Exprs, node: ast.Call) -> ArrayExpr | None:
    """The array that such a function or method makes; None of all others.

    Raises:
        LanguageError: W142 shapes that do not fit, W144 what is no constant.
    """
    func = node.func
    if (squares := squares_of(exprs, node)) is not None:
        return exprs.of(squares)
    if isinstance(func, ast.Attribute) and func.attr in _METHODS:
        array = exprs.of(func.value)
        if array is not None:
            return _method(exprs, func.attr, array, node)
    if isinstance(func, ast.Attribute) and not is_of_module(exprs.ctx, func):
        return None
    name = numpy_name(exprs.ctx.evaluate(func))
    if name in CONSTANT:
        return constant(exprs, name, node)
    if name in MATRICES:
        return matrix(exprs, name, node)
    if name in ("repeat", "tile") and node.args:
        return repeated(exprs, name, node)
    match name:
        case "pad":
            return padded(exprs, node)
        case "concatenate" | "stack" | "vstack" | "hstack" | "column_stack":
            return joined(exprs, name, node)
        case "arange":
            return _arange(exprs, node)
        case "einsum":
            return einsum(exprs, node)
        case "array" | "asarray":
            return _array(exprs, node)
        case "outer" | "diff" | "roll" | "flip" | "ravel" | "reshape" if node.args:
            array = exprs.of(node.args[0])
            return None if array is None else _of_array(exprs, name, array, node)
    return None


def _method(exprs: Exprs, name: str, array: ArrayExpr, node: ast.Call) -> ArrayExpr:
    if name == "clip":
        if len(node.args) > 2 or any(k.arg not in ("min", "max") for k in node.keywords):
            raise _refused(exprs, node, "write x.clip(low, high)")

        def clipped(at: Sequence[Affine]) -> ast.expr:
            import numpy as np

            function = exprs.given(np.clip, ast.Name("clip", ast.Load()))
            return exprs.at(ast.Call(function, [array.at(at), *node.args], node.keywords))

        return ArrayExpr(array.shape, clipped, array.own)
    if name != "reshape" and (node.args or node.keywords):
        raise _refused(exprs, node, f"write x.{name}(), of which the last dimension is the fastest")
    return _reshaped(exprs, array, node.args if name == "reshape" else None, node)


def _of_array(exprs: Exprs, name: str, array: ArrayExpr, node: ast.Call) -> ArrayExpr | None:
    rest = node.args[1:]
    named = {"roll": ("axis",), "flip": ("axis",), "diff": ("axis", "n")}.get(name, ())
    unread = [k.arg for k in node.keywords if k.arg not in named]
    most = {"ravel": 0, "flip": 1, "roll": 2, "diff": 2}.get(name, len(rest))
    if unread or len(rest) > most or (name == "roll" and not rest):
        raise _refused(exprs, node, _WRITTEN.get(name, f"write np.{name}(x)"))
    if name in ("ravel", "reshape"):
        return _reshaped(exprs, array, rest if name == "reshape" else None, node)
    if name == "outer":
        return _outer(exprs, array, node)
    if name == "diff":
        return _diff(exprs, array, node)
    axis = _axis(exprs, array, node, rest[1:] if name == "roll" else rest)
    if axis is None and len(array.shape) > 1:
        raise _refused(exprs, node, "say the axis: axis=0")
    d = axis or 0
    extent = array.shape[d]
    if name == "flip":
        return ArrayExpr(
            array.shape, lambda at: array.at([*at[:d], extent - 1 - at[d], *at[d + 1 :]])
        )
    shift = exprs.ctx.evaluate(rest[0]) if rest else 0
    if not isinstance(shift, Affine):
        shift = Affine.of(-(-_constant(exprs, node, rest[0]) % extent))  # no difference is below 0
    by = shift

    def rolled(at: Sequence[Affine]) -> ast.expr:
        return array.at([*at[:d], (at[d] - by) % extent, *at[d + 1 :]])

    return ArrayExpr(array.shape, rolled)


def _outer(exprs: Exprs, a: ArrayExpr, node: ast.Call) -> ArrayExpr:
    b = exprs.of(node.args[1]) if len(node.args) == 2 else None
    if b is None or len(a.shape) != 1 or len(b.shape) != 1:
        raise _refused(exprs, node, "its operands are two arrays of one dimension")
    second = b

    def at(places: Sequence[Affine]) -> ast.expr:
        i, j = places
        return exprs.at(ast.BinOp(a.at([i]), ast.Mult(), second.at([j])))

    return ArrayExpr((*a.shape, *b.shape), at)


def _diff(exprs: Exprs, array: ArrayExpr, node: ast.Call) -> ArrayExpr:
    """Of neighbours along an axis, the last one unless it is said, and of these differences again."""
    given = dict(zip(("n", "axis"), node.args[1:], strict=False))
    given |= {k.arg: k.value for k in node.keywords if k.arg is not None}
    times = _constant(exprs, node, given["n"]) if "n" in given else 1
    axis = _constant(exprs, node, given["axis"]) if "axis" in given else -1
    rank = len(array.shape)
    if not -rank <= axis < rank or not 0 <= times < array.shape[axis]:
        raise _refused(exprs, node, "write x[1:] - x[:-1]")
    found = array
    for _ in range(times):
        found = _differences(exprs, found, axis % rank)
    return found


def _differences(exprs: Exprs, array: ArrayExpr, d: int) -> ArrayExpr:
    def at(places: Sequence[Affine]) -> ast.expr:
        high = array.at([*places[:d], places[d] + 1, *places[d + 1 :]])
        return exprs.at(ast.BinOp(high, ast.Sub(), array.at(places)))

    return ArrayExpr((*array.shape[:d], array.shape[d] - 1, *array.shape[d + 1 :]), at)


def _arange(exprs: Exprs, node: ast.Call) -> ArrayExpr:
    bounds = [_constant(exprs, node, a) for a in node.args]
    of = range(*bounds) if 1 <= len(bounds) <= 3 and 0 not in bounds[2:] else range(0)
    if not of or any(k.arg != "dtype" for k in node.keywords):
        raise _refused(exprs, node, "it has a constant number of elements: np.arange(8)")
    to = next((k.value for k in node.keywords), None)

    def number(at: Sequence[Affine]) -> ast.expr:
        found = exprs.given(at[0] * of.step + of.start)
        return found if to is None else exprs.at(ast.Call(to, [found], []))

    return ArrayExpr((len(of),), number)


def _reshaped(
    exprs: Exprs, array: ArrayExpr, args: Sequence[ast.expr] | None, node: ast.Call
) -> ArrayExpr:
    """The same elements in another shape, the last dimension fastest."""
    size = math.prod(array.shape)
    shape: Shape = (size,)
    if args is not None:
        nodes = args[0].elts if len(args) == 1 and isinstance(args[0], ast.Tuple) else args
        extents = [_constant(exprs, node, n) for n in nodes]
        open_ = extents.count(-1)
        known = math.prod(n for n in extents if n != -1)
        if open_ == 1 and known > 0 and size % known == 0:
            extents = [size // known if n == -1 else n for n in extents]
        if open_ > 1 or math.prod(extents) != size or min(extents, default=0) < 1 or node.keywords:
            raise _refused(exprs, node, f"it has {size} elements, of the shape {array.shape}")
        shape = tuple(extents)

    def at(places: Sequence[Affine]) -> ast.expr:
        flat = Affine()
        for place, extent in zip(places, shape, strict=True):
            flat = flat * extent + place
        found: list[Affine] = []
        for extent in reversed(array.shape[1:]):
            found.insert(0, flat % extent)
            flat = flat // extent
        return array.at([flat, *found])

    return ArrayExpr(shape, at)


def _array(exprs: Exprs, node: ast.Call) -> ArrayExpr | None:
    """``np.array(TABLE)`` of a captured list, or of an array: a copy."""
    if len(node.args) not in (1, 2) or isinstance(node.args[0], ast.ListComp):
        return None
    if any(k.arg not in ("dtype", "copy") for k in node.keywords):
        raise _refused(exprs, node, "write np.array(x), or np.array(x, dtype=np.int32)")
    found = (
        _listed(exprs, node.args[0])
        if isinstance(node.args[0], ast.List)
        else exprs.of(node.args[0])
    )
    if found is None:
        table = exprs.ctx.evaluate(node.args[0])
        found = of_list(exprs, table, node.args[0])
    if found is None:
        return None
    said = [*node.args[1:], *(k.value for k in node.keywords if k.arg == "dtype")]
    cast = said[0] if said else None
    made = found
    if cast is None:
        return ArrayExpr(made.shape, made.at)
    return ArrayExpr(made.shape, lambda at: exprs.at(ast.Call(cast, [made.at(at)], [])))


def of_list(exprs: Exprs, table: object, node: ast.expr) -> ArrayExpr | None:
    """A captured list or tuple of numbers, or of rows of them."""
    shape: list[int] = []
    inside = table
    while isinstance(inside, list | tuple) and inside:
        shape.append(len(inside))
        inside = inside[0]
    if not shape or not is_number(inside):
        return None

    def at(places: Sequence[Affine]) -> ast.expr:
        made = node
        for place in places:
            made = exprs.at(ast.Subscript(made, exprs.given(place), ast.Load()))
        return made

    return ArrayExpr(tuple(shape), at)


# ---------------------------------------------------------------------------------- subscripts


def picked(exprs: Exprs, node: ast.expr) -> ArrayExpr | None:
    """``x[:, None]``, with new dimensions, and ``x[p]`` at subscripts that are an array; None of all others.

    Raises:
        LanguageError: W142 a mask.
    """
    assert isinstance(node, ast.Subscript)
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if any(is_new_dimension(p) for p in parts):
        return _with_new(exprs, node, parts)
    if len(parts) != 1 or isinstance(parts[0], ast.Slice | ast.Constant):
        return None
    view = view_of(exprs.ctx, node.value) if isinstance(node.value, ast.Name) else None
    whole = part_of(exprs.ctx, view)
    places = exprs.of(parts[0]) or _listed(exprs, parts[0])
    if whole is None or places is None:
        return None
    if is_mask(exprs, parts[0]):
        text = exprs.ctx.source.text(node)
        message = f"{text} are the elements where a condition holds, which are not a known number"
        instead = "sum them, or write np.where(condition, x, 0), or a loop with 'if'"
        raise exprs.ctx.error("W142", message, node, instead)
    if len(whole[1].shape) != 1:
        raise _refused(exprs, node, "write the loop over the subscripts")
    found, base = places, node.value

    def at(k: Sequence[Affine]) -> ast.expr:
        return exprs.at(ast.Subscript(base, found.at(k), ast.Load()))

    return ArrayExpr(places.shape, at)


def _listed(exprs: Exprs, node: ast.expr) -> ArrayExpr | None:
    """The subscripts in a captured list, or in one that is written there."""
    if isinstance(node, ast.Name):
        return of_list(exprs, exprs.ctx.evaluate(node), node)
    if not isinstance(node, ast.List):
        return None
    numbers = _numbers(exprs, node)
    return (
        None
        if numbers is None
        else of_list(exprs, numbers, exprs.given(numbers, ast.Name("list", ast.Load())))
    )


def _numbers(exprs: Exprs, node: ast.List) -> list[object] | None:
    """The constants in a list that is written there, which may be lists again; None where others are in it."""
    found: list[object] = []
    for part in node.elts:
        each = _numbers(exprs, part) if isinstance(part, ast.List) else exprs.ctx.evaluate(part)
        if each is None or not (isinstance(each, list) or is_number(each)):
            return None
        found.append(each)
    return found


def _with_new(exprs: Exprs, node: ast.Subscript, parts: Sequence[ast.expr]) -> ArrayExpr | None:
    kept = [p for p in parts if not is_new_dimension(p)]
    inside: ast.expr = node.value
    if kept:
        key = kept[0] if len(kept) == 1 else exprs.at(ast.Tuple(kept, ast.Load()))
        inside = exprs.at(ast.Subscript(node.value, key, ast.Load()))
    array = exprs.of(inside)
    if array is None:
        return None
    own = iter(array.shape)
    marks = [p for p in parts if is_new_dimension(p) or isinstance(p, ast.Slice)]
    shape = [1 if is_new_dimension(p) else next(own) for p in marks] + [*own]
    is_own = [not is_new_dimension(p) for p in marks]
    is_own += [True] * (len(shape) - len(is_own))
    found = array

    def at(places: Sequence[Affine]) -> ast.expr:
        return found.at([*itertools.compress(places, is_own)])

    return ArrayExpr(tuple(shape), at)


def is_mask(exprs: Exprs, node: ast.expr) -> bool:
    """Whether the elements of an expression of arrays are truth values."""
    match node:
        case ast.Compare() | ast.BoolOp():
            return True
        case ast.UnaryOp(op=ast.Not() | ast.Invert(), operand=inside):
            return is_mask(exprs, inside)
        case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr() | ast.BitXor(), right=right):
            return is_mask(exprs, left) and is_mask(exprs, right)
        case ast.Name():
            part = part_of(exprs.ctx, exprs.ctx.evaluate(node))
            return part is not None and part[1].dtype == boolean
    return False


def masked(exprs: Exprs, node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """The array and the mask of ``x[x > 3]``; None of all else."""
    if not isinstance(node, ast.Subscript) or isinstance(node.slice, ast.Tuple | ast.Slice):
        return None
    if not is_mask(exprs, node.slice) or exprs.of(node.slice) is None:
        return None
    return (node.value, node.slice) if exprs.of(node.value) is not None else None


def _axis(exprs: Exprs, array: ArrayExpr, node: ast.Call, args: Sequence[ast.expr]) -> int | None:
    given = next((k.value for k in node.keywords if k.arg == "axis"), args[0] if args else None)
    if given is None:
        return None
    axis = _constant(exprs, node, given)
    if not -len(array.shape) <= axis < len(array.shape):
        raise _refused(exprs, node, f"the axis is 0 to {len(array.shape) - 1}")
    return axis % len(array.shape)


def _constant(exprs: Exprs, node: ast.Call, part: ast.expr) -> int:
    found = exprs.ctx.evaluate(part)
    if type(found) is not int:
        raise _refused(exprs, node, f"{exprs.ctx.source.text(part)} is no integer constant")
    return found


def _refused(exprs: Exprs, node: ast.expr, instead: str) -> LanguageError:
    message = f"{exprs.ctx.source.text(node)} is no array of a kernel"
    return exprs.ctx.error("W142", message, node, instead)
