"""A kernel with its banks on the chip, behind a small synchronous host bus.

What a placed design is measured in: the memories count, and the pins stay few. The host's ports
to a bank are those that the kernel leaves free: it writes what the kernel only reads and reads what
the kernel only writes, so that neither waits for the other; a port that both need is the host's
while the kernel is idle.
"""

from __future__ import annotations

from dataclasses import dataclass

from backends.rtl.design import BankPort, RtlDesign
from backends.rtl.graph import Memory
from backends.rtl.ir import Expr, Module, ModuleBuilder, Ref, any_of, concat, lit, mux
from backends.rtl.wrap.layout import WORD, Layout, Window, layout_of

_STYLES = {Memory.BRAM: "block", Memory.LUTRAM: "distributed"}


@dataclass(frozen=True, slots=True)
class HostWrapper:
    """The module and its map.

    Ports: ``clk``, ``rst``, ``start``, ``done`` as of the kernel; ``busy``; ``h_we``, ``h_addr``,
    ``h_wdata`` (32 bits) write a word at the clock edge; ``h_rdata`` is the word at ``h_addr`` of
    `read_latency` cycles ago. The lanes of a wider element are written from the lowest on; the
    last one stores it.
    """

    module: Module
    layout: Layout
    read_latency: int


@dataclass(slots=True)
class _Bus:
    """The host's side, one register after the pins."""

    select: Expr
    element: Expr
    lane: Expr | None
    write: Expr
    data: Expr
    idle: Expr
    held: list[Expr]


def host_wrapper(design: RtlDesign) -> HostWrapper:
    """Put the banks of a design's arguments on the chip."""
    layout = layout_of(design)
    b = ModuleBuilder(f"{design.top.name}_host")
    start = b.input("start")
    we = b.input("h_we")
    addr = b.input("h_addr", layout.bits)
    wdata = b.input("h_wdata", WORD)
    busy = b.reg("running", 1, reset=0)
    bus = _bus(b, layout, we, addr, wdata, ~busy)
    inputs: dict[str, Expr] = {design.start: start}
    for window, scalar in zip(layout.windows, design.scalars, strict=False):
        enable = _writes(bus, layout, window)
        inputs[scalar.port] = b.reg(
            window.name, window.width, next=_data(bus, window), enable=enable
        )
    banks = [w for w in layout.windows if w.port is not None]
    promised: dict[str, Ref] = {}
    for window in banks:
        assert window.port is not None
        if window.port.rdata is not None:
            ref = b.declare(f"{window.port.rdata}_w", window.width)
            promised[window.port.rdata] = inputs[window.port.rdata] = ref
    outputs = b.instance(design.top, "kernel", inputs)
    words = [
        (window, word)
        for window in banks
        if (word := _bank(b, bus, layout, window, outputs, promised, design.read_latency))
        is not None
    ]
    done = outputs[design.done]
    b.drive(busy, mux(done, lit(0, 1), busy | start))
    b.output("done", done)
    b.output("busy", busy)
    latency = 1 + design.read_latency + 1
    b.output("h_rdata", _answer(b, bus, layout, words, design.read_latency))
    return HostWrapper(b.build(), layout, latency)


def _bus(b: ModuleBuilder, layout: Layout, we: Expr, addr: Expr, wdata: Expr, idle: Expr) -> _Bus:
    address = b.reg("addr", layout.bits, next=addr)
    lanes = layout.lane_bits
    bus = _Bus(
        address.high(layout.select_bits),
        address.bits(lanes + layout.element_bits - 1, lanes),
        address.low(lanes) if lanes else None,
        b.reg("we", 1, next=we),
        b.reg("wdata", WORD, next=wdata),
        idle,
        [],
    )
    most = max((w.lanes for w in layout.windows if w.written), default=1)
    for n in range(most - 1):
        assert bus.lane is not None
        at = bus.write & bus.lane.eq(lit(n, lanes))
        bus.held.append(b.reg(f"lane{n}", WORD, next=bus.data, enable=at))
    return bus


def _data(bus: _Bus, window: Window) -> Expr:
    """The element that the host writes."""
    words = [*bus.held[: window.lanes - 1], bus.data]
    return concat(*reversed(words)).low(window.width)


