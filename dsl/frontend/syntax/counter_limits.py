"""Counters that are never more than another one, limited by it where they are subscripts.

Before, in the intersection of two sorted lists::

    while i < n and j < m:
        if a[i] == b[j]:
            out[k] = a[i]
            i, j, k = i + 1, j + 1, k + 1
        elif a[i] < b[j]:
            i += 1
        else:
            j += 1

After::

    ...
            out[min(k, i)] = a[i]

Each way through the loop that steps ``k`` steps ``i``, too, so that ``min(k, i)`` is ``k``. What limits ``i`` limits the
subscript then.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping

from dsl.frontend.syntax.counter_sums import Differences, counters
from dsl.frontend.syntax.loop_parts import placed
from dsl.frontend.syntax.steady import assigned_names


def with_limits(function: ast.FunctionDef, kept: Collection[str] = ()) -> None:
    """Limit the counters of loops of which two others or more say when they end.

    Args:
        function: is changed.
        kept: names that stay, since their types are said or other functions read them.
    """
    tested = [names for loop in ast.walk(function) if (names := _tested(loop))]
    if not tested or not _bound(function).isdisjoint(("min", "max")):
        return
    known = [n for n in counters(function) if n not in kept]
    for name in known:
        if any(name in names for names in tested):
            continue
        for other in sorted({n for names in tested for n in names if n in known}):
            found = Differences(name, (other,), most=True).at_subscripts(function)
            if found:
                _Limits({id(node): _limited(node, other, most) for node, most in found}).visit(
                    function
                )
                break


def _tested(loop: ast.AST) -> set[str]:
    """The names in the conditions of a ``while`` that compares two or more."""
    if not isinstance(loop, ast.While) or not isinstance(loop.test, ast.BoolOp):
        return set()
    compared = {
        side.id
        for test in loop.test.values
        if isinstance(test, ast.Compare)
        for side in (test.left, *test.comparators)
        if isinstance(side, ast.Name)
    }
    return compared if len(compared) > 1 else set()


def _bound(function: ast.FunctionDef) -> set[str]:
    """The names that are given a meaning of their own in the function."""
    found = {*assigned_names(function)}
    for n in ast.walk(function):
        if isinstance(n, ast.arg):
            found.add(n.arg)
        elif isinstance(n, ast.FunctionDef):
            found.add(n.name)
    return found


def _limited(node: ast.Name, other: str, most: int) -> ast.expr:
    """``min(name, other + most)``."""
    limit: ast.expr = ast.Name(other, ast.Load())
    if most:
        op: ast.operator = ast.Add() if most > 0 else ast.Sub()
        limit = ast.BinOp(limit, op, ast.Constant(abs(most)))
    if most < 0:  # where the branch is not taken its subscripts are inside as well
        limit = ast.Call(ast.Name("max", ast.Load()), [limit, ast.Constant(0)], [])
    own = ast.Name(node.id, ast.Load())
    return placed(ast.Call(ast.Name("min", ast.Load()), [own, limit], []), node)


class _Limits(ast.NodeTransformer):
    def __init__(self, limits: Mapping[int, ast.expr]) -> None:
        self._limits = limits

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._limits.get(id(node), node)
