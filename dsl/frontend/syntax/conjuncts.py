"""Conditions of loops as comparisons that all hold, and those as gaps: ``i < n`` is ``n - i >= 1``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from dsl.frontend.syntax.loop_parts import Counted, Placed, stored

_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}


@dataclass(frozen=True, slots=True)
class Gap:
    """``node >= least``, as long as the condition holds.

    Attributes:
        node: the expression.
        factors: the names that it is a sum of, and how often.
        others: the names that are in it otherwise, as in ``i * i``.
        least: see above.
        is_unequal: the condition is that something is not 0: a gap that is stepped over does not end the loop.
    """

    node: ast.expr
    factors: Mapping[str, int]
    others: frozenset[str]
    least: int
    is_unequal: bool = False


class Root(Counted):
    """The integer square root of the most that an expression may be."""

    of: ast.expr

    @classmethod
    def made(cls, of: ast.expr) -> Root:
        """Of that expression."""
        root = cls()
        root.of = of
        return root

    def change(self, of: Callable[[ast.expr], ast.expr]) -> None:
        """See `Counted`."""
        self.of = of(self.of)


def conjuncts(test: ast.expr) -> list[ast.expr]:
    """The conditions that ``and`` joins, and the comparisons of a chain such as ``0 <= i < n``."""
    match test:
        case ast.BoolOp(op=ast.And(), values=values):
            return [part for value in values for part in conjuncts(value)]
        case ast.Compare(left=left, ops=ops, comparators=others) if len(ops) > 1:
            operands = pairwise([left, *others])
            return [
                ast.copy_location(ast.Compare(a, [op], [b]), test)
                for op, (a, b) in zip(ops, operands, strict=True)
            ]
        case _:
            return [test]


def opposite(test: ast.expr) -> list[ast.expr]:
    """The conditions that hold where that one does not, as far as they can be told."""
    match test:
        case ast.BoolOp(op=ast.Or(), values=values):
            return [part for value in values for part in opposite(value)]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return [operand]
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _OPPOSITE:
            return [ast.copy_location(ast.Compare(left, [_OPPOSITE[type(op)]()], [right]), test)]
        case ast.Name():
            return [ast.copy_location(ast.UnaryOp(ast.Not(), test), test)]
        case _:
            return []


def gaps(test: ast.expr) -> Iterator[Gap]:
    """The gaps that a comparison says, of which ``!=`` has one on either side."""
    match test:
        case ast.Compare(
            left=ast.BinOp() as square, ops=[ast.Lt() | ast.LtE()], comparators=[b]
        ) if (root := _root(square)) is not None:
            yield _gap(_at(square, Root.made(b)), root, 0)
        case ast.Compare(left=a, ops=[ast.Lt() | ast.LtE() as op], comparators=[b]):
            yield _gap(b, a, int(isinstance(op, ast.Lt)))
        case ast.Compare(left=a, ops=[ast.Gt() | ast.GtE() as op], comparators=[b]):
            yield _gap(a, b, int(isinstance(op, ast.Gt)))
        case ast.Compare(left=a, ops=[ast.NotEq()], comparators=[b]):
            yield _gap(a, b, 1, is_unequal=True)
            yield _gap(b, a, 1, is_unequal=True)
        case ast.Name():
            yield _gap(test, _at(test, ast.Constant(0)), 1, is_unequal=True)


def _root(node: ast.BinOp) -> ast.Name | None:
    """The name in ``p * p`` and ``p ** 2``."""
    match node:
        case ast.BinOp(left=ast.Name(id=a) as root, op=ast.Mult(), right=ast.Name(id=b)) if a == b:
            return root
        case ast.BinOp(left=ast.Name() as root, op=ast.Pow(), right=ast.Constant(value=2)):
            return root
        case _:
            return None


def _gap(a: ast.expr, b: ast.expr, least: int, *, is_unequal: bool = False) -> Gap:
    node = _at(a, ast.BinOp(a, ast.Sub(), b))
    factors: dict[str, int] = {}
    others: set[str] = set()
    for name, by in _terms(node, 1):
        if by is None:
            others.add(name)
        else:
            factors[name] = factors.get(name, 0) + by
    factors = {name: by for name, by in factors.items() if by}
    return Gap(node, factors, frozenset(others), least, is_unequal)


def _terms(node: ast.expr, by: int) -> Iterator[tuple[str, int | None]]:
    """The names of a sum with their factors; None of those that are in it otherwise."""
    match node:
        case ast.Name(id=name):
            yield name, by
        case ast.BinOp(left=a, op=ast.Add() | ast.Sub() as op, right=b):
            yield from _terms(a, by)
            yield from _terms(b, by if isinstance(op, ast.Add) else -by)
        case (
            ast.BinOp(left=ast.Constant(value=int() as times), op=ast.Mult(), right=a)
            | ast.BinOp(left=a, op=ast.Mult(), right=ast.Constant(value=int() as times))
        ):
            yield from _terms(a, by * times)
        case ast.UnaryOp(op=ast.USub(), operand=a):
            yield from _terms(a, -by)
        case Root(of=of):
            yield from ((n.id, None) for n in ast.walk(of) if isinstance(n, ast.Name))
        case _:
            yield from ((n.id, None) for n in ast.walk(node) if isinstance(n, ast.Name))


def endings(tests: Sequence[ast.expr], body: Sequence[ast.stmt]) -> set[str]:
    """Assignments, as text, behind which one of the conditions does not hold, as ``found = 1`` for ``not found``."""
    found: set[str] = set()
    for test in tests:
        match test:
            case ast.Name(id=name):
                wanted: set[object] = {0}
            case ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=name)):
                wanted = {1}
            case ast.Compare(
                left=ast.Name(id=name),
                ops=[ast.Eq() | ast.NotEq() as op],
                comparators=[ast.Constant(value=int() as number)],
            ) if number in (0, 1):
                wanted = {number if isinstance(op, ast.NotEq) else 1 - number}
            case _:
                continue
        sets = {ast.unparse(s) for part in body for s in ast.walk(part) if _sets(s, name, wanted)}
        written = [n for s in body for n in stored([s]) if n == name]
        if len(written) == sum(1 for p in body for s in ast.walk(p) if _sets(s, name, wanted)):
            found |= sets
    return found


def _sets(s: ast.AST, name: str, values: set[object]) -> bool:
    match s:
        case ast.Assign(targets=[ast.Name(id=target)], value=ast.Constant(value=value)):
            return target == name and value in values
        case _:
            return False


def _at(place: ast.expr, node: Placed) -> Placed:
    return ast.copy_location(node, place)
