"""Assignments that step a counter by what is no constant, but known to be at least so much.

``i += run`` steps by one or more where ``run`` is only set to 1, and stepped up; ``i = j`` does so behind ``j = i + 1`` in
the same iteration, where ``j`` is only stepped up in between.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Sequence

from dsl.frontend.syntax.loop_parts import ends_of_sets, step_of, stored


def least_steps(
    body: Sequence[ast.stmt], function: ast.FunctionDef
) -> dict[str, tuple[float, float]]:
    """By how much such assignments in the body of a loop change their counters, by their text."""
    found: dict[str, tuple[float, float]] = {}
    for part in body:
        for s in ast.walk(part):
            match s:
                case ast.AugAssign(
                    target=ast.Name(), op=ast.Add() | ast.Sub() as op, value=ast.Name(id=by)
                ):
                    low, high = ends_of_sets(by, function)
                    least = -math.inf if low is None else low
                    most = math.inf if high is None else high
                    adds = isinstance(op, ast.Add)
                    found[ast.unparse(s)] = (least, most) if adds else (-most, -least)
    found.update(_moved(body))
    return found


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
