"""If-conversion of a condition on loop variables: what is under it runs always, and chooses.

Before::

    for i in range(N):
      if i != k:
        f = A[i, k]                                       # S0
        for j in range(M):
          A[i, j] -= f * A[k, j]                          # S1

After::

    for i in range(N):
      f = A[i, k]                                         # S0
      for j in range(M):
        A[i, j] -= f * A[k, j] if i != k else 0           # S1

A local that nothing outside of the condition reads is assigned without a choice. Conditions on data are converted as a program
is read (`dsl.programs.predicated`). Whether it computes the same is for `polyhedral.legality.chosen_otherwise` to prove.
"""

from __future__ import annotations

from functools import reduce

from dsl.expressions import typing
from dsl.expressions.affine import Affine, And, Cond, Constraint, Or
from dsl.expressions.expr import BinaryOp, CompareOp, Const, Expr, Index, loads
from dsl.expressions.types import IntType, boolean
from dsl.programs.predicated import Branches, predicated
from dsl.programs.program import If, Program, Stmt, Storage, replaced, statements_in


class NoConditionError(Exception):
    """There is no condition around the statement that choices could stand for; its text says why."""


def if_converted(program: Program, name: str) -> Program:
    """The program without the innermost condition around a statement.

    Args:
        program: the kernel.
        name: the statement.

    Raises:
        NoConditionError: it is under none, or that has an ``else``.
    """
    around = next(a for n, a in program.walk() if isinstance(n, Stmt) and n.name == name)
    node = next((a for a in reversed(around) if isinstance(a, If)), None)
    if node is None:
        raise NoConditionError(f"{name} runs in all iterations of its loops")
    if node.orelse:
        raise NoConditionError(f"the condition around {name} has an else")
    inside = [s for one in node.then for s in statements_in(one)]
    names = {s.name for s in inside}
    outside = [s for s in program.statements() if s.name not in names]
    used = {a.array for s in outside for a in (s.target, *loads(s.value))}
    own = {
        a.name
        for a in program.arrays
        if a.storage is Storage.LOCAL and a.name not in used and not a.shape
    }
    branches = Branches(node.then, (), own)
    nodes = predicated(expression_of(node.cond), branches, lambda a: program.array(a).dtype)
    return Program(
        program.name, program.arrays, replaced(program.body, (node,), nodes), program.span
    )


def expression_of(cond: Cond) -> Expr:
    """A condition on loop variables as a ``u1``."""
    match cond:
        case Or(parts=(Constraint(a, ">="), Constraint(b, ">="))) if a + b == Affine.of(-2):
            return _compared(CompareOp.NE, a + 1)  # ``a >= 1`` or ``-a >= 1``
        case Constraint(expr, kind):
            return _compared(CompareOp.GE if kind == ">=" else CompareOp.EQ, expr)
        case And(parts):
            return _together(BinaryOp.AND, parts, True)
        case Or(parts):
            return _together(BinaryOp.OR, parts, False)


def _together(op: BinaryOp, parts: tuple[Cond, ...], of_none: bool) -> Expr:
    if not parts:
        return Const(int(of_none), boolean)
    return reduce(lambda a, b: typing.binary(op, a, b), map(expression_of, parts))


def _compared(op: CompareOp, expr: Affine) -> Expr:
    """``expr op 0``, what is subtracted on the other side."""
    more = Affine(tuple((v, c) for v, c in expr.terms if c > 0), max(expr.const, 0))
    less = more - expr
    return typing.compare(op, _side(more), _side(less))


def _side(expr: Affine) -> Expr:
    return Const(expr.const, IntType(32)) if expr.is_const else Index(expr)
