"""What stands between a kernel and its ports: a reader and a writer for each array, and addresses ahead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from backends.rtl.axi.ahead import Ahead, Order
from backends.rtl.axi.ports import Outside, Port
from backends.rtl.axi.reader import Shape, reader
from backends.rtl.axi.writer import writer
from backends.rtl.control.emit import emit
from backends.rtl.design import BankPort
from backends.rtl.generate import Options, specs
from backends.rtl.ir import Expr, ModuleBuilder, Ref, lit, mux
from backends.rtl.ir.gate import gated

_LEAD = 8
"""Bits of the count of regions that a kernel has begun and the addresses ahead of it have not."""


@dataclass(frozen=True, slots=True)
class Side:
    """A reader or a writer: its outputs and the wires that answer them, by the names of its ports.

    ``drains``: of a reader, it waits until what was written is in memory.
    """

    array: Outside
    outputs: Mapping[str, Expr]
    answers: Mapping[str, Ref]
    drains: Expr


@dataclass(frozen=True, slots=True)
class Read:
    """How an array is read: the order, and of what is not read on demand the addresses ahead."""

    order: Order
    ahead: Ahead | None


@dataclass(frozen=True, slots=True)
class Kernel:
    """The kernel's side.

    Attributes:
        outputs: of its instance.
        begins: of each array that is read in turn, the kernel begins a region that does.
        starts: it is started with the next cycle.
        go: its cycle ends.
        end: all is over.
    """

    outputs: Mapping[str, Ref]
    begins: Mapping[str, Expr]
    starts: Expr
    go: Expr
    end: Expr


@dataclass(frozen=True, slots=True)
class _Asked:
    """What addresses ahead come to.

    Attributes:
        ask: there is one.
        address: of a word.
        runs: there may be more.
        drains: it waits until what was written is in memory.
        begins: addresses of another region come from now on.
    """

    ask: Expr
    address: Expr
    runs: Expr
    drains: Expr
    begins: Expr


class Sides:
    """Makes readers and writers.

    Args:
        b: The top module.
        arrays: Those in memory outside, and their ports.
        reads: How each is read that is.
        kernel: What it says.
        options: It was made with.
    """

    def __init__(
        self,
        b: ModuleBuilder,
        arrays: Mapping[str, tuple[Outside, Port]],
        reads: Mapping[str, Read],
        kernel: Kernel,
        options: Options,
    ) -> None:
        self.b = b
        self.arrays = arrays
        self.reads = reads
        self.kernel = kernel
        self.options = options
        self.readers: dict[str, Side] = {}
        self.writers: dict[str, Side] = {}
        self.running: list[Expr] = []
        self.may: list[Expr] = []

    def add(self, bank: BankPort, base: Expr) -> None:
        """The reader and the writer of an array, as far as the kernel reads and writes it."""
        if bank.writes:
            self.writers[bank.array] = self._writer(bank, base)
        if bank.reads:
            self.readers[bank.array] = self._reader(bank, base)

    def word(self, array: str) -> Expr:
        """What the kernel reads of an array."""
        word = self.readers[array].outputs["rdata"]
        later = self.options.bram_latency - 1
        return self.b.delay(f"word_{array}", word, later, self.kernel.go)

    def _writer(self, bank: BankPort, base: Expr) -> Side:
        b, name, kernel = self.b, bank.array, self.kernel
        array, port = self.arrays[name]
        assert bank.we is not None
        assert bank.waddr is not None
        assert bank.wdata is not None
        wires = ("drain", "aw_taken", "w_taken", "b")
        answers = {w: b.declare(f"write_{name}_{w}") for w in wires}
        inputs = {"go": kernel.go, "we": kernel.outputs[bank.we], "base": base, **answers}
        inputs |= {"waddr": kernel.outputs[bank.waddr], "wdata": kernel.outputs[bank.wdata]}
        outputs = b.instance(writer(Shape(array, port, bank)), f"writer_{name}", inputs)
        return Side(array, outputs, answers, lit(0, 1))

    def _reader(self, bank: BankPort, base: Expr) -> Side:
        b, name, kernel = self.b, bank.array, self.kernel
        array, port = self.arrays[name]
        assert bank.re is not None
        assert bank.raddr is not None
        order = self.reads[name].order
        answers = {w: b.declare(f"read_{name}_{w}") for w in ("ar_taken", "r")}
        answers["r_data"] = b.declare(f"read_{name}_data", port.width)
        inputs: dict[str, Expr] = {"go": kernel.go, "stop": kernel.end, "base": base, **answers}
        inputs |= {"re": kernel.outputs[bank.re], "raddr": kernel.outputs[bank.raddr]}
        module, instance = reader(Shape(array, port, bank), order), f"reader_{name}"
        if order is Order.ON_DEMAND:
            assert bank.we is not None
            inputs["wrote"] = kernel.outputs[bank.we] & kernel.go
            inputs["may"] = self.writers[name].outputs["idle"]
            outputs = b.instance(module, instance, inputs)
            return Side(array, outputs, answers, outputs["asks"])
        ready = b.declare(f"ahead_{name}_ready")
        asked = self._ahead(name, ready)
        inputs |= {"next": asked.ask, "next_addr": asked.address}
        if order is Order.IN_TURN:
            inputs |= {"wrote": kernel.begins[name] & kernel.go, "next_wrote": asked.begins}
        outputs = b.instance(module, instance, inputs)
        b.drive(ready, outputs["next_ready"])
        self.running.append(asked.runs)
        return Side(array, outputs, answers, asked.drains)

    def _ahead(self, name: str, ready: Expr) -> _Asked:
        """The machine that makes the addresses of an array."""
        b, ahead = self.b, self.reads[name].ahead
        assert ahead is not None
        turns = self.reads[name].order is Order.IN_TURN
        watched = {name: ahead.own} if turns else {}
        made = emit(ahead.scheduled, specs(self.options), self.options.bram_latency, watched)
        (bank,) = made.banks
        assert bank.re is not None
        assert bank.raddr is not None
        plain = replace(made.top, inputs=tuple(i for i in made.top.inputs if i.name != bank.rdata))
        module, enable = gated(plain)
        goes = b.declare(f"ahead_{name}_go")
        start = held_start(b, f"ahead_{name}", self.kernel.starts, goes)
        outputs = b.instance(module, f"ahead_{name}", {made.start: start, enable: goes})
        waits: Expr = lit(0, 1)
        drains: Expr = lit(0, 1)
        begins: Expr = lit(0, 1)
        if turns:
            wants = outputs[made.begins[0][1]]
            begins = wants & goes
            begun = self._begun(name, begins)
            drains = wants & begun
            waits = wants & ~(begun & self.writers[name].outputs["idle"])
        b.drive(goes, ready & ~waits)
        running = b.reg(f"ahead_{name}_runs", 1, reset=0)
        b.drive(running, self.kernel.starts | (running & ~(outputs[made.done] & goes)))
        return _Asked(outputs[bank.re] & goes, outputs[bank.raddr], running, drains, begins)

    def _begun(self, name: str, less: Expr) -> Expr:
        """The kernel has begun a region that the addresses ahead have not."""
        b, kernel = self.b, self.kernel
        lead = b.reg(f"lead_{name}", _LEAD, reset=0)
        more = kernel.begins[name] & kernel.go
        after = lead + more.zext(_LEAD) - less.zext(_LEAD)
        b.drive(lead, mux(kernel.end, lit(0, _LEAD), after))
        self.may.append(~lead[-1])
        return lead.any()


def held_start(b: ModuleBuilder, name: str, starts: Expr, enable: Expr) -> Expr:
    """Start, held until the machine that it is for takes it."""
    held = b.reg(f"{name}_start", 1, reset=0)
    b.drive(held, starts | (held & ~enable))
    return held
