"""What a loop over constants gives, item by item: captured and written lists, their parts, and what Python makes of them.

``KERNEL``, ``KERNEL[1:]``, ``enumerate(ROWS)``, ``zip(OFFSETS, WEIGHTS)``, ``reversed(TAPS)``, ``sorted(LEVELS)``,
``TABLE.items()``, ``itertools.combinations(range(4), 2)`` and ``np.ndenumerate(W)`` are known when the kernel is compiled.
"""

from __future__ import annotations

import ast
import builtins
import itertools
from collections.abc import Callable
from typing import Any, cast

from dsl.expressions.affine import Affine
from dsl.expressions.expr import Expr
from dsl.expressions.values import plain
from dsl.frontend.arrays.shapes import numpy_name
from dsl.frontend.capture import is_number
from dsl.frontend.context import Context
from dsl.frontend.table_rows import TableRow
from dsl.programs.inline import View
from dsl.programs.program import Array

MAX_ITEMS = 1 << 16
"""Items that are looked at; a table of more is no loop over what is known, but over a memory."""

_PYTHON: dict[object, tuple[int, int, tuple[str, ...]]] = {
    enumerate: (1, 2, ("start",)),
    zip: (1, 64, ("strict",)),
    reversed: (1, 1, ()),
    sorted: (1, 1, ("reverse",)),
    list: (1, 1, ()),
    tuple: (1, 1, ()),
    range: (1, 3, ()),
    itertools.product: (1, 8, ("repeat",)),
    itertools.combinations: (2, 2, ()),
    itertools.permutations: (1, 2, ()),
    itertools.pairwise: (1, 1, ()),
    itertools.chain: (1, 64, ()),
    itertools.chain.from_iterable: (1, 1, ()),
}
"""Functions of iterables, with the least and most arguments and the names of others."""

_FOLDED = ("sum", "min", "max", "any", "all", "pow")
_NUMPY = ("array", "asarray", "arange", "outer", "eye", "linspace", "flip", "diag")

_UNSEEN = (Array, View, Affine, Expr, TableRow)


def items_of(ctx: Context, node: ast.expr) -> list[Any] | None:
    """The items that a loop over constants gives, each a number or a sequence of such; None of all else."""
    found = constant_of(ctx, node)
    if isinstance(found, dict):
        found = [*found]
    if hasattr(found, "__array__") and not getattr(found, "shape", ()):
        return None
    if not isinstance(found, list | tuple | range) and not hasattr(found, "__array__"):
        return None
    if len(found) > MAX_ITEMS:  # type: ignore[arg-type]
        return None
    items = [*found]  # type: ignore[misc]
    return items if all(map(_is_constant, items)) else None


def constant_of(ctx: Context, node: ast.expr) -> object:
    """The constant that an expression is, a number or an object of Python; None where the kernel decides what it is."""
    match node:
        case _ if not _is_known(ctx, node):
            return None
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            found = [constant_of(ctx, p) for p in parts]
            return None if any(f is None for f in found) else found
        case ast.Subscript():
            return _part(ctx, node)
        case ast.Call(func=ast.Attribute(value=of, attr="items" | "keys" | "values" as name)):
            table = constant_of(ctx, of)
            is_plain = isinstance(table, dict) and not node.args and not node.keywords
            return [*getattr(table, name)()] if is_plain else None
        case ast.Call():
            return _called(ctx, node)
        case ast.Attribute(value=of, attr="T"):
            whole = constant_of(ctx, of)
            return whole.T if hasattr(whole, "__array__") else None  # type: ignore[attr-defined]
        case ast.Name() | ast.Attribute() | ast.Constant() | ast.UnaryOp() | ast.BinOp():
            found_ = ctx.evaluate(node)
            return None if isinstance(found_, _UNSEEN) else found_
    return None


