"""Names of arrays that change places: ``zr = new`` and ``now, then = then, now``, which are copies here.

NumPy copies nothing, but gives an array another name. What a name stands for is the same after a copy, as long as
nothing is written through one name and read through another.

Before::

    now, then = then, now

After::

    held: f32[8]
    held[:] = now
    now[:] = then
    then[:] = held
"""

from __future__ import annotations

import ast

from dsl.errors.errors import LanguageError
from dsl.frontend.arrays.views import check_shared
from dsl.frontend.context import Context
from dsl.programs.program import Array, Storage


def renamed(ctx: Context, node: ast.stmt) -> tuple[ast.stmt, ...] | None:
    """The statements of an assignment of whole local arrays to names of local arrays; None of any other.

    Raises:
        LanguageError: W142 what is written through one of the names would be read through the other.
    """
    match node:
        case ast.Assign(targets=[ast.Name() as target], value=ast.Name() as source):
            if target.id == source.id or target.id in ctx.names.arguments:
                return None
            arrays = _arrays(ctx, target, source)
            if arrays is None:
                return None
            check_shared(ctx, target, source)
            return (_copied(ctx, node, arrays[0], arrays[1]),)
        case ast.Assign(
            targets=[ast.Tuple(elts=[ast.Name() as a, ast.Name() as b])],
            value=ast.Tuple(elts=[ast.Name(id=second), ast.Name(id=first)]),
        ) if (a.id, b.id) == (first, second):
            arrays = _arrays(ctx, a, b)
            if arrays is None:
                return None
            for name in (a, b):
                if name.id in ctx.names.arguments:
                    what = f"'{name.id}' is an argument, and the caller keeps its own name of it"
                    raise _refused(ctx, what, name)
            one, other = arrays
            if one.dtype != other.dtype:
                return None
            held = ctx.names.declare(
                Array(ctx.names.unique("held"), one.dtype, one.shape, Storage.LOCAL, False, 0, None)
            )
            ctx.inferred.know(held.name, None)
            steps = ((held, one), (one, other), (other, held))
            return tuple(_copied(ctx, node, to, of) for to, of in steps)
    return None


def _arrays(ctx: Context, *names: ast.Name) -> tuple[Array, ...] | None:
    """The arrays of one shape that the names are; None where they are none."""
    found = [ctx.names.find(n.id) for n in names]
    arrays = tuple(f for f in found if isinstance(f, Array) and f.shape)
    if len(arrays) < len(names):
        return None
    if any(a.shape != arrays[0].shape for a in arrays):
        return None
    for name, array in zip(names, arrays, strict=True):
        if ctx.names.has_parts(array.name):
            what = f"'{name.id}' becomes the name of another array, and a part of it has a name"
            raise _refused(ctx, what, name)
    return arrays


def _refused(ctx: Context, what: str, name: ast.Name) -> LanguageError:
    return ctx.error("W142", what, name, "copy the elements: y[:] = x")


def _copied(ctx: Context, node: ast.stmt, to: Array, of: Array) -> ast.stmt:
    """``to[:] = of``."""
    target = _name(ctx, node, to)
    whole = ast.copy_location(ast.Subscript(target, _at(node, ast.Slice()), ast.Store()), node)
    return ast.copy_location(ast.Assign([whole], _name(ctx, node, of)), node)


def _name(ctx: Context, node: ast.stmt, array: Array) -> ast.expr:
    made = _at(node, ast.Name(array.name, ast.Load()))
    ctx.given[made] = array
    return made


def _at(node: ast.stmt, made: ast.expr) -> ast.expr:
    return ast.copy_location(made, node)