def _chosen(bus: _Bus, layout: Layout, window: Window) -> Expr:
    return bus.select.eq(lit(window.select, layout.select_bits))


def _writes(bus: _Bus, layout: Layout, window: Window) -> Expr:
    """The host stores an element of the window."""
    here = bus.write & _chosen(bus, layout, window)
    if bus.lane is None:
        return here
    return here & bus.lane.eq(lit(window.lanes - 1, layout.lane_bits))


def _bank(
    b: ModuleBuilder,
    bus: _Bus,
    layout: Layout,
    window: Window,
    kernel: dict[str, Ref],
    promised: dict[str, Ref],
    latency: int,
) -> Expr | None:
    """The memory of a bank; the word that the host reads where it may."""
    port = window.port
    assert port is not None
    writes = [(_writes(bus, layout, window), None, _data(bus, window))] if window.written else []
    if port.memory is Memory.REGISTERS:
        return _register(b, port, writes, kernel, promised)
    element = bus.element.low(port.addr_width)
    memory = b.memory(f"{port.array}_{port.bank}", port.width, port.depth, _STYLES[port.memory])
    enable: Expr = writes[0][0] if writes else lit(0, 1)
    where, what = element, _data(bus, window) if writes else lit(0, port.width)
    if port.writes:
        assert port.we is not None
        assert port.waddr is not None
        assert port.wdata is not None
        mine, at, value = kernel[port.we], kernel[port.waddr], kernel[port.wdata]
        if writes:
            enable, where, what = (
                mine | (bus.idle & enable),
                mux(bus.idle, element, at),
                mux(bus.idle, what, value),
            )
        else:
            enable, where, what = mine, at, value
    b.write(memory, where, what, enable)
    read_at: Expr = element
    read_if: Expr | None = None
    if port.reads:
        assert port.raddr is not None
        assert port.rdata is not None
        read_at, read_if = kernel[port.raddr], kernel[port.re] if port.re else None
        if window.readable:
            read_at = mux(bus.idle, element, read_at)
            read_if = None if read_if is None else read_if | bus.idle
    word: Expr = b.read(memory, read_at, read_if)
    word = b.delay(f"{port.array}_{port.bank}_o", word, latency - 1)
    if port.rdata is not None:
        b.drive(promised[port.rdata], word)
    return word if window.readable else None


def _register(
    b: ModuleBuilder,
    port: BankPort,
    writes: list[tuple[Expr, None, Expr]],
    kernel: dict[str, Ref],
    promised: dict[str, Ref],
) -> Expr | None:
    """A bank of one element: a register."""
    enable, value = (writes[0][0], writes[0][2]) if writes else (lit(0, 1), lit(0, port.width))
    if port.we is not None and port.wdata is not None:
        mine, theirs = kernel[port.we], kernel[port.wdata]
        enable, value = (enable | mine, mux(mine, theirs, value)) if writes else (mine, theirs)
    held = b.reg(f"{port.array}_{port.bank}", port.width, next=value, enable=enable)
    if port.rdata is not None:
        b.drive(promised[port.rdata], held)
    return held if port.writes else None


def _answer(
    b: ModuleBuilder,
    bus: _Bus,
    layout: Layout,
    words: list[tuple[Window, Expr]],
    latency: int,
) -> Expr:
    """The word that the address of the cycles before asks for, in a register."""
    if not words:
        return lit(0, WORD)
    select = b.delay("select", bus.select, latency)
    lane = b.delay("lane", bus.lane, latency) if bus.lane is not None else None
    found: list[Expr] = []
    for window, word in words:
        here = select.eq(lit(window.select, layout.select_bits))
        padded = word.zext(window.lanes * WORD)
        for n in range(window.lanes):
            at = here
            if lane is not None and window.lanes > 1:
                at = at & lane.eq(lit(n, layout.lane_bits))
            part = padded.bits(WORD * n + WORD - 1, WORD * n)
            found.append(mux(at, part, lit(0, WORD)))
    return b.reg("answer", WORD, next=any_of(found, WORD))