def _is_known(ctx: Context, node: ast.expr) -> bool:
    """Whether nothing in it is of the kernel: no array, no loop variable, no name that stands for one of these."""
    for part in ast.walk(node):
        if part in ctx.given:
            if isinstance(ctx.given[part], _UNSEEN):
                return False
        elif isinstance(part, ast.Name):
            known = ctx.names.constant(part.id)
            if isinstance(known, _UNSEEN) or (
                known is None and (ctx.names.find(part.id) is not None or part.id in ctx.bound)
            ):
                return False
    return True


def _part(ctx: Context, node: ast.Subscript) -> object:
    whole = constant_of(ctx, node.value)
    if not isinstance(whole, list | tuple | dict | range) and not hasattr(whole, "__array__"):
        return None
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    keys = [_key(ctx, p) for p in parts]
    if None in keys:
        return None
    try:
        return whole[tuple(keys) if isinstance(node.slice, ast.Tuple) else keys[0]]  # type: ignore[index]
    except (IndexError, KeyError, TypeError, ValueError):
        return None  # what is wrong is said where the subscript is read


def _key(ctx: Context, node: ast.expr) -> object:
    if not isinstance(node, ast.Slice):
        return constant_of(ctx, node)
    ends = [None if e is None else constant_of(ctx, e) for e in (node.lower, node.upper, node.step)]
    given = [e for e in (node.lower, node.upper, node.step) if e is not None]
    known = [e for e in ends if e is not None]
    is_slice = len(known) == len(given) and all(isinstance(e, int) for e in known)
    return slice(*ends) if is_slice else None


def _called(ctx: Context, node: ast.Call) -> object:
    called = ctx.evaluate(node.func)
    try:
        least, most, names = _PYTHON.get(called, (1, 0, ()))
    except TypeError:  # not hashable
        return None
    name = numpy_name(called)
    if name == "ndenumerate":
        least, most = 1, 1
    elif name in _NUMPY:
        least, most, names = 1, 3, ("dtype",)
    if not least <= len(node.args) <= most or any(k.arg not in names for k in node.keywords):
        return None
    args = [constant_of(ctx, a) for a in node.args]
    named = {str(k.arg): constant_of(ctx, k.value) for k in node.keywords}
    if any(a is None or _is_endless(a) for a in (*args, *named.values())):
        return None
    try:
        found = _call(called, args, named)
        return found if name in _NUMPY else [*itertools.islice(found, MAX_ITEMS + 1)]
    except (TypeError, ValueError):
        return None  # what is wrong is said where the call is read


def _call(called: object, args: list[Any], named: dict[str, Any]) -> Any:
    assert callable(called)
    return called(*args, **named)


def _is_endless(found: object) -> bool:
    """Whether it is longer than what is looked at."""
    return (
        hasattr(found, "__len__") and getattr(found, "shape", (1,)) != () and len(found) > MAX_ITEMS
    )


def _is_constant(item: Any) -> bool:
    if is_number(plain(item)):
        return True
    if isinstance(item, list | tuple):
        return all(map(_is_constant, item))
    return (
        hasattr(item, "__array__")
        and getattr(item, "dtype", None) is not None
        and item.dtype.kind in "biuf"
    )


def folded(ctx: Context, node: ast.Call) -> object:
    """``sum``, ``min``, ``max``, ``any`` or ``all`` of constants, or ``pow(a, b, m)``; None of all else."""
    if not isinstance(node.func, ast.Name) or node.func.id not in _FOLDED or node.keywords:
        return None
    function = ctx.evaluate(node.func)
    if function is not getattr(builtins, node.func.id):
        return None
    if function is pow:
        powers = [constant_of(ctx, a) for a in node.args]
        return _power(powers) if all(type(p) is int for p in powers) else None
    items = items_of(ctx, node.args[0]) if len(node.args) == 1 else None
    if not items or not all(is_number(plain(i)) for i in items):
        return None
    return cast(Callable[[list[object]], object], function)([plain(i) for i in items])


def _power(given: list[Any]) -> object:
    try:
        return pow(*given) if len(given) == 3 else None
    except ValueError:
        return None
