"""Floats divided by powers of two: products, which are the same to the last bit.

Before::

    y[i] = (x[i] + x[i + 1]) / 2.0

After::

    y[i] = (x[i] + x[i + 1]) * 0.5

Both round the same exact number. A divider takes four times as long as a multiplier.
"""

from __future__ import annotations

import math
from dataclasses import replace

from dsl.expressions.expr import Binary, BinaryOp, Const, Expr, children, walk, with_operands
from dsl.expressions.literals import const
from dsl.expressions.types import FloatType
from dsl.programs.program import Program, Stmt, map_statements

_NORMAL = {"bf16": 126, "f16": 14, "f32": 126, "f64": 1022}
"""Powers of two up to which numbers of a type and their inverses are normal ones: hardware flushes others to zero."""


def exact_inverses(program: Program) -> Program:
    """The program with products in the place of such divisions; the same one where there are none."""
    if not any(_inverse(x) for s in program.statements() for x in walk(s.value)):
        return program

    def new(stmt: Stmt) -> Stmt:
        value = _multiplied(stmt.value)
        return stmt if value is stmt.value else replace(stmt, value=value)

    return replace(program, body=tuple(map_statements(node, new) for node in program.body))


def _multiplied(expr: Expr) -> Expr:
    made = with_operands(expr, [_multiplied(x) for x in children(expr)])
    inverse = _inverse(made)
    if inverse is None or not isinstance(made, Binary):
        return made
    return replace(made, op=BinaryOp.MUL, rhs=inverse)


def _inverse(expr: Expr) -> Const | None:
    """What a quotient of a float by a power of two is multiplied by; None of any other expression."""
    match expr:
        case Binary(BinaryOp.DIV, _, Const(value=float(by)), FloatType(name) as dtype) if by != 0:
            part, power = math.frexp(by)
            if abs(part) == 0.5 and abs(power - 1) <= _NORMAL[name] and expr.rhs.dtype == dtype:
                return const(1.0 / by, dtype)
    return None
