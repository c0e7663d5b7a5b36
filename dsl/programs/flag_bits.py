"""Scalar locals of integers that are 0 or 1, whatever the data are: they are single bits.

Before, of ``i32``::

    found = 0
    for v in range(16):
        found = 1 if level[v] < 0 else found
    n += found if found != 0 else 2

After::

    found = 0              # of u1
    for v in range(16):
        found |= level[v] < 0
    n += i32(found) if found else 2

So a flag is a wire, not a word that waits for a multiplexer in each iteration, and what sets one is a disjunction, whose
order is free. Flags are written as numbers in C, and as ``c = 1 - c`` where they turn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from dsl.expressions import typing
from dsl.expressions.choices import opposite
from dsl.expressions.expr import (
    Access,
    Binary,
    BinaryOp,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    Load,
    Select,
    Unary,
    UnaryOp,
    children,
    with_operands,
)
from dsl.expressions.types import DType, IntType, boolean
from dsl.expressions.updates import update
from dsl.programs.program import Program, Stmt, Storage, map_statements

_ON_BITS = {
    BinaryOp.AND: BinaryOp.AND,
    BinaryOp.OR: BinaryOp.OR,
    BinaryOp.XOR: BinaryOp.XOR,
    BinaryOp.MUL: BinaryOp.AND,
    BinaryOp.MIN: BinaryOp.AND,
    BinaryOp.MAX: BinaryOp.OR,
}
"""What operators are of two operands that are 0 or 1."""

_COMPARED: dict[CompareOp, Callable[[int, int], bool]] = {
    CompareOp.LT: lambda a, b: a < b,
    CompareOp.LE: lambda a, b: a <= b,
    CompareOp.GT: lambda a, b: a > b,
    CompareOp.GE: lambda a, b: a >= b,
    CompareOp.EQ: lambda a, b: a == b,
    CompareOp.NE: lambda a, b: a != b,
}


def flag_bits(program: Program) -> Program:
    """The program with such locals as ``u1``; the same one where there are none."""
    wide = {
        a.name
        for a in program.locals
        if a.storage is Storage.LOCAL and not a.shape and _is_wide(a.dtype)
    }
    statements = [s for s in program.statements() if s.target.array in wide]
    values: dict[str, set[object]] = {}
    for s in statements:
        number = s.value.value if isinstance(s.value, Const) else None
        values.setdefault(s.target.array, set()).add(number)
    wide &= {name for name, found in values.items() if found not in ({0}, {1})}  # those are numbers
    left = -1
    while left != len(wide):  # a flag may be set to another one
        left, bits = len(wide), _Bits(frozenset(wide))
        wide -= {s.target.array for s in statements if bits.of(s.value) is None}
    if not wide:
        return program
    bits = _Bits(frozenset(wide))
    arrays = tuple(
        replace(a, dtype=boolean, by_value=False) if a.name in wide else a for a in program.arrays
    )
    body = tuple(map_statements(node, bits.statement) for node in program.body)
    return replace(program, arrays=arrays, body=body)


def _is_wide(dtype: DType) -> bool:
    return isinstance(dtype, IntType) and dtype.width > 1


@dataclass(frozen=True, slots=True)
class _Bits:
    """Values over scalars that are single bits.

    Attributes:
        names: of the scalars.
    """

    names: frozenset[str]

    def statement(self, stmt: Stmt) -> Stmt:
        """The statement with such scalars."""
        if stmt.target.array not in self.names:
            value = self.rebuilt(stmt.value)
            if isinstance(value, Cast) and value.operand.dtype == boolean:
                value = value.operand  # which the store converts
            return replace(stmt, value=value)
        bit = self.of(stmt.value)
        assert bit is not None
        return replace(stmt, value=update(bit, self._load(stmt.target)))

    def _load(self, access: Access) -> Load:
        return Load(access, boolean)

    def of(self, x: Expr) -> Expr | None:
        """A value that is 0 or 1 as a single bit; None of others."""
        if x.dtype == boolean:
            return self.rebuilt(x)
        match x:
            case Const(value=0 | 1) if _is_wide(x.dtype):
                return Const(int(x.value), boolean)
            case Load(access) if access.array in self.names:
                return self._load(access)
            case Cast(operand) if _is_wide(x.dtype):
                return self.of(operand)
            case Select(cond, then, orelse):
                both = self._two(then, orelse)
                return both and Select(self.rebuilt(cond), *both, boolean, x.span)
            case Binary(BinaryOp.SUB, Const(value=1), rhs):
                bit = self.of(rhs)
                return None if bit is None else opposite(bit)
            case Binary(op, lhs, rhs) if op in _ON_BITS:
                both = self._two(lhs, rhs)
                return both and Binary(_ON_BITS[op], *both, boolean, x.span)
            case _:
                return None

    def _two(self, a: Expr, b: Expr) -> tuple[Expr, Expr] | None:
        one, other = self.of(a), self.of(b)
        return None if one is None or other is None else (one, other)

    def rebuilt(self, x: Expr) -> Expr:
        """An expression of the type that it has."""
        match x:
            case Load(access, dtype) if access.array in self.names:
                return typing.cast(dtype, self._load(access))
            case Compare() if (asked := self._asked(x)) is not None:
                return asked
            case Unary(UnaryOp.NOT, operand) if x.dtype == boolean == operand.dtype:
                new = self.rebuilt(operand)
                return x if new is operand else opposite(new)
            case _:
                return with_operands(x, [self.rebuilt(part) for part in children(x)])

    def _asked(self, x: Compare) -> Expr | None:
        """A comparison of a scalar that is a bit as the bit or its contrary; None of what is no such one."""
        for one, other, turned in ((x.lhs, x.rhs, False), (x.rhs, x.lhs, True)):
            if not isinstance(one, Load) or one.access.array not in self.names:
                continue
            bit = self._load(one.access)
            if isinstance(other, Const):
                answers = [self._answer(x.op, at, other, turned) for at in (0, 1)]
                if answers[0] != answers[1]:
                    return bit if answers[1] else opposite(bit)
                return Const(int(answers[0]), boolean)
            second = self.of(other)
            if second is not None:
                a, b = (second, bit) if turned else (bit, second)
                return Compare(x.op, a, b, boolean, x.span)
        return None

    def _answer(self, op: CompareOp, bit: int, other: Const, turned: bool) -> bool:
        a, b = (other.value, bit) if turned else (bit, other.value)
        return _COMPARED[op](a, b)  # type: ignore[arg-type]
