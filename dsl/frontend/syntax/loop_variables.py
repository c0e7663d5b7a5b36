"""Variables of loops that are read behind their loops, or have the name of something else, made into locals.

Before::

    for i in range(16):
        if x[i] == key:
            break
    at[0] = i

After::

    i = 0
    for i_at in range(16):
        i = i_at
        if x[i_at] == key:
            break
    at[0] = i
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator
from typing import TypeGuard

from dsl.frontend.syntax.loop_parts import Renamed, placed


def with_values(
    function: ast.FunctionDef, unique: Callable[[str], str], kept: Collection[str]
) -> None:
    """Let such a variable be a local that each iteration sets.

    Args:
        function: is changed.
        unique: gives names that it does not have.
        kept: names that other functions read.
    """
    fixed = {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)} | {*kept}
    loops = [s for s in ast.walk(function) if isinstance(s, ast.For)]
    names = {name for s in loops for name in _names(s.target)} - fixed
    names = {name for name in names if _is_shared(function, name)}
    read = {name for name in names if any(_is_read(s, name) for s in function.body)}
    first: list[ast.stmt] = []
    for name in sorted(read):
        stores = [n for n in ast.walk(function) if _sets(n, name)]
        place = min(stores, key=lambda n: (n.lineno, n.col_offset))
        if any(place is n for s in loops for n in ast.walk(s.target)):
            first.append(placed(_assign(name, ast.Constant(0)), place))
    for loop in loops:
        for name in sorted(names & {*_names(loop.target)}):
            _rename(loop, name, unique(f"{name}_at"), is_read=name in read)
    at = 1 if ast.get_docstring(function, clean=False) is not None else 0
    function.body[at:at] = first


def _names(node: ast.AST) -> Iterator[str]:
    yield from (n.id for n in ast.walk(node) if isinstance(n, ast.Name))


def _assign(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _sets(node: ast.AST, name: str) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)


def _set_by(nodes: list[ast.stmt], name: str) -> bool:
    """Whether statements set a name, the loops among them included."""
    return any(_sets(n, name) for s in nodes for n in ast.walk(s))


def _is_set(function: ast.FunctionDef, name: str) -> bool:
    """Whether anything but loops sets it."""
    of_loops = {
        id(n) for s in ast.walk(function) if isinstance(s, ast.For) for n in ast.walk(s.target)
    }
    return any(_sets(n, name) for n in ast.walk(function) if id(n) not in of_loops)


def _is_shared(function: ast.FunctionDef, name: str) -> bool:
    """Whether it is more than the variable of loops that stand side by side."""
    inside = any(
        _set_by(s.body, name)
        for s in ast.walk(function)
        if isinstance(s, ast.For) and name in _names(s.target)
    )
    return inside or _is_set(function, name) or any(_is_read(s, name) for s in function.body)


def _is_read(node: ast.AST, name: str) -> bool:
    """Whether it is read where no loop of that name that leaves it alone is around."""
    match node:
        case ast.For() if name in _names(node.target):
            body = node.body if _set_by(node.body, name) else []
            return any(_is_read(part, name) for part in (node.iter, *body, *node.orelse))
        case ast.Name(id=found, ctx=ast.Load()):
            return found == name
        case ast.AugAssign(target=ast.Name(id=found)) if found == name:
            return True
    return any(_is_read(part, name) for part in ast.iter_child_nodes(node))


def _rename(loop: ast.For, name: str, var: str, *, is_read: bool) -> None:
    for n in ast.walk(loop.target):
        if isinstance(n, ast.Name) and n.id == name:
            n.id = var
    read = ast.Name(var, ast.Load())
    if not _set_by(loop.body, name):
        renamed = Renamed(name, read)
        loop.body = [renamed.visit(s) for s in loop.body]
    if is_read:
        loop.body.insert(0, placed(_assign(name, ast.Name(var, ast.Load())), loop.target))
