"""``while`` loops that add what is above a limit to what is below it, as the carries of a checksum or the digits of a number.

::

    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    while n > 9:
        n = n // 10 + n % 10

Each iteration divides what is above by the base, so that a few are enough (`most_folds`).
"""

from __future__ import annotations

import ast

from dsl.frontend.syntax.loop_parts import Most, split, stored


def folded(loop: ast.While) -> Most | None:
    """The most iterations of such a loop; None of any other one."""
    test, _ = split(loop.test)
    found = _above(test)
    if found is None:
        return None
    name, base = found
    folds = sum(_fold_of(s) == (name, base) for s in loop.body)
    if folds != 1 or [*stored(loop.body)].count(name) != 1:
        return None
    if any(isinstance(n, ast.Continue) for s in loop.body for n in ast.walk(s)):
        return None
    return Most.made([ast.copy_location(ast.Name(name, ast.Load()), test)], base=base)


def most_folds(base: int, low: int, high: int) -> int:
    """After how many folds a number between ``low`` and ``high`` is from 0 to ``base`` - 1.

    Below twice the base there are two at most: the first leaves the base at most, the second 1 of that. Of a negative
    number the part above is negative until it is -1, which leaves ``base`` - 2.
    """
    trips, most = 2, high
    while most >= 2 * base:
        most = base - 1 + most // base
        trips += 1
    below, least = 1, -low
    while least > 1:
        least = -(-least // base)
        below += 1
    return max(trips, below)


def _above(test: ast.expr) -> tuple[str, int] | None:
    """The name and the base of ``t >> 16``, ``t // 10``, ``t > 9`` and ``t >= 10``."""
    match test:
        case ast.Compare(
            left=left, ops=[ast.NotEq() | ast.Gt()], comparators=[ast.Constant(value=0)]
        ) if (found := _high_of(left)) is not None:
            return found
        case ast.Compare(
            left=ast.Name(id=name),
            ops=[ast.Gt() | ast.GtE() as op],
            comparators=[ast.Constant(value=int() as limit)],
        ):
            base = limit + isinstance(op, ast.Gt)
            return (name, base) if base >= 2 else None
    return _high_of(test)


def _fold_of(s: ast.stmt) -> tuple[str, int] | None:
    """The name and the base of ``t = (t & 0xFFFF) + (t >> 16)``; None of any other statement."""
    match s:
        case ast.Assign(
            targets=[ast.Name(id=name)], value=ast.BinOp(left=left, op=ast.Add(), right=right)
        ):
            for low, high in ((left, right), (right, left)):
                found = _high_of(high)
                if found is not None and found == _low_of(low) and found[0] == name:
                    return found
    return None


def _high_of(node: ast.expr) -> tuple[str, int] | None:
    match node:
        case ast.BinOp(
            left=ast.Name(id=name), op=ast.RShift(), right=ast.Constant(value=int() as by)
        ) if 1 <= by < 4096:
            return name, 1 << by
        case ast.BinOp(
            left=ast.Name(id=name), op=ast.FloorDiv(), right=ast.Constant(value=int() as base)
        ) if base >= 2:
            return name, base
    return None


def _low_of(node: ast.expr) -> tuple[str, int] | None:
    match node:
        case ast.BinOp(
            left=ast.Name(id=name), op=ast.BitAnd(), right=ast.Constant(value=int() as mask)
        ) if mask > 0 and mask & (mask + 1) == 0:
            return name, mask + 1
        case ast.BinOp(
            left=ast.Name(id=name), op=ast.Mod(), right=ast.Constant(value=int() as base)
        ) if base >= 2:
            return name, base
    return None
