"""``while`` loops that end since each iteration halves a number: after as many iterations as it has bits."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import TypeGuard

from dsl.frontend.syntax.jumps import continues
from dsl.frontend.syntax.loop_parts import Most, placed, stored

_PLAIN = (ast.BinOp, ast.operator, ast.Constant, ast.Name, ast.Load)


def halved(loop: ast.While, written: ast.FunctionDef) -> Most | None:
    """``while n:``, ``n > 0`` or ``x & n`` with one ``n >>= 1``, ``n //= 2`` or ``n &= n - 1`` in each iteration."""
    if continues(loop.body):
        return None
    tests = loop.test.values if _is_and(loop.test) else [loop.test]
    for test, name in ((t, name) for t in tests for name in _not_zero(t)):
        if [*stored(loop.body)].count(name) == 1 and any(_halves(s, name) for s in loop.body):
            match test:
                case ast.Compare(left=ast.Name(), ops=[ast.Gt()]):
                    positive = True
                case _:
                    positive = False
            of = placed(_largest(written, name), test)
            return Most.made([of], is_positive=positive)
    return None


def _is_and(test: ast.expr) -> TypeGuard[ast.BoolOp]:
    return isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And)


def _not_zero(test: ast.expr) -> Iterator[str]:
    """The names that are not 0 where the test holds, since a value is not that they are bits of, or are by themselves."""
    match test:
        case ast.Compare(
            left=left, ops=[ast.Gt() | ast.NotEq()], comparators=[ast.Constant(value=0)]
        ):
            yield from _not_zero(left)
        case ast.BinOp(left=left, op=ast.BitAnd(), right=right):
            yield from _not_zero(left)
            yield from _not_zero(right)
        case ast.Name(id=name):
            yield name


def _largest(written: ast.FunctionDef, name: str) -> ast.expr:
    """The largest value of a name that is given constants from 0 on and halved, and nothing else; or what is the one
    value that it is given, where nothing in that is assigned; else the name itself, whose type says the most.
    """
    given = [value for s in ast.walk(written) if (value := _given(s, name)) is not None]
    halvings = sum(isinstance(s, ast.stmt) and _halves(s, name) for s in ast.walk(written))
    assigned = [*stored([written])]
    arguments = {a.arg for a in ast.walk(written.args) if isinstance(a, ast.arg)}
    if given and len(given) + halvings == assigned.count(name) and name not in arguments:
        known = [n for v in given if (n := _number(v)) is not None]
        if len(known) == len(given) and min(known) >= 0:
            return ast.Constant(max(known))
        names = {n.id for n in ast.walk(given[0]) if isinstance(n, ast.Name)}
        plain = all(isinstance(n, _PLAIN) for n in ast.walk(given[0]))
        if len(given) == 1 and plain and names.isdisjoint({*assigned, *arguments}):
            return copy.deepcopy(given[0])
    return ast.Name(name, ast.Load())


def _given(s: ast.AST, name: str) -> ast.expr | None:
    """What a statement gives a name, such as ``1 << 14``, if it is no halving of it."""
    match s:
        case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
            pass
        case ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value) if target == name:
            pass
        case _:
            return None
    return None if _halves(s, name) else value


def _number(value: ast.expr) -> int | None:
    """The number that an expression writes, such as ``1 << 14``."""
    match value:
        case ast.Constant(value=int() as number):
            return number
        case ast.BinOp(
            left=ast.Constant(value=int() as left),
            op=ast.LShift(),
            right=ast.Constant(value=int() as right),
        ) if 0 <= right < 4096:
            return left << right
    return None


def _halves(s: ast.stmt, name: str) -> bool:
    match s:
        case ast.AugAssign(target=ast.Name(id=target), op=op, value=by):
            pass
        case ast.Assign(
            targets=[ast.Name(id=target)], value=ast.BinOp(left=ast.Name(id=left), op=op, right=by)
        ):
            target = target if left == target else ""
        case _:
            return False
    if target != name:
        return False
    match op, by:
        case ast.RShift(), ast.Constant(value=int() as amount):
            return amount >= 1
        case ast.FloorDiv(), ast.Constant(value=int() as amount):
            return amount >= 2
        case ast.BitAnd(), ast.BinOp(
            left=ast.Name(id=left), op=ast.Sub(), right=ast.Constant(value=1)
        ):
            return left == name
    return False
