"""Choices between literals of which one is a float: their type is open as that of a literal is.

``1.0 if x > 0 else 0.0`` takes the type of what it meets: of the other operand, of the element that it is
assigned to, of a conversion. Until then its type, and that of its literals, is `Open`. (A choice between
integers has the narrowest type that holds both, as integer literals have.)

`dsl.expressions.typing` is the only user; no `Open` type is in a finished program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeGuard

from dsl.errors.errors import Span
from dsl.expressions.expr import Const, Expr, Select
from dsl.expressions.literals import Number, Operand
from dsl.expressions.types import FloatType


@dataclass(frozen=True, slots=True)
class Open(FloatType):
    """The type of a choice between literals, and of these, until it meets another one."""

    def __str__(self) -> str:
        return "a float"


OPEN = Open("f64")


def is_open(x: Operand) -> TypeGuard[Select]:
    """Whether it is a choice between literals whose type is open."""
    return isinstance(x, Select) and isinstance(x.dtype, Open)


def open_choice(cond: Expr, then: Operand, orelse: Operand, span: Span | None) -> Select | None:
    """``then if cond else orelse`` where both are literals or open, and a float among them."""
    sides = (then, orelse)
    if not all(isinstance(x, int | float) or is_open(x) for x in sides):
        return None
    if not any(isinstance(x, float) or is_open(x) for x in sides):
        return None
    a, b = (Const(x, OPEN) if isinstance(x, int | float) else x for x in sides)
    return Select(cond, a, b, OPEN, span)


Joiner = Callable[[Operand, Operand, Operand, Span | None], Operand]
"""``dsl.expressions.typing.select``."""


def folded(of: Callable[..., Number], select: Joiner, *operands: Operand) -> Operand | None:
    """What an operator makes of literals, and of one choice between literals; None for all else."""
    choice = next((x for x in operands if is_open(x)), None)
    others = [x for x in operands if x is not choice]
    if not all(isinstance(x, int | float) for x in others):
        return None
    if choice is None:
        return of(*operands)
    return chosen(choice, lambda v: of(*(v if x is choice else x for x in operands)), select)


def chosen(x: Select, of: Callable[[Number], Operand], select: Joiner) -> Operand:
    """The choice between what ``of`` makes of the literals, joined by ``select``."""

    def side(y: Expr) -> Operand:
        if is_open(y):
            return chosen(y, of, select)
        assert isinstance(y, Const)
        assert not isinstance(y.value, Fraction)
        return of(y.value)

    return select(x.cond, side(x.then), side(x.orelse), x.span)


def choices(x: Select) -> Iterator[Number]:
    """The literals of an open choice."""
    for side in (x.then, x.orelse):
        if is_open(side):
            yield from choices(side)
        elif isinstance(side, Const) and not isinstance(side.value, Fraction):
            yield side.value
