"""New arrays of NumPy that say their type, or have that of their first values: ``np.zeros(8, int)``, ``np.full_like(x, 3)``.

``int``, ``float`` and ``bool`` have no number of bits here: what is assigned says it, as of any local, but the elements stay
integers or truth values.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dsl.expressions.types import DType, boolean
from dsl.expressions.values import Value
from dsl.frontend.arrays.expressions import ArrayExprs
from dsl.frontend.arrays.shapes import Shape, numpy_name
from dsl.frontend.capture import dtype_of, numpy_type
from dsl.frontend.context import Context
from dsl.frontend.operands import value
from dsl.programs.program import MAX_EXTENT, Array

_FILLED: dict[str, int | None] = {"zeros": 0, "ones": 1, "empty": None, "full": 0}
_LIKE = tuple(f"{name}_like" for name in _FILLED)
_READ = ("dtype", "order", "subok")
"""Arguments by name. The order of elements in memory changes none of their values."""


@dataclass(frozen=True, slots=True)
class Made:
    """A new array: ``fill`` is the value of all elements, ``items`` are those of each, ``loop`` gives them.

    ``fill`` is None, and so are the others, where elements are not set at all: ``first`` is of their type. ``is_numpy``
    says that the type of the first values is that of all that is assigned further on, but for its number of bits.
    """

    shape: Shape
    dtype: DType | None
    fill: ast.expr | None = None
    items: tuple[ast.expr, ...] = ()
    loop: ast.expr | None = None
    is_numpy: bool = False
    first: Value = 0.0


def filled(ctx: Context, call: ast.Call) -> Made | None:
    """``np.zeros(shape, dtype)`` and the like.

    Raises:
        LanguageError: W103 no type, W111 an argument that is not read, W144 no constant extents.
    """
    exprs = ArrayExprs(ctx, call)
    if exprs.is_method(call):
        return None
    name = numpy_name(ctx.evaluate(call.func))
    keywords = {k.arg: k.value for k in call.keywords}
    args = [*call.args]
    if not args and name in _FILLED and "shape" in keywords:
        args = [keywords.pop("shape")]
    if name not in (*_FILLED, *_LIKE) or not args:
        return None
    of, *rest = args
    base = name.removesuffix("_like")
    fill: ast.expr | None = None
    if base == "full":
        fill = rest.pop(0) if rest else keywords.pop("fill_value", None)
    elif _FILLED[base] is not None:
        fill = ast.copy_location(ast.Constant(_FILLED[base]), call)
    _check_arguments(ctx, call, rest, keywords)
    if name in _LIKE:
        array = exprs.of(of)
        if array is None:
            return None
        like = ctx.evaluate(of)
        made = Made(array.shape, like.dtype if isinstance(like, Array) else None, fill)
        return typed(ctx, made, call, rest)
    parts = of.elts if isinstance(of, ast.Tuple | ast.List) else [of]
    known = ctx.evaluate(of) if len(parts) == 1 and parts[0] is of else None
    shape = known if isinstance(known, tuple) else tuple(extent_of(ctx, n) for n in parts)
    if not rest and "dtype" not in keywords and base != "full" and fill is not None:
        fill = ast.copy_location(ast.Constant(float(_FILLED[base] or 0)), call)
    return typed(ctx, Made(shape, None, fill), call, rest)


def typed(ctx: Context, made: Made, call: ast.Call, rest: Sequence[ast.expr]) -> Made:
    """The array with the type that its call says, by name or first in ``rest``."""
    named = next((k.value for k in call.keywords if k.arg == "dtype"), rest[0] if rest else None)
    if named is None:
        return replace(made, is_numpy=True)
    found = ctx.evaluate(named)
    kind = bool if numpy_type(found) == boolean else found
    if kind not in (bool, int, float):
        dtype = dtype_of(found) or numpy_type(found)
        if dtype is None:
            message = f"{ctx.source.text(named)} is no type of the language"
            raise ctx.error("W103", message, named, "write f32, i16, np.float32, ...")
        return replace(made, dtype=dtype)

    def converted(part: ast.expr) -> ast.expr:
        function = ast.copy_location(ast.Name(kind.__name__, ast.Load()), call)
        ctx.given[function] = kind
        return ast.copy_location(ast.Call(function, [part], []), call)

    return replace(
        made,
        dtype=None,
        fill=made.fill and converted(made.fill),
        items=tuple(converted(i) for i in made.items),
        is_numpy=True,
        first=kind(0),
    )


def says_type(ctx: Context, source: ast.expr) -> bool:
    """Whether a call of NumPy that makes a new array says the type of its elements."""
    if not isinstance(source, ast.Call) or ArrayExprs(ctx, source).is_method(source):
        return False
    name = numpy_name(ctx.evaluate(source.func))
    if any(k.arg == "dtype" for k in source.keywords):
        return name is not None
    if name not in (*_FILLED, *_LIKE, "array", "asarray"):
        return False
    return len(source.args) > (2 if name in ("full", "full_like") else 1)


def extent_of(ctx: Context, node: ast.expr) -> int:
    """A constant number of elements.

    Raises:
        LanguageError: W144 it is none.
    """
    found = value(ctx, node)
    if isinstance(found, bool) or not isinstance(found, int) or not 1 <= found <= MAX_EXTENT:
        message = f"the extent {ctx.source.text(node)} is no positive constant"
        instead = "sizes are positive integers that are known when the kernel is compiled"
        raise ctx.error("W144", message, node, instead)
    return found


def _check_arguments(
    ctx: Context, call: ast.Call, rest: Sequence[ast.expr], keywords: dict[str | None, ast.expr]
) -> None:
    unread = [k for k in keywords if k not in _READ]
    if unread or len(rest) > 2:
        text = ctx.source.text(call)
        message = f"{text} is not supported in a kernel" + (f": '{unread[0]}'" if unread else "")
        name = ctx.source.text(call.func)
        raise ctx.error("W111", message, call, f"write {name} with the shape and the type")
