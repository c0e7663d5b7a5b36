"""Integer divisions by numbers without a divider, as a rewriting of values.

Where the quotient is one of a few numbers it is told by comparisons, else it is a product with an inverse (see
`dsl.expressions.inverses`). Before, with ``a`` and ``x`` of 0 to 65,520::

    (a + x) % 65521
    y[i] // 10              # of u16

After::

    a + x - 65521 if a + x >= 65521 else a + x
    y[i] * 52429 >> 19
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from dsl.expressions import typing
from dsl.expressions.expr import (
    Binary,
    BinaryOp,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    Select,
    UnaryOp,
    children,
    walk,
    with_operands,
)
from dsl.expressions.inverses import inverse
from dsl.expressions.literals import const
from dsl.expressions.types import MAX_WIDTH, IntType
from dsl.expressions.value_range import Range

FEW = 3
"""Numbers that a quotient may be to be told by comparisons."""

_DIVISIONS = (BinaryOp.FLOORDIV, BinaryOp.MOD)


@dataclass(frozen=True, slots=True)
class Division:
    """A quotient or a rest by a number.

    Attributes:
        of: the expression.
        by: the number: 3 or more, and no power of two.
        held: the range of what is divided.
    """

    of: Binary
    by: int
    held: Range

    @property
    def quotients(self) -> Range:
        """The smallest and the largest quotient."""
        low, high = self.held
        return low // self.by, high // self.by

    @property
    def most(self) -> int:
        """The largest number that is multiplied: of negative ones the complement is."""
        low, high = self.held
        return max(high, ~low)

    @property
    def is_possible(self) -> bool:
        """Whether no value on the way has more bits than a type may have."""
        number, _ = inverse(self.by, self.most)
        return self.most.bit_length() + number.bit_length() <= MAX_WIDTH


def divisions(value: Expr, range_of: Callable[[Expr], Range]) -> Iterator[Division]:
    """The quotients and rests by numbers in a value that take a divider."""
    for x in walk(value):
        match x:
            case Binary(op, taken, Const(value=int(by)), IntType()) if (
                op in _DIVISIONS and by > 2 and by & (by - 1) and not isinstance(taken, Const)
            ):
                found = Division(x, by, range_of(taken))
                if found.is_possible:
                    yield found


def has_dividers(value: Expr) -> bool:
    """Whether there is a quotient or a rest by a number in a value that takes a divider."""
    return any(True for _ in divisions(value, lambda _: (0, 0)))


def without_dividers(value: Expr, found: Mapping[int, Division]) -> Expr:
    """A value without dividers for some of its divisions, which are known by the identity of their expressions."""
    done: dict[int, Expr] = {}

    def of(x: Expr) -> Expr:
        if id(x) not in done:
            parts = [of(part) for part in children(x)]
            division = found.get(id(x))
            done[id(x)] = (
                with_operands(x, parts) if division is None else _divided(division, parts[0])
            )
        return done[id(x)]

    return of(value)


def _divided(division: Division, x: Expr) -> Expr:
    dtype = division.of.dtype
    assert isinstance(dtype, IntType)
    first, last = division.quotients
    if last - first < FEW:
        return _compared(division, x, dtype)
    if division.of.op is BinaryOp.FLOORDIV:
        return _as(_quotient(division, x), dtype)
    return _as(_rest(division, x), dtype)


def _compared(division: Division, x: Expr, dtype: IntType) -> Expr:
    """A choice between the few quotients, or the rests of these."""

    def where(quotient: int) -> Expr:
        if division.of.op is BinaryOp.FLOORDIV:
            return const(quotient, dtype)
        return _as(
            typing.binary(BinaryOp.SUB, x, _number(quotient * division.by)) if quotient else x,
            dtype,
        )

    first, last = division.quotients
    made = where(first)
    for quotient in range(first + 1, last + 1):
        reached = typing.compare(CompareOp.GE, x, _number(quotient * division.by))
        assert isinstance(reached, Compare)
        made = Select(reached, where(quotient), made, dtype, division.of.span)
    return made


def _quotient(division: Division, x: Expr) -> Expr:
    """The product with the inverse, shifted; of negative numbers complements of that of their complements."""
    number, amount = inverse(division.by, division.most)
    sized = IntType(division.most.bit_length(), False)
    bits = (division.most // division.by).bit_length()
    factor = const(number, IntType(number.bit_length(), False))
    if division.held[0] >= 0:
        product = typing.binary(BinaryOp.MUL, _as(x, sized), factor)
        return _as(typing.shift(BinaryOp.SHR, product, amount), IntType(bits, False))
    below = typing.compare(CompareOp.LT, x, 0)
    assert isinstance(below, Compare)
    magnitude = Select(below, typing.unary(UnaryOp.INVERT, x), x, x.dtype)
    product = typing.binary(BinaryOp.MUL, _as(magnitude, sized), factor)
    whole = _as(typing.shift(BinaryOp.SHR, product, amount), IntType(bits + 1, True))
    return Select(below, typing.unary(UnaryOp.INVERT, whole), whole, whole.dtype)


def _rest(division: Division, x: Expr) -> Expr:
    low = IntType((division.by - 1).bit_length(), False)
    quotient = Cast(_quotient(division, x), low)
    back = typing.binary(BinaryOp.MUL, quotient, const(division.by, low))
    return Cast(typing.binary(BinaryOp.SUB, Cast(x, low), Cast(back, low)), low)


def _number(value: int) -> Const:
    """A constant in the bits that it takes."""
    bits = max(value, ~value, 1).bit_length()
    return const(value, IntType(bits + (value < 0), value < 0))


def _as(x: Expr, dtype: IntType) -> Expr:
    """The low bits as a type has them."""
    return x if x.dtype == dtype else typing.cast(dtype, x)
