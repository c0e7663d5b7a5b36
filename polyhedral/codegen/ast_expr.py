"""isl's AST expressions as `Affine`: values, bounds and guards.

Mostly they are affine, with ``max`` in lower and ``min`` in upper bounds. On odd domains isl also
builds conditional values; these are taken apart into cases that exclude each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Literal

import islpy as isl

from dsl.errors.errors import IRError
from dsl.expressions.affine import Affine, Constraint
from polyhedral.scop.conjunctions import Conjunction, both, complement, conjunctions

Env = Mapping[str, Affine]
Case = tuple[Conjunction, Affine]
_OP = isl.ast_expr_op_type
_TYPE = isl.ast_expr_type
_CUT = (_OP.fdiv_q, _OP.pdiv_q, _OP.div)
_REMAINDER = (_OP.pdiv_r, _OP.zdiv_r)


class NotABoundError(Exception):
    """The expression is not a single minimum or maximum of affine ones: take it in cases."""


def _arguments(expr: isl.AstExpr) -> list[isl.AstExpr]:
    return [expr.get_op_arg(k) for k in range(expr.get_op_n_arg())]


class NotAffineError(IRError):
    """W310: an expression that no loop or guard can have."""


def _unsupported(expr: isl.AstExpr) -> NotAffineError:
    return NotAffineError("W310", f"isl built an expression that is not affine: {expr.to_C_str()}")


def _constant(value: Affine, expr: isl.AstExpr) -> int:
    if not value.is_const:
        raise _unsupported(expr)
    return value.const


def _combined(op: isl.ast_expr_op_type, values: Iterable[Affine], expr: isl.AstExpr) -> Affine:
    """An arithmetic operator on affine operands."""
    first, *rest = values
    if op == _OP.minus:
        return -first
    second = rest[0]
    if op == _OP.add:
        return first + second
    if op == _OP.sub:
        return first - second
    if op == _OP.mul:
        return second * first.const if first.is_const else first * _constant(second, expr)
    if op in _CUT:
        return first // _constant(second, expr)
    if op in _REMAINDER:
        return first % _constant(second, expr)
    raise _unsupported(expr)


def cases(expr: isl.AstExpr, env: Env) -> list[Case]:
    """The value as (condition, affine value) pairs; exactly one condition holds at a time."""
    kind = expr.get_type()
    if kind == _TYPE.int:
        return [((), Affine.of(expr.get_val().to_python()))]
    if kind == _TYPE.id:
        return [((), env[expr.get_id().get_name()])]
    op, args = expr.get_op_type(), _arguments(expr)
    if op in (_OP.cond, _OP.select):
        return [
            (when, value)
            for holds, branch in ((True, args[1]), (False, args[2]))
            for inner, value in cases(branch, env)
            for when in both(alternatives(args[0], env, holds), [inner])
        ]
    found: list[Case] = []
    for parts in product(*(cases(a, env) for a in args)):
        values = [value for _, value in parts]
        for when in both(*([conditions] for conditions, _ in parts)):
            if op in (_OP.min, _OP.max):
                for chosen, v in _extremum(values, op == _OP.max):
                    found += [(also, v) for also in both([when], [chosen])]
            else:
                found.append((when, _combined(op, values, expr)))
    return found


def _extremum(values: list[Affine], greatest: bool) -> list[Case]:
    """Which operand is the least or greatest; the first of equal ones."""
    found: list[Case] = []
    for k, chosen in enumerate(values):
        ahead = [
            Constraint((chosen - other if greatest else other - chosen) - (1 if n < k else 0))
            for n, other in enumerate(values)
            if n != k
        ]
        found.append((tuple(ahead), chosen))
    return found


def bounds(expr: isl.AstExpr, env: Env, op: isl.ast_expr_op_type) -> tuple[Affine, ...]:
    """The operands of which the value is the minimum or maximum (``op``), each once.

    Raises:
        NotABoundError: it is not of that form.
    """
    return tuple(dict.fromkeys(_operands(expr, env, op)))


def _operands(expr: isl.AstExpr, env: Env, op: isl.ast_expr_op_type) -> list[Affine]:
    if expr.get_type() != _TYPE.op:
        return [cases(expr, env)[0][1]]
    own, args = expr.get_op_type(), _arguments(expr)
    if own == op:
        return [b for a in args for b in _operands(a, env, op)]
    if own in (_OP.min, _OP.max, _OP.cond, _OP.select):
        raise NotABoundError
    other = _OP.min if op == _OP.max else _OP.max
    if own == _OP.minus:
        return [-b for b in _operands(args[0], env, other)]
    left = _operands(args[0], env, op)
    right = _operands(args[1], env, other if own == _OP.sub else op)
    if len(left) * len(right) > 1 and not _monotone(own, left, right):
        raise NotABoundError
    return [_combined(own, pair, expr) for pair in product(left, right)]


def _monotone(op: isl.ast_expr_op_type, left: list[Affine], right: list[Affine]) -> bool:
    """Whether the operator keeps the order of its operands (sub: see the caller)."""
    if op in (_OP.add, _OP.sub):
        return True
    factors = right if op in _CUT or len(left) > 1 else left
    return op in (_OP.mul, *_CUT) and len(factors) == 1 and factors[0].const > 0


def upper(cond: isl.AstExpr) -> tuple[isl.AstExpr, int]:
    """The bound of a loop's condition and what makes it exclusive (0 for ``<``, 1 for ``<=``)."""
    op = cond.get_op_type()
    if op not in (_OP.le, _OP.lt):
        raise _unsupported(cond)
    return cond.get_op_arg(1), 1 if op == _OP.le else 0


def alternatives(cond: isl.AstExpr, env: Env, holds: bool = True) -> list[Conjunction]:
    """A condition, or where it does not hold, as conjunctions that exclude each other; none is
    false, an empty one true.
    """
    if cond.get_type() == _TYPE.int:
        return [()] if bool(cond.get_val().to_python()) is holds else []
    op, args = cond.get_op_type(), _arguments(cond)
    if op in (_OP.and_, _OP.and_then, _OP.or_, _OP.or_else):
        if (op in (_OP.and_, _OP.and_then)) is holds:
            return both(*(alternatives(a, env, holds) for a in args))
        first, second = (alternatives(a, env, holds) for a in args)
        return [*first, *both(alternatives(args[0], env, not holds), second)]
    found = _comparison(cond, env)
    return found if holds else complement(found)


def _comparison(cond: isl.AstExpr, env: Env) -> list[Conjunction]:
    op = cond.get_op_type()
    if op not in (_OP.eq, _OP.ge, _OP.gt, _OP.le, _OP.lt):
        raise _unsupported(cond)
    left, right = _arguments(cond)
    if op in (_OP.le, _OP.lt):
        left, right = right, left
    slack = 0 if op in (_OP.ge, _OP.le, _OP.eq) else -1
    if op != _OP.eq:
        try:
            # left >= right: a minimum on the left and a maximum on the right are conjunctions.
            pairs = product(bounds(left, env, _OP.min), bounds(right, env, _OP.max))
            return both(*(conjunctions(Constraint(x - y + slack)) for x, y in pairs))
        except NotABoundError:
            pass
    kind: Literal["==", ">="] = "==" if op == _OP.eq else ">="
    return [
        conjunction
        for a, x in cases(left, env)
        for b, y in cases(right, env)
        for conjunction in both([a], [b], conjunctions(Constraint(x - y + slack, kind)))
    ]
