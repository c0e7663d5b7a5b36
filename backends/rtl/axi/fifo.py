"""FIFOs whose head stands at the output until it is taken."""

from __future__ import annotations

from dataclasses import dataclass

from backends.rtl.ir import Expr, ModuleBuilder, Ref, Style, lit, mux

_BLOCK = 1024
"""Bits from which on a FIFO is block RAM."""


@dataclass(frozen=True, slots=True)
class Fifo:
    """``head`` is the oldest word where ``valid`` is set; ``empty`` says that there is none at all, while a
    word that was pushed is ``valid`` two cycles later.
    """

    valid: Expr
    head: Expr
    empty: Expr
    count: Expr


def fifo(b: ModuleBuilder, name: str, depth: int, push: Expr, data: Expr, pop: Expr) -> Fifo:
    """A FIFO in a memory with a clocked read.

    Args:
        b: The module.
        name: Of its signals.
        depth: Words, a power of two; whoever pushes sees to it that there is room.
        push: Takes ``data`` at the end of the cycle.
        data: The word.
        pop: Takes the head; only where it is valid.
    """
    bits = depth.bit_length()  # of pointers: one more than an address has
    style = Style.BLOCK if depth * data.width > _BLOCK else Style.DISTRIBUTED
    memory = b.memory(f"{name}_words", data.width, depth, style)
    one = lit(1, bits)
    back = b.reg(f"{name}_back", bits, reset=0)
    b.drive(back, back + one, push)
    front = b.reg(f"{name}_front", bits, reset=0)
    after = b.wire(f"{name}_after", mux(pop, front + one, front))
    b.drive(front, after)
    b.write(memory, back.low(bits - 1), data, push)
    # The word at `back` is being written: what is read here was written before.
    valid: Ref = b.reg(f"{name}_valid", 1, next=back.ne(after), reset=0)
    head = b.read(memory, after.low(bits - 1))
    return Fifo(valid, head, back.eq(front), back - front)


def short_fifo(b: ModuleBuilder, name: str, depth: int, push: Expr, data: Expr, pop: Expr) -> Fifo:
    """The same of few words in distributed memory; a word is valid in the cycle after it was pushed."""
    bits = depth.bit_length()
    memory = b.memory(f"{name}_words", data.width, depth, Style.DISTRIBUTED)
    one = lit(1, bits)
    back = b.reg(f"{name}_back", bits, reset=0)
    b.drive(back, back + one, push)
    front = b.reg(f"{name}_front", bits, reset=0)
    b.drive(front, front + one, pop)
    b.write(memory, back.low(bits - 1), data, push)
    head = b.peek(memory, front.low(bits - 1))
    empty = back.eq(front)
    return Fifo(~empty, head, empty, back - front)
