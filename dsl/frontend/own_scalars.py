"""Scalar arguments that a function assigns: the caller's value stays, the function has a local of its own.

Before::

    def reversed_bits(v: u8, n: i32):
        for i in range(8):
            v >>= 1

After::

    def reversed_bits(v: u8, n: i32):
        v_own = v
        for i in range(8):
            v_own >>= 1
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from dsl.frontend.syntax.functions import Definition, stored_in
from dsl.frontend.syntax.loop_parts import Counted
from dsl.frontend.syntax.source import FunctionSource, arguments_of, surveyed
from dsl.programs.program import Array


def with_own_scalars(
    source: FunctionSource, declared: Iterable[Array], *, is_typed: bool = True
) -> FunctionSource:
    """The function with locals in the place of those of its scalar arguments that it assigns.

    Args:
        source: the function.
        declared: its arguments.
        is_typed: it says their types, which these locals have then; else they are such that they hold all that is
            assigned to them.
    """
    assigned = {n.id for s in ast.walk(source.node) for n in _targets(s)}
    loops = {
        n for s in ast.walk(source.node) if isinstance(s, ast.For) for n in stored_in(s.target)
    }
    own = assigned - loops
    mine = [a.name for a in declared if not a.shape and not a.const and a.name in own]
    if not mine:
        return source
    names = {name: _unused(f"{name}_own", source) for name in mine}
    node = copy.deepcopy(source.node)
    renamed = _Renamed(names)
    body = [renamed.visit(s) for s in node.body]
    node.body = [*(_copied(own, name, node.body[0]) for name, own in names.items()), *body]
    functions = {n: _renamed_inside(f, names) for n, f in source.functions.items()}
    found = surveyed(replace(source, node=node))
    untyped = frozenset() if is_typed else frozenset(names.values())
    return replace(found, functions=functions, captured=source.captured, untyped=untyped)


def _targets(statement: ast.AST) -> list[ast.Name]:
    match statement:
        case ast.Assign(targets=targets):
            return [
                n
                for t in targets
                for n in ast.walk(t)
                if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
            ]
        case ast.AugAssign(target=ast.Name() as name):
            return [name]
        case _:
            return []


def _unused(base: str, source: FunctionSource) -> str:
    taken = source.bound | source.captured | source.functions.keys()
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}_{number}"
    return name


def _copied(own: str, name: str, place: ast.stmt) -> ast.stmt:
    made = ast.Assign([ast.Name(own, ast.Store())], ast.Name(name, ast.Load()))
    for part in ast.walk(made):
        ast.copy_location(part, place)
    return made


class _Renamed(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def visit(self, node: ast.AST) -> Any:
        """Rename in what numbers of iterations are found from as well."""
        if isinstance(node, Counted):
            node.change(self.visit)
        return super().visit(node)

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._names.get(node.id, node.id)
        return node


def _renamed_inside(function: Definition, names: Mapping[str, str]) -> Definition:
    """A nested function, which reads the locals of the one around unless it has such an argument itself."""
    own = {a.arg for a in arguments_of(function.args)}
    made = copy.deepcopy(function)
    _Renamed({n: to for n, to in names.items() if n not in own}).visit(made)
    return made
