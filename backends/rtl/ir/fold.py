"""Making expressions, with constants, slices and choices that are always the same folded."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

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
from backends.rtl.ir.nodes import (
    Binary,
    Compare,
    Concat,
    Extend,
    Lit,
    Mux,
    Not,
    Reduce,
    Shift,
    Slice,
)


def lit(value: int, width: int) -> Lit:
    """A constant: the low ``width`` bits of any integer."""
    positive(width)
    return Lit(value & ((1 << width) - 1), width)


def invert(e: Expr) -> Expr:
    """Every bit inverted."""
    if isinstance(e, Lit):
        return lit(~e.value, e.width)
    return e.arg if isinstance(e, Not) else Not(e)


def concat(*parts: Expr) -> Expr:
    """The parts side by side, the most significant first; neighbouring constants are joined."""
    flat: list[Expr] = []
    for part in parts:
        for p in part.parts if isinstance(part, Concat) else (part,):
            last = flat[-1] if flat else None
            if isinstance(last, Lit) and isinstance(p, Lit):
                flat[-1] = Lit(last.value << p.width | p.value, last.width + p.width)
            elif _touch(last, p):
                assert isinstance(last, Slice)
                assert isinstance(p, Slice)
                flat[-1] = cut(p.arg, last.hi, p.lo)
            else:
                flat.append(p)
    if not flat:
        raise WidthError("a concatenation of nothing")
    if len(flat) == 1:
        return flat[0]
    return Concat(tuple(flat), sum(p.width for p in flat))


def _touch(a: Expr | None, b: Expr) -> bool:
    return isinstance(a, Slice) and isinstance(b, Slice) and a.arg is b.arg and a.lo == b.hi + 1


def repeat(part: Expr, times: int) -> Expr:
    """``times`` copies side by side."""
    if part.width == 1 and times > 1:
        return part.sext(times)
    return concat(*[part] * times)


def mux(cond: Expr, then: Expr, other: Expr) -> Expr:
    """``cond ? then : other``."""
    node = Mux(cond, then, other)  # Checks the widths, whatever is folded below.
    if isinstance(cond, Lit):
        return then if cond.value else other
    if then is other:
        return then
    if isinstance(cond, Not):
        return mux(cond.arg, other, then)
    if isinstance(then, Lit) and isinstance(other, Lit):
        if then.value == other.value:
            return then
        if then.width == 1:
            return cond if then.value else ~cond
    return node


def any_of(bits: Iterable[Expr], width: int = 1) -> Expr:
    """The OR of all; zero where there are none."""
    zero: Expr = lit(0, width)
    return reduce(lambda a, b: a | b, bits, zero)


def all_of(bits: Iterable[Expr], width: int = 1) -> Expr:
    """The AND of all; ones where there are none."""
    ones: Expr = lit(-1, width)
    return reduce(lambda a, b: a & b, bits, ones)


def cut(e: Expr, hi: int, lo: int) -> Expr:
    """Bits ``hi`` down to ``lo``."""
    width = hi - lo + 1
    if width == e.width and lo == 0:
        return e
    node = Slice(e, hi, lo, width)  # Checks the range.
    match e:
        case Lit():
            return lit(e.value >> lo, width)
        case Slice():
            return Slice(e.arg, hi + e.lo, lo + e.lo, width)
        case Extend():
            if hi < e.arg.width:
                return cut(e.arg, hi, lo)
            if lo >= e.arg.width:
                return repeat(e.arg[-1], width) if e.signed else lit(0, width)
            return cut(e.arg, e.arg.width - 1, lo).resize(width, e.signed)
        case Concat():
            return _slice_concat(e, hi, lo)
        case Not():
            return ~cut(e.arg, hi, lo)
        case _:
            return node


def _slice_concat(e: Concat, hi: int, lo: int) -> Expr:
    parts: list[Expr] = []
    top = e.width
    for part in e.parts:
        bottom = top - part.width
        if bottom <= hi and top > lo:
            parts.append(cut(part, min(hi, top - 1) - bottom, max(lo, bottom) - bottom))
        top = bottom
    return concat(*parts)


def bitwise(op: BitOp, a: Expr, b: Expr) -> Expr:
    """AND, OR or XOR of two."""
    width = same(op.value, a, b)
    if isinstance(a, Lit):
        a, b = b, a
    if isinstance(b, Lit):
        ones = (1 << width) - 1
        if isinstance(a, Lit):
            table = {BitOp.AND: a.value & b.value, BitOp.OR: a.value | b.value}
            return Lit(table.get(op, a.value ^ b.value), width)
        match op, b.value:
            case BitOp.AND, 0:
                return b
            case BitOp.OR, v if v == ones:
                return b
            case ((BitOp.OR | BitOp.XOR), 0):
                return a
            case BitOp.AND, v if v == ones:
                return a
            case BitOp.XOR, v if v == ones:
                return ~a
    return Binary(op, a, b, width)


def arith(op: ArithOp, a: Expr, b: Expr) -> Expr:
    """Sum, difference or product of two, modulo ``2**width``."""
    width = same(op.value, a, b)
    if isinstance(a, Lit) and isinstance(b, Lit):
        x, y = a.value, b.value
        table = {ArithOp.ADD: x + y, ArithOp.SUB: x - y}
        return lit(table.get(op, x * y), width)
    if isinstance(a, Lit) and op is not ArithOp.SUB:
        a, b = b, a
    if isinstance(b, Lit) and b.value == 0:
        return b if op is ArithOp.MUL else a
    if isinstance(b, Lit) and op is ArithOp.MUL and b.value & (b.value - 1) == 0:
        return a.shl(b.value.bit_length() - 1)
    return Binary(op, a, b, width)


def compare(op: CompareOp, a: Expr, b: Expr, signed: bool) -> Expr:
    """A comparison of two."""
    width = same(op.value, a, b)
    least = -1 << (width - 1) if signed else 0
    most = least + (1 << width) - 1
    x = (a.signed if signed else a.value) if isinstance(a, Lit) else None
    y = (b.signed if signed else b.value) if isinstance(b, Lit) else None
    if x is not None and y is not None:
        results = {CompareOp.EQ: x == y, CompareOp.NE: x != y, CompareOp.LT: x < y}
        return lit(int(results.get(op, x <= y)), 1)
    match op:
        case CompareOp.LT if y == least or x == most:
            return lit(0, 1)
        case CompareOp.LE if y == most or x == least:
            return lit(1, 1)
        case CompareOp.EQ | CompareOp.NE if width == 1:
            return a ^ b ^ lit(int(op is CompareOp.EQ), 1)
    return Compare(op, a, b, signed)


def extend(e: Expr, width: int, signed: bool) -> Expr:
    """Extended by the top bit or zeros."""
    if width == e.width:
        return e
    if isinstance(e, Lit):
        return lit(e.signed if signed else e.value, width)
    if isinstance(e, Extend) and (signed or not e.signed):
        return Extend(e.arg, width, e.signed)
    return Extend(e, width, signed)


def shift(op: ShiftOp, arg: Expr, amount: Expr | int) -> Expr:
    """A shift; by a number it is wires."""
    if not isinstance(amount, int):
        return Shift(op, arg, amount)
    left = max(0, arg.width - amount)
    if op is ShiftOp.SAR:
        return arg.high(max(1, left)).sext(arg.width)
    if left == 0:
        return lit(0, arg.width)
    if op is ShiftOp.SHR:
        return arg.high(left).zext(arg.width)
    return concat(arg.low(left), lit(0, amount)) if amount else arg


def reduced(e: Expr, *, every: bool) -> Expr:
    """1 bit: every bit, or some bit."""
    return e if e.width == 1 else Reduce(every, e)
