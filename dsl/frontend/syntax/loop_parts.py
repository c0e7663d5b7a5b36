"""Parts of ``while`` loops: their conditions, what their names are given in front of them, how often they run at most."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

Placed = TypeVar("Placed", bound=ast.AST)


class Counted(ast.Constant):
    """A number that is found when the kernel is read; copies of it are made without arguments, as of all nodes."""

    def __init__(self, value: int = 0) -> None:
        super().__init__(value)

    def change(self, of: Callable[[ast.expr], ast.expr]) -> None:
        """Put others in the place of the expressions that it is found from, which are no children of the node."""


class Most(Counted):
    """The most iterations of a loop: ``of`` is what is halved, or the two ends of a bisection.

    ``is_gcd``: remainders are taken, of which Lamé's theorem counts the steps. ``is_positive``: the loop ends as soon as
    the number is not above 0. ``base``: above 0, what is above that base is added to what is below it. There are ``more`` of them
    than these say.
    """

    of: tuple[ast.expr, ...]
    is_gcd: bool
    is_positive: bool
    base: int
    more: int = 0

    @classmethod
    def made(
        cls,
        of: Sequence[ast.expr],
        *,
        is_gcd: bool = False,
        is_positive: bool = False,
        base: int = 0,
    ) -> Most:
        """See the class."""
        most = cls()
        most.of, most.is_gcd, most.is_positive, most.base = tuple(of), is_gcd, is_positive, base
        return most

    def change(self, of: Callable[[ast.expr], ast.expr]) -> None:
        """See `Counted`."""
        self.of = tuple(map(of, self.of))


def split(test: ast.expr) -> tuple[ast.expr, ast.expr | None]:
    """The first of the conditions that ``and`` joins, and the others."""
    if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.And):
        return test, None
    first, *rest = test.values
    others = rest[0] if len(rest) == 1 else ast.copy_location(ast.BoolOp(ast.And(), rest), test)
    return first, others


def update_of(statement: ast.stmt) -> tuple[str, ast.operator, int] | None:
    """The name, the operator and the constant of ``i += 2`` and ``s = s // 2``."""
    match statement:
        case ast.AugAssign(target=ast.Name(id=name), op=op, value=ast.Constant(value=int() as by)):
            return name, op, by
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.BinOp(left=ast.Name(id=left), op=op, right=ast.Constant(value=int() as by)),
        ) if left == name:
            return name, op, by
        case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=ast.Name(id=by)) if (
            by == name
        ):
            return name, ast.Mult(), 2  # m += m
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.BinOp(left=ast.Name(id=a), op=ast.Add(), right=ast.Name(id=b)),
        ) if a == b == name:
            return name, ast.Mult(), 2
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.BinOp(
                left=ast.Constant(value=int() as by),
                op=ast.Add() | ast.Mult() as op,
                right=ast.Name(id=right),
            ),
        ) if right == name:
            return name, op, by  # m = 2 * m
        case _:
            return None


def step_of(statement: ast.stmt) -> tuple[str, int] | None:
    """The name and the amount of ``i += 2``, ``i -= 1`` and ``i = i + 1``."""
    found = update_of(statement)
    if found is None or not isinstance(found[1], ast.Add | ast.Sub):
        return None
    name, op, by = found
    return name, by if isinstance(op, ast.Add) else -by


def first_value(name: str, before: Sequence[ast.stmt]) -> ast.expr | None:
    """What a name is assigned in front of a loop; None where that is not seen, or changed since.

    Elements that are read may have changed, but not by assignments to their array under its name.
    """
    found = _assigned_last(name, before)
    return None if found is None else found[0]


