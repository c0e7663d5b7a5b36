"""Integers as sums of loop variables and scalars, as far as expressions are such sums."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dsl.expressions.expr import (
    Binary,
    BinaryOp,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    Index,
    Load,
    Unary,
    UnaryOp,
)
from dsl.expressions.numeric import bounds
from dsl.expressions.types import DType, IntType, boolean
from dsl.expressions.value_range import Range, type_range


@dataclass(frozen=True, slots=True)
class Linear:
    """``sum(factor * variable) + sum(factor * scalar) + const``; no factor is 0."""

    loops: Mapping[str, int] = field(default_factory=dict)
    scalars: Mapping[str, int] = field(default_factory=dict)
    const: int = 0

    def __add__(self, other: Linear) -> Linear:
        return Linear(
            _sum(self.loops, other.loops),
            _sum(self.scalars, other.scalars),
            self.const + other.const,
        )

    def __mul__(self, by: int) -> Linear:
        if by == 0:
            return Linear()
        loops = {name: n * by for name, n in self.loops.items()}
        return Linear(loops, {name: n * by for name, n in self.scalars.items()}, self.const * by)

    def __sub__(self, other: Linear) -> Linear:
        return self + other * -1


def _sum(a: Mapping[str, int], b: Mapping[str, int]) -> dict[str, int]:
    found = dict(a)
    for name, n in b.items():
        found[name] = found.get(name, 0) + n
    return {name: n for name, n in found.items() if n}


@dataclass(frozen=True, slots=True)
class Forms:
    """Reads expressions whose loop variables are those of the code.

    Attributes:
        ranges: of each loop variable whose bounds are numbers, its least and its greatest value.
        types: of each scalar that may be a term.
    """

    ranges: Mapping[str, Range]
    types: Mapping[str, DType]

    def of(self, expr: Expr) -> Linear | None:
        """The sum that an integer expression is; None where it is none."""
        match expr:
            case Const(int(value)):
                return Linear({}, {}, value)
            case Index(affine) if affine.is_linear:
                return Linear({str(v): n for v, n in affine.terms}, {}, affine.const)
            case Load(access, IntType()) if not access.indices and access.array in self.types:
                return Linear({}, {access.array: 1})
            case Cast(operand, dtype):
                return self._converted(operand, dtype)
            case Binary(BinaryOp.ADD | BinaryOp.SUB as op, a, b, IntType()):
                one, other = self.of(a), self.of(b)
                if one is None or other is None:
                    return None
                return one + other if op is BinaryOp.ADD else one - other
            case Binary(BinaryOp.MUL, a, Const(int(by)), IntType()):
                found = self.of(a)
                return None if found is None else found * by
        return None

    def _converted(self, operand: Expr, dtype: DType) -> Linear | None:
        """A conversion that changes no value."""
        found = self.of(operand)
        if found is None or not isinstance(dtype, IntType):
            return None
        least, most = self._range(found)
        low, high = bounds(dtype)
        return found if low <= least and most <= high else None

    def _range(self, form: Linear) -> tuple[float, float]:
        least: float = form.const
        most: float = form.const
        unknown = (float("-inf"), float("inf"))
        parts = [(n, self.ranges.get(v, unknown)) for v, n in form.loops.items()]
        parts += [(n, type_range(self.types[s])) for s, n in form.scalars.items()]
        for n, (low, high) in parts:
            least += n * (low if n > 0 else high)
            most += n * (high if n > 0 else low)
        return least, most

    def negative_where(self, cond: Expr) -> Linear | None:
        """A sum that is negative exactly where the condition holds; None where there is none."""
        match cond:
            case Unary(UnaryOp.NOT, operand) if cond.dtype == boolean and operand.dtype == boolean:
                found = self.negative_where(operand)
                return None if found is None else found * -1 + Linear({}, {}, -1)
            case Load(_, dtype) if dtype == boolean:
                found = self.of(cond)
                return None if found is None else found * -1
            case Compare(CompareOp.EQ | CompareOp.NE as op, operand, Const(0)):
                found = self.of(operand)
                if found is None or self._range(found)[0] < 0:
                    return None
                return found * -1 if op is CompareOp.NE else found + Linear({}, {}, -1)
            case Compare(op, a, b):
                one, other = self.of(a), self.of(b)
                if one is None or other is None or op in (CompareOp.EQ, CompareOp.NE):
                    return None
                apart = one - other if op in (CompareOp.LT, CompareOp.LE) else other - one
                return apart + Linear({}, {}, -1) if op in (CompareOp.LE, CompareOp.GE) else apart
        return None
