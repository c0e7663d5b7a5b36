"""From a module to its bits.

What synthesis finds by itself is found here: registers that hold the same, or a constant, are one;
so are equal instances; an instance with constant inputs has its own, smaller, logic; a register that
keeps its value by a multiplexer has an enable.
"""

from __future__ import annotations

from collections.abc import Iterator

from backends.rtl.area.net import TRUE, Gate
from backends.rtl.area.netlist import Bits, Fixed, Flop, Netlist, Part, Port
from backends.rtl.area.words import Words
from backends.rtl.ir.check import Driver, drivers_of, needs, refs
from backends.rtl.ir.expr import Concat, Expr, Extend, Ref
from backends.rtl.ir.module import Instance, Module, Read, Reg, Wire


def elaborate(module: Module, fixed: Fixed = ()) -> Netlist:
    """The bits of a module.

    Args:
        module: As built.
        fixed: Bits of its inputs that are constant where it is used.
    """
    return _Elaboration(module, dict(fixed)).run()


class _Elaboration:
    def __init__(self, module: Module, fixed: dict[str, tuple[int | None, ...] | str]) -> None:
        self._module = module
        self._netlist = Netlist()
        self._signals: dict[str, Bits] = {}
        self._words = Words(self._netlist, self._signal)
        self._drivers = drivers_of(module)
        self._needed: dict[int, list[str]] = {}
        self._same: dict[object, Bits] = {}
        self._late: list[Reg | Read | Instance] = []
        self._done: set[int] = set()
        net = self._netlist.net
        for ref in module.inputs:
            known = fixed.get(ref.name, (None,) * ref.width)
            if isinstance(known, str):
                bits = self._signals[known]
            else:
                bits = [net.leaf() if bit is None else bit for bit in known]
            self._signals[ref.name] = bits
            self._netlist.inputs += bits

    def run(self) -> Netlist:
        module, words = self._module, self._words
        ends = [w.expr for w in module.outputs]
        ends += [e for w in module.writes for e in (w.addr, w.data, w.enable)]
        self._follow([ref.name for ref in refs(ends)])
        for driver in self._late:
            self._finish(driver)
        for output in module.outputs:
            self._netlist.outputs += words.bits(output.expr)
        for write in module.writes:
            inputs = [b for e in (write.addr, write.data, write.enable) for b in words.bits(e)]
            self._netlist.hard.append(Port(write.memory, inputs, []))
        return self._netlist

    def _follow(self, names: list[str]) -> None:
        """Define signals, what each needs before it as far as there is no cycle."""
        stack = [(name, False) for name in reversed(names)]
        begun: set[str] = set()
        while stack:
            name, ready = stack.pop()
            driver = self._drivers.get(name)
            if driver is None:
                continue
            if ready:
                self._define(driver)
            elif name not in begun:
                begun.add(name)
                stack.append((name, True))
                needed = [r for r in self._names(driver) if r not in begun]
                stack.extend((r, False) for r in reversed(needed))

    def _names(self, driver: Driver) -> list[str]:
        """Of the signals that it reads."""
        if id(driver) not in self._needed:
            self._needed[id(driver)] = [ref.name for ref in refs(needs(driver))]
        return self._needed[id(driver)]

    def _define(self, driver: Driver) -> None:
        if isinstance(driver, Wire):
            self._signals[driver.ref.name] = self._words.bits(driver.expr)
        elif id(driver) not in self._done:
            self._done.add(id(driver))
            if all(self._settled(name) for name in self._names(driver)):
                self._finish(driver)
            else:  # a wire that it needs is being defined from it
                self._late.append(driver)
                for ref in _made(driver):
                    self._signal(ref)

    def _settled(self, name: str) -> bool:
        return name in self._signals or not isinstance(self._drivers.get(name), Wire)

    def _signal(self, ref: Ref) -> Bits:
        """Its bits; new ones of what is not defined yet."""
        if ref.name not in self._signals:
            self._signals[ref.name] = self._netlist.net.leaves(ref.width)
        return self._signals[ref.name]

    def _finish(self, driver: Reg | Read | Instance) -> None:
        if isinstance(driver, Reg):
            self._register(driver)
            return
        words, made = self._words, _made(driver)
        fresh = not any(ref.name in self._signals for ref in made)
        if isinstance(driver, Read):
            inputs = [b for e in (driver.addr, driver.enable) if e for b in words.bits(e)]
            key: tuple[object, ...] = (id(driver.memory), driver.clocked, *inputs)
        else:
            given = dict(driver.inputs)
            ports = {ref.name: words.bits(given[ref.name]) for ref in driver.module.inputs}
            inputs = [bit for bits in ports.values() for bit in bits]
            key = (id(driver.module), *inputs)
        if fresh and key in self._same:
            self._alias(made, self._same[key])
            return
        outputs = self._same[key] = [bit for ref in made for bit in self._signal(ref)]
        if isinstance(driver, Read):
            port = Port(driver.memory, inputs, outputs, driver.clocked)
            self._netlist.hard.append(port)
        else:
            fixed = tuple(_known(ports, given))
            self._netlist.hard.append(Part(driver.module, inputs, outputs, fixed))

    def _alias(self, made: list[Ref], bits: Bits) -> None:
        for ref in made:
            self._signals[ref.name], bits = bits[: ref.width], bits[ref.width :]

    def _register(self, reg: Reg) -> None:
        words, net = self._words, self._netlist.net
        next_bits = words.bits(reg.next)
        enable = TRUE if reg.enable is None else words.bit(reg.enable)
        known = self._signals.get(reg.ref.name)
        bits: Bits = []
        for n, value in enumerate(next_bits):
            reset = None if reg.reset is None else reg.reset >> n & 1
            if known is not None:
                flop = Flop(*self._held(value, enable, known[n]), known[n])
            elif value <= TRUE and reset in (None, value):
                bits.append(value)
                continue
            elif (key := ("flop", value, enable, reset)) in self._same:
                bits += self._same[key]
                continue
            else:
                flop = Flop(value, enable, net.leaf())
                self._same[key] = [flop.out]
            bits.append(flop.out)
            self._netlist.hard.append(flop)
        self._signals[reg.ref.name] = bits

    def _held(self, value: int, enable: int, own: int) -> tuple[int, int]:
        """What a bit takes, and when, without a multiplexer that keeps it."""
        net = self._netlist.net
        if not value & 1 and net.gates[value >> 1] is Gate.MUX:
            select, then, other = net.inputs[value >> 1]
            if other == own:
                return then, net.both(enable, select)
            if then == own:
                return other, net.both(enable, select ^ 1)
        return value, enable


def _made(driver: Driver) -> list[Ref]:
    if isinstance(driver, Instance):
        return [ref for _, ref in driver.outputs]
    return [driver.ref]


def _known(
    ports: dict[str, Bits], given: dict[str, Expr]
) -> Iterator[tuple[str, tuple[int | None, ...] | str]]:
    """What is known of an instance's inputs, as synthesis sees it: not that two choices agree in
    some of their bits.
    """
    first: dict[tuple[int, ...], str] = {}
    for port, bits in ports.items():
        if (same := first.setdefault(tuple(bits), port)) != port:
            yield port, same
        elif max(bits) <= TRUE or (min(bits) <= TRUE and isinstance(given[port], Extend | Concat)):
            yield port, tuple(bit if bit <= TRUE else None for bit in bits)
