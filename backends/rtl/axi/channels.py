"""The five channels of an AXI4 master, shared by the readers and writers of its arrays.

Each array has its ID, so that answers find their way; those of one array come in order. Whatever is read
has room before it is asked for, so that answers are always taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from backends.rtl.axi.fifo import short_fifo
from backends.rtl.axi.ports import Port
from backends.rtl.axi.sides import Side
from backends.rtl.ir import Expr, ModuleBuilder, Ref, all_of, any_of, concat, lit, mux, repeat

_CACHE, _PROT, _INCR = 3, 0, 1
"""Bufferable and modifiable; data, secure, unprivileged; the kind of burst."""


class Master:
    """The pins of a port.

    Args:
        b: The top module.
        port: What it has.
        prefix: Of its signals.
    """

    def __init__(self, b: ModuleBuilder, port: Port, prefix: str) -> None:
        self.b = b
        self.port = port
        self.prefix = prefix
        self.ids = max(1, (len(port.arrays) - 1).bit_length())

    def _in(self, name: str, width: int = 1) -> Ref:
        return self.b.input(f"{self.prefix}_{name}", width)

    def _out(self, name: str, expr: Expr) -> None:
        self.b.output(f"{self.prefix}_{name}", expr)

    def _reg(self, name: str, width: int = 1, reset: int | None = None) -> Ref:
        return self.b.reg(f"{self.prefix}_{name}_q", width, reset=reset)

    def among(self, sides: Mapping[str, Side]) -> list[Side]:
        """Those of the port's arrays."""
        return [sides[a.name] for a in self.port.arrays if a.name in sides]

    def _number(self, side: Side) -> Expr:
        """The ID of an array."""
        return lit(self.port.arrays.index(side.array), self.ids)

    def read(self, sides: Sequence[Side]) -> Expr:
        """AR and R; whether an answer says that something went wrong."""
        valid, data = self._in("rvalid"), self._in("rdata", self.port.width)
        resp, last, id_ = self._in("rresp", 2), self._in("rlast"), self._in("rid", self.ids)
        self._out("rready", lit(1, 1))
        for side in sides:
            self.b.drive(side.answers["r"], valid & self._is(id_, side, sides))
            self.b.drive(side.answers["r_data"], data)
        self._address("ar", sides, valid & last, lit(1, 1))
        return valid & resp[1]

    def write(self, sides: Sequence[Side]) -> Expr:
        """AW, W and B; whether an answer says that something went wrong."""
        b, name = self.b, self.prefix
        valid, resp, id_ = self._in("bvalid"), self._in("bresp", 2), self._in("bid", self.ids)
        self._out("bready", lit(1, 1))
        for side in sides:
            self.b.drive(side.answers["b"], valid & self._is(id_, side, sides))
        depth = 1 << max(1, (self.port.outstanding - 1).bit_length())
        full = b.declare(f"{name}_jobs_full")
        taken, chosen = self._address("aw", sides, valid, ~full)
        length = _select(chosen, [s.outputs["aw_len"] for s in sides])
        number = _select(chosen, [self._number(s) for s in sides])
        done = b.declare(f"{name}_w_done")
        jobs = short_fifo(b, f"{name}_jobs", depth, taken, concat(number, length), done)
        b.drive(full, jobs.count[-1])
        now, beats = jobs.head.high(self.ids), jobs.head.low(8)
        mine = [jobs.valid & self._is(now, side, sides) for side in sides]
        there = any_of(m & s.outputs["w"] for m, s in zip(mine, sides, strict=True))
        ready = self._in("wready")
        accepted = b.wire(f"{name}_w_accepted", there & ready)
        count = self._reg("w_beat", 8, reset=0)
        last = b.wire(f"{name}_w_last", count.eq(beats))
        b.drive(count, mux(last, lit(0, 8), count + lit(1, 8)), accepted)
        b.drive(done, accepted & last)
        for m, side in zip(mine, sides, strict=True):
            b.drive(side.answers["w_taken"], accepted & m)
        self._out("wvalid", there)
        self._out("wdata", _select(mine, [s.outputs["w_data"] for s in sides]))
        self._out("wstrb", _select(mine, [s.outputs["w_strb"] for s in sides]))
        self._out("wlast", last)
        return valid & resp[1]

    def _is(self, id_: Expr, side: Side, sides: Sequence[Side]) -> Expr:
        return id_.eq(self._number(side)) if len(sides) > 1 else lit(1, 1)

    def _address(
        self, way: str, sides: Sequence[Side], answered: Expr, may: Expr
    ) -> tuple[Expr, list[Expr]]:
        """AR or AW: the next burst, in turns; that one is taken, and whose it is."""
        b, name = self.b, f"{self.prefix}_{way}"
        ready = self._in(f"{way}ready")
        held = self._reg(f"{way}valid", reset=0)
        bits = self.port.outstanding.bit_length()
        under_way = self._reg(f"{way}_count", bits, reset=0)
        room = under_way.lt(lit(self.port.outstanding, bits), signed=False)
        wants = [s.outputs[way] for s in sides]
        chosen = self._in_turns(name, wants)
        taken = b.wire(f"{name}_taken", any_of(wants) & room & may & (~held | ready))
        b.drive(held, taken | (held & ~ready))
        b.drive(under_way, under_way + taken.zext(bits) - answered.zext(bits))
        for choice, side in zip(chosen, sides, strict=True):
            b.drive(side.answers[f"{way}_taken"], taken & choice)
        fields = {
            "addr": _select(chosen, [s.outputs[f"{way}_addr"] for s in sides]),
            "len": _select(chosen, [s.outputs[f"{way}_len"] for s in sides]),
            "id": _select(chosen, [self._number(s) for s in sides]),
        }
        for field, expr in fields.items():
            register = self._reg(f"{way}{field}", expr.width)
            b.drive(register, expr, taken)
            self._out(f"{way}{field}", register)
        self._out(f"{way}valid", held)
        self._out(f"{way}size", lit((self.port.bytes - 1).bit_length(), 3))
        self._out(f"{way}burst", lit(_INCR, 2))
        self._out(f"{way}cache", lit(_CACHE, 4))
        self._out(f"{way}prot", lit(_PROT, 3))
        return taken, chosen

    def _in_turns(self, name: str, wants: Sequence[Expr]) -> list[Expr]:
        """One bit for each: it is next; the one after the last that was, of those that want."""
        if len(wants) == 1:
            return [wants[0]]
        b = self.b
        behind = [b.reg(f"{name}_behind{n}", 1, reset=0) for n in range(len(wants))]
        later = [w & p for w, p in zip(wants, behind, strict=True)]
        none = ~any_of(later)
        chosen: list[Expr] = [
            b.wire(f"{name}_next{n}", first | (none & other))
            for n, (first, other) in enumerate(zip(_first(later), _first(wants), strict=True))
        ]
        for n, place in enumerate(behind):  # those after the one that is chosen come first then
            b.drive(place, any_of(chosen[:n]) if n else lit(0, 1), any_of(wants))
        return chosen


def _first(bits: Sequence[Expr]) -> list[Expr]:
    """The first bit that is set, alone."""
    return [all_of([bit, *(~other for other in bits[:n])]) for n, bit in enumerate(bits)]


def _select(choices: Sequence[Expr], values: Sequence[Expr]) -> Expr:
    """The value whose bit is set."""
    if len(values) == 1:
        return values[0]
    return any_of(
        (repeat(c, v.width) & v for c, v in zip(choices, values, strict=True)), values[0].width
    )
