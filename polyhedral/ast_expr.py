"""isl's AST expressions as `Affine`, bounds and guards."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from dsl.affine import Affine, Constraint
from dsl.errors import IRError

Env = Mapping[str, Affine]
_OP = isl.ast_expr_op_type


def to_affine(expr: isl.AstExpr, env: Env) -> Affine:
    """An AST expression of additions, constant multiples, floor divisions and remainders."""
    kind = expr.get_type()
    if kind == isl.ast_expr_type.int:
        return Affine.of(expr.get_val().to_python())
    if kind == isl.ast_expr_type.id:
        return env[expr.get_id().get_name()]
    op, args = expr.get_op_type(), _arguments(expr)
    values = [to_affine(a, env) for a in args]
    if op == _OP.add:
        return values[0] + values[1]
    if op == _OP.sub:
        return values[0] - values[1]
    if op == _OP.minus:
        return -values[0]
    if op == _OP.mul:
        a, b = values
        return b * a.const if a.is_const else a * _constant(b, expr)
    if op in (_OP.fdiv_q, _OP.pdiv_q, _OP.div):
        return values[0] // _constant(values[1], expr)
    if op in (_OP.pdiv_r, _OP.zdiv_r):
        return values[0] % _constant(values[1], expr)
    raise _unsupported(expr)


def _arguments(expr: isl.AstExpr) -> list[isl.AstExpr]:
    return [expr.get_op_arg(k) for k in range(expr.get_op_n_arg())]


def _constant(value: Affine, expr: isl.AstExpr) -> int:
    if not value.is_const:
        raise _unsupported(expr)
    return value.const


def _unsupported(expr: isl.AstExpr) -> IRError:
    return IRError("W310", f"isl built an expression that is not affine: {expr.to_C_str()}")


def bounds(expr: isl.AstExpr, env: Env, op: isl.ast_expr_op_type) -> tuple[Affine, ...]:
    """The operands of (nested) ``min`` or ``max``, each once; a single expression is one."""
    if expr.get_type() == isl.ast_expr_type.op and expr.get_op_type() == op:
        parts = [b for a in _arguments(expr) for b in bounds(a, env, op)]
        return tuple(dict.fromkeys(parts))
    return (to_affine(expr, env),)


def upper_bounds(cond: isl.AstExpr, env: Env) -> tuple[Affine, ...]:
    """The exclusive upper bounds of a loop's condition ``iterator < e`` or ``iterator <= e``."""
    op = cond.get_op_type()
    parts = bounds(cond.get_op_arg(1), env, _OP.min)
    if op == _OP.le:
        return tuple(p + 1 for p in parts)
    if op == _OP.lt:
        return parts
    raise _unsupported(cond)


def constraints(cond: isl.AstExpr, env: Env) -> tuple[Constraint, ...]:
    """The conjuncts of a guard."""
    op = cond.get_op_type()
    if op in (_OP.and_, _OP.and_then):
        return tuple(c for a in _arguments(cond) for c in constraints(a, env))
    if op not in (_OP.eq, _OP.ge, _OP.gt, _OP.le, _OP.lt):
        raise _unsupported(cond)
    left, right = _arguments(cond)
    if op == _OP.eq:
        return (Constraint(to_affine(left, env) - to_affine(right, env), "=="),)
    if op in (_OP.le, _OP.lt):
        left, right = right, left
    slack = 0 if op in (_OP.ge, _OP.le) else -1
    # left >= right: a min on the left and a max on the right are conjunctions.
    return tuple(
        Constraint(a - b + slack)
        for a in bounds(left, env, _OP.min)
        for b in bounds(right, env, _OP.max)
    )
