"""Memories and their ports: banks of arguments outside of the module, local ones inside.

Operations ask for a word or give one, each with the bit that says when. All of one bank are
collected, and `Memories.close` puts the multiplexers in front of its port: the schedule has seen
to it that no two want it in one cycle.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from backends.rtl.control.units import choose
from backends.rtl.design import BankPort
from backends.rtl.graph import Array, Graph, Memory, places
from backends.rtl.ir import Expr, ModuleBuilder, Ref, any_of, lit
from backends.rtl.ir import Memory as RamMemory


@dataclass(frozen=True, slots=True)
class _Access:
    """One user of a port: its bit, the address, the data of a write."""

    enable: Expr
    address: Expr | None
    data: Expr | None = None


@dataclass(slots=True)
class _Bank:
    """A bank in the making."""

    port: BankPort
    reads: list[_Access] = field(default_factory=list)
    writes: list[_Access] = field(default_factory=list)
    read_address: Ref | None = None
    read_enable: Ref | None = None
    value: Expr | None = None
    register: Ref | None = None


class Memories:
    """Every bank of a kernel.

    Args:
        builder: The module.
        graph: With the arrays.
        read_latency: Cycles from the address to the word.
    """

    def __init__(self, builder: ModuleBuilder, graph: Graph, read_latency: int) -> None:
        self.builder = builder
        self.read_latency = read_latency
        self._arrays = {array.name: array for array in graph.arrays}
        self._banks: dict[tuple[str, int], _Bank] = {}
        self._local: dict[tuple[str, int], RamMemory] = {}

    def addr_width(self, array: str) -> int:
        """Bits of an address of a bank."""
        return max(1, (self._arrays[array].depth - 1).bit_length())

    def array(self, name: str) -> Array:
        """The array of that name."""
        return self._arrays[name]

    def _bank(self, array: str, number: int) -> _Bank:
        key = (array, number)
        if key not in self._banks:
            of = self._arrays[array]
            port = BankPort(array, number, of.depth, of.word, self.addr_width(array), of.memory)
            self._banks[key] = _Bank(port)
        return self._banks[key]

    def read(self, array: str, number: int, enable: Expr, address: Expr) -> Expr:
        """Ask a RAM bank for a word: what stands there `read_latency` cycles later."""
        bank = self._bank(array, number)
        bank.reads.append(_Access(enable, address))
        if bank.value is None:
            bank.value = self._read_port(bank)
        return bank.value

    def _read_port(self, bank: _Bank) -> Expr:
        b, port = self.builder, bank.port
        name = f"{port.array}_{port.bank}"
        bank.read_address = b.declare(f"{name}_ra", port.addr_width)
        bank.read_enable = b.declare(f"{name}_rd")
        if self._arrays[port.array].argument:
            raddr = b.output(f"{name}_raddr", bank.read_address)
            enable = b.output(f"{name}_re", bank.read_enable)
            data = b.input(f"{name}_rdata", port.width)
            bank.port = replace(port, raddr=raddr, re=enable, rdata=data.name)
            return data
        style = "block" if port.memory is Memory.BRAM else "distributed"
        memory = b.memory(name, port.width, port.depth, style, self._words(port))
        self._local[port.array, port.bank] = memory
        word: Expr = b.read(memory, bank.read_address, bank.read_enable)
        return b.delay(f"{name}_q", word, self.read_latency - 1)

    def _words(self, port: BankPort) -> tuple[int, ...]:
        """What a bank of a table of constants holds; nothing of all others."""
        of = self._arrays[port.array]
        if not of.contents:
            return ()
        found = [0] * port.depth
        for word, (bank, offset) in zip(of.contents, places(of), strict=True):
            if bank == port.bank:
                found[offset] = word
        return tuple(found)

    def value(self, array: str, number: int) -> Expr:
        """What a register holds in this cycle."""
        bank = self._bank(array, number)
        if bank.value is None:
            name = f"{array}_{number}"
            if self._arrays[array].argument:
                data = self.builder.input(f"{name}_rdata", bank.port.width)
                bank.port = replace(bank.port, rdata=data.name)
                bank.value = data
            elif words := self._words(bank.port):
                bank.value = lit(words[0], bank.port.width)
            else:
                bank.register = self.builder.reg(name, bank.port.width)
                bank.value = bank.register
        return bank.value

    def write(
        self, array: str, number: int, enable: Expr, address: Expr | None, data: Expr
    ) -> None:
        """Write a word at the end of a cycle in which ``enable`` holds."""
        self._bank(array, number).writes.append(_Access(enable, address, data))

    def close(self) -> tuple[BankPort, ...]:
        """Drive every port; those of arguments."""
        for key in sorted(self._banks):
            bank = self._banks[key]
            if bank.read_address is not None and bank.read_enable is not None:
                self.builder.drive(bank.read_address, _chosen(bank.reads, address=True))
                self.builder.drive(bank.read_enable, any_of(a.enable for a in bank.reads))
            if bank.writes or bank.register is not None:
                self._close_writes(bank)
        order = [a.name for a in self._arrays.values() if a.argument]
        keys = sorted(
            (k for k in self._banks if k[0] in order), key=lambda k: (order.index(k[0]), k[1])
        )
        return tuple(self._banks[key].port for key in keys)

    def _close_writes(self, bank: _Bank) -> None:
        b, port = self.builder, bank.port
        name = f"{port.array}_{port.bank}"
        enable = any_of(a.enable for a in bank.writes)
        if bank.register is not None and not bank.writes:
            b.drive(bank.register, lit(0, port.width))
            return
        data = _chosen(bank.writes, address=False)
        registers = port.memory is Memory.REGISTERS
        if self._arrays[port.array].argument:
            waddr = None
            if not registers:
                waddr = b.output(f"{name}_waddr", _chosen(bank.writes, address=True))
            we = b.output(f"{name}_we", enable)
            wdata = b.output(f"{name}_wdata", data)
            bank.port = replace(bank.port, waddr=waddr, we=we, wdata=wdata)
        elif registers:
            if bank.register is not None:
                b.drive(bank.register, data, enable)
        elif (port.array, port.bank) in self._local:
            memory = self._local[port.array, port.bank]
            b.write(memory, _chosen(bank.writes, address=True), data, enable)


def _chosen(accesses: list[_Access], *, address: bool) -> Expr:
    """What the access whose bit is set gives; anything where none is."""

    def of(access: _Access) -> Expr:
        part = access.address if address else access.data
        assert part is not None
        return part

    return choose([(access.enable, of(access)) for access in accesses])
