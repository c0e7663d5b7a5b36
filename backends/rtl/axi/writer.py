"""What a kernel writes into an array in memory outside: words gathered to beats, beats to bursts.

A burst is asked for once all of its beats are there, so that a port that several arrays share never waits
for the kernel in the middle of one.
"""

from __future__ import annotations

from backends.rtl.axi.fifo import fifo
from backends.rtl.axi.reader import Shape
from backends.rtl.axi.runs import runs
from backends.rtl.ir import Expr, Module, ModuleBuilder, Ref, concat, lit, mux, repeat

MARGIN = 8
"""Beats of room that a FIFO keeps for words that are on their way to it."""
PATIENCE = 4
"""Bits of the counter of cycles without a word, or a beat, after which what is there goes to memory."""
_PENDING = 10
"""Bits of the count of bursts without an answer: a port has up to 256, and an array one that is next."""


def writer(shape: Shape) -> Module:
    """The writer of an array.

    Ports: ``go``, the kernel's cycle ends; ``we``, ``waddr``, ``wdata``, those of its bank; ``ok``, there is room
    for more. ``base``, the address. ``drain``, whatever was written is to go to memory; ``idle``, it is
    there. ``aw``, ``aw_addr``, ``aw_len``, ``aw_taken``: a burst; ``w``, ``w_data``, ``w_strb``, ``w_taken``: the next
    beat; ``b``: an answer.
    """
    b = ModuleBuilder(f"writer_{shape.array.name}")
    bank = shape.bank
    go, we = b.input("go"), b.input("we")
    waddr, wdata = b.input("waddr", bank.addr_width), b.input("wdata", bank.width)
    base, drain = b.input("base", 64), b.input("drain")
    aw_taken, w_taken, answer = b.input("aw_taken"), b.input("w_taken"), b.input("b")
    put = b.wire("put", go & we)
    given = b.reg("given", 1, next=put, reset=0)
    word = b.reg("word", bank.addr_width, next=waddr, enable=put)
    data = b.reg("data", bank.width, next=wdata, enable=put)
    quiet = b.reg("quiet", PATIENCE, reset=0)
    b.drive(quiet, mux(given, lit(0, PATIENCE), quiet + (~quiet.all()).zext(PATIENCE)))
    beat = shape.beat(word)
    held, held_beat = b.reg("held", 1, reset=0), b.reg("held_beat", beat.width)
    same = b.wire("same", held & beat.eq(held_beat))
    push = b.wire("push", held & mux(given, ~same, drain | quiet.all()))
    b.drive(held, given | (held & ~push))
    b.drive(held_beat, beat, given)
    marks, units = _beat(b, shape, (given, same), word, _extended(shape, data))
    depth = shape.port.fifo
    words = fifo(b, "beats", depth, push, concat(marks, units), w_taken)
    ready = b.declare("number_taken")
    numbers = fifo(b, "numbers", depth, push, held_beat, ready)
    move = b.declare("move")
    queue = (numbers.valid, numbers.head)
    burst = runs(b, shape.port, base, queue, drain, (lit(1, 1), aw_taken), move, PATIENCE)
    b.drive(ready, numbers.valid & burst.ready)
    pending = b.reg("pending", _PENDING, reset=0)
    b.drive(pending, pending + move.zext(_PENDING) - answer.zext(_PENDING))
    room = words.count.lt(lit(depth - MARGIN, words.count.width), signed=False)
    b.output("ok", b.reg("room", 1, next=room, reset=1))
    b.output("idle", ~given & ~held & numbers.empty & burst.none & pending.none())
    for name, expr in (("aw", burst.valid), ("aw_addr", burst.address), ("aw_len", burst.length)):
        b.output(name, expr)
    b.output("w", words.valid)
    b.output("w_data", words.head.low(shape.port.width))
    strobes = words.head.high(marks.width)
    each = shape.array.unit // 8
    b.output("w_strb", concat(*reversed([repeat(strobes[n], each) for n in range(marks.width)])))
    return b.build()


def _beat(
    b: ModuleBuilder, shape: Shape, when: tuple[Expr, Expr], word: Ref, value: Expr
) -> tuple[Expr, Expr]:
    """The beat that is being gathered: which of its words are given, and all of them.

    Args:
        b: The module.
        shape: How words lie in it.
        when: A word is given, and it is of the same beat as those before.
        word: Its number.
        value: As it is in memory.
    """
    given, same = when
    place = shape.place(word)
    marks, units = [], []
    for n in range(1 << shape.shift):
        here = given if place is None else given & place.eq(lit(n, shape.shift))
        mark = b.reg(f"mark{n}", 1)
        b.drive(mark, here | (mark & same), given)
        marks.append(mark)
        units.append(b.reg(f"unit{n}", value.width, next=value, enable=here))
    many = len(marks) > 1
    return (concat(*reversed(marks)), concat(*reversed(units))) if many else (marks[0], units[0])


def _extended(shape: Shape, data: Expr) -> Expr:
    """The lanes of a word as they are in memory."""
    array = shape.array
    lanes = [
        data.bits(array.width * (n + 1) - 1, array.width * n).resize(array.bits, array.signed)
        for n in range(array.lanes)
    ]
    return concat(*reversed(lanes)) if len(lanes) > 1 else lanes[0]
