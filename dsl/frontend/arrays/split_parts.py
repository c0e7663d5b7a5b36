"""``a, b = np.split(x, 2)``: names of parts of an array, as slices of it.

Before::

    low, high = np.split(x, 2)
    first, rest = np.split(m, [1], axis=1)

After::

    low = x[0:4]
    high = x[4:8]
    first = m[:, 0:1]
    rest = m[:, 1:6]
"""

from __future__ import annotations

import ast

from dsl.frontend.arrays.parts import part_of
from dsl.frontend.arrays.shapes import numpy_name
from dsl.frontend.arrays.slices import view_of
from dsl.frontend.context import Context

_AXES = {"split": None, "array_split": None, "vsplit": 0, "hsplit": 1}


def split_parts(ctx: Context, node: ast.stmt) -> list[ast.stmt] | None:
    """The assignments one by one; None of any other statement.

    Raises:
        LanguageError: W142 the parts are not as many as the names, or not of the length that NumPy asks for.
    """
    match node:
        case ast.Assign(
            targets=[ast.Tuple(elts=goals) | ast.List(elts=goals)],
            value=ast.Call(func=ast.Attribute() as func, args=[of, at, *rest]) as call,
        ):
            name = numpy_name(ctx.evaluate(func)) if isinstance(func.value, ast.Name) else ""
        case _:
            return None
    if name not in _AXES:
        return None
    part = part_of(ctx, view_of(ctx, of))
    if part is None:
        text = ctx.source.text(of)
        instead = f"give {text} a name first: whole = {text}"
        raise ctx.error("W142", f"np.{name} is of an array that has a name", of, instead)
    shape = part[1].shape
    axis = _axis(ctx, name, [*rest, *(k.value for k in call.keywords if k.arg == "axis")], shape)
    ends = None if axis is None else _ends(ctx, at, shape[axis], name == "array_split")
    if axis is None or ends is None or len(rest) + len(call.keywords) > 1:
        message = f"{ctx.source.text(call)} does not divide an array of shape {shape} evenly"
        raise ctx.error("W142", message, call, "write the parts: a, b = x[:4], x[4:]")
    if len(ends) != len(goals) + 1:
        message = f"np.{name} gives {len(ends) - 1} parts, and {len(goals)} names are assigned"
        raise ctx.error("W142", message, call, "write as many names")
    made: list[ast.stmt] = []
    for goal, low, high in zip(goals, ends, ends[1:], strict=False):
        places: list[ast.expr] = [ast.Slice() for _ in range(axis)]
        places.append(ast.Slice(ast.Constant(low), ast.Constant(high)))
        key = places[0] if len(places) == 1 else ast.Tuple(places, ast.Load())
        value = ast.Subscript(of, key, ast.Load())
        made.append(ast.Assign([goal], value))
    for statement in made:
        for n in ast.walk(statement):
            if isinstance(n, ast.expr | ast.stmt) and not hasattr(n, "lineno"):
                ast.copy_location(n, node)
    return made


def _axis(ctx: Context, name: str, given: list[ast.expr], shape: tuple[int, ...]) -> int | None:
    axis: object = _AXES[name]
    if axis is None:
        axis = ctx.evaluate(given[0]) if given else 0
    elif name == "hsplit" and len(shape) == 1:
        axis = 0
    if type(axis) is not int or not -len(shape) <= axis < len(shape):
        return None
    return axis % len(shape)


def _ends(ctx: Context, at: ast.expr, extent: int, uneven: bool) -> list[int] | None:
    """Where the parts begin, and where the last one ends."""
    if isinstance(at, ast.List | ast.Tuple):
        places = [ctx.evaluate(n) for n in at.elts]
        ends = [0, *(p for p in places if isinstance(p, int)), extent]
        return ends if len(ends) == len(places) + 2 and ends == sorted({*ends}) else None
    count = ctx.evaluate(at)
    if type(count) is not int or not 0 < count <= extent or (extent % count and not uneven):
        return None
    size, more = divmod(extent, count)
    return [n * size + min(n, more) for n in range(count + 1)]
