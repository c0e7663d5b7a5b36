"""Whether the order of an accumulation is free in the type that it is stored in.

A minimum is taken in a type that holds both of its operands, and cut to that of the element each time. Where what may be
less than all that the element holds cannot occur, nothing is ever cut, and the order is free::

    low: u24 = 0xFFFFFF
    for r in range(n):
        low = min(low, cost[i, r] + cost[r + 1, j])    # of u25, never below 0

That is known from the types, or from all that is written to what the term reads (`polyhedral.legality.stored_ranges`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from dsl.expressions.expr import Access, Binary, BinaryOp, Expr, Gather, Load, loads, stored_value
from dsl.expressions.types import DType, FixedType, FloatType, IntType, Overflow
from dsl.expressions.value_range import Range, type_range, value_range
from dsl.programs.program import Program, Stmt, Storage
from polyhedral.dependences.direct import unwritten_reads
from polyhedral.legality.stored_ranges import StoredRanges, all_loop_ranges
from polyhedral.scop.scop import Scop, build_scop


def order_is_free(program: Program, stmt: Stmt, scop: Scop | None = None) -> bool:
    """Whether storing every partial result keeps the reduction of a statement independent of its order.

    Args:
        program: of the statement.
        stmt: ``t = t op e``. Rounding of floats is what the user allows with the step that asks.
        scop: the program's, if it is known.
    """
    value, target = stored_value(stmt.value), program.array(stmt.target.array).dtype
    if not isinstance(value, Binary) or isinstance(target, FloatType):
        return True
    if value.op in (BinaryOp.MIN, BinaryOp.MAX):
        return value.dtype == target or _never_cut(program, stmt, value, target, scop)
    if isinstance(target, FixedType) and target.overflow is not Overflow.WRAP:
        return False
    # Modulo 2^n, sums, products and bitwise operators are; but no bit may be lost on the right.
    return _fraction(value.dtype) <= _fraction(target)


def _fraction(dtype: DType) -> int:
    return dtype.frac if isinstance(dtype, FixedType) else 0


def _never_cut(
    program: Program, stmt: Stmt, value: Binary, target: DType, scop: Scop | None
) -> bool:
    """Whether the least, or largest, of the element and the terms is always one that the element's type holds."""
    term = _term(value, stmt)
    if term is None or not isinstance(target, IntType) or not isinstance(term.dtype, IntType):
        return False
    loops = all_loop_ranges(program)[stmt.name]
    if _holds(value.op, value_range(term, loops, lambda _, dtype: type_range(dtype)), target):
        return True
    range_of = _ranges(program, scop)
    return _holds(value.op, range_of(term, stmt.name), target)


def _term(value: Binary, stmt: Stmt) -> Expr | None:
    """What is compared with the element."""
    for own, other in ((value.lhs, value.rhs), (value.rhs, value.lhs)):
        if isinstance(own, Load | Gather) and own.access == stmt.target:
            return other
    return None


def _holds(op: BinaryOp, term: Range, target: IntType) -> bool:
    low, high = type_range(target)
    return term[0] >= low if op is BinaryOp.MIN else term[1] <= high


_KNOWN: deque[tuple[Program, StoredRanges]] = deque(maxlen=8)
"""Of the last programs, known by their identity: many steps are tried on one."""


def _ranges(program: Program, scop: Scop | None) -> Callable[[Expr, str], Range]:
    found = next((ranges for known, ranges in _KNOWN if known is program), None)
    if found is None:
        found = StoredRanges(program, own=_own(program, scop or build_scop(program)))
        _KNOWN.append((program, found))
    return found.range_of


def _own(program: Program, scop: Scop) -> frozenset[str]:
    """The arguments of integers of which every element that is read has been written by the program before."""
    read: set[Access] = {a for s in program.statements() for a in loads(s.value)}
    written = {s.target.array for s in program.statements()}
    return frozenset(
        array.name
        for array in program.arrays
        if array.storage is Storage.ARGUMENT
        and isinstance(array.dtype, IntType)
        and array.name in written
        and any(a.array == array.name for a in read)
        and unwritten_reads(scop, array.name).is_empty()
    )
