"""Expressions of an exact width: what combinational logic is made of.

Nothing extends or truncates by itself; a mismatch raises `WidthError` where the expression is
made, so that the printer cannot write one. Values have no sign of their own: the operators that
care say so. Use the methods of `Expr` and the functions of `fold`: they fold constants and slices
and so keep the text (and the linters) free of comparisons that are always the same. What an
expression can be is in `nodes`.

Expressions are compared by identity: they are shared as a graph, and the printer gives what is
used more than once a wire.
"""

from __future__ import annotations

from enum import Enum
from typing import ClassVar, Protocol


class WidthError(ValueError):
    """Operands whose widths do not fit, or a value that does not fit its width."""


def same(op: str, *parts: Expr) -> int:
    """The width that all have."""
    if len({p.width for p in parts}) != 1:
        raise WidthError(f"{op} of widths {', '.join(str(p.width) for p in parts)}")
    return parts[0].width


def positive(width: int) -> None:
    """Raises `WidthError` unless it is."""
    if width < 1:
        raise WidthError(f"a width of {width} bits")


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


class Folding(Protocol):
    """Makes what the operators of `Expr` ask for, simpler where it can be: the module `fold`."""

    def lit(self, value: int, width: int) -> Expr: ...
    def invert(self, e: Expr) -> Expr: ...
    def bitwise(self, op: BitOp, a: Expr, b: Expr) -> Expr: ...
    def arith(self, op: ArithOp, a: Expr, b: Expr) -> Expr: ...
    def compare(self, op: CompareOp, a: Expr, b: Expr, signed: bool) -> Expr: ...
    def shift(self, op: ShiftOp, arg: Expr, amount: Expr | int) -> Expr: ...
    def reduced(self, e: Expr, *, every: bool) -> Expr: ...
    def cut(self, e: Expr, hi: int, lo: int) -> Expr: ...
    def extend(self, e: Expr, width: int, signed: bool) -> Expr: ...


class Expr:
    """Any expression; ``width`` is in bits, at least 1."""

    __slots__ = ()
    width: int
    fold: ClassVar[Folding]

    def __invert__(self) -> Expr:
        return self.fold.invert(self)

    def __and__(self, other: Expr) -> Expr:
        return self.fold.bitwise(BitOp.AND, self, other)

    def __or__(self, other: Expr) -> Expr:
        return self.fold.bitwise(BitOp.OR, self, other)

    def __xor__(self, other: Expr) -> Expr:
        return self.fold.bitwise(BitOp.XOR, self, other)

    def __add__(self, other: Expr) -> Expr:
        """Modulo ``2**width``."""
        return self.fold.arith(ArithOp.ADD, self, other)

    def __sub__(self, other: Expr) -> Expr:
        """Modulo ``2**width``."""
        return self.fold.arith(ArithOp.SUB, self, other)

    def __mul__(self, other: Expr) -> Expr:
        """Modulo ``2**width``; of operands made by `sext` or `zext` a narrow multiplier."""
        return self.fold.arith(ArithOp.MUL, self, other)

    def __neg__(self) -> Expr:
        return self.fold.lit(0, self.width) - self

    def bits(self, hi: int, lo: int) -> Expr:
        """Bits ``hi`` down to ``lo``, both included."""
        return self.fold.cut(self, hi, lo)

    def __getitem__(self, bit: int) -> Expr:
        """One bit; negative numbers count from the top, as in Python."""
        if not -self.width <= bit < self.width:
            raise WidthError(f"bit {bit} of a value of {self.width} bits")
        at = bit % self.width
        return self.fold.cut(self, at, at)

    # Without it, iteration over an expression would go through ``__getitem__``.
    __iter__ = None

    def low(self, width: int) -> Expr:
        """The ``width`` low bits."""
        return self.fold.cut(self, width - 1, 0)

    def high(self, width: int) -> Expr:
        """The ``width`` high bits."""
        return self.fold.cut(self, self.width - 1, self.width - width)

    def sext(self, width: int) -> Expr:
        """Extended by its top bit."""
        return self.fold.extend(self, width, True)

    def zext(self, width: int) -> Expr:
        """Extended by zeros."""
        return self.fold.extend(self, width, False)

    def resize(self, width: int, signed: bool) -> Expr:
        """The low bits, or the extension."""
        if width <= self.width:
            return self.low(width)
        return self.sext(width) if signed else self.zext(width)

    def eq(self, other: Expr) -> Expr:
        """1 bit: equal."""
        return self.fold.compare(CompareOp.EQ, self, other, False)

    def ne(self, other: Expr) -> Expr:
        """1 bit: not equal."""
        return self.fold.compare(CompareOp.NE, self, other, False)

    def lt(self, other: Expr, *, signed: bool) -> Expr:
        """1 bit: less."""
        return self.fold.compare(CompareOp.LT, self, other, signed)

    def le(self, other: Expr, *, signed: bool) -> Expr:
        """1 bit: less or equal."""
        return self.fold.compare(CompareOp.LE, self, other, signed)

    def shl(self, amount: Expr | int) -> Expr:
        """To the left, zeros shifted in; any amount."""
        return self.fold.shift(ShiftOp.SHL, self, amount)

    def shr(self, amount: Expr | int) -> Expr:
        """To the right, zeros shifted in; any amount."""
        return self.fold.shift(ShiftOp.SHR, self, amount)

    def sar(self, amount: Expr | int) -> Expr:
        """To the right, the top bit shifted in; any amount."""
        return self.fold.shift(ShiftOp.SAR, self, amount)

    def any(self) -> Expr:
        """1 bit: some bit is set."""
        return self.fold.reduced(self, every=False)

    def all(self) -> Expr:
        """1 bit: every bit is set."""
        return self.fold.reduced(self, every=True)

    def none(self) -> Expr:
        """1 bit: no bit is set."""
        return ~self.any()
