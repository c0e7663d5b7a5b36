"""Calls of NumPy under another name: ``np.add.reduce`` is ``np.sum``, ``np.hypot`` a formula, ``np.tensordot`` an ``einsum``."""

from __future__ import annotations

import ast
import math
import string
from collections.abc import Sequence

from dsl.errors.errors import LanguageError
from dsl.frontend.arrays.shapes import Exprs, numpy_name

_FORMULAS = {
    **{name: name for name in (
        "fabs", "negative", "positive", "reciprocal", "hypot", "tan", "radians", "degrees", "isnan", "fmin", "fmax",
        "invert", "logical_and", "logical_or", "logical_xor", "logical_not", "equal", "not_equal", "less", "less_equal",
        "greater", "greater_equal", "ptp", "fliplr", "flipud", "correlate",
    )},
    "deg2rad": "radians", "rad2deg": "degrees", "bitwise_not": "invert", "bitwise_invert": "invert",
}  # fmt: skip
"""By their names in NumPy, those of `dsl.frontend.arrays.formulas`."""
_OF_MATH = ("fabs", "hypot", "tan", "radians", "degrees", "isnan")
_REDUCED = {
    "add": "sum", "maximum": "max", "minimum": "min", "logical_and": "all", "logical_or": "any",
    "multiply": "prod", "bitwise_and": "all_bits", "bitwise_or": "any_bits", "bitwise_xor": "parities",
}  # fmt: skip
_LOOPS = ("prod", "all_bits", "any_bits", "parities")
"""Reductions that are loops in `dsl.frontend.arrays.library`."""


def synonym(exprs: Exprs, node: ast.Call) -> ast.Call | None:
    """The call that such a call stands for; None of all others.

    Raises:
        LanguageError: W111 arguments that are not read.
    """
    if not node.args:
        return None
    function = exprs.ctx.evaluate(node.func)
    if (ufunc := _ufunc_of(exprs, node.func, function)) is not None:
        name = getattr(function, "__name__", "")
        return _outer(exprs, ufunc, node) if name == "outer" else _reduced(exprs, ufunc, node)
    name = numpy_name(function)
    if name == "tensordot":
        return _tensordot(exprs, node)
    if name == "prod" or function is math.prod:
        return _reduced(exprs, "multiply", node)
    if name not in _FORMULAS and function in [getattr(math, n) for n in _OF_MATH]:
        name = getattr(function, "__name__", "")
    if name not in _FORMULAS:
        return None
    from dsl.frontend.arrays import formulas  # needs NumPy, which other kernels do not

    return _call(exprs, getattr(formulas, _FORMULAS[name]), node.args, node.keywords)


def _call(
    exprs: Exprs,
    function: object,
    args: Sequence[ast.expr],
    keywords: Sequence[ast.keyword] = (),
) -> ast.Call:
    named = exprs.given(function, ast.Name(getattr(function, "__name__", ""), ast.Load()))
    return exprs.at(ast.Call(named, [*args], [*keywords]))


def _ufunc_of(exprs: Exprs, func: ast.expr, function: object) -> str | None:
    """The operator of ``np.add.reduce`` or ``np.add.outer``."""
    if not isinstance(func, ast.Attribute) or func.attr not in ("reduce", "outer"):
        return None
    if getattr(function, "__name__", "") != func.attr:
        return None
    return numpy_name(exprs.ctx.evaluate(func.value)) or None


def _reduced(exprs: Exprs, ufunc: str, node: ast.Call) -> ast.Call:
    import numpy as np

    from dsl.frontend.arrays import library

    name = _REDUCED.get(ufunc, "")
    array = exprs.of(node.args[0])
    rank = 0 if array is None else len(array.shape)
    if not name or array is None:
        raise _refused(exprs, node, "write the loop over the elements")
    if name in _LOOPS:
        if rank != 1 or len(node.args) > 1 or node.keywords:
            raise _refused(exprs, node, "call it for each row, an array of one dimension")
        return _call(exprs, getattr(library, name), node.args)
    is_said = len(node.args) > 1 or any(k.arg == "axis" for k in node.keywords)
    first = [ast.keyword("axis", exprs.given(0))] if rank > 1 and not is_said else []
    return _call(exprs, getattr(np, name), node.args, [*node.keywords, *first])


def _outer(exprs: Exprs, ufunc: str, node: ast.Call) -> ast.Call:
    import numpy as np

    arrays = [exprs.of(a) for a in node.args]
    if len(arrays) != 2 or node.keywords or any(a is None or len(a.shape) != 1 for a in arrays):
        raise _refused(exprs, node, "its operands are two arrays of one dimension")
    none, every = ast.Constant(None), ast.Slice()
    keys = [(every, none), (none, every)]
    parts = [
        exprs.at(ast.Subscript(a, exprs.at(ast.Tuple([*map(exprs.at, key)], ast.Load())), ast.Load()))
        for a, key in zip(node.args, keys, strict=True)
    ]  # fmt: skip
    return _call(exprs, getattr(np, ufunc), parts)


def _tensordot(exprs: Exprs, node: ast.Call) -> ast.Call:
    """As ``np.einsum``: the axes that are summed over have one letter in both."""
    import numpy as np

    instead = "write np.tensordot(a, b, axes=1), or axes=([1], [0]) with the axes of each"
    given = {k.arg: k.value for k in node.keywords}
    axes = given.pop("axes", node.args[2] if len(node.args) == 3 else None)
    arrays = [exprs.of(a) for a in node.args[:2]]
    a, b = (len(x.shape) if x is not None else 0 for x in (*arrays, None)[:2])
    if given or len(arrays) != 2 or not a or not b or len(node.args) > 3:
        raise _refused(exprs, node, instead)
    first, second = _axes(exprs, axes, a)
    fits = len(first) == len(second) and all(-a <= d < a for d in first)
    if not first or not fits or not all(-b <= d < b for d in second):
        raise _refused(exprs, node, instead)
    pairs = [(arrays[0].shape[m], arrays[1].shape[n]) for m, n in zip(first, second, strict=True)]  # type: ignore[union-attr]
    if other := next(((m, n) for m, n in pairs if m != n), None):
        raise _refused(exprs, node, f"the axes have {other[0]} and {other[1]} elements")
    letters = string.ascii_lowercase
    left, right = list(letters[:a]), list(letters[a : a + b])
    for m, n in zip(first, second, strict=True):
        right[n] = left[m]
    kept = [c for c in (*left, *right) if (c in left) != (c in right)]
    text = f"{''.join(left)},{''.join(right)}->{''.join(kept)}"
    return _call(exprs, np.einsum, [exprs.given(text), *node.args[:2]])


def _axes(exprs: Exprs, node: ast.expr | None, rank: int) -> tuple[list[int], list[int]]:
    """The axes of both that are summed over; none where they are not constants."""
    if isinstance(node, ast.Tuple | ast.List) and len(node.elts) == 2:
        parts = [p.elts if isinstance(p, ast.Tuple | ast.List) else [p] for p in node.elts]
        found = [[exprs.ctx.evaluate(e) for e in part] for part in parts]
        if all(type(d) is int for part in found for d in part):
            return found[0], found[1]  # type: ignore[return-value]
        return [], []
    count = 2 if node is None else exprs.ctx.evaluate(node)
    if type(count) is not int or not 0 < count <= rank:
        return [], []
    return [*range(rank - count, rank)], [*range(count)]


def _refused(exprs: Exprs, node: ast.Call, instead: str) -> LanguageError:
    message = f"{exprs.ctx.source.text(node)} is not supported in a kernel"
    return exprs.ctx.error("W111", message, node, instead)
