"""Does a program whose statements choose compute what the program does in which they are under conditions?

The argument:

* the statements are the same in the same loops, but that some run in more iterations;
* in each iteration that the program has they assign the same value: what is chosen there is that, expression for expression;
* in each of the others the element keeps its value bit for bit (``x``, ``x - 0``, ``x + -0.0``, ``x * 1``), or it belongs to a
  local of which no read in an iteration of the program sees that write (by isl).

Then memory is the same after each iteration, but for such locals, and what is read of these is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import islpy as isl

from dsl.expressions import typing
from dsl.expressions.absorption import is_kept
from dsl.expressions.affine import Affine, And, Cond, Constraint, Or, negate
from dsl.expressions.choices import with_choices
from dsl.expressions.expr import (
    Binary,
    BinaryOp,
    Compare,
    CompareOp,
    Const,
    Expr,
    Index,
    Scatter,
    Select,
    Unary,
    UnaryOp,
    walk,
)
from dsl.programs.program import Storage
from polyhedral.dependences.direct import writes_seen
from polyhedral.legality.same_loops import other_loops
from polyhedral.scop.scop import Scop, Statement


def chosen_otherwise(old: Scop, new: Scop) -> str | None:
    """What the program with choices may do otherwise; None where it does the same."""
    if old.program.arrays != new.program.arrays:
        return "the arrays are other ones"
    if [s.name for s in old.statements] != [s.name for s in new.statements]:
        return "the statements are other ones"
    pairs = list(zip(old.statements, new.statements, strict=True))
    more = {
        mine.name
        for mine, now in pairs
        if not mine.domain.reset_tuple_id().is_equal(now.domain.reset_tuple_id())
    }
    if (text := other_loops(new.statements, old.statements, more)) is not None:
        return text
    for mine, now in pairs:
        if mine.stmt.target != now.stmt.target:
            return f"{mine.name} assigns to another element"
        own = mine.domain.set_tuple_name(f"s{now.index}")
        value = at_points(now, own, now.stmt.value)
        before = mine.stmt.value
        dtype = new.program.array(now.stmt.target.array).dtype
        if value != before and (isinstance(before, Scatter) or value != typing.cast(dtype, before)):
            return f"{mine.name} assigns another value"
        others = now.domain.subtract(own)
        if others.is_empty() or keeps(now, others):
            continue
        if (text := _seen(new, now, pairs, others)) is not None:
            return text
    return None


def keeps(statement: Statement, points: isl.Set) -> bool:
    """Whether a statement assigns what its element has already in all of some iterations, bit for bit."""
    return is_kept(at_points(statement, points, statement.stmt.value), statement.stmt.target.__eq__)


def conditions(expr: Expr) -> Iterator[Cond]:
    """The conditions on loop variables alone that choices in an expression are made by."""
    for part in walk(expr):
        if isinstance(part, Select) and (found := _condition(part.cond)) is not None:
            yield found


def _seen(
    new: Scop, writer: Statement, pairs: list[tuple[Statement, Statement]], others: isl.Set
) -> str | None:
    """Who sees what a statement assigns in iterations that the program does not have."""
    array = writer.stmt.target.array
    if new.program.array(array).storage is not Storage.LOCAL:
        return f"{writer.name} changes '{array}' where it did not run"
    if isinstance(writer.stmt.value, Scatter):
        return f"which elements {writer.name} assigns is data"
    for mine, now in pairs:
        own = mine.domain.set_tuple_name(f"s{now.index}")
        for access in dict.fromkeys(a for a in now.reads if a.array == array):
            for source, seen in writes_seen(new, now, access):
                theirs = seen.intersect_range(own)
                if source is writer and not theirs.intersect_domain(others).is_empty():
                    return f"{now.name} reads what {writer.name} assigned where it did not run"
    return None


def at_points(statement: Statement, points: isl.Set, expr: Expr) -> Expr:
    """The expression at some iterations of a statement: choices that these decide are made."""
    return with_choices(expr, partial(_decided, statement, points))


def _decided(statement: Statement, points: isl.Set, cond: Expr) -> Expr | bool:
    """A condition at some iterations: whether it holds, or what is left of it."""
    affine = _condition(cond)
    if affine is not None:
        where = replace(statement, conds=(*statement.conds, affine)).domain
        if points.is_subset(where):
            return True
        return False if points.is_disjoint(where) else cond
    match cond:
        case Binary(BinaryOp.AND | BinaryOp.OR as op, a, b, dtype, span):
            left, right = _decided(statement, points, a), _decided(statement, points, b)
            last = op is BinaryOp.OR  # what decides alone
            if last in (left, right):
                return last
            if isinstance(left, bool):
                return right
            if isinstance(right, bool):
                return left
            return Binary(op, left, right, dtype, span)
        case _:
            return at_points(statement, points, cond)


def _condition(cond: Expr) -> Cond | None:
    """A condition on loop variables alone; None where data is in it."""
    match cond:
        case Compare(op, a, b):
            left, right = _affine(a), _affine(b)
            return None if left is None or right is None else _comparison(op, left - right)
        case Unary(UnaryOp.NOT, x):
            found = _condition(x)
            return None if found is None else negate(found)
        case Binary(BinaryOp.AND | BinaryOp.OR as op, a, b):
            parts = _condition(a), _condition(b)
            if parts[0] is None or parts[1] is None:
                return None
            both = parts[0], parts[1]
            return And(both) if op is BinaryOp.AND else Or(both)
        case _:
            return None


def _comparison(op: CompareOp, difference: Affine) -> Cond:
    match op:
        case CompareOp.LT:
            return Constraint(-difference - 1)
        case CompareOp.LE:
            return Constraint(-difference)
        case CompareOp.GT:
            return Constraint(difference - 1)
        case CompareOp.GE:
            return Constraint(difference)
        case CompareOp.EQ:
            return Constraint(difference, "==")
        case CompareOp.NE:
            return negate(Constraint(difference, "=="))


def _affine(x: Expr) -> Affine | None:
    match x:
        case Index(affine=affine) if affine.is_linear:
            return affine
        case Const(value=int() as value):
            return Affine.of(value)
        case _:
            return None
