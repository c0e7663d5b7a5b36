"""Whether expressions keep their values while statements run, which may write to arrays under other names and by calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from dsl.frontend.syntax.bases import base_of
from dsl.frontend.syntax.conjuncts import Root

_FIXED = ("len", "min", "max", "abs", "int", "bool")
"""Functions that write nothing."""

_NEW = ("zeros", "ones", "full", "empty", "zeros_like", "arange")


def is_steady(node: ast.expr, statements: Sequence[ast.stmt], function: ast.FunctionDef) -> bool:
    """Whether statements change nothing that an expression reads, but scalars whose names they assign."""
    if _is_of_scalars(node):
        return True
    names = {
        n.id for top in (node, *_roots(node)) for n in ast.walk(top) if isinstance(n, ast.Name)
    }
    return not calls(statements) and not may_write(names, statements, function)


def may_write(names: set[str], statements: Sequence[ast.stmt], function: ast.FunctionDef) -> bool:
    """Whether statements may write elements of arrays with these names, or of arrays that these are parts of."""
    written = {n for s in statements for n in _written_arrays(s)}
    if not written:
        return False
    apart = {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
    apart |= {n for n in written | names if _is_new(n, function)}
    read = {b for n in ast.walk(function) if (b := _base(n)) in names}
    return bool(written & names) or not (written | read) <= apart


def calls(statements: Sequence[ast.stmt]) -> bool:
    """Whether a function may be called that writes elements."""
    return any(
        isinstance(n, ast.Call) and getattr(n.func, "id", "") not in _FIXED
        for s in statements
        for n in ast.walk(s)
    )


def assigned_names(node: ast.AST) -> Iterator[str]:
    """The names that are assigned, as such and not an element of."""
    for n in ast.walk(node):
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store):
            yield n.id


def _is_of_scalars(node: ast.expr) -> bool:
    """Whether an expression is of scalars and sizes, which no write to an array changes."""
    for n in [n for top in (node, *_roots(node)) for n in ast.walk(top)]:
        if isinstance(n, ast.Call) and getattr(n.func, "id", "") not in _FIXED:
            return False
        if isinstance(n, ast.Subscript) and getattr(n.value, "attr", "") != "shape":
            return False
    return True


def _roots(node: ast.expr) -> Iterator[ast.expr]:
    return (n.of for n in ast.walk(node) if isinstance(n, Root))


def _written_arrays(s: ast.stmt) -> Iterator[str]:
    for n in ast.walk(s):
        if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store):
            yield _base(n)


def _base(node: ast.AST) -> str:
    """The name that is subscripted; an empty one of all else."""
    if not isinstance(node, ast.Subscript):
        return ""
    of = base_of(node)
    return of.id if isinstance(of, ast.Name) else "?"


def _is_new(name: str, function: ast.FunctionDef) -> bool:
    """Whether a name is always that of an array of its own, and of no part of another one."""
    stores = [*assigned_names(function)].count(name)
    made = 0
    for s in ast.walk(function):
        match s:
            case ast.AnnAssign(target=ast.Name(id=found)) if found == name:
                made += 1
            case ast.Assign(
                targets=[ast.Name(id=found)], value=ast.List() | ast.ListComp() | ast.BinOp()
            ) if found == name:
                made += 1
            case ast.Assign(
                targets=[ast.Name(id=found)], value=ast.Call(func=ast.Attribute(attr=of))
            ) if found == name and of in _NEW:
                made += 1
    return made == stores > 0
