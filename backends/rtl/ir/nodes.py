"""What an expression can be: signals, constants, and operators on other expressions.

They hold what they are given and check its widths; `fold` makes those that are simple.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backends.rtl.ir.expr import (
    ArithOp,
    BitOp,
    CompareOp,
    Expr,
    ShiftOp,
    WidthError,
    positive,
    same,
)


@dataclass(frozen=True, slots=True, eq=False)
class Ref(Expr):
    """A named signal of a module."""

    name: str
    width: int

    def __post_init__(self) -> None:
        positive(self.width)


@dataclass(frozen=True, slots=True, eq=False)
class Lit(Expr):
    """A constant, ``0 <= value < 2**width``; `lit` makes one of any integer."""

    value: int
    width: int

    def __post_init__(self) -> None:
        positive(self.width)
        if not 0 <= self.value < 1 << self.width:
            raise WidthError(f"{self.value} in {self.width} bits")

    @property
    def signed(self) -> int:
        """The value in two's complement."""
        return self.value - (self.value >> (self.width - 1) << self.width)


@dataclass(frozen=True, slots=True, eq=False)
class Slice(Expr):
    """Bits ``hi`` down to ``lo``."""

    arg: Expr
    hi: int
    lo: int
    width: int

    def __post_init__(self) -> None:
        if not (0 <= self.lo <= self.hi < self.arg.width and self.width == self.hi - self.lo + 1):
            raise WidthError(f"bits {self.hi}:{self.lo} of a value of {self.arg.width} bits")


@dataclass(frozen=True, slots=True, eq=False)
class Concat(Expr):
    """The parts side by side, the most significant first."""

    parts: tuple[Expr, ...]
    width: int

    def __post_init__(self) -> None:
        if self.width != sum(p.width for p in self.parts):
            raise WidthError(f"a concatenation of {self.width} bits")


@dataclass(frozen=True, slots=True, eq=False)
class Extend(Expr):
    """Extended by the top bit (``signed``) or zeros."""

    arg: Expr
    width: int
    signed: bool

    def __post_init__(self) -> None:
        if self.width <= self.arg.width:
            raise WidthError(f"an extension of {self.arg.width} bits to {self.width}")


@dataclass(frozen=True, slots=True, eq=False)
class Not(Expr):
    """Every bit inverted."""

    arg: Expr

    @property
    def width(self) -> int:  # type: ignore[override]
        """That of the operand."""
        return self.arg.width


@dataclass(frozen=True, slots=True, eq=False)
class Binary(Expr):
    """A bitwise or arithmetic operator: operands and result of one width."""

    op: BitOp | ArithOp
    lhs: Expr
    rhs: Expr
    width: int

    def __post_init__(self) -> None:
        if self.width != same(self.op.value, self.lhs, self.rhs):
            raise WidthError(f"{self.op.value} of {self.lhs.width} bits to {self.width}")


@dataclass(frozen=True, slots=True, eq=False)
class Compare(Expr):
    """A comparison of operands of one width."""

    op: CompareOp
    lhs: Expr
    rhs: Expr
    signed: bool

    def __post_init__(self) -> None:
        same(self.op.value, self.lhs, self.rhs)

    @property
    def width(self) -> int:  # type: ignore[override]
        """1."""
        return 1


@dataclass(frozen=True, slots=True, eq=False)
class Shift(Expr):
    """A shift by an unsigned amount of any width."""

    op: ShiftOp
    arg: Expr
    amount: Expr

    @property
    def width(self) -> int:  # type: ignore[override]
        """That of what is shifted."""
        return self.arg.width


@dataclass(frozen=True, slots=True, eq=False)
class Reduce(Expr):
    """The AND (``every``) or OR of all bits."""

    every: bool
    arg: Expr

    @property
    def width(self) -> int:  # type: ignore[override]
        """1."""
        return 1


@dataclass(frozen=True, slots=True, eq=False)
class Mux(Expr):
    """``cond ? then : other``."""

    cond: Expr
    then: Expr
    other: Expr

    def __post_init__(self) -> None:
        if self.cond.width != 1:
            raise WidthError(f"a condition of {self.cond.width} bits")
        same("a choice", self.then, self.other)

    @property
    def width(self) -> int:  # type: ignore[override]
        """That of what is chosen."""
        return self.then.width


def children(e: Expr) -> tuple[Expr, ...]:
    """The operands."""
    match e:
        case Slice() | Extend() | Not() | Reduce():
            return (e.arg,)
        case Concat():
            return e.parts
        case Binary() | Compare():
            return (e.lhs, e.rhs)
        case Shift():
            return (e.arg, e.amount)
        case Mux():
            return (e.cond, e.then, e.other)
        case _:
            return ()


def topological(roots: Sequence[Expr]) -> list[Expr]:
    """Every expression under the roots once, operands before what uses them."""
    order: list[Expr] = []
    seen: set[int] = set()
    stack: list[tuple[Expr, bool]] = [(r, False) for r in reversed(roots)]
    while stack:
        e, done = stack.pop()
        if done:
            order.append(e)
        elif id(e) not in seen:
            seen.add(id(e))
            stack.append((e, True))
            stack.extend((c, False) for c in reversed(children(e)) if id(c) not in seen)
    return order
