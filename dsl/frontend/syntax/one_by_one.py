"""Assignments of several counters at once, made into one after the other.

Before::

    i = j = 0
    lo, hi = lo + 1, hi - 1

After::

    i = 0
    j = 0
    lo = lo + 1
    hi = hi - 1
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from dsl.frontend.syntax.loop_parts import step_of


def one_by_one(statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements, of which those that set counters to constants, or step them, are one for each counter."""
    found: list[ast.stmt] = []
    for s in statements:
        for name in ("body", "orelse"):
            inner = getattr(s, name, None)
            if isinstance(inner, list) and not isinstance(s, ast.With | ast.FunctionDef):
                setattr(s, name, one_by_one(inner))
        found += _parts(s) if isinstance(s, ast.Assign) else [s]
    return found


def _parts(s: ast.Assign) -> list[ast.stmt]:
    pairs = [*_pairs(s)]
    names = {t.id for t, _ in pairs if isinstance(t, ast.Name)}
    made: list[ast.stmt] = [ast.copy_location(ast.Assign([t], v), s) for t, v in pairs]
    if len(pairs) < 2 or len(names) != len(pairs) or not all(map(_is_counter, made)):
        return [s]
    return made


def _pairs(s: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    match s:
        case ast.Assign(targets=[ast.Tuple(elts=goals)], value=ast.Tuple(elts=parts)) if len(
            goals
        ) == len(parts):
            yield from zip(goals, parts, strict=True)
        case ast.Assign(targets=targets, value=ast.Constant() as value) if len(targets) > 1:
            yield from ((t, value) for t in targets)


def _is_counter(s: ast.stmt) -> bool:
    """Whether it sets a name to an integer, or steps it: it reads no other name."""
    match s:
        case ast.Assign(targets=[ast.Name()], value=ast.Constant(value=value)):
            return type(value) is int
        case _:
            return step_of(s) is not None
