"""A kernel with its banks on the chip as an AXI4-Lite slave.

Word 0 of the lower half of the byte addresses is the control register, as of ``ap_ctrl_hs``: writing
bit 0 starts the kernel; reading gives bit 1 done (since the last read), bit 2 idle. The upper half
is the host bus: byte address ``2**(bits + 2) + 4 * Layout.address(...)``. Words are written whole
(strobes are not looked at), one transaction at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

from backends.rtl.design import RtlDesign
from backends.rtl.ir import Expr, Module, ModuleBuilder, concat, lit, mux
from backends.rtl.wrap.host import HostWrapper, host_wrapper
from backends.rtl.wrap.layout import WORD, Layout

START, DONE, IDLE = 0, 1, 2
"""Bits of the control register."""


@dataclass(frozen=True, slots=True)
class AxiLiteWrapper:
    """The module, with ports ``s_axi_*``, ``clk`` and the active-high ``rst``, and its map."""

    module: Module
    layout: Layout
    address_bits: int

    def address(self, word: int) -> int:
        """The byte address of a word of the host bus (`Layout.address`)."""
        return (1 << (self.layout.bits + 2)) + 4 * word


def axi_lite_wrapper(design: RtlDesign) -> AxiLiteWrapper:
    """Put a design behind AXI4-Lite."""
    host = host_wrapper(design)
    bits = host.layout.bits + 3
    b = ModuleBuilder(f"{design.top.name}_axi")
    awaddr, awvalid = b.input("s_axi_awaddr", bits), b.input("s_axi_awvalid")
    wdata, wvalid = b.input("s_axi_wdata", WORD), b.input("s_axi_wvalid")
    bready = b.input("s_axi_bready")
    araddr, arvalid = b.input("s_axi_araddr", bits), b.input("s_axi_arvalid")
    rready = b.input("s_axi_rready")

    waits = b.reg("waits", (host.read_latency + 1).bit_length(), reset=0)
    bvalid, rvalid = b.reg("bvalid", 1, reset=0), b.reg("rvalid", 1, reset=0)
    reading = waits.any()
    write = b.wire("write", awvalid & wvalid & ~bvalid & ~reading)
    read = b.wire("read", arvalid & ~rvalid & ~reading & ~write)
    b.drive(bvalid, mux(write, lit(1, 1), bvalid & ~bready))

    control_write = write & ~awaddr[-1]
    held = b.reg("raddr", bits, next=araddr, enable=read)
    start = b.reg("start", 1, next=control_write & wdata[START], reset=0)
    answers = _kernel(b, host, start, write & awaddr[-1], mux(write, awaddr, held), wdata)
    last = waits.eq(lit(1, waits.width))
    waiting = lit(host.read_latency + 1, waits.width)
    b.drive(waits, mux(read, waiting, mux(reading, waits - lit(1, waits.width), waits)))
    b.drive(rvalid, mux(last, lit(1, 1), rvalid & ~rready))

    taken = last & ~held[-1]
    done = b.reg("done", 1, reset=0)
    b.drive(done, mux(answers["done"], lit(1, 1), done & ~taken & ~start))
    status = concat(lit(0, WORD - 3), ~(answers["busy"] | start), done, lit(0, 1))
    word = b.reg("rdata", WORD, next=mux(held[-1], answers["h_rdata"], status), enable=last)
    for name, expr in {
        "s_axi_awready": write,
        "s_axi_wready": write,
        "s_axi_bvalid": bvalid,
        "s_axi_bresp": lit(0, 2),
        "s_axi_arready": read,
        "s_axi_rvalid": rvalid,
        "s_axi_rdata": word,
        "s_axi_rresp": lit(0, 2),
    }.items():
        b.output(name, expr)
    return AxiLiteWrapper(b.build(), host.layout, bits)


def _kernel(
    b: ModuleBuilder, host: HostWrapper, start: Expr, write: Expr, address: Expr, data: Expr
) -> dict[str, Expr]:
    """The kernel behind its host bus; byte addresses lose their two low bits and the top one."""
    word = address.bits(host.layout.bits + 1, 2)
    inputs = {"start": start, "h_we": write, "h_addr": word, "h_wdata": data}
    return dict(b.instance(host.module, "host", inputs))
