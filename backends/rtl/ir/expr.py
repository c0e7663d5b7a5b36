"""Expressions of an exact width: what combinational logic is made of.

Nothing extends or truncates by itself; a mismatch raises `WidthError` where the expression is
made, so that the printer cannot write one. Values have no sign of their own: the operators that
care say so. Use the methods of `Expr` and the functions of `fold`: they fold constants and slices
and so keep the text (and the linters) free of comparisons that are always the same.

Expressions are compared by identity: they are shared as a graph, and the printer gives what is
used more than once a wire.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


class WidthError(ValueError):
    """Operands whose widths do not fit, or a value that does not fit its width."""


def same(op: str, *parts: Expr) -> int:
    """The width that all have."""
    if len({p.width for p in parts}) != 1:
        raise WidthError(f"{op} of widths {', '.join(str(p.width) for p in parts)}")
    return parts[0].width


class Expr:
    """Any expression; ``width`` is in bits, at least 1."""

    __slots__ = ()
    width: int

    def __invert__(self) -> Expr:
        if isinstance(self, Lit):
            return fold.lit(~self.value, self.width)
        return self.arg if isinstance(self, Not) else Not(self)

    def __and__(self, other: Expr) -> Expr:
        return fold.bitwise(BitOp.AND, self, other)

    def __or__(self, other: Expr) -> Expr:
        return fold.bitwise(BitOp.OR, self, other)

    def __xor__(self, other: Expr) -> Expr:
        return fold.bitwise(BitOp.XOR, self, other)

    def __add__(self, other: Expr) -> Expr:
        """Modulo ``2**width``."""
        return fold.arith(ArithOp.ADD, self, other)

    def __sub__(self, other: Expr) -> Expr:
        """Modulo ``2**width``."""
        return fold.arith(ArithOp.SUB, self, other)

    def __mul__(self, other: Expr) -> Expr:
        """Modulo ``2**width``; of operands made by `sext` or `zext` a narrow multiplier."""
        return fold.arith(ArithOp.MUL, self, other)

    def __neg__(self) -> Expr:
        return fold.lit(0, self.width) - self

    def bits(self, hi: int, lo: int) -> Expr:
        """Bits ``hi`` down to ``lo``, both included."""
        return fold.cut(self, hi, lo)

    def __getitem__(self, bit: int) -> Expr:
        """One bit; negative numbers count from the top, as in Python."""
        if not -self.width <= bit < self.width:
            raise WidthError(f"bit {bit} of a value of {self.width} bits")
        at = bit % self.width
        return fold.cut(self, at, at)

    # Without it, iteration over an expression would go through ``__getitem__``.
    __iter__ = None

    def low(self, width: int) -> Expr:
        """The ``width`` low bits."""
        return fold.cut(self, width - 1, 0)

    def high(self, width: int) -> Expr:
        """The ``width`` high bits."""
        return fold.cut(self, self.width - 1, self.width - width)

    def sext(self, width: int) -> Expr:
        """Extended by its top bit."""
        if width == self.width:
            return self
        if isinstance(self, Lit):
            return fold.lit(self.signed, width)
        if isinstance(self, Extend):
            return Extend(self.arg, width, self.signed)
        return Extend(self, width, True)

    def zext(self, width: int) -> Expr:
        """Extended by zeros."""
        if width == self.width:
            return self
        if isinstance(self, Lit):
            return fold.lit(self.value, width)
        if isinstance(self, Extend) and not self.signed:
            return Extend(self.arg, width, False)
        return Extend(self, width, False)

    def resize(self, width: int, signed: bool) -> Expr:
        """The low bits, or the extension."""
        if width <= self.width:
            return self.low(width)
        return self.sext(width) if signed else self.zext(width)

    def eq(self, other: Expr) -> Expr:
        """1 bit: equal."""
        return fold.compare(CompareOp.EQ, self, other, False)

    def ne(self, other: Expr) -> Expr:
        """1 bit: not equal."""
        return fold.compare(CompareOp.NE, self, other, False)

    def lt(self, other: Expr, *, signed: bool) -> Expr:
        """1 bit: less."""
        return fold.compare(CompareOp.LT, self, other, signed)

    def le(self, other: Expr, *, signed: bool) -> Expr:
        """1 bit: less or equal."""
        return fold.compare(CompareOp.LE, self, other, signed)

    def shl(self, amount: Expr | int) -> Expr:
        """To the left, zeros shifted in; any amount."""
        if isinstance(amount, int):
            if amount >= self.width:
                return fold.lit(0, self.width)
            return (
                fold.concat(self.low(self.width - amount), fold.lit(0, amount)) if amount else self
            )
        return Shift(ShiftOp.SHL, self, amount)

    def shr(self, amount: Expr | int) -> Expr:
        """To the right, zeros shifted in; any amount."""
        if isinstance(amount, int):
            if amount >= self.width:
                return fold.lit(0, self.width)
            return self.high(self.width - amount).zext(self.width)
        return Shift(ShiftOp.SHR, self, amount)

    def sar(self, amount: Expr | int) -> Expr:
        """To the right, the top bit shifted in; any amount."""
        if isinstance(amount, int):
            return self.high(max(1, self.width - amount)).sext(self.width)
        return Shift(ShiftOp.SAR, self, amount)

    def any(self) -> Expr:
        """1 bit: some bit is set."""
        return self if self.width == 1 else Reduce(False, self)

    def all(self) -> Expr:
        """1 bit: every bit is set."""
        return self if self.width == 1 else Reduce(True, self)

    def none(self) -> Expr:
        """1 bit: no bit is set."""
        return ~self.any()


def positive(width: int) -> None:
    """Raises `WidthError` unless it is."""
    if width < 1:
        raise WidthError(f"a width of {width} bits")


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


class BitOp(Enum):
    """Bitwise operators, as in Verilog."""

    AND = "&"
    OR = "|"
    XOR = "^"


class ArithOp(Enum):
    """Operators modulo ``2**width``, as in Verilog."""

    ADD = "+"
    SUB = "-"
    MUL = "*"


class CompareOp(Enum):
    """Comparisons, as in Verilog."""

    EQ = "=="
    NE = "!="
    LT = "<"
    LE = "<="


class ShiftOp(Enum):
    """Shifts, as in Verilog."""

    SHL = "<<"
    SHR = ">>"
    SAR = ">>>"


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


# `fold` stands on the classes above, whose methods stand on it.
from backends.rtl.ir import fold  # noqa: E402
