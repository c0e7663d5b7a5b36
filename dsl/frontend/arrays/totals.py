"""One number of whole arrays: ``x.sum()``, ``np.max(A[i])``, ``np.dot(a, b)``, ``a @ b``, made into ``sum`` over loops."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from dsl.expressions.affine import Affine
from dsl.frontend.arrays.axes import (
    PRODUCTS,
    check_arguments,
    element_type,
    reduced,
    squares_of,
)
from dsl.frontend.arrays.data_rows import data_row
from dsl.frontend.arrays.einsum import einsum_total
from dsl.frontend.arrays.expressions import REDUCTIONS, ArrayExprs, method_of
from dsl.frontend.arrays.matrices import diagonal
from dsl.frontend.arrays.numpy_arrays import masked
from dsl.frontend.arrays.shapes import numpy_name
from dsl.frontend.arrays.subscripted import subscripted
from dsl.frontend.arrays.uneven import uneven_total
from dsl.frontend.context import Context

_PYTHON = (sum, min, max, any, all)


def total(ctx: Context, node: ast.expr) -> ast.expr | None:
    """The expression of loops that such a call or product is; None of all others.

    Raises:
        LanguageError: W142 it has an array as its value.
    """
    uneven = uneven_total(ctx, node)
    if uneven is not None:
        return uneven
    exprs = ArrayExprs(ctx, node)
    squares = squares_of(exprs, node) if isinstance(node, ast.Call) else None
    if squares is not None and exprs.of(squares) is None:
        return squares
    match node:
        case ast.BinOp(left=left, op=ast.MatMult(), right=right):
            return _product(exprs, left, right, node)
        case ast.Subscript():
            part = subscripted(exprs, node)
            return None if part is None or part.shape else part.at([])
        case ast.Call(func=ast.Attribute(value=of)) if (name := method_of(ctx, node)) is not None:
            return _named(exprs, name, of, node.args, node)
        case ast.Call(args=[of, *rest]):
            function = ctx.evaluate(node.func)
            name = numpy_name(function)
            if name == "einsum":
                return einsum_total(exprs, node)
            if name == "trace" and not rest and not node.keywords:
                return _trace(exprs, of)
            if name == "count_nonzero" and not rest and not node.keywords:
                return _counted(exprs, of)
            if name in (*REDUCTIONS, "mean", *PRODUCTS):
                return _named(exprs, name, of, rest, node)
            if (
                function in _PYTHON
                and not rest
                and not node.keywords
                and (
                    isinstance(of, ast.BinOp | ast.UnaryOp | ast.Call)
                    or (isinstance(of, ast.Subscript) and data_row(exprs, of) is not None)
                )
            ):
                return _named(exprs, getattr(function, "__name__", ""), of, rest, node)
    return None


def _named(
    exprs: ArrayExprs, name: str, of: ast.expr, rest: Sequence[ast.expr], node: ast.expr
) -> ast.expr | None:
    if name in PRODUCTS:
        if isinstance(node, ast.Call):
            check_arguments(exprs, node, name, rest)
        return _product(exprs, of, rest[0], node) if rest else None
    if (parts := masked(exprs, of)) is not None and name == "sum":
        of = exprs.at(ast.IfExp(parts[1], parts[0], exprs.given(0)))
    array = exprs.of(of)
    if array is None or name not in (*REDUCTIONS, "mean"):
        return None
    to = None
    if isinstance(node, ast.Call):
        check_arguments(exprs, node, name, rest)
        if exprs.of(node) is not None:
            raise _is_array(exprs, node)
        to = element_type(exprs, name, node)
    return reduced(exprs, name, array.shape, array.at, to)


def _counted(exprs: ArrayExprs, of: ast.expr) -> ast.expr | None:
    """How many elements are not zero."""
    array = exprs.of(of)
    if array is None:
        return None
    held = array

    def term(at: Sequence[Affine]) -> ast.expr:
        return exprs.at(ast.IfExp(held.at(at), exprs.given(1), exprs.given(0)))

    return exprs.total("sum", array.shape, term)


def _trace(exprs: ArrayExprs, of: ast.expr) -> ast.expr | None:
    """The sum of the elements on the diagonal of a matrix."""
    array = exprs.of(of)
    if array is None or len(array.shape) != 2:
        return None
    on_it = diagonal(array)
    return None if on_it is None else exprs.total("sum", on_it.shape, on_it.at)


def _product(exprs: ArrayExprs, left: ast.expr, right: ast.expr, node: ast.expr) -> ast.expr | None:
    a, b = exprs.of(left), exprs.of(right)
    if a is None or b is None:
        return None
    if len(a.shape) != 1 or len(b.shape) != 1:
        raise _is_array(exprs, node)
    if a.shape != b.shape:
        text = exprs.ctx.source.text(node)
        message = f"{text} is a product of the shapes {a.shape} and {b.shape}"
        raise exprs.ctx.error("W142", message, node, "as many elements on both sides")

    def term(at: Sequence[Affine]) -> ast.expr:
        return exprs.at(ast.BinOp(a.at(at), ast.Mult(), b.at(at)))

    return exprs.total("sum", a.shape, term)


def _is_array(exprs: ArrayExprs, node: ast.expr) -> Exception:
    message = f"{exprs.ctx.source.text(node)} is an array, not one number"
    instead = "assign it to an array, as in C[:, :] = A @ B, or C = A @ B for a new one"
    return exprs.ctx.error("W142", message, node, instead)
