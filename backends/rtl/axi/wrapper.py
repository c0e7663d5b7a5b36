"""A kernel behind AXI: its arrays in memory outside, its control and scalars in registers.

The kernel has a clock enable, which is low in every cycle in which a word that it asked for is not there, or
a word that it writes has no room: its own cycles are those that were scheduled, whatever memory does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from backends.rtl.axi.ahead import Order, ahead_of, order_of
from backends.rtl.axi.channels import Master
from backends.rtl.axi.control import Host, Register, control, layout
from backends.rtl.axi.ports import Port, outside_of
from backends.rtl.axi.sides import Kernel, Read, Sides, held_start
from backends.rtl.control.emit import emit
from backends.rtl.design import BankPort, RtlDesign
from backends.rtl.generate import Options, specs
from backends.rtl.graph import Memory
from backends.rtl.ir import (
    Expr,
    Module,
    ModuleBuilder,
    Ref,
    all_of,
    any_of,
    concat,
    lit,
    to_verilog,
)
from backends.rtl.ir.gate import gated
from backends.rtl.ir.names import Names
from mlir_passes.dialect.attributes import argument_infos, top_function

_PREFIX = 40
"""Characters of a port's prefix: names of signals are cut where they are long."""


@dataclass(frozen=True)
class AxiDesign:
    """What is made of a kernel.

    Attributes:
        name: of the kernel.
        module: the top; ``clk``, ``rst`` (synchronous, active high), ``s_axi_control_*``, ``m_axi_<bundle>_*``, ports
            of banks of arrays that stay on the chip (`banks`), and ``done``, high for a cycle at the end of a run.
        ports: AXI4 masters, and the prefix of their signals.
        registers: of the host.
        orders: of the arrays that are read from memory outside.
        kernel: within.
        banks: of arrays that are not in memory outside, one cycle from address to word.
        direct: input ports of addresses that are in no register, by array.
    """

    name: str
    module: Module
    ports: tuple[tuple[Port, str], ...]
    registers: tuple[Register, ...]
    orders: Mapping[str, Order]
    kernel: RtlDesign
    banks: tuple[BankPort, ...]
    direct: Mapping[str, str]

    @cached_property
    def verilog(self) -> str:
        """Verilog-2005 of the module and all it uses."""
        return to_verilog(self.module)

    @property
    def status(self) -> int:
        """The offset of the status register, the last one."""
        return self.registers[-1].offset


def axi_design(design: RtlDesign, module: Any, options: Options) -> AxiDesign | None:
    """Put a kernel behind AXI; None where none of its arrays is in memory outside.

    Args:
        design: Of `backends.rtl.generate`.
        module: Level 3 that it was made of: what is outside, and how.
        options: What it was made with.

    Raises:
        ToolError: W460, a control that is in no register, or two arrays at address 0.
    """
    ports = outside_of(module)
    if not ports:
        return None
    with module.context:
        order = [info.name for info in argument_infos(top_function(module))]
    return _Wrapper(design, ports, order, options).made()