def _assigned_last(name: str, before: Sequence[ast.stmt]) -> tuple[ast.expr, int] | None:
    """What a name is assigned, and how many statements stand behind that."""
    changed: set[str] = set()
    for count, s in enumerate(reversed(before)):
        match s:
            case ast.Assign(targets=[ast.Name(id=known)], value=value) if known == name:
                found: ast.expr | None = value
            case ast.AnnAssign(target=ast.Name(id=known), value=ast.expr() as value) if (
                known == name
            ):
                found = value
            case ast.Assign(targets=[ast.Tuple(elts=goals)], value=ast.Tuple(elts=parts)):
                pairs = [(g, p) for g, p in zip(goals, parts, strict=False) if _is_name(g, name)]
                found = pairs[0][1] if pairs else None
            case _:
                found = None
        now = {*stored([s])}
        if found is not None:
            read = {n.id for n in ast.walk(found) if isinstance(n, ast.Name)}
            return None if read & (changed | now) else (found, count)
        if name in now:
            return None
        changed |= now
    return None


def since(name: str, before: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    """The statements behind the one that gives a name its `first_value`."""
    found = _assigned_last(name, before)
    return [] if found is None or found[1] == 0 else before[-found[1] :]


def ends_of_sets(name: str, function: ast.FunctionDef) -> tuple[int | None, int | None]:
    """The least and the most that a scalar may be which is only set to constants, by loops over them too, and stepped by constants.

    Either is None where it is not known: the least of one that is stepped down, for example.
    """
    if any(isinstance(a, ast.arg) and a.arg == name for a in ast.walk(function.args)):
        return None, None
    sets: list[int] = []
    steps: list[int] = []
    several = 0
    for s in ast.walk(function):
        match s:
            case ast.Assign(
                targets=[ast.Name(id=found)], value=ast.Constant(value=int() as number)
            ):
                pass
            case ast.AnnAssign(
                target=ast.Name(id=found), value=ast.Constant(value=int() as number)
            ):
                pass
            case ast.AugAssign(target=ast.Name(id=found), op=ast.Add(), value=ast.Name(id=by)) if (
                found == name != by
            ):
                low, _ = ends_of_sets(by, function)
                if low is None:
                    return None, None
                steps.append(low)
                continue
            case ast.stmt() if (step := step_of(s)) is not None and step[0] == name:
                steps.append(step[1])
                continue
            case ast.For(
                target=ast.Name(id=found),
                iter=ast.Tuple(elts=[_, *_] as elts) | ast.List(elts=[_, *_] as elts),
            ) if found == name:
                numbers = [
                    e.value for e in elts if isinstance(e, ast.Constant) and type(e.value) is int
                ]
                if len(numbers) != len(elts):
                    return None, None
                several += len(numbers) - 1
                sets += numbers
                continue
            case _:
                continue
        if found == name:
            sets.append(int(number))
    known = len(sets) - several + len(steps)
    if not sets or known != sum(1 for n in stored(function.body) if n == name):
        return None, None
    low = min(sets) if all(by >= 0 for by in steps) else None
    return low, max(sets) if all(by <= 0 for by in steps) else None


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def stored(statements: Sequence[ast.stmt]) -> Iterator[str]:
    """The names that statements assign, also elements of."""
    for s in statements:
        for n in ast.walk(s):
            if isinstance(n, ast.Name | ast.Subscript) and isinstance(n.ctx, ast.Store):
                base: ast.expr = n
                while isinstance(base, ast.Subscript):
                    base = base.value
                if isinstance(base, ast.Name):
                    yield base.id


class Renamed(ast.NodeTransformer):
    """An expression in the place of what is read under a name."""

    def __init__(self, old: str, new: ast.expr) -> None:
        self._old = old
        self._new = new

    def visit(self, node: ast.AST) -> Any:
        """Replace it in what numbers are found from as well."""
        if isinstance(node, Counted):
            node.change(self.visit)
        return super().visit(node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Replace a name that is read."""
        if node.id != self._old or not isinstance(node.ctx, ast.Load):
            return node
        return placed(copy.deepcopy(self._new), node)


def placed(node: Placed, place: ast.stmt | ast.expr) -> Placed:
    """The node, and all of its parts, at a place of the source."""
    for part in ast.walk(node):
        if isinstance(part, ast.stmt | ast.expr):
            ast.copy_location(part, place)
    return node
