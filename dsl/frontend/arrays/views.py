"""Names of what NumPy makes no copy of, ``t = A.T``: here they are copies, which is the same as long as nobody writes.

``x.reshape(4, 2)``, ``np.ravel(x)``, ``np.flip(x)``, ``np.asarray(x)`` and ``x[:, None]`` are views of ``x`` in NumPy: what is written to
the one is read from the other. So a name of one is refused where either is written, or passed to a function.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dsl.expressions.intrinsics import intrinsic_of
from dsl.frontend.arrays.parts import part_of
from dsl.frontend.capture import dtype_of
from dsl.frontend.context import Context
from dsl.frontend.syntax.fresh_arrays import is_made_anew

_METHODS = ("reshape", "ravel", "transpose", "swapaxes", "diagonal")
_FUNCTIONS = (*_METHODS, "flip", "expand_dims", "squeeze", "diag", "asarray")
_OF_TYPE = ("array", "astype")
"""What makes a copy, unless it is told to make none where the type is the same: ``copy=False``."""
_HARMLESS = ("np", "numpy", "math", "weft")
_BUILTINS = (
    "len",
    "sum",
    "min",
    "max",
    "abs",
    "range",
    "enumerate",
    "zip",
    "reversed",
    "any",
    "all",
)


def check_view(ctx: Context, target: ast.Name, source: ast.expr) -> None:
    """Refuse a name of a view of which it matters that it is no copy (W142)."""
    base = _base(source)
    if base is None or (ctx.names.find(base) is None and ctx.names.constant(base) is None):
        return
    alike = _alike(ctx.source.node, {target.id, base})
    if not any(name in alike for name in _changed(ctx.source.node)) or _is_of_vector(ctx, source):
        return
    text = ctx.source.text(source)
    message = f"{text} is a view of '{base}' in NumPy, no copy, and one of them is written"
    raise ctx.error(
        "W142", message, target, f"write {text}.copy(), or the expression where it is used"
    )


def _is_of_vector(ctx: Context, source: ast.expr) -> bool:
    """Whether it is ``np.diag`` of a vector, which is a new matrix."""
    match source:
        case ast.Call(func=ast.Attribute(attr="diag"), args=[ast.Name(id=name), *_]):
            part = part_of(ctx, ctx.names.find(name))
            return part is not None and len(part[1].shape) == 1
    return False


def check_shared(ctx: Context, target: ast.Name, source: ast.Name) -> None:
    """Refuse a second name of an array where it matters that it is no copy (W142)."""
    alike = _alike(ctx.source.node, {target.id, source.id})
    if not any(name in alike for name in _changed(ctx.source.node)):
        return
    if alike == {target.id, source.id} and is_made_anew(ctx.source.node, source):
        return
    message = f"'{target.id}' and '{source.id}' are one array in NumPy, and one of them is written"
    raise ctx.error("W142", message, target, f"write {target.id} = {source.id}.copy()")


def _base(node: ast.expr) -> str | None:
    """The name of the array that a view is of; None of what makes a copy."""
    match node:
        case ast.Attribute(value=of, attr="T"):
            return _root(of)
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=name), args=[of, *_]
        ):
            return _root(of) if name in _FUNCTIONS or _is_uncopied(node, name) else None
        case ast.Call(func=ast.Attribute(value=of, attr=name)):
            return _root(of) if name in _METHODS or _is_uncopied(node, name) else None
        case ast.Subscript(value=of, slice=ast.Tuple(elts=parts)):
            new = any(isinstance(p, ast.Constant) and p.value is None for p in parts)
            new |= any(isinstance(p, ast.Attribute) and p.attr == "newaxis" for p in parts)
            return _root(of) if new else _base(of)
        case ast.Subscript(value=of):  # a part of a view
            return _base(of)
    return None


def _is_uncopied(node: ast.Call, name: str) -> bool:
    """Whether a copy may be none: ``copy`` is said, and is not True."""
    given = [k.value for k in node.keywords if k.arg == "copy"]
    return name in _OF_TYPE and any(not isinstance(g, ast.Constant) or not g.value for g in given)


def _root(node: ast.expr) -> str | None:
    """The name of an array, of a part of one, or of a view of one."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else _base(node)


def _alike(node: ast.FunctionDef, names: set[str]) -> set[str]:
    """The names, and those that stand for a part or a view of what they are."""
    found = set(names)
    for _ in range(2):  # also names of names, in any order
        for n in ast.walk(node):
            match n:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if _root(value) in found:
                    found.add(name)
                case ast.For(target=target, iter=of) if any(
                    isinstance(m, ast.Name) and m.id in found for m in ast.walk(of)
                ):
                    found |= {m.id for m in ast.walk(target) if isinstance(m, ast.Name)}
    return found


def _changed(node: ast.FunctionDef) -> Iterator[str]:
    """The names of arrays that are written, or passed to a function that may do so."""
    for n in ast.walk(node):
        match n:
            case ast.Subscript(ctx=ast.Store()):
                name = _root(n)
                if name is not None:
                    yield name
            case ast.AugAssign(target=ast.Name(id=name)):
                yield name
            case ast.Call(func=func, args=args, keywords=keywords) if not _is_harmless(func):
                for arg in (*args, *(k.value for k in keywords)):
                    name = _root(arg)
                    if name is not None:
                        yield name


def _is_harmless(func: ast.expr) -> bool:
    """Whether a function is known to change none of its arguments."""
    if isinstance(func, ast.Name):
        return func.id in _BUILTINS
    return isinstance(func, ast.Attribute) and _root(func.value) in _HARMLESS


def may_read(ctx: Context, node: ast.expr, name: str) -> bool:
    """Whether a value may be found from the elements of an array of that name, also by a function that knows it."""
    return any(
        (isinstance(n, ast.Name) and n.id == name)
        or (isinstance(n, ast.Call) and _may_know(ctx, n.func))
        for n in ast.walk(node)
    )


def _may_know(ctx: Context, func: ast.expr) -> bool:
    if not isinstance(func, ast.Name) or _is_harmless(func):
        return False
    called = ctx.evaluate(func)
    return dtype_of(called) is None and intrinsic_of(called) is None
