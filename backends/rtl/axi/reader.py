"""What a kernel reads of an array in memory outside: beats asked for in bursts, a FIFO, and words out of it.

Two sides see the same addresses in the same order. One asks memory for a beat wherever the beat is not the
last one that it asked for; the other, the kernel, takes a beat from the FIFO wherever it is not the last one
that it took. Who reads on demand asks when the kernel does.
"""

from __future__ import annotations

from dataclasses import dataclass

from backends.rtl.axi.ahead import Order
from backends.rtl.axi.fifo import fifo
from backends.rtl.axi.ports import Outside, Port
from backends.rtl.axi.runs import runs
from backends.rtl.design import BankPort
from backends.rtl.ir import Expr, Module, ModuleBuilder, Ref, concat, lit, mux

_PATIENCE = 2
"""Bits of the counter of cycles without a beat, after which a burst does not wait for more: the kernel waits for it."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How words lie in beats.

    Attributes:
        array: in memory.
        port: behind which it is.
        bank: of the kernel.
    """

    array: Outside
    port: Port
    bank: BankPort

    @property
    def shift(self) -> int:
        """Bits of a word's place in its beat."""
        return (self.port.width // self.array.unit).bit_length() - 1

    @property
    def beat_bits(self) -> int:
        """Bits of the number of a beat of the array."""
        return max(1, self.bank.addr_width - self.shift)

    def beat(self, word: Expr) -> Expr:
        """The beat that a word is in."""
        if word.width <= self.shift:
            return lit(0, 1)
        return word.bits(word.width - 1, self.shift)

    def place(self, word: Expr) -> Expr | None:
        """The word's place in its beat; None where it is all of it."""
        return word.resize(self.shift, False) if self.shift else None

    def within(self, word: Expr) -> Expr:
        """The word is one of the array: what nobody looks at may be read elsewhere."""
        if self.bank.depth == 1 << self.bank.addr_width:
            return lit(1, 1)
        return word.lt(lit(self.bank.depth, word.width), signed=False)


def reader(shape: Shape, order: Order) -> Module:
    """The reader of an array.

    Ports: ``go``, the kernel's cycle ends; ``re``, ``raddr``, ``rdata``, those of its bank; ``ok``, the word that
    it last asked for is there. ``stop`` for a cycle after a run. ``base``, the address. ``next``, ``next_addr``,
    ``next_ready``: the addresses ahead, where there are any; else ``may``, all that the kernel wrote is in memory,
    and ``asks``, it waits for that. ``wrote``, and ``next_wrote`` for the addresses ahead: what comes now may have
    been written, where it may be at all. ``ar``, ``ar_addr``, ``ar_len``,
    ``ar_taken``: a burst; ``r``, ``r_data``: a beat, which is always taken.
    """
    b = ModuleBuilder(f"reader_{shape.array.name}")
    go, end = b.input("go"), b.input("stop")
    re, raddr = b.input("re"), b.input("raddr", shape.bank.addr_width)
    base = b.input("base", 64)
    taken, r, data = b.input("ar_taken"), b.input("r"), b.input("r_data", shape.port.width)
    here = b.wire("here", go & re & shape.within(raddr))
    beat = shape.beat(raddr)
    active = b.reg("active", 1, reset=0)
    last = b.reg("last", beat.width)
    demand = order is Order.ON_DEMAND
    stale: Expr = lit(0, 1)
    if order is not Order.AHEAD:
        wrote = b.input("wrote")
        stale = b.reg("stale", 1, next=wrote | ~here, enable=wrote | here, reset=0)
    fresh = b.wire("fresh", here & (~active | beat.ne(last) | stale))
    b.drive(last, beat, fresh)
    b.drive(active, (active | here) & ~end, here | end)
    pop = b.wire("pop", active & (fresh | end))
    depth = shape.port.fifo
    words = fifo(b, "beats", depth, r, data, pop)
    asks: tuple[Expr, Expr] = (fresh, beat)
    may: Expr = b.input("may") if demand else lit(1, 1)
    if not demand:
        begins = b.input("next_wrote") if order is Order.IN_TURN else lit(0, 1)
        asks = _ahead(b, shape, begins | end)
    room = b.reg("room", depth.bit_length(), reset=depth)
    move = b.declare("move")
    idle = room.eq(lit(depth, room.width))
    fits = b.declare("fits")
    burst = runs(b, shape.port, base, asks, idle, (fits & may, taken), move, _PATIENCE)
    b.drive(fits, burst.count.resize(room.width, False).le(room, signed=False))
    used = mux(move, burst.count.resize(room.width, False), lit(0, room.width))
    b.drive(room, room - used + pop.zext(room.width))
    if demand:
        b.output("asks", active & ~words.valid)
    else:
        b.output("next_ready", burst.ready)
    b.output("ok", ~active | words.valid)
    b.output("rdata", _word(b, shape, words.head, raddr, here))
    for name, expr in (("ar", burst.valid), ("ar_addr", burst.address), ("ar_len", burst.length)):
        b.output(name, expr)
    return b.build()


def _ahead(b: ModuleBuilder, shape: Shape, again: Expr) -> tuple[Expr, Expr]:
    """The beats that addresses ahead are in, without those asked for just before: no more after ``again``."""
    ask, addr = b.input("next"), b.input("next_addr", shape.bank.addr_width)
    beat = shape.beat(addr)
    asked, active = b.reg("asked", beat.width), b.reg("asking", 1, reset=0)
    fresh = b.wire("asks_fresh", ask & shape.within(addr) & (~active | beat.ne(asked)))
    b.drive(asked, beat, fresh)
    b.drive(active, ~again, fresh | again)
    return fresh, beat


def _word(b: ModuleBuilder, shape: Shape, beat: Expr, raddr: Expr, here: Ref) -> Expr:
    """The kernel's word of a beat: its place, then the bits of each lane."""
    array = shape.array
    place = shape.place(raddr)
    if place is not None:
        held = b.reg("place", place.width, next=place, enable=here)
        level = [
            beat.bits(array.unit * (n + 1) - 1, array.unit * n) for n in range(1 << shape.shift)
        ]
        for bit in range(shape.shift):
            level = [mux(held[bit], level[n + 1], level[n]) for n in range(0, len(level), 2)]
        beat = level[0]
    else:
        beat = beat.low(array.unit)
    lanes = [
        beat.bits(array.bits * n + array.width - 1, array.bits * n) for n in range(array.lanes)
    ]
    return concat(*reversed(lanes)) if len(lanes) > 1 else lanes[0]
