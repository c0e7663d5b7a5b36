"""Integers of any width as a small Python language: each operator builds one ``arith`` op.

Used by the lowerings to the CPU, which spell out fixed-point and float formats bit by bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mlir_passes.provider import ir

_EQ, _NE, _SLT, _SLE, _SGT, _SGE, _ULT, _ULE, _UGT, _UGE = range(10)


def build(name: str, operands: list[Any], type_: Any, **attributes: Any) -> Any:
    """The result of a new op at the current insertion point."""
    created = ir.Operation.create(
        name, results=[type_], operands=operands, attributes=attributes or None
    )
    return created.results[0]


def integer(width: int) -> Any:
    """The signless integer type."""
    return ir.IntegerType.get_signless(width)


@dataclass(frozen=True, slots=True)
class Bits:
    """A signless integer of ``width`` bits."""

    value: Any
    width: int

    @staticmethod
    def of(value: Any) -> Bits:
        """A value of an integer type."""
        return Bits(value, value.type.width)

    @staticmethod
    def constant(number: int, width: int) -> Bits:
        """The low ``width`` bits of a number of any size."""
        type_ = integer(width)
        number &= (1 << width) - 1
        number -= (number >> (width - 1)) << width
        attribute = ir.Attribute.parse(f"{number} : {type_}")
        return Bits(build("arith.constant", [], type_, value=attribute), width)

    def _op(self, name: str, other: Bits | int) -> Bits:
        rhs = Bits.constant(other, self.width) if isinstance(other, int) else other
        assert rhs.width == self.width
        return Bits(build(name, [self.value, rhs.value], integer(self.width)), self.width)

    def __add__(self, other: Bits | int) -> Bits:
        return self._op("arith.addi", other)

    def __sub__(self, other: Bits | int) -> Bits:
        return self._op("arith.subi", other)

    def __and__(self, other: Bits | int) -> Bits:
        return self._op("arith.andi", other)

    def __or__(self, other: Bits | int) -> Bits:
        return self._op("arith.ori", other)

    def __invert__(self) -> Bits:
        return self._op("arith.xori", -1)

    def __neg__(self) -> Bits:
        return Bits.constant(0, self.width) - self

    def __lshift__(self, amount: Bits | int) -> Bits:
        return self._op("arith.shli", amount)

    def shift_signed(self, amount: Bits | int) -> Bits:
        """Right shift that copies the sign; the amount is below the width."""
        return self._op("arith.shrsi", amount)

    def shift_unsigned(self, amount: Bits | int) -> Bits:
        """Right shift that fills with zeros; the amount is below the width."""
        return self._op("arith.shrui", amount)

    def divide_signed(self, other: Bits) -> Bits:
        """Quotient truncated towards zero."""
        return self._op("arith.divsi", other)

    def remainder_signed(self, other: Bits) -> Bits:
        """What `divide_signed` leaves; it has the sign of the dividend."""
        return self._op("arith.remsi", other)

    def _test(self, predicate: int, other: Bits | int) -> Bits:
        rhs = Bits.constant(other, self.width) if isinstance(other, int) else other
        attribute = ir.IntegerAttr.get(integer(64), predicate)
        operands = [self.value, rhs.value]
        return Bits(build("arith.cmpi", operands, integer(1), predicate=attribute), 1)

    def equals(self, other: Bits | int) -> Bits:
        """One bit: the same."""
        return self._test(_EQ, other)

    def differs(self, other: Bits | int) -> Bits:
        """One bit: not the same."""
        return self._test(_NE, other)

    def less_signed(self, other: Bits | int) -> Bits:
        """One bit: less, both read as signed."""
        return self._test(_SLT, other)

    def greater_signed(self, other: Bits | int) -> Bits:
        """One bit: greater, both read as signed."""
        return self._test(_SGT, other)

    def greater_unsigned(self, other: Bits | int) -> Bits:
        """One bit: greater, both read as unsigned."""
        return self._test(_UGT, other)

    def choose(self, then: Bits, orelse: Bits | int) -> Bits:
        """``then`` where this one bit is set, else ``orelse``."""
        other = Bits.constant(orelse, then.width) if isinstance(orelse, int) else orelse
        operands = [self.value, then.value, other.value]
        return Bits(build("arith.select", operands, integer(then.width)), then.width)

    def clamp_signed(self, low: int, high: int) -> Bits:
        """The nearest number in ``[low, high]``, read as signed."""
        floor = Bits.constant(low, self.width)
        raised = self.less_signed(floor).choose(floor, self)
        ceiling = Bits.constant(high, self.width)
        return raised.greater_signed(ceiling).choose(ceiling, raised)

    def resize(self, width: int, signed: bool = False) -> Bits:
        """Cut or extended to ``width`` bits."""
        if width == self.width:
            return self
        name = "arith.trunci" if width < self.width else "arith.extsi" if signed else "arith.extui"
        return Bits(build(name, [self.value], integer(width)), width)

    def leading_zeros(self) -> Bits:
        """The number of zero bits above the highest one; the width if there is none."""
        return Bits(build("math.ctlz", [self.value], integer(self.width)), self.width)
