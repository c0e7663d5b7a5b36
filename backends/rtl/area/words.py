"""Expressions as bits."""

from __future__ import annotations

from collections.abc import Callable

from backends.rtl.area.arithmetic import Arithmetic
from backends.rtl.area.choices import Choices
from backends.rtl.area.net import FALSE
from backends.rtl.area.netlist import Bits, Netlist
from backends.rtl.ir.expr import ArithOp, BitOp, CompareOp, Expr, ShiftOp
from backends.rtl.ir.nodes import (
    Binary,
    Compare,
    Concat,
    Extend,
    Lit,
    Mux,
    Not,
    Reduce,
    Ref,
    Shift,
    Slice,
    children,
)


class Words:
    """The bits of expressions of one module, each expression done once.

    Args:
        netlist: Where what they need goes.
        signal: The bits of a named signal.
        joined: The `id` of sums that are operands of others (`joins.joined_words`).
    """

    def __init__(
        self, netlist: Netlist, signal: Callable[[Ref], Bits], joined: frozenset[int] = frozenset()
    ) -> None:
        self._joined = joined
        self._net, self._signal = netlist.net, signal
        self._arithmetic = Arithmetic(netlist)
        self._choices = Choices(netlist.net)
        self._known: dict[int, tuple[Expr, Bits]] = {}

    def bits(self, e: Expr) -> Bits:
        """Of an expression."""
        if isinstance(e, Ref):
            return self._signal(e)
        todo = [e]
        while todo:
            top = todo[-1]
            fresh = [
                c for c in children(top) if not isinstance(c, Ref) and id(c) not in self._known
            ]
            if fresh and id(top) not in self._known:
                todo += fresh
                continue
            todo.pop()
            if id(top) not in self._known:
                # The expression is kept with its bits: its id stays its own.
                self._known[id(top)] = top, self._made(top)
        return self._known[id(e)][1]

    def bit(self, e: Expr) -> int:
        """Of an expression of one bit."""
        return self.bits(e)[0]

    def _made(self, e: Expr) -> Bits:
        """From the bits of the operands, which are known."""
        net = self._net
        match e:
            case Lit():
                return [e.value >> n & 1 for n in range(e.width)]
            case Slice():
                return self.bits(e.arg)[e.lo : e.hi + 1]
            case Concat():
                return [bit for part in reversed(e.parts) for bit in self.bits(part)]
            case Extend():
                arg = self.bits(e.arg)
                return arg + [arg[-1] if e.signed else FALSE] * (e.width - len(arg))
            case Not():
                return [bit ^ 1 for bit in self.bits(e.arg)]
            case Binary():
                return self._binary(e)
            case Compare():
                return [self._compared(e)]
            case Reduce():
                arg = self.bits(e.arg)
                return [net.all_of(arg) if e.every else net.any_of(arg)]
            case Mux():
                if (few := self._choices.few(e, self.bits)) is not None:
                    return few
                select, pairs = self.bit(e.cond), (self.bits(e.then), self.bits(e.other))
                return [net.choose(select, a, b) for a, b in zip(*pairs, strict=True)]
            case Shift():
                arg = self.bits(e.arg)
                fill = arg[-1] if e.op is ShiftOp.SAR else FALSE
                left = e.op is ShiftOp.SHL
                return self._arithmetic.shifted(arg, self.bits(e.amount), left, fill)
            case _:
                raise TypeError(f"no bits of {type(e).__name__}")

    def _binary(self, e: Binary) -> Bits:
        lhs, rhs = self.bits(e.lhs), self.bits(e.rhs)
        match e.op:
            case ArithOp.MUL:
                return self._arithmetic.product(lhs, rhs)
            case ArithOp.ADD | ArithOp.SUB:
                return self._arithmetic.add(lhs, rhs, e.op is ArithOp.SUB, id(e) in self._joined)
        net = self._net
        gate = {BitOp.AND: net.both, BitOp.OR: net.either, BitOp.XOR: net.differ}[e.op]
        return [gate(a, b) for a, b in zip(lhs, rhs, strict=True)]

    def _compared(self, e: Compare) -> int:
        lhs, rhs = self.bits(e.lhs), self.bits(e.rhs)
        if e.op in (CompareOp.EQ, CompareOp.NE):
            return self._arithmetic.equals(lhs, rhs) ^ (e.op is CompareOp.NE)
        return self._arithmetic.less(lhs, rhs, e.signed, e.op is CompareOp.LE)