class _Wrapper:
    """The top module in the making."""

    def __init__(
        self, design: RtlDesign, ports: Sequence[Port], order: Sequence[str], options: Options
    ) -> None:
        self.ports = ports
        self.options = options
        self.arrays = {a.name: (a, port) for port in ports for a in port.arrays}
        self.reads: dict[str, Read] = {}
        for bank in design.banks:
            if bank.reads and bank.array in self.arrays:
                kind = order_of(design.scheduled, bank.array)
                ahead = None if kind is Order.ON_DEMAND else ahead_of(design.scheduled, bank.array)
                self.reads[bank.array] = Read(kind, ahead)
        turns = {
            name: read.ahead.kernel
            for name, read in self.reads.items()
            if read.ahead is not None and read.order is Order.IN_TURN
        }
        self.design = emit(design.scheduled, specs(options), options.bram_latency, turns)
        self.b = ModuleBuilder(f"{design.top.name}_axi")
        self.registers = layout([a for name in order if (a := self._argument(name)) is not None])
        self.direct: dict[str, str] = {}
        self.words: dict[tuple[str, int], Ref] = {}

    def _argument(self, name: str) -> tuple[str, int, str] | None:
        """The register of an argument, where it has one."""
        if name in self.arrays:
            slave = self.arrays[name][0].offset == "slave"
            return (name, 64, "address") if slave else None
        scalar = next((s for s in self.design.scalars if s.name == name), None)
        return None if scalar is None else (name, scalar.width, "scalar")

    def made(self) -> AxiDesign:
        b = self.b
        go, end = b.declare("go"), b.declare("ends")
        busy, status = b.reg("running", 1, reset=0), b.declare("status", 3)
        host = control(b, self.registers, busy, end, status)
        bases = {name: self._base(name, host) for name in self.arrays}
        aligned = b.wire("aligned", self._aligned(bases))
        kernel = self._kernel(host, b.wire("starts", host.go & aligned), go, end)
        sides = Sides(b, self.arrays, self.reads, kernel, self.options)
        for bank in self.design.banks:
            if bank.array in self.arrays:
                sides.add(bank, bases[bank.array])
                if bank.reads:
                    b.drive(self.words[bank.array, 0], sides.word(bank.array))
        prefixes, wrong = self._masters(sides)
        banks = self._on_chip(kernel)
        over = self._ends(sides, kernel, busy, host.go & ~aligned)
        for name, side in sides.writers.items():
            reader = sides.readers.get(name)
            b.drive(side.answers["drain"], over if reader is None else over | reader.drains)
        oks = [s.outputs["ok"] for s in (*sides.readers.values(), *sides.writers.values())]
        b.drive(go, all_of([*oks, *sides.may]))
        flags = [b.reg(f"flag{n}", 1, reset=0) for n in range(status.width)]
        for flag, event in zip(flags, (*wrong, host.go & ~aligned), strict=True):
            b.drive(flag, event | (flag & ~host.go))
        b.drive(status, concat(*reversed(flags)))
        b.output("done", end)
        return AxiDesign(
            self.design.name,
            b.build(),
            tuple(zip(self.ports, prefixes, strict=True)),
            self.registers,
            {name: read.order for name, read in self.reads.items()},
            self.design,
            banks,
            self.direct,
        )

    def _ends(self, sides: Sides, kernel: Kernel, busy: Ref, refused: Expr) -> Expr:
        """The end of a run: all machines have stopped, and all that was written is in memory.

        Returns:
            The kernel is over.
        """
        b = self.b
        over = b.reg("kernel_over", 1, reset=0)
        finished = kernel.outputs[self.design.done] & kernel.go
        drained = all_of(side.outputs["idle"] for side in sides.writers.values())
        end = kernel.end
        assert isinstance(end, Ref)
        b.drive(end, refused | (busy & over & drained & ~any_of(sides.running)))
        b.drive(over, (finished | over) & ~end)
        b.drive(busy, kernel.starts | (busy & ~end))
        return over

    def _base(self, name: str, host: Host) -> Expr:
        """The address of an array."""
        match self.arrays[name][0].offset:
            case "direct":
                ref = self.b.input(f"{name}_offset", 64)
                self.direct[name] = ref.name
                return ref
            case "off":
                return lit(0, 64)
            case _:
                return host.values[name]

    def _aligned(self, bases: Mapping[str, Expr]) -> Expr:
        """Every address is a multiple of a beat."""
        return ~any_of(
            bases[name].low((port.bytes - 1).bit_length()).any()
            for name, (_, port) in self.arrays.items()
        )

    # -- the kernel ----------------------------------------------------------------------------

    def _kernel(self, host: Host, starts: Expr, go: Expr, end: Expr) -> Kernel:
        """The kernel; the words that it reads are promised in ``words``."""
        b, design = self.b, self.design
        module, enable = gated(design.top)
        inputs: dict[str, Expr] = {
            enable: go,
            design.start: held_start(b, "kernel", starts, go),
            **{scalar.port: host.values[scalar.name] for scalar in design.scalars},
        }
        for bank in design.banks:
            if bank.rdata is not None:
                ref = b.declare(f"word_{bank.array}_{bank.bank}", bank.width)
                inputs[bank.rdata] = self.words[bank.array, bank.bank] = ref
        outputs = b.instance(module, "kernel", inputs)
        begins = {name: outputs[port] for name, port in design.begins}
        return Kernel(outputs, begins, starts, go, end)

    def _on_chip(self, kernel: Kernel) -> tuple[BankPort, ...]:
        """Banks of arrays that are not outside: their ports, which stand still where the kernel does."""
        b, found = self.b, []
        for bank in self.design.banks:
            if bank.array in self.arrays:
                continue
            name, here = f"{bank.array}_{bank.bank}", bank
            if bank.rdata is not None:
                pin = b.input(f"{name}_rdata", bank.width)
                here = replace(here, rdata=pin.name)
                registers = bank.memory is Memory.REGISTERS
                later = 0 if registers else self.design.read_latency - 1
                word = b.delay(f"chip_{name}", pin, later, kernel.go)
                b.drive(self.words[bank.array, bank.bank], word)
            if bank.re is not None and bank.raddr is not None:
                enable = b.output(f"{name}_re", kernel.outputs[bank.re] & kernel.go)
                raddr = b.output(f"{name}_raddr", kernel.outputs[bank.raddr])
                here = replace(here, re=enable, raddr=raddr)
            if bank.waddr is not None:
                waddr = b.output(f"{name}_waddr", kernel.outputs[bank.waddr])
                here = replace(here, waddr=waddr)
            if bank.we is not None and bank.wdata is not None:
                enable = b.output(f"{name}_we", kernel.outputs[bank.we] & kernel.go)
                wdata = b.output(f"{name}_wdata", kernel.outputs[bank.wdata])
                here = replace(here, we=enable, wdata=wdata)
            found.append(here)
        return tuple(found)

    # -- the ports -------------------------------------------------------------------------------

    def _masters(self, sides: Sides) -> tuple[list[str], tuple[Expr, Expr]]:
        """The prefix of each port; whether a read, and a write, was answered with an error."""
        names = Names()
        prefixes: list[str] = []
        reads: list[Expr] = []
        writes: list[Expr] = []
        for port in self.ports:
            prefixes.append(names.take(f"m_axi_{(port.bundle or 'gmem')[:_PREFIX]}"))
            master = Master(self.b, port, prefixes[-1])
            if readers := master.among(sides.readers):
                reads.append(master.read(readers))
            if writers := master.among(sides.writers):
                writes.append(master.write(writers))
        return prefixes, (any_of(reads), any_of(writes))
