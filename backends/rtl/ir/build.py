"""Making a module signal by signal, with names that are legal and unique."""

from __future__ import annotations

from collections.abc import Mapping

from backends.rtl.ir.check import NetlistError, finish
from backends.rtl.ir.expr import Expr
from backends.rtl.ir.fold import lit
from backends.rtl.ir.module import Instance, Memory, Module, Read, Reg, Style, Wire, Write
from backends.rtl.ir.names import Names
from backends.rtl.ir.nodes import Lit, Ref


class ModuleBuilder:
    """Collects the parts of one module; `build` checks them and leaves out what no output needs.

    Names are wishes: the `Ref` that comes back has the legal and unique one. Inputs and outputs
    should be declared first, so that they get the names they ask for.
    """

    def __init__(self, name: str) -> None:
        self.name = Names().take(name)
        self._names = Names()
        self._known: dict[str, Ref] = {}
        self._inputs: list[Ref] = []
        self._outputs: dict[str, Wire] = {}
        self._wires: dict[str, Wire] = {}
        self._regs: dict[str, Reg] = {}
        self._open: dict[str, tuple[Ref, int | None, bool]] = {}
        self._memories: dict[str, Memory] = {}
        self._reads: list[Read] = []
        self._writes: list[Write] = []
        self._instances: list[Instance] = []

    def _ref(self, name: str, width: int) -> Ref:
        ref = Ref(self._names.take(name), width)
        self._known[ref.name] = ref
        return ref

    def input(self, name: str, width: int = 1) -> Ref:
        """An input port."""
        ref = self._ref(name, width)
        self._inputs.append(ref)
        return ref

    def output(self, name: str, expr: Expr) -> str:
        """An output port driven by ``expr``; the name it got."""
        port = Ref(self._names.take(name), expr.width)
        self._outputs[port.name] = Wire(port, expr)
        return port.name

    def wire(self, name: str, expr: Expr) -> Ref:
        """A named expression."""
        ref = self._ref(name, expr.width)
        self._wires[ref.name] = Wire(ref, expr)
        return ref

    def declare(self, name: str, width: int = 1) -> Ref:
        """A wire whose expression comes later, by `drive`."""
        ref = self._ref(name, width)
        self._open[ref.name] = (ref, None, False)
        return ref

    def reg(
        self,
        name: str,
        width: int,
        *,
        next: Expr | None = None,
        enable: Expr | None = None,
        reset: int | None = None,
    ) -> Ref:
        """A register; without ``next`` it is only declared, and `drive` gives it one."""
        ref = self._ref(name, width)
        self._open[ref.name] = (ref, reset, True)
        if next is not None:
            self.drive(ref, next, enable)
        return ref

    def drive(self, ref: Ref, expr: Expr, enable: Expr | None = None) -> None:
        """What a declared wire is, or what a declared register takes next.

        Raises:
            NetlistError: It is not declared here, or driven already, or of another width.
        """
        known, reset, clocked = self._open.pop(ref.name, (None, None, False))
        if known is not ref:
            raise NetlistError(f"{ref.name} is not declared in {self.name}, or driven twice")
        if expr.width != ref.width:
            raise NetlistError(f"{ref.name} has {ref.width} bits, what drives it {expr.width}")
        if clocked:
            held = isinstance(enable, Lit) and enable.value == 1
            self._regs[ref.name] = Reg(ref, expr, None if held else enable, reset)
        elif enable is not None:
            raise NetlistError(f"{ref.name} is a wire: it takes no enable")
        else:
            self._wires[ref.name] = Wire(ref, expr)

    def delay(self, name: str, expr: Expr, cycles: int, enable: Expr | None = None) -> Expr:
        """``expr`` of so many cycles ago, through registers without reset."""
        for _ in range(cycles):
            expr = self.reg(name, expr.width, next=expr, enable=enable)
        return expr

    def memory(
        self,
        name: str,
        width: int,
        depth: int,
        style: Style | str = Style.BLOCK,
        init: tuple[int, ...] = (),
    ) -> Memory:
        """A memory of ``depth`` words; ``init`` are its first words at power-up."""
        memory = Memory(self._names.take(name), width, depth, Style(style), init)
        self._memories[memory.name] = memory
        return memory

    def _address(self, memory: Memory, addr: Expr) -> Expr:
        if self._memories.get(memory.name) is not memory:
            raise NetlistError(f"{memory.name} is no memory of {self.name}")
        if addr.width != memory.addr_width:
            raise NetlistError(
                f"{memory.name} has addresses of {memory.addr_width} bits, not {addr.width}"
            )
        return addr

    def read(self, memory: Memory, addr: Expr, enable: Expr | None = None) -> Ref:
        """A clocked read: the word comes one cycle after its address."""
        ref = self._ref(f"{memory.name}_q", memory.width)
        self._reads.append(Read(ref, memory, self._address(memory, addr), enable))
        return ref

    def peek(self, memory: Memory, addr: Expr) -> Ref:
        """A read at once: only of distributed memories, registers and small ROMs."""
        if memory.style is Style.BLOCK:
            raise NetlistError(f"{memory.name} is block memory, whose reads are clocked")
        ref = self._ref(f"{memory.name}_q", memory.width)
        read = Read(ref, memory, self._address(memory, addr), clocked=False)
        self._reads.append(read)
        return ref

    def write(self, memory: Memory, addr: Expr, data: Expr, enable: Expr | None = None) -> None:
        """A write at the clock edge; one for each memory."""
        if any(w.memory is memory for w in self._writes):
            raise NetlistError(f"{memory.name} has one write port")
        enable = lit(1, 1) if enable is None else enable
        self._writes.append(Write(memory, self._address(memory, addr), data, enable))

    def instance(self, module: Module, name: str, inputs: Mapping[str, Expr]) -> dict[str, Ref]:
        """``module`` used here; a `Ref` for each of its outputs."""
        wanted = {ref.name: ref.width for ref in module.inputs}
        given = {port: e.width for port, e in inputs.items()}
        if wanted != given:
            raise NetlistError(f"{module.name} has inputs {wanted}, not {given}")
        own = self._names.take(name)
        outputs = {
            w.ref.name: self._ref(f"{own}_{w.ref.name}", w.ref.width) for w in module.outputs
        }
        self._instances.append(Instance(own, module, tuple(inputs.items()), tuple(outputs.items())))
        return outputs

    def build(self) -> Module:
        """The module.

        Raises:
            NetlistError: Something is declared but not driven, or used but not declared here, or
                a signal follows itself within a cycle.
        """
        if self._open:
            raise NetlistError(f"{', '.join(self._open)} of {self.name}: declared, never driven")
        return finish(
            Module(
                self.name,
                tuple(self._inputs),
                tuple(self._outputs.values()),
                tuple(self._wires.values()),
                tuple(self._regs.values()),
                tuple(self._memories.values()),
                tuple(self._reads),
                tuple(self._writes),
                tuple(self._instances),
            ),
            self._known,
        )
