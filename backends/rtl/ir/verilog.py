"""The only place that writes Verilog: modules as Verilog-2005.

Every expression of the language has one width, so Verilog's rules of extending operands to their
context never come into play. Its rules of signs are kept out by wrapping what is signed into a
concatenation, whose parts stand alone and which is unsigned.

What is read partly or not at all is gathered in one wire named ``unused_bits``, which the linters
know by its name and synthesis drops.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from backends.rtl.ir.expr import ArithOp, CompareOp, Expr, ShiftOp
from backends.rtl.ir.module import Memory, Module, Read, Reg, Style, Write
from backends.rtl.ir.names import Names
from backends.rtl.ir.nodes import (
    Binary,
    Compare,
    Concat,
    Extend,
    Lit,
    Mux,
    Not,
    Reduce,
    Ref,
    Shift,
    Slice,
    children,
    topological,
)

LONGEST_TEXT = 400  # of an expression before a part of it gets a wire


def modules(top: Module) -> list[Module]:
    """``top`` and what it instantiates, each once, what is used before what uses it."""
    order: list[Module] = []
    seen: set[int] = set()

    def visit(module: Module) -> None:
        if id(module) not in seen:
            seen.add(id(module))
            for i in module.instances:
                visit(i.module)
            order.append(module)

    visit(top)
    return order


def to_verilog(top: Module) -> str:
    """The text of a module and of all that it instantiates, each once, ``top`` last.

    ``top`` keeps its name; others of the same name get a number.
    """
    order = modules(top)
    names = Names()
    called = {id(m): names.take(m.name) for m in (top, *order[:-1])}
    return "\n".join(_Printer(m, called).text() for m in order)


def _range(width: int) -> str:
    return f"[{width - 1}:0] " if width > 1 else ""


def _literal(value: int, width: int) -> str:
    return f"{width}'d{value}" if width <= 16 else f"{width}'h{value:x}"


class _Printer:
    """One module. Lines are made in an order in which every name is declared before it is used."""

    def __init__(self, module: Module, called: dict[int, str]) -> None:
        self.module = module
        self.called = called
        self.lines: list[str] = []
        self.names = Names()
        for name in self._taken():
            self.names.take(name)
        self.texts: dict[int, str] = {}
        everything = topological(tuple(module.roots()))
        uses = Counter(id(c) for e in everything for c in children(e))
        uses.update(id(e) for e in module.roots())
        self.shared = {i for i, n in uses.items() if n > 1}
        self.used_bits: dict[str, int] = {}
        self.everything = everything
        self.extra: list[Ref] = []

    def _taken(self) -> Iterator[str]:
        m = self.module
        yield from (r.name for r in m.inputs)
        yield from (w.ref.name for w in (*m.outputs, *m.wires))
        yield from (r.ref.name for r in m.regs)
        yield from (r.ref.name for r in m.reads)
        yield from (x.name for x in m.memories)
        for i in m.instances:
            yield i.name
            yield from (ref.name for _, ref in i.outputs)

    # ------------------------------------------------------------------------------ expressions

    def show(self, root: Expr) -> str:
        """The text of an expression, after the wires that it needs."""
        stack: list[tuple[Expr, bool]] = [(root, False)]
        while stack:
            e, done = stack.pop()
            if id(e) in self.texts:
                continue
            if not done:
                stack.append((e, True))
                stack.extend((c, False) for c in reversed(children(e)))
                continue
            text = self._node(e)
            plain = isinstance(e, Ref | Lit) or (
                isinstance(e, Slice | Not) and isinstance(e.arg, Ref)
            )
            if not plain and (id(e) in self.shared or len(text) > LONGEST_TEXT):
                text = self._name(text, e.width)
            self.texts[id(e)] = text
        return self.texts[id(root)]

    def _name(self, text: str, width: int) -> str:
        ref = Ref(self.names.take("x"), width)
        self.extra.append(ref)
        self.lines.append(f"  wire {_range(width)}{ref.name} = {_bare(text)};")
        return ref.name

    def _signal(self, e: Expr) -> str:
        """A name that bits can be selected from."""
        text = self.texts[id(e)]
        if not text.isidentifier():
            text = self.texts[id(e)] = self._name(text, e.width)
        return text

    def _node(self, e: Expr) -> str:
        t = self.texts
        match e:
            case Ref():
                return e.name
            case Lit():
                return _literal(e.value, e.width)
            case Slice():
                name = self._signal(e.arg)
                return f"{name}[{e.hi}]" if e.hi == e.lo else f"{name}[{e.hi}:{e.lo}]"
            case Concat():
                return "{" + ", ".join(_bare(t[id(p)]) for p in e.parts) + "}"
            case Extend():
                return self._extend(e)
            case Not():
                return f"~{t[id(e.arg)]}"
            case Binary(op=ArithOp.MUL) if _signed(e.lhs) or _signed(e.rhs):
                # Signed operators let synthesis see the narrow operands behind the extensions.
                return f"{{$signed({_bare(t[id(e.lhs)])}) * $signed({_bare(t[id(e.rhs)])})}}"
            case Binary():
                return f"({t[id(e.lhs)]} {e.op.value} {t[id(e.rhs)]})"
            case Compare():
                a, b = t[id(e.lhs)], t[id(e.rhs)]
                if e.signed and e.op in (CompareOp.LT, CompareOp.LE):
                    a, b = f"$signed({_bare(a)})", f"$signed({_bare(b)})"
                return f"({a} {e.op.value} {b})"
            case Shift(op=ShiftOp.SAR):
                return f"{{$signed({_bare(t[id(e.arg)])}) >>> {t[id(e.amount)]}}}"
            case Shift():
                return f"({t[id(e.arg)]} {e.op.value} {t[id(e.amount)]})"
            case Reduce():
                return f"({'&' if e.every else '|'}{t[id(e.arg)]})"
            case Mux():
                return f"({t[id(e.cond)]} ? {t[id(e.then)]} : {t[id(e.other)]})"
            case _:
                raise TypeError(f"{type(e).__name__} is no expression")

    def _extend(self, e: Extend) -> str:
        more = e.width - e.arg.width
        if not e.signed:
            return f"{{{_literal(0, more)}, {_bare(self.texts[id(e.arg)])}}}"
        if e.arg.width == 1:
            return f"{{{e.width}{{{_bare(self.texts[id(e.arg)])}}}}}"
        name = self._signal(e.arg)
        top = f"{name}[{e.arg.width - 1}]"
        return f"{{{{{more}{{{top}}}}}, {name}}}"

    # ------------------------------------------------------------------------------------ parts

    def text(self) -> str:
        """The whole module."""
        m = self.module
        ports = [f"input wire {p}" for p, has in (("clk", m.clocked), ("rst", m.resets)) if has]
        ports += [f"input wire {_range(r.width)}{r.name}" for r in m.inputs]
        ports += [f"output wire {_range(w.ref.width)}{w.ref.name}" for w in m.outputs]
        for r in m.regs:
            self.lines.append(f"  reg {_range(r.ref.width)}{r.ref.name};")
        for memory in m.memories:
            self._memory(memory)
        for read in m.reads:
            kind = "reg" if read.clocked else "wire"
            self.lines.append(f"  {kind} {_range(read.ref.width)}{read.ref.name};")
        for i in m.instances:
            for _, ref in i.outputs:
                self.lines.append(f"  wire {_range(ref.width)}{ref.name};")
        for w in m.wires:
            text = _bare(self.show(w.expr))
            self.lines.append(f"  wire {_range(w.ref.width)}{w.ref.name} = {text};")
        for read in m.reads:
            if not read.clocked:
                addr = _bare(self.show(read.addr))
                self.lines.append(f"  assign {read.ref.name} = {read.memory.name}[{addr}];")
        self._instances()
        self._clocked()
        for w in m.outputs:
            text = _bare(self.show(w.expr))
            self.lines.append(f"  assign {w.ref.name} = {text};")
        self._idle()
        head = f"module {self.called[id(m)]} (\n  " + ",\n  ".join(ports) + "\n);\n"
        return head + "\n".join(self.lines) + "\nendmodule\n"

    def _memory(self, memory: Memory) -> None:
        # Without no_rw_check, synthesis adds logic for a read of what is just being written.
        attributes = f'(* ram_style = "{memory.style.value}", no_rw_check *)'
        if not any(w.memory is memory for w in self.module.writes):
            # A table of constants outside of block memory is plain logic.
            attributes = '(* rom_style = "block" *)' if memory.style is Style.BLOCK else ""
        shape = f"{_range(memory.width)}{memory.name} [0:{memory.depth - 1}]"
        self.lines.append(f"  {attributes} reg {shape};".replace("   reg", "  reg"))
        if memory.init:
            self.lines.append("  initial begin")
            for at, value in enumerate(memory.init):
                word = _literal(value, memory.width)
                self.lines.append(f"    {memory.name}[{at}] = {word};")
            self.lines.append("  end")

    def _instances(self) -> None:
        for i in self.module.instances:
            pins = [
                f".{p}({p})"
                for p, has in (("clk", i.module.clocked), ("rst", i.module.resets))
                if has
            ]
            pins += [f".{port}({_bare(self.show(e))})" for port, e in i.inputs]
            pins += [f".{port}({ref.name})" for port, ref in i.outputs]
            self.lines.append(
                f"  {self.called[id(i.module)]} {i.name} (\n    " + ",\n    ".join(pins) + "\n  );"
            )

    def _clocked(self) -> None:
        body = [line for r in self.module.regs for line in self._reg(r)]
        if body:
            self.lines += ["  always @(posedge clk) begin", *body, "  end"]
        for memory in self.module.memories:
            body = [
                *(self._write(w) for w in self.module.writes if w.memory is memory),
                *(self._read(r) for r in self.module.reads if r.memory is memory and r.clocked),
            ]
            if body:
                self.lines += ["  always @(posedge clk) begin", *body, "  end"]

    def _reg(self, r: Reg) -> Iterator[str]:
        step = f"{r.ref.name} <= {_bare(self.show(r.next))};"
        if r.enable is not None:
            step = f"if ({_bare(self.show(r.enable))}) {step}"
        if r.reset is None:
            yield f"    {step}"
        else:
            yield f"    if (rst) {r.ref.name} <= {_literal(r.reset, r.ref.width)};"
            yield f"    else {step}"

    def _write(self, w: Write) -> str:
        enable, addr, data = (_bare(self.show(e)) for e in (w.enable, w.addr, w.data))
        return f"    if ({enable}) {w.memory.name}[{addr}] <= {data};"

    def _read(self, r: Read) -> str:
        step = f"{r.ref.name} <= {r.memory.name}[{_bare(self.show(r.addr))}];"
        return (
            f"    if ({_bare(self.show(r.enable))}) {step}"
            if r.enable is not None
            else f"    {step}"
        )

    # ------------------------------------------------------------------------------ unused bits

    def _idle(self) -> None:
        parts: list[str] = []
        for ref, used in self._usage():
            bit = 0
            while bit < ref.width:
                end = bit
                while end < ref.width and (used >> end & 1) == (used >> bit & 1):
                    end += 1
                if not used >> bit & 1:
                    whole = bit == 0 and end == ref.width
                    parts.append(ref.name if whole else f"{ref.name}[{end - 1}:{bit}]")
                bit = end
        if parts:
            self.lines.append(f"  wire unused_bits = &{{1'b0, {', '.join(parts)}}};")

    def _usage(self) -> Iterator[tuple[Ref, int]]:
        """Each signal, with the bits of it that something reads."""
        partly: dict[str, int] = {}

        def note(e: Expr, bits: int) -> None:
            name = e.name if isinstance(e, Ref) else self.texts.get(id(e), "")
            partly[name] = partly.get(name, 0) | bits

        for e in self.everything:
            if isinstance(e, Slice):
                note(e.arg, ((1 << e.width) - 1) << e.lo)
            else:
                for c in children(e):
                    note(c, (1 << c.width) - 1)
        for root in self.module.roots():
            note(root, (1 << root.width) - 1)
        m = self.module
        signals = [*m.inputs, *(w.ref for w in m.wires), *(r.ref for r in m.regs)]
        signals += [r.ref for r in m.reads]
        signals += [ref for i in m.instances for _, ref in i.outputs]
        for ref in (*signals, *self.extra):
            yield ref, partly.get(ref.name, 0)


def _signed(e: Expr) -> bool:
    return isinstance(e, Extend) and e.signed


def _bare(text: str) -> str:
    """Without parentheses around the whole."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for at, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return text[1:-1] if at == len(text) - 1 else text
    return text
