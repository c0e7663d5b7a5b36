"""Assignments that step a counter by what is no constant, but known to be at least so much.

``i += run`` steps by one or more where ``run`` is only set to 1, and stepped up; ``i = j`` does so behind ``j = i + 1`` in
the same iteration, where ``j`` is only stepped up in between; ``j -= gap`` does so in a loop in ``while gap > 0``.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Sequence

from dsl.frontend.syntax.conjuncts import conjuncts
from dsl.frontend.syntax.loop_parts import ends_of_sets, step_of, stored
from dsl.frontend.syntax.steady import assigned_names


def least_steps(
    body: Sequence[ast.stmt], function: ast.FunctionDef
) -> dict[str, tuple[float, float]]:
    """By how much such assignments in the body of a loop change their counters, by their text."""
    found: dict[str, tuple[float, float]] = {}
    for part in body:
        for s in ast.walk(part):
            match s:
                case ast.AugAssign(
                    target=ast.Name(), op=ast.Add() | ast.Sub() as op, value=value
                ) if not isinstance(value, ast.Constant):
                    least, most = _ends(value, function)
                    if isinstance(value, ast.Name) and _is_positive(value.id, body, function):
                        least = max(least, 1)
                    adds = isinstance(op, ast.Add)
                    found[ast.unparse(s)] = (least, most) if adds else (-most, -least)
    found.update(_moved(body))
    return found


def _ends(value: ast.expr, function: ast.FunctionDef) -> tuple[float, float]:
    """The least and the most that an expression may be: of constants, names, and minima, maxima and choices of such."""
    match value:
        case ast.Constant(value=int() as number):
            return number, number
        case ast.Name(id=by):
            low, high = ends_of_sets(by, function)
            return -math.inf if low is None else low, math.inf if high is None else high
        case ast.IfExp(body=then, orelse=orelse):
            (a, b), (c, d) = _ends(then, function), _ends(orelse, function)
            return min(a, c), max(b, d)
        case ast.Call(
            func=ast.Name(id="min" | "max" as which), args=[_, _, *_] as args, keywords=[]
        ):
            if which not in assigned_names(function) and not _is_argument(which, function):
                of = min if which == "min" else max
                lows, highs = zip(*(_ends(a, function) for a in args), strict=True)
                return of(lows), of(highs)
    return -math.inf, math.inf


def _is_positive(name: str, body: Sequence[ast.stmt], function: ast.FunctionDef) -> bool:
    """Whether the loop stands in a ``while gap > 0`` that has not changed the name yet in the same iteration."""
    place = (body[0].lineno, body[0].col_offset)
    for around in ast.walk(function):
        if not isinstance(around, ast.While) or not any(
            _says_positive(c, name) for c in conjuncts(around.test)
        ):
            continue
        inside = [any(_is_at(n, place) for n in ast.walk(s)) for s in around.body]
        if any(inside) and name not in stored(around.body[: inside.index(True) + 1]):
            return True
    return False


def _is_at(node: ast.AST, place: tuple[int, int]) -> bool:
    return isinstance(node, ast.stmt) and (node.lineno, node.col_offset) == place


def _says_positive(condition: ast.expr, name: str) -> bool:
    match condition:
        case ast.Compare(
            left=ast.Name(id=found),
            ops=[ast.Gt()],
            comparators=[ast.Constant(value=int() as least)],
        ):
            return found == name and least >= 0
        case ast.Compare(
            left=ast.Name(id=found),
            ops=[ast.GtE()],
            comparators=[ast.Constant(value=int() as least)],
        ):
            return found == name and least >= 1
    return False


def _is_argument(name: str, function: ast.FunctionDef) -> bool:
    return any(isinstance(n, ast.arg) and n.arg == name for n in ast.walk(function))


def _moved(body: Sequence[ast.stmt]) -> Iterator[tuple[str, tuple[float, float]]]:
    """``i = j`` among the statements of the body, behind ``j = i + 1``."""
    for place, s in enumerate(body):
        match s:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=other)):
                ahead = [_ahead(b, name, other) for b in body[:place]]
            case _:
                continue
        known = [n for n, by in enumerate(ahead) if by is not None]
        if len(known) != 1 or [*stored(body)].count(name) != 1:
            continue
        between = [n for b in body[:place] for n in ast.walk(b) if isinstance(n, ast.stmt)]
        steps = [step for n in between if (step := step_of(n)) is not None and step[0] == other]
        if all(by >= 0 for _, by in steps) and [*stored(body)].count(other) == len(steps) + 1:
            yield ast.unparse(s), (ahead[known[0]] or 0, math.inf)


def _ahead(s: ast.stmt, name: str, other: str) -> int | None:
    """By how much ``other`` is ahead of ``name`` behind ``other = name + 1``; None of other statements."""
    match s:
        case ast.Assign(targets=[ast.Name(id=target)], value=ast.Name(id=of)):
            by = 0
        case ast.Assign(
            targets=[ast.Name(id=target)],
            value=ast.BinOp(
                left=ast.Name(id=of), op=ast.Add(), right=ast.Constant(value=int() as by)
            ),
        ):
            pass
        case _:
            return None
    return by if (target, of) == (other, name) else None
