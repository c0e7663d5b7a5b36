"""Matrices of NumPy whose elements are those of others: ``np.diag``, ``np.tril``, ``np.kron``, ``np.cross``; and constant ones.

What is made of constants alone, ``np.eye(4)`` or ``np.linspace(0, 1, 16)``, is a table, as if it were captured.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence

from dsl.errors.errors import LanguageError
from dsl.expressions.affine import Affine
from dsl.expressions.types import IntType
from dsl.frontend.arrays.shapes import ArrayExpr, Exprs
from dsl.frontend.capture import dtype_of, is_number, numpy_type

CONSTANT = (
    "eye",
    "identity",
    "tri",
    "linspace",
    "logspace",
    "geomspace",
    "hanning",
    "hamming",
    "blackman",
    "bartlett",
    "kaiser",
)
MATRICES = ("diag", "diagonal", "tril", "triu", "kron", "cross")
_MOST = 1 << 16
"""Entries of a table that is made of constants."""


def matrix(exprs: Exprs, name: str, node: ast.Call) -> ArrayExpr | None:
    """One of `MATRICES` of arrays; None where its operands are none."""
    array = exprs.of(node.args[0]) if node.args else None
    if array is None:
        return None
    if name in ("kron", "cross"):
        other = exprs.of(node.args[1]) if len(node.args) == 2 and not node.keywords else None
        if other is None:
            raise _refused(exprs, node, f"write np.{name}(a, b), of two arrays")
        return (
            _crossed(exprs, array, other, node)
            if name == "cross"
            else _kron(exprs, array, other, node)
        )
    by = _offset(exprs, node)
    if name in ("tril", "triu") and len(array.shape) == 2:
        return _triangle(exprs, array, by, is_lower=name == "tril")
    if len(array.shape) == 1 and name == "diag" and by == 0:
        return _on_diagonal(exprs, array)
    if len(array.shape) == 2 and name in ("diag", "diagonal"):
        found = diagonal(array, by)
        if found is not None:
            return found
    raise _refused(exprs, node, "its operand is a matrix")


def diagonal(array: ArrayExpr, by: int = 0) -> ArrayExpr | None:
    """The elements of a matrix on a diagonal; None where there are none."""
    rows, columns = array.shape
    count = min(rows + min(by, 0), columns - max(by, 0))
    if count < 1:
        return None
    return ArrayExpr((count,), lambda at: array.at([at[0] - min(by, 0), at[0] + max(by, 0)]))


def constant(exprs: Exprs, name: str, node: ast.Call) -> ArrayExpr:
    """The table that a function of constants is.

    Raises:
        LanguageError: W142 its arguments are no constants, or it is too large.
    """
    import numpy as np

    args = [exprs.ctx.evaluate(a) for a in node.args]
    named = {
        k.arg: exprs.ctx.evaluate(k.value) for k in node.keywords if k.arg and k.arg != "dtype"
    }
    numbers = [*args, *named.values()]
    if not all(is_number(n) for n in numbers) or any(abs(n) > 1e9 for n in numbers):  # type: ignore[arg-type]
        raise _refused(exprs, node, "its arguments are constants")
    sizes = args[2:3] if name.endswith("space") else args[: 1 if name == "kaiser" else 2]
    sizes += [v for k, v in named.items() if k in ("num", "N", "M", "n")]
    if len(sizes) == 1 and name in ("eye", "identity", "tri"):
        sizes *= 2
    if math.prod(max(1, int(n)) for n in sizes) > _MOST:  # type: ignore[call-overload]
        raise _refused(exprs, node, f"it has at most {_MOST} elements")
    cast = next((k.value for k in node.keywords if k.arg == "dtype"), None)
    if cast is not None and _is_integer(exprs.ctx.evaluate(cast)):
        named["dtype"] = np.int64  # np.linspace rounds down, the cast towards zero
    try:
        table = np.asarray(getattr(np, name)(*args, **named))
    except (TypeError, ValueError) as error:
        raise _refused(exprs, node, str(error)) from None
    if not table.size or not table.ndim:
        raise _refused(exprs, node, "it has no elements")
    base = exprs.given(table, ast.Name(name, ast.Load()))

    def at(places: Sequence[Affine]) -> ast.expr:
        keys: list[ast.expr] = [exprs.given(p) for p in places]
        key = exprs.at(ast.Tuple(keys, ast.Load()))
        found: ast.expr = exprs.at(ast.Subscript(base, key, ast.Load()))
        return found if cast is None else exprs.at(ast.Call(cast, [found], []))

    return ArrayExpr(table.shape, at)


def _is_integer(found: object) -> bool:
    return found is int or isinstance(dtype_of(found) or numpy_type(found), IntType)


def _triangle(exprs: Exprs, array: ArrayExpr, by: int, *, is_lower: bool) -> ArrayExpr:
    def at(places: Sequence[Affine]) -> ast.expr:
        i, j = places
        op = ast.LtE() if is_lower else ast.GtE()
        test = exprs.at(ast.Compare(exprs.given(j - i), [op], [exprs.given(by)]))
        return exprs.at(ast.IfExp(test, array.at(places), exprs.given(0)))

    return ArrayExpr(array.shape, at)


def _on_diagonal(exprs: Exprs, array: ArrayExpr) -> ArrayExpr:
    def at(places: Sequence[Affine]) -> ast.expr:
        i, j = places
        test = exprs.at(ast.Compare(exprs.given(j - i), [ast.Eq()], [exprs.given(0)]))
        return exprs.at(ast.IfExp(test, array.at([i]), exprs.given(0)))

    return ArrayExpr(array.shape * 2, at)


def _kron(exprs: Exprs, a: ArrayExpr, b: ArrayExpr, node: ast.Call) -> ArrayExpr:
    if len(a.shape) != len(b.shape):
        raise _refused(exprs, node, "its operands have as many dimensions")

    def at(places: Sequence[Affine]) -> ast.expr:
        first = a.at([p // n for p, n in zip(places, b.shape, strict=True)])
        second = b.at([p % n for p, n in zip(places, b.shape, strict=True)])
        return exprs.at(ast.BinOp(first, ast.Mult(), second))

    return ArrayExpr(tuple(m * n for m, n in zip(a.shape, b.shape, strict=True)), at)


def _crossed(exprs: Exprs, a: ArrayExpr, b: ArrayExpr, node: ast.Call) -> ArrayExpr:
    """The vector product of two vectors of three elements."""
    if a.shape != (3,) or b.shape != (3,):
        raise _refused(exprs, node, "its operands are vectors of three elements")

    def at(places: Sequence[Affine]) -> ast.expr:
        one, two = ([(p + n) % 3 for p in places] for n in (1, 2))
        first = exprs.at(ast.BinOp(a.at(one), ast.Mult(), b.at(two)))
        second = exprs.at(ast.BinOp(a.at(two), ast.Mult(), b.at(one)))
        return exprs.at(ast.BinOp(first, ast.Sub(), second))

    return ArrayExpr((3,), at)


def _offset(exprs: Exprs, node: ast.Call) -> int:
    given = [*node.args[1:], *(k.value for k in node.keywords)]
    by = exprs.ctx.evaluate(given[0]) if given else 0
    name = "offset" if getattr(node.func, "attr", "") == "diagonal" else "k"
    known = all(k.arg == name for k in node.keywords)
    if type(by) is not int or len(given) > 1 or not known:
        raise _refused(exprs, node, "the diagonal is an integer constant")
    return by


def _refused(exprs: Exprs, node: ast.Call, instead: str) -> LanguageError:
    text = exprs.ctx.source.text(node)
    return exprs.ctx.error("W142", f"{text} is no array of a kernel", node, instead)
