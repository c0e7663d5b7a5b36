"""What the body of a loop does with names: whether it needs their numbers, and how it uses rows."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

_PLAIN = {"abs", "min", "max", "int", "float", "sum", "bool", "round", "f32", "i32"}
"""Functions of values, whose arguments are no subscripts, bounds or extents of theirs."""

_NUMBERED = (ast.Pow, ast.LShift, ast.RShift, ast.FloorDiv, ast.Mod)
"""Operators that are wires, or much cheaper, where the second operand is a number."""

_AROUND = {"enumerate", "zip", "reversed", "len"}


def stored_in(statements: Sequence[ast.stmt]) -> set[str]:
    """The names that statements assign, or delete, or take for the variables of loops."""
    return {
        n.id
        for s in statements
        for n in ast.walk(s)
        if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
    }


def needs_numbers(statements: Sequence[ast.stmt], names: Collection[str]) -> bool:
    """Whether what is computed of some names decides where elements are, how often loops run, or what an operator is."""
    derived = _derived(statements, set(names))
    return any(_needs(n, derived) for s in statements for n in ast.walk(s))


def _derived(statements: Sequence[ast.stmt], names: set[str]) -> set[str]:
    """The names, and those that are assigned what is computed of them."""
    while True:
        found = set(names)
        for s in statements:
            for n in ast.walk(s):
                for target, value in _assigned(n):
                    if _reads(value, found):
                        found |= {m.id for m in ast.walk(target) if isinstance(m, ast.Name)}
        if found == names:
            return found
        names = found


def _assigned(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=goals)], value=ast.Tuple(elts=parts)) if len(
            goals
        ) == len(parts):
            yield from zip(goals, parts, strict=True)
        case ast.Assign(targets=targets, value=value):
            yield from ((t, value) for t in targets if not isinstance(t, ast.Subscript))
        case ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value):
            yield target, value
        case ast.For(target=target, iter=over) | ast.comprehension(target=target, iter=over):
            yield from _items(target, over)


def _items(target: ast.expr, over: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The names of a loop, each with what it runs over; what ``enumerate`` counts is no part of it."""
    match target, over:
        case (ast.Tuple(elts=[_, item]), ast.Call(func=ast.Name(id="enumerate"), args=[of, *_])):
            yield from _items(item, of)
        case (ast.Tuple(elts=goals), ast.Call(func=ast.Name(id="zip"), args=parts)) if len(
            goals
        ) == len(parts):
            for goal, part in zip(goals, parts, strict=True):
                yield from _items(goal, part)
        case _:
            yield target, over


def _needs(node: ast.AST, names: set[str]) -> bool:
    match node:
        case ast.Subscript(value=base, slice=part):
            return _reads(part, names) and not (isinstance(base, ast.Name) and base.id in names)
        case ast.BinOp(op=op, right=right) | ast.AugAssign(op=op, value=right):
            return isinstance(op, _NUMBERED) and _reads(right, names)
        case ast.Call(func=ast.Name(id="range"), args=args):
            return any(_reads(a, names) for a in args)
        case ast.Call(func=func, args=args):
            name = getattr(func, "id", getattr(func, "attr", ""))
            return name not in _PLAIN | _AROUND and any(_reads(a, names) for a in args)
        case ast.FunctionDef() | ast.Lambda():
            return _reads(node, names)
    return False


def _reads(node: ast.AST, names: set[str]) -> bool:
    return any(isinstance(n, ast.Name) and n.id in names for n in ast.walk(node))


def is_only_row(statements: Sequence[ast.stmt], name: str, stores: int = 0) -> bool:
    """Whether a name of a row, which is assigned ``stores`` times, is only run over, subscripted, measured and taken
    apart: nothing needs a copy of it.
    """
    uses = sum(isinstance(n, ast.Name) and n.id == name for s in statements for n in ast.walk(s))
    return uses - stores == sum(_row_uses(n, name) for s in statements for n in ast.walk(s))


def _row_uses(node: ast.AST, name: str) -> int:
    def is_row(part: ast.expr) -> bool:
        return isinstance(part, ast.Name) and part.id == name

    match node:
        case ast.Subscript(value=base, ctx=ast.Load()):
            return int(is_row(base))
        case ast.Call(func=ast.Name(id=func), args=args) if func in _AROUND:
            return sum(map(is_row, args))
        case ast.For(iter=over) | ast.comprehension(iter=over):
            return int(is_row(over))
        case ast.Assign(targets=[ast.Tuple()], value=value):
            return int(is_row(value))
    return 0
