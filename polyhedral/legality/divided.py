"""Divisions by numbers without dividers: of which statements there are any, and whether a program does them right.

How large what is divided may be is known of the ranges of types, of loop variables and of what scalars hold at each place of the
program (`polyhedral.legality.stored_ranges`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import partial

from dsl.expressions.expr import (
    Binary,
    BinaryOp,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    Select,
    children,
)
from dsl.expressions.inverses import quotients_of, rest_of
from dsl.expressions.value_range import Range
from dsl.programs.inverses import divisions, has_dividers, without_dividers
from dsl.programs.program import Program, Stmt, map_statements
from polyhedral.legality.stored_ranges import StoredRanges

_MOST = 16
"""Quotients that may be told by comparisons, at most."""


def without_divisions(program: Program, names: Collection[str]) -> Program:
    """The program with those statements' divisions by numbers done without dividers; the same one where there are none."""
    stored = _ranges(program, names)
    if stored is None:
        return program

    def new(stmt: Stmt) -> Stmt:
        if stmt.name not in names or stmt.name not in stored.loops:
            return stmt
        found = divisions(stmt.value, partial(stored.range_of, at=stmt.name))
        return replace(stmt, value=without_dividers(stmt.value, {id(d.of): d for d in found}))

    return replace(program, body=tuple(map_statements(node, new) for node in program.body))


def divides_otherwise(before: Program, after: Program) -> str | None:
    """What a program without dividers does otherwise than one with them; None where each value is proven to be the same."""
    stored = _ranges(before, {s.name for s in before.statements()})
    old, new = [*before.statements()], [*after.statements()]
    if stored is None or before.arrays != after.arrays or len(old) != len(new):
        return "the arrays or statements are other ones"
    values = iter([s.value for s in old])
    put = tuple(
        map_statements(node, lambda s: replace(s, value=next(values))) for node in after.body
    )
    if replace(after, body=put) != before:
        return "something else has changed"
    for s, other in zip(old, new, strict=True):
        if s.value != other.value and s.name not in stored.loops:
            return f"{s.name} has no iterations"
        if not _same(s.value, other.value, partial(stored.range_of, at=s.name)):
            return f"{s.name} divides otherwise"
    return None


def _ranges(program: Program, names: Collection[str]) -> StoredRanges | None:
    """What the program's scalars hold, if one of the statements divides by a number at all."""
    if any(s.name in names and has_dividers(s.value) for s in program.statements()):
        return StoredRanges(program)
    return None


def _same(before: Expr, after: Expr, range_of: Callable[[Expr], Range]) -> bool:
    """Whether two expressions have the same value, where operands of divisions have the ranges of the first one's."""
    if before == after:
        return True
    match before:
        case Binary(BinaryOp.FLOORDIV | BinaryOp.MOD, x, Const(value=int())) if (
            after.dtype == before.dtype
        ):
            if any(x is t or _same(x, t, range_of) for t in _divided(before, after, range_of(x))):
                return True
    mine, others = children(before), children(after)
    if type(before) is not type(after) or len(mine) != len(others):
        return False
    pairs = zip(mine, others, strict=True)
    return _without_operands(before) == _without_operands(after) and all(
        _same(a, b, range_of) for a, b in pairs
    )


def _without_operands(x: Expr) -> tuple[object, ...]:
    return tuple(getattr(x, name, None) for name in ("op", "dtype", "access"))


def _divided(before: Binary, after: Expr, range_: Range) -> Iterator[Expr]:
    """What an expression may divide as another one does, for all of a range of that."""
    low, high = range_
    assert isinstance(before.rhs, Const)
    by = int(before.rhs.value)
    inner = after.operand if isinstance(after, Cast) else after
    if before.op is BinaryOp.FLOORDIV:
        yield from (q.taken for q in quotients_of(after) if q.divides(by, low, high))
    else:
        for x in (after, inner):
            rest = rest_of(x)
            if rest is not None and rest.by == by and rest.quotient.divides(by, low, high):
                yield rest.quotient.taken
    first, last = low // by, high // by
    if first == last and before.op is BinaryOp.FLOORDIV and after == _plain(after, first):
        yield before.lhs
    elif first == last and before.op is BinaryOp.MOD:
        yield from (after, inner) if first == 0 else _less(inner, first * by)
    elif first < last < first + _MOST:
        taken = _compared(before.op, after, by, range(first, last + 1))
        if taken is not None:
            yield taken


def _plain(x: Expr, value: int) -> Expr:
    return Const(value, x.dtype)


def _compared(op: BinaryOp, after: Expr, by: int, quotients: range) -> Expr | None:
    """What is compared with each multiple of a number, largest first, and is the quotient or the rest behind that."""
    taken: Expr | None = None
    for quotient in reversed(quotients):
        value = after
        if quotient != quotients[0]:
            chosen = after
            if not isinstance(chosen, Select) or not isinstance(chosen.cond, Compare):
                return None
            cond, value, after = chosen.cond, chosen.then, chosen.orelse
            is_multiple = isinstance(cond.rhs, Const) and cond.rhs.value == quotient * by
            if cond.op is not CompareOp.GE or not is_multiple or cond.lhs != (taken or cond.lhs):
                return None
            taken = cond.lhs
        if op is BinaryOp.FLOORDIV:
            if value != _plain(value, quotient):
                return None
        elif taken is None or not _is_less(value, taken, quotient * by):
            return None
    return taken


def _is_less(value: Expr, taken: Expr, number: int) -> bool:
    """Whether a value is another one less a number, or its low bits."""
    inner = value.operand if isinstance(value, Cast) and value != taken else value
    return taken in ([inner] if number == 0 else [*_less(inner, number)])


def _less(x: Expr, number: int) -> Iterator[Expr]:
    """What an expression is, less a number."""
    match x:
        case Binary(BinaryOp.SUB, lhs, Const(value=found)) if found == number:
            yield lhs
