"""Bisections: loops that halve what is between two numbers in each iteration."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from dsl.frontend.syntax.loop_parts import Most, first_value, split, stored


def bisected(loop: ast.While, before: Sequence[ast.stmt]) -> Most | None:
    """``while lo < hi:`` with ``mid = (lo + hi) // 2``, and one end moved to it on each way; None of all others.

    Of two numbers in the middle it is the lower one, to which ``hi`` may be moved, or with ``(lo + hi + 1) // 2`` the
    upper one, to which ``lo`` may be. Where it runs as long as something is between the ends, ``while hi - lo > 1:``, each may be moved to the middle.
    """
    test, _ = split(loop.test)
    apart = False
    match test:
        case ast.Compare(
            left=ast.Name(id=low), ops=[ast.Lt() | ast.LtE() as op], comparators=[ast.Name(id=high)]
        ):
            strict = isinstance(op, ast.Lt)
        case _ if (ends := _apart(test)) is not None:
            low, high = ends
            strict = apart = True
        case _:
            return None
    middles = [s for s in loop.body if _middle(s, low, high) is not None]
    if len(middles) != 1 or loop.body[0] is not middles[0]:
        return None
    found = _middle(middles[0], low, high)
    assert found is not None, "it is the one that was found"
    mid, upper = found
    good = {f"{low} = {mid} + 1", f"{high} = {mid} - 1"}
    good |= {f"{end} = {mid}" for end in (low, high) if apart or (strict and (end == low) is upper)}
    if [*stored(loop.body)].count(mid) != 1 or not _moves(loop.body[1:], (low, high), good):
        return None
    firsts = [first_value(low, before), first_value(high, before)]
    known = [end for end in firsts if end is not None]
    return Most.made(known) if len(known) == 2 else None


def _apart(test: ast.expr) -> tuple[str, str] | None:
    """The ends in ``hi - lo > 1``, ``hi - lo >= 2`` or ``lo + 1 < hi``."""
    match test:
        case (
            ast.Compare(
                left=ast.BinOp(left=ast.Name(id=high), op=ast.Sub(), right=ast.Name(id=low)),
                ops=[ast.Gt()],
                comparators=[ast.Constant(value=1)],
            )
            | ast.Compare(
                left=ast.BinOp(left=ast.Name(id=high), op=ast.Sub(), right=ast.Name(id=low)),
                ops=[ast.GtE()],
                comparators=[ast.Constant(value=2)],
            )
            | ast.Compare(
                left=ast.BinOp(left=ast.Name(id=low), op=ast.Add(), right=ast.Constant(value=1)),
                ops=[ast.Lt()],
                comparators=[ast.Name(id=high)],
            )
        ):
            return low, high
    return None


def _middle(s: ast.stmt, low: str, high: str) -> tuple[str, bool] | None:
    """The name of the middle that a statement finds, and whether it is the upper one of two."""
    match s:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            text = ast.unparse(value)
        case _:
            return None
    for upper, more in ((False, ""), (True, " + 1")):
        sums = (f"{low} + {high}{more}", f"{high} + {low}{more}")
        halves = [f"({s}) // 2" for s in sums] + [f"{s} >> 1" for s in sums]
        rest = f"{high} - {low}{more}"
        if text in (*halves, f"{low} + ({rest}) // 2", f"{low} + ({rest} >> 1)"):
            return name, upper
    return None


def _moves(statements: Sequence[ast.stmt], names: tuple[str, str], good: Collection[str]) -> bool:
    """Whether every way through the statements leaves the loop, or moves an end in one of the ``good`` ways, and nothing
    else does.
    """
    low, high = names
    for n, s in enumerate(statements):
        if isinstance(s, ast.Break | ast.Return):
            return True
        if isinstance(s, ast.Continue):
            return False
        if (isinstance(s, ast.If) and {low, high} & {*stored([s])}) or _leaves(s):
            assert isinstance(s, ast.If)
            rest = statements[n + 1 :]
            return _moves([*s.body, *rest], names, good) and _moves([*s.orelse, *rest], names, good)
        if {low, high} & {*stored([s])}:
            return ast.unparse(s) in good and not {low, high} & {*stored(statements[n + 1 :])}
    return False


def _leaves(s: ast.stmt) -> bool:
    return isinstance(s, ast.If) and any(
        isinstance(n, ast.Break | ast.Return | ast.Continue) for n in ast.walk(s)
    )
