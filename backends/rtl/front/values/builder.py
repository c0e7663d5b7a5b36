"""Builds the operations of one block: exact integers with known ranges, constants folded, each
operation once.

A `Val` is a mathematical integer. A level 3 value of ``w`` bits is represented by any `Val` that
equals it modulo ``2**w``: widening and cutting cost nothing until something reads the sign or the
upper bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from backends.rtl.front.values.constants import WIDEST, reciprocal, two_digits
from backends.rtl.front.values.val import (
    FALSE,
    TRUE,
    Guard,
    Val,
    bits_of,
    constant,
    signed_range,
)
from backends.rtl.graph import FLOATS, Kind, Op, Place, Use
from dsl.expressions.affine import Affine
from dsl.expressions.types import FixedType

_FLOAT_BITS = (1 << 32) - 1


@dataclass(slots=True)
class Builder:
    """The operations of a block so far, in an order in which operands come first."""

    ops: list[Op] = field(default_factory=list)
    ranges: list[tuple[int, int]] = field(default_factory=list)
    _known: dict[tuple[object, ...], int] = field(default_factory=dict)
    stmt: str = ""

    # --------------------------------------------------------------------------- operations

    def use(self, x: Val) -> Use:
        """How an operation takes a value; constants get their operation here."""
        if x.op >= 0:
            return Use(x.op, x.signed)
        key = (Kind.CONST, x.low)  # −1 and 1 are the same bit, but not the same range
        op = self._known.get(key)
        if op is None:
            op = self._known[key] = len(self.ops)
            raw = x.low & ((1 << x.width) - 1)
            self.ops.append(Op(op, Kind.CONST, x.width, value=raw, stmt=self.stmt))
            self.ranges.append((x.low, x.low))
        return Use(op, x.low < 0)

    def _add(
        self,
        kind: Kind,
        width: int,
        operands: tuple[Use, ...],
        value: int,
        affine: Affine | None,
        fixed: FixedType | None,
        guard: Guard,
        name: str = "",
    ) -> int:
        key = (kind, width, operands, value, affine, fixed, guard, name)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = len(self.ops)
            self.ops.append(
                Op(found, kind, width, operands, value, name, affine, fixed, None, guard, self.stmt)
            )
            self.ranges.append((0, (1 << width) - 1))
        return found

    def access(self, kind: Kind, width: int, place: Place, guard: Guard, *values: Val) -> int:
        """A `LOAD` or `STORE`, of the value that is stored or the computed address; never merged here."""
        operands = tuple(map(self.use, values))
        number = len(self.ops)
        self.ops.append(Op(number, kind, width, operands, place=place, guard=guard, stmt=self.stmt))
        self.ranges.append((0, (1 << width) - 1))
        return number

    def loaded(self, op: int, width: int, signed: bool) -> Val:
        """What a load gives, read as its array's type says."""
        low, high = signed_range(width) if signed else (0, (1 << width) - 1)
        self.ranges[op] = (low, high)
        return Val(op, signed, low, high)

    def make(
        self, kind: Kind, operands: tuple[Val, ...], low: int, high: int, width: int | None = None
    ) -> Val:
        """An operation whose exact result is in ``low..high``.

        Where that needs more than ``width`` bits only the result modulo ``2**width`` is kept.
        """
        if low == high:
            return constant(low)
        bits = bits_of(low, high)
        if width is not None and bits > width:
            bits = width
            low, high = signed_range(width)
        op = self._add(kind, bits, tuple(self.use(x) for x in operands), 0, None, None, ())
        self.ranges[op] = (low, high)
        return Val(op, low < 0, low, high)

    # ------------------------------------------------------------------------------ sources

    def index(self, affine: Affine, low: int, high: int) -> Val:
        """A loop expression whose value is in ``low..high``."""
        if low == high:
            return constant(low)
        op = self._add(Kind.INDEX, bits_of(low, high), (), 0, affine, None, ())
        self.ranges[op] = (low, high)
        return Val(op, low < 0, low, high)

    def argument(self, name: str, width: int, signed: bool) -> Val:
        """A scalar argument."""
        op = self._add(Kind.INPUT, width, (), 0, None, None, (), name)
        low, high = signed_range(width) if signed else (0, (1 << width) - 1)
        self.ranges[op] = (low, high)
        return Val(op, signed, low, high)

    def holds(self, guard: Guard) -> Val:
        """One bit: all constraints hold."""
        if not guard:
            return TRUE
        op = self._add(Kind.HOLDS, 1, (), 0, None, None, guard)
        self.ranges[op] = (0, 1)
        return Val(op, False, 0, 1)

    # ----------------------------------------------------------------------------- readings

    def signed(self, x: Val, width: int) -> Val:
        """The low bits as two's complement."""
        low, high = signed_range(width)
        return x if low <= x.low and x.high <= high else self.resized(x, width, True)

    def unsigned(self, x: Val, width: int) -> Val:
        """The low bits as a natural number."""
        if x.low >= 0 and x.high < 1 << width:
            return x
        return self.resized(x, width, False)

    def resized(self, x: Val, width: int, signed: bool) -> Val:
        """The low bits, cut or extended if need be."""
        low, high = signed_range(width) if signed else (0, (1 << width) - 1)
        if x.const is not None:
            raw = x.const & ((1 << width) - 1)
            return constant(raw - (1 << width) if signed and raw > high else raw)
        if x.op >= 0 and self.ops[x.op].width == width:
            return Val(x.op, signed, low, high)
        op = self._add(Kind.RESIZE, width, (self.use(x),), 0, None, None, ())
        self.ranges[op] = (low, high)
        return Val(op, signed, low, high)

    # --------------------------------------------------------------------------- arithmetic

    def add(self, a: Val, b: Val, width: int | None = None) -> Val:
        """``a + b``."""
        if a.const == 0:
            return b
        if b.const == 0:
            return a
        return self.make(Kind.ADD, (a, b), a.low + b.low, a.high + b.high, width)

    def sub(self, a: Val, b: Val, width: int | None = None) -> Val:
        """``a - b``."""
        if b.const == 0:
            return a
        if a == b:
            return FALSE
        return self.make(Kind.SUB, (a, b), a.low - b.high, a.high - b.low, width)

    def mul(self, a: Val, b: Val, width: int | None = None) -> Val:
        """``a * b``; shifted and added where few bits of a constant are set."""
        if a.const is not None:
            a, b = b, a
        if b.const == 0:
            return FALSE
        if b.const == 1:
            return a
        if b.const is not None and b.const > 0 and b.const & (b.const - 1) == 0:
            return self.shl_const(a, b.const.bit_length() - 1, width)
        digits = None if b.const is None or a.op < 0 else two_digits(b.const)
        if digits is not None:
            upper, lower = self.shl_const(a, digits[0]), self.shl_const(a, digits[1])
            return (self.sub if digits[2] else self.add)(upper, lower, width)
        ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
        return self.make(Kind.MUL, (a, b), min(ends), max(ends), width)

    def bitwise(self, kind: Kind, a: Val, b: Val, width: int) -> Val:
        """``&``, ``|`` or ``^`` of two's complement numbers."""
        if a.const is not None and b.const is not None:
            return constant(_BITWISE[kind](a.const, b.const))
        if a.low >= 0 and b.low >= 0:
            bits = max(a.width, b.width)
            high = min(a.high, b.high) if kind is Kind.AND else (1 << bits) - 1
            return self.make(kind, (a, b), 0, high, width)
        if kind is Kind.AND and max(a.low, b.low) >= 0:
            return self.make(kind, (a, b), 0, a.high if a.low >= 0 else b.high, width)
        bits = max(x.width + (x.low >= 0) for x in (a, b))
        return self.make(kind, (a, b), *signed_range(bits), width)

    def shl_const(self, a: Val, amount: int, width: int | None = None) -> Val:
        """``a * 2**amount``."""
        if amount == 0:
            return a
        if width is not None and amount >= width:
            return FALSE
        low, high = a.low << amount, a.high << amount
        return self.make(Kind.SHL, (a, constant(amount)), low, high, width)

    def shl(self, a: Val, amount: Val, width: int) -> Val:
        """``a * 2**amount`` modulo ``2**width``; the amount is not negative."""
        if amount.const is not None:
            return self.shl_const(a, amount.const, width)
        ends = [x << min(n, width) for x in (a.low, a.high) for n in (amount.low, amount.high)]
        return self.make(Kind.SHL, (a, amount), min(ends), max(ends), width)

    def shr(self, a: Val, amount: Val) -> Val:
        """``floor(a / 2**amount)``; the amount is not negative."""
        if amount.const == 0:
            return a
        most = min(amount.high, 1 + max(bits_of(a.low, a.high), 1))
        ends = [x >> n for x in (a.low, a.high) for n in (min(amount.low, most), most)]
        return self.make(Kind.SHR, (a, amount), min(ends), max(ends))

    def divide(self, kind: Kind, a: Val, b: Val, width: int) -> Val:
        """`DIV`, `FLOORDIV` or `REM`, within ``width`` bits."""
        if b.const is not None and b.const > 0:
            folded = self._by_constant(kind, a, b.const)
            if folded is not None:
                return folded
        if kind is Kind.REM:
            most = max(abs(b.low), abs(b.high), 1) - 1
            low = -min(most, -a.low) if a.low < 0 else 0
            return self.make(kind, (a, b), low, max(0, min(most, a.high)), width)
        if a.low >= 0 and b.low >= 0:
            return self.make(kind, (a, b), 0, a.high // max(b.low, 1), width)
        most = max(abs(a.low), abs(a.high))
        return self.make(kind, (a, b), -most, most, width)

    def _by_constant(self, kind: Kind, a: Val, divisor: int) -> Val | None:
        """Division by a positive constant where it needs no divider."""
        if a.const is not None:
            quotient, rest = divmod(a.const, divisor)
            if kind is not Kind.FLOORDIV and rest and a.const < 0:
                quotient, rest = quotient + 1, rest - divisor
            return constant(rest if kind is Kind.REM else quotient)
        power = divisor & (divisor - 1) == 0
        if kind is Kind.REM:
            if power and a.low >= 0:
                return self.bitwise(Kind.AND, a, constant(divisor - 1), a.width)
            quotient_of = self._by_constant(Kind.DIV, a, divisor)
            return None if quotient_of is None else self._rest(a, quotient_of, divisor)
        if not power and a.width > WIDEST:
            return None
        if kind is Kind.DIV and a.low < 0:  # up to the next multiple
            up = self.select(self.compare(Kind.LT, a, FALSE), constant(divisor - 1), FALSE)
            a = self.add(a, up)
        if power:
            return self.shr(a, constant(divisor.bit_length() - 1))
        m, offset, shift = reciprocal(a.low, a.high, divisor)
        product = self.add(self.mul(a, constant(m)), constant(offset))
        return self.shr(product, constant(shift))

    def _rest(self, a: Val, quotient: Val, divisor: int) -> Val:
        """``a`` less the multiple of the divisor: its low bits say all."""
        low = 1 - divisor if a.low < 0 else 0
        rest = self.sub(a, self.mul(quotient, constant(divisor)))
        width = bits_of(low, divisor - 1)
        return self.signed(rest, width) if low < 0 else self.unsigned(rest, width)

    # --------------------------------------------------------------------- tests and choice

    def compare(self, kind: Kind, a: Val, b: Val) -> Val:
        """`EQ`, `NE`, `LT` or `LE` by value: one bit."""
        apart = a.high < b.low or b.high < a.low
        known: bool | None = None
        match kind:
            case Kind.EQ | Kind.NE if apart or a == b:
                known = (kind is Kind.NE) == apart
            case Kind.LT if a.high < b.low or a.low >= b.high or a == b:
                known = a.high < b.low
            case Kind.LE if a.high <= b.low or a.low > b.high or a == b:
                known = a.high <= b.low or a == b
        if known is not None:
            return TRUE if known else FALSE
        return self.make(kind, (a, b), 0, 1)

    def select(self, test: Val, a: Val, b: Val, width: int | None = None) -> Val:
        """``test ? a : b``."""
        if test.const is not None:
            return a if test.const else b
        a, b = self._chosen(test, a, True), self._chosen(test, b, False)
        if a == b:
            return a
        return self.make(Kind.SELECT, (test, a, b), min(a.low, b.low), max(a.high, b.high), width)

    def _chosen(self, test: Val, x: Val, taken: bool) -> Val:
        """What ``x`` is where the test is known."""
        while x.op >= 0:
            op = self.ops[x.op]
            if op.kind is not Kind.SELECT or op.operands[0].op != test.op:
                break
            inner = op.operands[1 if taken else 2]
            low, high = self.ranges[inner.op]
            if (low < 0) != inner.signed or bits_of(low, high) > op.width:
                break
            x = constant(low) if low == high else Val(inner.op, inner.signed, low, high)
        return x

    def replaced(self, test: Val, new: Val, old: Val) -> Val:
        """``test ? new : old``; a sum with the old value is one with nothing where it stays."""
        if test.const is not None or new.op < 0 or old.op < 0:
            return self.select(test, new, old)
        op, width = self.ops[new.op], None
        if op.kind is Kind.RESIZE:
            width, op = op.width, self.ops[op.operands[0].op]
        keep = Use(old.op, old.signed)
        if op.kind in (Kind.ADD, Kind.SUB, Kind.FADD, Kind.FSUB) and op.operands[0] == keep:
            other = op.operands[1]
        elif op.kind in (Kind.ADD, Kind.FADD) and op.operands[1] == keep:
            other = op.operands[0]
        else:
            return self.select(test, new, old)
        nothing = {Kind.FADD: 0x80000000}.get(op.kind, 0)  # −0 + x is x, and so is x − 0
        part = self.select(test, self._read(other), constant(nothing))
        if op.kind in FLOATS:
            return self.floating(op.kind, old, part)
        total = self.add(old, part) if op.kind is Kind.ADD else self.sub(old, part)
        return total if width is None else self.resized(total, width, new.signed)

    def _read(self, use: Use) -> Val:
        """An operand as a value."""
        low, high = self.ranges[use.op]
        width = self.ops[use.op].width
        if low == high:
            return constant(low)
        least, most = signed_range(width) if use.signed else (0, (1 << width) - 1)
        if least <= low and high <= most:
            return Val(use.op, use.signed, low, high)
        return Val(use.op, use.signed, least, most)

    def floating(self, kind: Kind, *operands: Val) -> Val:
        """An operation that gives binary32, or one bit for a comparison."""
        test = kind in (Kind.FEQ, Kind.FNE, Kind.FLT, Kind.FLE)
        words = tuple(self._word(x) for x in operands)
        return self.make(kind, words, 0, 1 if test else _FLOAT_BITS)

    def _word(self, x: Val) -> Val:
        """A float of all its 32 bits, also where the upper ones are known to be 0."""
        if x.op >= 0 and self.ops[x.op].width == 32:
            return x
        if x.const is None:
            op = self._add(Kind.RESIZE, 32, (self.use(x),), 0, None, None, ())
        else:
            op = self._add(Kind.CONST, 32, (), x.const, None, None, ())
        self.ranges[op] = (x.low, x.high)
        return Val(op, False, x.low, x.high)

    def to_float(self, x: Val, fixed: FixedType) -> Val:
        """The nearest binary32 of a raw."""
        op = self._add(Kind.TO_FLOAT, 32, (self.use(x),), 0, None, fixed, ())
        return Val(op, False, 0, _FLOAT_BITS)

    def from_float(self, x: Val, fixed: FixedType) -> Val:
        """The raw of a binary32."""
        op = self._add(Kind.FROM_FLOAT, fixed.width, (self.use(self._word(x)),), 0, None, fixed, ())
        return self.loaded(op, fixed.width, fixed.signed)


_BITWISE: dict[Kind, Callable[[int, int], int]] = {
    Kind.AND: lambda a, b: a & b,
    Kind.OR: lambda a, b: a | b,
    Kind.XOR: lambda a, b: a ^ b,
}
