"""Conditions of ``if``: affine over loop variables, or known when the kernel is compiled."""

from __future__ import annotations

import ast

from dsl.errors.errors import LanguageError
from dsl.expressions import values
from dsl.expressions.affine import Affine, And, Cond, Or, negate
from dsl.expressions.expr import CompareOp, Expr, loads
from dsl.expressions.values import Value
from dsl.frontend.capture import is_number
from dsl.frontend.context import Context
from dsl.frontend.evaluate import comparisons
from dsl.frontend.operands import value


def condition(ctx: Context, node: ast.expr, statement: ast.If) -> bool | Cond:
    """The condition of ``statement``, or its value where it is known.

    Raises:
        LanguageError: W106 where it depends on data, W146 where it is not affine.
    """
    match node:
        case ast.BoolOp():
            return _joined(ctx, node, statement)
        case ast.UnaryOp(op=ast.Not()):
            inner = condition(ctx, node.operand, statement)
            return not inner if isinstance(inner, bool) else negate(inner)
        case ast.Compare():
            return _compared(ctx, node, statement)
        case _:
            found = value(ctx, node)
            if is_number(found):
                return bool(found)
            if isinstance(found, Affine):
                return values.condition(CompareOp.NE, found, Affine.of(0))
            raise _refused(ctx, found, node, statement)


def _joined(ctx: Context, node: ast.BoolOp, statement: ast.If) -> bool | Cond:
    is_and = isinstance(node.op, ast.And)
    parts: list[Cond] = []
    for n in node.values:
        part = condition(ctx, n, statement)
        if not isinstance(part, bool):
            parts.append(part)
        elif part is not is_and:  # decided, as in Python
            return part
    if not parts:
        return is_and
    if len(parts) == 1:
        return parts[0]
    return And(tuple(parts)) if is_and else Or(tuple(parts))


def _compared(ctx: Context, node: ast.Compare, statement: ast.If) -> bool | Cond:
    ops = comparisons(ctx, node)
    nodes = [node.left, *node.comparators]
    operands = [value(ctx, n) for n in nodes]
    parts: list[Cond] = []
    for n, op in enumerate(ops):
        a, b = operands[n], operands[n + 1]
        if is_number(a) and is_number(b):
            if not values.compare(op, a, b):
                return False
            continue
        left, right = values.as_affine(a), values.as_affine(b)
        if left is None or right is None:
            culprit = n if left is None else n + 1
            raise _refused(ctx, operands[culprit], nodes[culprit], statement)
        difference = left - right
        if not difference.is_const:
            parts.append(values.condition(op, left, right))
        elif not values.compare(op, difference.const, 0):
            return False
    if not parts:
        return True
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def _refused(ctx: Context, found: Value, node: ast.expr, statement: ast.If) -> LanguageError:
    text = ctx.source.text(node)
    if isinstance(found, Expr) and loads(found):
        message = f"this 'if' depends on data ({text}); control flow depends on loop variables only"
        return ctx.error("W106", message, node, _as_select(ctx, statement))
    return ctx.error(
        "W146",
        f"the condition is not affine: {text}",
        node,
        "compare sums of loop variables times constants, or select a value: "
        f"{_as_select(ctx, statement)}",
    )


def _as_select(ctx: Context, statement: ast.If) -> str:
    """The ``if`` rewritten with a ternary, where it is simple enough; else how that looks."""
    general = "select the value instead: x = a if condition else b"
    test = ctx.source.text(statement.test)
    match statement:
        case ast.If(body=[ast.Assign(targets=[target], value=then)], orelse=[]):
            goal = ctx.source.text(target)
            return f"{goal} = {ctx.source.text(then)} if {test} else {goal}"
        case ast.If(body=[ast.AugAssign(target=target, op=op, value=then)], orelse=[]):
            goal = ctx.source.text(target)
            sum_text = ast.unparse(ast.BinOp(target, op, then))
            return f"{goal} = {sum_text} if {test} else {goal}"
        case ast.If(
            body=[ast.Assign(targets=[target], value=then)],
            orelse=[ast.Assign(targets=[other], value=orelse)],
        ) if ast.dump(target) == ast.dump(other):
            goal = ctx.source.text(target)
            return f"{goal} = {ctx.source.text(then)} if {test} else {ctx.source.text(orelse)}"
    return general
