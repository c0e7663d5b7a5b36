"""How far a correct implementation may be from the reference, array by array.

Integers, fixed point and floats agree bit for bit, with two exceptions: a reduction that a schedule
was allowed to reassociate, and exp, log and tanh, which no standard defines to the last bit. What
such a statement computes, and all that depends on it, has a tolerance: a number of units in the
last place, where a unit is that of the sum of the magnitudes of the terms (the standard bound of
a sum of n terms in any order is (n - 1) roundings of that sum; Higham, Accuracy and Stability of
Numerical Algorithms, §4.2). The magnitudes come from the reference run on absolute values with
every subtraction made an addition.
"""

from __future__ import annotations

from dataclasses import replace

from dsl.expressions.expr import (
    TRANSCENDENTAL,
    Binary,
    BinaryOp,
    Cast,
    Compare,
    Const,
    Expr,
    Gather,
    Index,
    Load,
    Scatter,
    Select,
    Unary,
    UnaryOp,
    loads,
    walk,
)
from dsl.expressions.types import FloatType
from dsl.programs.program import If, Loop, Node, Program, Stmt
from dsl.schedules.recurrence_steps import CriticalLast, Scan
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import PartialSums

_INEXACT = TRANSCENDENTAL
_FACTOR = 4  # roundings allowed for each term; exp, log, tanh, sin and cos differ by up to 4 between libraries
_LARGEST = 1 << 20


def tolerances(program: Program, schedule: Schedule) -> dict[str, int]:
    """Units in the last place for each array that need not be exact; empty where all must be."""
    statements = [(n, around) for n, around in program.walk() if isinstance(n, Stmt)]
    inexact = _inexact_arrays(program, [s for s, _ in statements], schedule.reassociated)
    if not inexact:
        return {}
    named = {step.stmt for step in schedule if isinstance(step, Scan | CriticalLast)}
    scanned = {stmt.target.array for stmt, _ in statements if stmt.name in named}
    terms = sum(
        _longest_chain(_same_element(stmt) if stmt.target.array in scanned else stmt, around)
        for stmt, around in statements
        if stmt.target.array in inexact
    )
    terms += sum(step.count for step in schedule if isinstance(step, PartialSums))
    return dict.fromkeys(sorted(inexact), min(_LARGEST, _FACTOR * (1 + terms)))


def _inexact_arrays(program: Program, statements: list[Stmt], relaxed: frozenset[str]) -> set[str]:
    found: set[str] = set()
    size = -1
    while len(found) > size:
        size = len(found)
        for stmt in statements:
            if (
                (stmt.name in relaxed and isinstance(stmt.value.dtype, FloatType))
                or any(isinstance(e, Unary) and e.op in _INEXACT for e in walk(stmt.value))
                or any(access.array in found for access in loads(stmt.value))
            ):
                found.add(stmt.target.array)
    return found


def _same_element(stmt: Stmt) -> Stmt:
    """The statement of a recurrence, which hands its value from element to element, as if it were one."""
    return replace(stmt, target=replace(stmt.target, indices=()))


def _longest_chain(stmt: Stmt, around: tuple[Loop | If, ...]) -> int:
    """At most how many instances write one element: the trips of loops not in the subscripts."""
    used = {name for index in stmt.target.indices for name in index.variables()}
    bounds: dict[str, tuple[int, int]] = {}
    chain = 1
    for loop in around:
        if not isinstance(loop, Loop):
            continue
        low = max(b.interval(bounds)[0] for b in loop.lowers)
        high = min(b.interval(bounds)[1] for b in loop.uppers)
        bounds[loop.var] = (low, max(low, high - 1))
        if loop.var not in used:
            chain *= max(1, -(-(high - low) // abs(loop.step)))
    return chain


def magnitudes(program: Program) -> Program:
    """The program that sums up magnitudes: no subtraction, no sign, no negative constant.

    Run on absolute inputs it gives the scale of each element's rounding errors. Comparisons and
    conditions are the same program text, so a `Select` may take its other side: the result is a
    scale, not a bound.
    """
    return replace(program, body=tuple(map(_node, program.body)))


def _node(node: Node) -> Node:
    match node:
        case Stmt():
            return replace(node, value=_absolute(node.value))
        case Loop():
            return replace(node, body=tuple(map(_node, node.body)))
        case If():
            then, orelse = tuple(map(_node, node.then)), tuple(map(_node, node.orelse))
            return replace(node, then=then, orelse=orelse)


def _absolute(expr: Expr) -> Expr:
    match expr:
        case Const() if isinstance(expr.dtype, FloatType):
            value = expr.value
            return Const(value if value >= 0 else -value, expr.dtype)
        case Unary(UnaryOp.NEG, operand, dtype) if isinstance(dtype, FloatType):
            return _absolute(operand)
        case Unary():
            return replace(expr, operand=_absolute(expr.operand))
        case Binary(BinaryOp.SUB, lhs, rhs, dtype, span) if isinstance(dtype, FloatType):
            return Binary(BinaryOp.ADD, _absolute(lhs), _absolute(rhs), dtype, span)
        case Binary() | Compare():
            return replace(expr, lhs=_absolute(expr.lhs), rhs=_absolute(expr.rhs))
        case Select():
            return replace(expr, then=_absolute(expr.then), orelse=_absolute(expr.orelse))
        case Cast():
            return replace(expr, operand=_absolute(expr.operand))
        case Scatter():
            return replace(expr, value=_absolute(expr.value))
        case Const() | Load() | Gather() | Index():  # whatever subscripts are, they stay inside
            return expr
