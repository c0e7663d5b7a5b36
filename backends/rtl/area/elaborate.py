"""From a module to its bits.

What synthesis finds by itself is found here: registers that hold the same, or a constant, are one;
so are equal instances; an instance with constant inputs has its own, smaller, logic; a register that
keeps its value by a multiplexer has an enable, one that takes a constant by a multiplexer a reset.
What is instantiated once is a part of what is around it, so that tables may take in bits of both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from backends.rtl.area.joins import joined_words
from backends.rtl.area.net import FALSE, TRUE, Gate, Net
from backends.rtl.area.netlist import Bits, Fixed, Flop, Netlist, Part, Port
from backends.rtl.area.words import Words
from backends.rtl.ir.check import Driver, drivers_of, needs, refs
from backends.rtl.ir.expr import Expr
from backends.rtl.ir.module import Instance, Module, Read, Reg, Wire
from backends.rtl.ir.nodes import Concat, Extend, Lit, Mux, Ref


def elaborate(module: Module, fixed: Fixed = ()) -> Netlist:
    """The bits of a module.

    Args:
        module: As built.
        fixed: Bits of its inputs that are constant where it is used.
    """
    netlist = Netlist()
    given: dict[str, Bits] = {}
    known = dict(fixed)
    for ref in module.inputs:
        bits = known.get(ref.name, (None,) * ref.width)
        if isinstance(bits, str):
            given[ref.name] = given[bits]
        else:
            given[ref.name] = [netlist.net.leaf() if bit is None else bit for bit in bits]
        netlist.inputs += given[ref.name]
    made = _Elaboration(module, netlist, given, _Shared(netlist.net)).run()
    netlist.outputs += [bit for output in module.outputs for bit in made[output.ref.name]]
    return netlist


@dataclass(slots=True)
class _Shared:
    """What a module shares with those that it instantiates once: the bits of equal parts, and ``rst``."""

    net: Net
    same: dict[object, Bits] = field(default_factory=dict)
    reset: int | None = None

    @property
    def rst(self) -> int:
        """The bit of the reset, where it is logic's business."""
        if self.reset is None:
            self.reset = self.net.leaf()
        return self.reset


class _Elaboration:
    def __init__(
        self, module: Module, netlist: Netlist, given: dict[str, Bits], shared: _Shared
    ) -> None:
        self._module = module
        self._netlist = netlist
        self._shared, self._same = shared, shared.same
        self._signals = dict(given)
        self._words = Words(netlist, self._signal, joined_words(module))
        self._drivers = drivers_of(module)
        self._instances = Counter(id(i.module) for i in module.instances)
        self._needed: dict[int, list[str]] = {}
        self._late: list[Reg | Read | Instance] = []
        self._done: set[int] = set()

    def run(self) -> dict[str, Bits]:
        """The bits of the outputs."""
        module, words = self._module, self._words
        ends = [w.expr for w in module.outputs]
        ends += [e for w in module.writes for e in (w.addr, w.data, w.enable)]
        self._follow([ref.name for ref in refs(ends)])
        for driver in self._late:
            self._finish(driver)
        for write in module.writes:
            inputs = [b for e in (write.addr, write.data, write.enable) for b in words.bits(e)]
            self._netlist.hard.append(Port(write.memory, inputs, []))
        return {output.ref.name: words.bits(output.expr) for output in module.outputs}

    def _follow(self, names: list[str]) -> None:
        """Define signals, what each needs before it as far as there is no cycle."""
        stack = [(name, False) for name in reversed(names)]
        begun: set[int] = set()
        while stack:
            name, ready = stack.pop()
            driver = self._drivers.get(name)
            if driver is None:
                continue
            if ready:
                self._define(driver)
            elif id(driver) not in begun:
                begun.add(id(driver))
                stack.append((name, True))
                stack.extend((r, False) for r in reversed(self._names(driver)))

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
            else:  # what it needs is being defined from it
                self._late.append(driver)
                for ref in _made(driver):
                    self._signal(ref)

    def _settled(self, name: str) -> bool:
        driver = self._drivers.get(name)
        later = isinstance(driver, Wire) or (isinstance(driver, Instance) and self._alone(driver))
        return name in self._signals or not later

    def _alone(self, instance: Instance) -> bool:
        """The only one of its module: its logic is here."""
        return self._instances[id(instance.module)] == 1

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
            if fresh and self._alone(driver) and not any(_agree(ports, given)):
                inside = _Elaboration(driver.module, self._netlist, ports, self._shared).run()
                self._signals.update((ref.name, inside[port]) for port, ref in driver.outputs)
                return
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
        expr, constant, cleared = self._cleared(reg)
        next_bits = words.bits(expr)
        enable = TRUE if reg.enable is None else words.bit(reg.enable)
        known = self._signals.get(reg.ref.name)
        bits: Bits = []
        for n, value in enumerate(next_bits):
            reset = None if constant is None else constant >> n & 1
            if known is not None:
                flop = Flop(*self._held(value, enable, known[n]), known[n], cleared)
            elif value <= TRUE and reset in (None, value):
                bits.append(value)
                continue
            elif (key := ("flop", value, enable, reset, cleared)) in self._same:
                bits += self._same[key]
                continue
            else:
                flop = Flop(value, enable, net.leaf(), cleared)
                self._same[key] = [flop.out]
            bits.append(flop.out)
            self._netlist.hard.append(flop)
        self._signals[reg.ref.name] = bits

    def _cleared(self, reg: Reg) -> tuple[Expr, int | None, int]:
        """What a register takes, the constant that it takes in its place, and the bit that says so.

        The reset proper is a wire to the register; only what else sets it to the same is logic.
        """
        words, net = self._words, self._netlist.net
        expr, constant = reg.next, reg.reset
        when: Bits = []
        while isinstance(expr, Mux) and (reg.reset is None or reg.enable is None):
            if isinstance(expr.then, Lit) and constant in (None, expr.then.value):
                when.append(words.bit(expr.cond))
                constant, expr = expr.then.value, expr.other
            elif isinstance(expr.other, Lit) and constant in (None, expr.other.value):
                when.append(words.bit(expr.cond) ^ 1)
                constant, expr = expr.other.value, expr.then
            else:
                break
        if not when:
            return expr, constant, FALSE
        if reg.reset is not None:
            when.append(self._shared.rst)
        cleared = net.any_of(when)
        return (
            expr,
            constant,
            cleared if reg.enable is None else net.both(cleared, words.bit(reg.enable)),
        )

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


def _agree(ports: dict[str, Bits], given: dict[str, Expr]) -> Iterator[bool]:
    """Of each input of an instance, whether choices agree in some of its bits, which synthesis does not
    see where it chooses what a product is made of.
    """
    for port, bits in ports.items():
        yield min(bits) <= TRUE and not _told(bits, given[port])


def _told(bits: Bits, expr: Expr) -> bool:
    """Whether synthesis knows which bits of a word are constant: all of them, or as the word is written."""
    return max(bits) <= TRUE or isinstance(expr, Extend | Concat)


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
        elif min(bits) <= TRUE and _told(bits, given[port]):
            yield port, tuple(bit if bit <= TRUE else None for bit in bits)
