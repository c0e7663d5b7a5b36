"""Scalar locals that keep one masked bit, to be asked whether it is set: they are that bit.

Before, of ``u8``::

    hi = x & 0x80
    x = x << 1
    x = x ^ (0x1D if hi != 0 else 0)

After::

    hi = x >> 7            # of u1
    x = x << 1
    x = x ^ (0x1D if hi != 0 else 0)

So what is asked is a wire, not a comparison. Products in finite fields and checksums are written so.
"""

from __future__ import annotations

from dataclasses import replace

from dsl.expressions import typing
from dsl.expressions.expr import (
    Binary,
    BinaryOp,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    Load,
    children,
    map_leaves,
    walk,
)
from dsl.expressions.types import IntType, boolean
from dsl.programs.program import Program, Stmt, Storage, map_statements


def single_bits(program: Program) -> Program:
    """The program with such locals as ``u1``; the same one where there are none."""
    found = {
        a.name
        for a in program.locals
        if a.storage is Storage.LOCAL and not a.shape and _is_wide(a.dtype)
    }
    statements = list(program.statements()) if found else []
    found &= {s.target.array for s in statements if _bit(s.value) is not None}
    for s in statements if found else ():
        if _bit(s.value) is None:
            found.discard(s.target.array)
        found -= _read_otherwise(s.value)
    if not found:
        return program

    def new(stmt: Stmt) -> Stmt:
        bit = _bit(stmt.value) if stmt.target.array in found else None
        value = stmt.value
        if bit is not None:
            of, number = bit
            moved = typing.shift(BinaryOp.SHR, of, number) if number else of
            value = typing.cast(boolean, moved)
        return replace(stmt, value=map_leaves(value, leaf))

    def leaf(x: Expr) -> Expr:
        return replace(x, dtype=boolean) if isinstance(x, Load) and x.access.array in found else x

    arrays = tuple(
        replace(a, dtype=boolean, by_value=False) if a.name in found else a for a in program.arrays
    )
    body = tuple(map_statements(node, new) for node in program.body)
    return replace(program, arrays=arrays, body=body)


def _is_wide(dtype: object) -> bool:
    return isinstance(dtype, IntType) and dtype.width > 1


def _bit(value: Expr) -> tuple[Expr, int] | None:
    """What is masked by a power of two, and which one; None of any other value."""
    while isinstance(value, Cast) and _holds(value.dtype, value.operand):
        value = value.operand
    if not isinstance(value, Binary) or value.op is not BinaryOp.AND:
        return None
    for of, mask in ((value.lhs, value.rhs), (value.rhs, value.lhs)):
        match of.dtype, mask:
            case IntType(), Const(value=int(number)) if number > 0 and not number & (number - 1):
                return of, number.bit_length() - 1
    return None


def _holds(dtype: object, operand: Expr) -> bool:
    """Whether a conversion keeps every bit."""
    of = operand.dtype
    return isinstance(dtype, IntType) and isinstance(of, IntType) and dtype.width >= of.width


def _read_otherwise(value: Expr) -> set[str]:
    """Scalars that are read in a value but to be compared with 0."""
    found = {value.access.array} if isinstance(value, Load) else set()
    for x in walk(value):
        taken = (x.rhs,) if isinstance(x, Compare) and _is_asked(x) else children(x)
        found |= {part.access.array for part in taken if isinstance(part, Load)}
    return found


def _is_asked(x: Compare) -> bool:
    """Whether it asks whether any bit of a scalar is set."""
    is_zero = isinstance(x.rhs, Const) and x.rhs.value == 0
    return x.op in (CompareOp.EQ, CompareOp.NE) and is_zero and isinstance(x.lhs, Load)
