"""Elements and parts of expressions of arrays: ``(x * 2)[1]``, ``np.sort(x)[::-1]``, ``(a @ b)[:, 0]``.

Only what is asked for is computed. The subscripts are constants or affine, and known to be inside of the expression's bounds.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from dsl.errors.errors import LanguageError
from dsl.expressions.affine import Affine
from dsl.frontend.arrays.shapes import ArrayExpr, Exprs, numpy_name
from dsl.frontend.arrays.tables import is_of_module

_EXPRESSIONS = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.Call)


def subscripted(exprs: Exprs, node: ast.Subscript) -> ArrayExpr | None:
    """The part of an expression, of no dimensions where it is one element; None of what has a name, and of tables.

    Raises:
        LanguageError: W142 too many subscripts, or one that is no constant; W145 one outside; W151 an empty slice.
    """
    inside = node.value
    while isinstance(inside, ast.Subscript):
        inside = inside.value
    is_transposed = (
        isinstance(inside, ast.Attribute)
        and inside.attr == "T"
        and not is_of_module(exprs.ctx, inside)  # a table
    )
    if not is_transposed and not isinstance(inside, _EXPRESSIONS):
        return None
    array = exprs.of(node.value)
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if array is None or (array.own and _is_element(array, parts) and _is_own(exprs, inside)):
        return None  # an element of what a function returns, which may be at a loop variable
    if len(parts) > len(array.shape):
        raise _refused(exprs, "W142", node, f"it has {len(array.shape)} dimensions")
    whole = [ast.Slice()] * (len(array.shape) - len(parts))
    dims = [
        _places(exprs, node, part, extent)
        for part, extent in zip([*parts, *whole], array.shape, strict=True)
    ]
    found = array

    def at(places: Sequence[Affine]) -> ast.expr:
        own = iter(places)
        return found.at([next(own) * d.step + d.start if isinstance(d, range) else d for d in dims])

    return ArrayExpr(tuple(len(d) for d in dims if isinstance(d, range)), at)


def _is_own(exprs: Exprs, inside: ast.expr) -> bool:
    """Whether it is a call of a function that is not NumPy's."""
    return isinstance(inside, ast.Call) and not numpy_name(exprs.ctx.evaluate(inside.func))


def _is_element(array: ArrayExpr, parts: Sequence[ast.expr]) -> bool:
    return len(parts) == len(array.shape) and not any(isinstance(p, ast.Slice) for p in parts)


def _places(exprs: Exprs, node: ast.Subscript, part: ast.expr, extent: int) -> Affine | range:
    """The subscript of an element, counted from the front, or those of a slice."""
    if not isinstance(part, ast.Slice):
        found = exprs.ctx.evaluate(part)
        if isinstance(found, Affine) and not found.is_const:
            low, high = found.interval(exprs.ctx.names.ranges())
            if low < 0 or high >= extent:
                message = f"it has the elements 0 to {extent - 1}, and this is {low} to {high}"
                raise _refused(exprs, "W145", node, message)
            return found
        place = _constant(exprs, node, part)
        if not -extent <= place < extent:
            raise _refused(exprs, "W145", node, f"{place} is outside of {extent} elements")
        return Affine.of(place % extent)
    ends = [
        None if n is None else _constant(exprs, node, n)
        for n in (part.lower, part.upper, part.step)
    ]
    if ends[2] == 0:
        raise _refused(exprs, "W151", node, "the step of a slice is not 0")
    places = range(*slice(*ends).indices(extent))
    if not places:
        raise _refused(exprs, "W151", node, "the slice has no elements")
    return places


def _constant(exprs: Exprs, node: ast.Subscript, part: ast.expr) -> int:
    found = exprs.ctx.evaluate(part)
    if type(found) is not int:
        instead = "give the expression a name, and subscript that: t = ..., then t[i]"
        raise _refused(exprs, "W142", node, instead)
    return found


def _refused(exprs: Exprs, code: str, node: ast.Subscript, instead: str) -> LanguageError:
    message = f"{exprs.ctx.source.text(node)} is no part of an expression of arrays"
    return exprs.ctx.error(code, message, node, instead)
