"""Statements, loops and conditions as lines of C++.

A value is inlined where it is used once, in its own block. It is computed there and no earlier, so
that what it loads must not be stored to in between: then it gets a variable of its own before the
store. So do values that are used several times or in another block.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from dsl.expressions.types import FixedType, IndexType, IntType
from dsl.programs.names import unused
from mlir_passes.dialect.attributes import StmtInfo
from mlir_passes.emit.cpp import Cpp, conjunction, extents, name, without_parentheses
from mlir_passes.emit.exits import header_tests
from mlir_passes.emit.lines import (
    INDENT,
    assignment,
    comment,
    if_header,
    loop_header,
    statement,
)
from mlir_passes.emit.logic import type_name
from mlir_passes.emit.names import Names, spelled
from mlir_passes.emit.nodes import (
    Block,
    Carried,
    Declare,
    If,
    Kernel,
    Loop,
    Memory,
    Store,
    Value,
    Word,
)
from mlir_passes.emit.number import Bool, CType, Exact, of_type
from mlir_passes.emit.pragmas import (
    bind_op_pragma,
    function_pragmas,
    loop_pragmas,
    memory_pragmas,
)
from mlir_passes.emit.real import Real
from mlir_passes.emit.types import Needs
from mlir_passes.emit.values import Number, Values, variable_type

_WORD = re.compile(r"\w+")
CHEAP = frozenset({"arith.constant", "index", "argument", "variable"})
"""Values that are written where they are used: no operation makes them."""

_COMPOUND = frozenset({"+", "-", "*", "/"})


_PER_LINE = 12
"""Words of a table."""


@dataclass(slots=True)
class Open:
    """A value whose expression is still to be placed, and what it loads."""

    value: Value
    reads: frozenset[Memory]
    uses_left: int


@dataclass(slots=True)
class Printer:
    """Prints one function. ``lines`` grows; ``needs`` collects headers."""

    names: Names
    needs: Needs = field(default_factory=Needs)
    lines: list[str] = field(default_factory=list)
    values: Values = field(init=False)
    labels: set[str] = field(default_factory=set)
    variables: dict[str, str] = field(default_factory=dict)
    said: set[str] = field(default_factory=set)
    indent: int = INDENT

    def __post_init__(self) -> None:
        self.values = Values(self.needs, before=self._bound)

    def function(self, kernel: Kernel) -> None:
        """The body of the function."""
        for memory in kernel.arguments:
            self._know(memory)
        self.lines += function_pragmas(kernel)
        start = len(self.lines)
        self._block(kernel.body)
        words = set(_WORD.findall("\n".join(self.lines[start:])))
        self.lines[start:start] = self.unused(kernel, words)

    def unused(self, kernel: Kernel, words: set[str]) -> list[str]:
        """Lines for what the function takes, and none of its words is."""
        every = (name for m in kernel.arguments for name in m.names)
        return [f"{' ' * self.indent}(void){name};" for name in every if name not in words]

    def process(self, body: Block, around: Iterable[Memory]) -> None:
        """The body of one process; ``around`` is the memory that it gets from outside."""
        for memory in around:
            self._know(memory)
        self._block(body)

    def _know(self, memory: Memory) -> None:
        self.variables[memory.info.name] = memory.name

    def _line(self, text: str) -> None:
        self.lines.append(" " * self.indent + text)

    # -------------------------------------------------------------------------------- blocks

    def _block(self, block: Block) -> None:
        open_values: dict[Value, Open] = {}
        start = len(self.lines)
        for node in block.nodes:
            match node:
                case Value():
                    self._value(node, open_values)
                case Declare(memory):
                    self._declare(memory)
                    start = len(self.lines)
                case Store():
                    self._store(node, open_values, start)
                    start = len(self.lines)
                case Loop():
                    self._settle(open_values, node.body.stores)
                    self._loop(node)
                    start = len(self.lines)
                case If():
                    stores = node.then.stores | (node.orelse.stores if node.orelse else set())
                    self._settle(open_values, stores)
                    self._if(node)
                    start = len(self.lines)

    def _value(self, value: Value, open_values: dict[Value, Open]) -> None:
        if value.op == "extreme":
            var, text = value.data
            self.lines.append(statement(f"const int {var} =", text, self.indent))
            return
        if value.op in CHEAP or not value.uses:
            return
        reads: set[Memory] = {value.memory} if value.memory is not None else set()
        for operand in value.operands:
            reads |= self._absorb(operand, open_values)
        is_scalar = value.op == "load" and not value.subscripts
        if value.crosses or (value.uses > 1 and not is_scalar):
            self._name(value)
        else:
            open_values[value] = Open(value, frozenset(reads), value.uses)

    def _absorb(self, value: Value, open_values: dict[Value, Open]) -> frozenset[Memory]:
        """A use of an open value: what it loads is loaded where its user stands."""
        entry = open_values.get(value)
        if entry is None:
            return frozenset()
        entry.uses_left -= 1
        if not entry.uses_left:
            del open_values[value]
        return entry.reads

    def _settle(self, open_values: dict[Value, Open], stores: set[Memory]) -> None:
        """Give variables to the values that load what is about to be stored to."""
        for value in [v for v, entry in open_values.items() if entry.reads & stores]:
            del open_values[value]
            self._name(value)

    def _name(self, value: Value) -> None:
        number = self.values.number(value)
        if value not in self.values.named:  # a bound operator has its variable by now
            self.values.named[value] = self._variable(value, number, "const ")

    def _variable(self, value: Value, number: Number, qualifier: str) -> Number:
        """Declare a variable of the number's type; the number as its name."""
        variable = self._variable_name(value)
        if isinstance(number, Real):
            dtype = self.values.type_of(number)
            cpp = number.bare or number.cpp
            self.lines.append(statement(f"{qualifier}{dtype} {variable} =", cpp, self.indent))
            return Real(name(variable), number.type)
        static, result = self._declared(number, value.width)
        if isinstance(static, IntType) and not number.scale:
            cpp = self.values.ops.assigned(number, static)
        else:  # the type of the expression itself: an assignment of the value, whatever the scale
            bare = number.bare if number.type == static else None
            cpp = bare or self.values.ops.code(number)[0]
        text = f"{qualifier}{type_name(self.values.ops, static)} {variable} ="
        self.lines.append(statement(text, cpp, self.indent))
        return replace(result, cpp=name(variable), bare=None, is_result=False)

    def _variable_name(self, value: Value) -> str:
        """After the array that is read, else a number."""
        if value.op in ("load", "gather") and value.memory is not None:
            return self.names.fresh(f"{spelled(value.memory.info.name or 'x').rstrip('_')}_v")
        return self.names.numbered("t")

    def _declared(self, x: Exact, width: int) -> tuple[CType, Exact]:
        """The type for a variable of this value, and what is known of the variable."""
        _, static = self.values.ops.code(x)
        if isinstance(static, IndexType | Bool) or x.const is not None:
            return static, replace(x, type=static)
        if isinstance(static, FixedType) or x.scale:
            plain = FixedType(static.width, getattr(static, "integer", static.width), static.signed)
            return plain, replace(x, type=plain)
        for candidate in (IntType(width), IntType(width, signed=False)):
            whole = of_type(name(""), candidate)
            if width < static.width and whole.low <= x.low and x.high <= whole.high:
                return candidate, replace(x, type=candidate)
        return static, replace(x, type=static)

    def _bound(self, value: Value, number: Number) -> Number:
        """An operator with an implementation of its own: the pragma names its variable."""
        result = self._variable(value, number, "")
        text = result.cpp.text if result.cpp is not None else ""
        self.lines += [bind_op_pragma(text, b) for b in value.binds]
        self.values.named[value] = result
        return result

    # ----------------------------------------------------------------------------- statements

    def _store(self, store: Store, open_values: dict[Value, Open], start: int) -> None:
        for operand in store.operands:
            self._absorb(operand, open_values)
        self._settle(open_values, {store.memory})
        number = self.values.number(store.value)
        dtype = store.memory.info.dtype
        place = store.place if store.at is None else self.values.element(store.at, True)
        assert place is not None
        compounds = _COMPOUND
        if isinstance(number, Real):
            cpp = number.bare or number.cpp
        else:
            assert isinstance(dtype, IntType | FixedType)
            cpp = self.values.ops.assigned(number, dtype)
            if isinstance(dtype, IntType):  # in whose width a compound assignment computes
                whole = number.bare is None and not isinstance(number.type, FixedType)
                compounds = compounds - {"/"} if whole else frozenset()
        op = "="
        if cpp.op in compounds and cpp.parts[0].text == place.text:
            op, cpp = f"{cpp.op}=", without_parentheses(cpp.parts[1])
        self.lines.append(assignment(place, op, cpp, self.indent))
        self._comment(store.info, start)

    def _comment(self, info: StmtInfo, start: int) -> None:
        """The statement's source above its first line, once; later copies say its name only."""
        if not info.name:
            return
        text = info.name
        if info.name not in self.said:
            self.said.add(info.name)
            where = f" ({info.line})" if info.line else ""
            text = f"{info.name}{where}: {info.source}" if info.source else f"{info.name}{where}"
        self.lines[start:start] = comment(text, self.indent)

    def _declare(self, memory: Memory) -> None:
        if not (memory.read or memory.written):
            return
        self._know(memory)
        sizes = extents(memory.info.shape)
        if memory.info.contents:
            self.lines += self._constants(memory, sizes)
        else:
            self._line(f"{self.needs.type(memory.info.dtype)} {memory.name}{sizes};")
        self.lines += memory_pragmas(memory)
        if not memory.read and not memory.is_array:
            self._line(f"(void){memory.name};")

    def _constants(self, memory: Memory, sizes: str) -> list[str]:
        """The definition of a table, which tools make a ROM of: a row a line."""
        info = memory.info
        texts = [self.values.word(word, info.dtype) for word in info.contents]
        rows = [", ".join(texts[n : n + _PER_LINE]) for n in range(0, len(texts), _PER_LINE)]
        for extent in info.shape[:0:-1]:
            texts = [
                f"{{{', '.join(texts[n : n + extent])}}}" for n in range(0, len(texts), extent)
            ]
            rows = texts
        space, inner = " " * self.indent, " " * (self.indent + INDENT)
        head = f"{space}static const {self.needs.type(info.dtype)} {memory.name}{sizes} = {{"
        return [head, *(f"{inner}{row}," for row in rows), f"{space}}};"]

    # --------------------------------------------------------------------------------- control

    def _loop(self, loop: Loop) -> None:
        for carried in loop.carried:
            assert carried.start is not None
            self._start(carried, carried.start)
        for word in loop.words:
            self._word(word)
        self.lines.append(" " * (self.indent - INDENT) + f"{self._label(loop.info.name)}:")
        step = f"++{loop.var}" if loop.step == 1 else f"{loop.var} += {loop.step}"
        declaration, test = f"{loop.type} {loop.var}", f"{loop.var} {loop.test}"
        more = header_tests(loop.info.requests.leaving, loop.var, self.variables)
        limit = conjunction((loop.upper, *more)) if more else loop.upper
        header = loop_header(declaration, loop.lower, test, limit, step, self.indent)
        self.lines.append(header)
        self.lines += loop_pragmas(loop, self.variables)
        self.within(loop)
        self._line("}")
        for word in loop.words:
            if word.written:
                self._moved(word, word.place, name(word.name))

    def within(self, loop: Loop) -> None:
        """What stands in a loop, below its pragmas."""
        self._body(loop.body, loop.carried)

    def _word(self, word: Word) -> None:
        """The variable of a word, in front of the loop over its lanes; it is read there."""
        element = self.needs.element(word.memory.info)
        if word.written or word.conditions:
            self._line(f"{element} {word.name}({self.needs.zero(word.memory.info.dtype)});")
            if not word.written:
                self._moved(word, name(word.name), word.place)
        else:
            self.lines.append(statement(f"const {element} {word.name} =", word.place, self.indent))

    def _moved(self, word: Word, target: Cpp, source: Cpp) -> None:
        """The assignment of a word to a variable, or back, where there is such a word."""
        if not word.conditions:
            self.lines.append(assignment(target, "=", source, self.indent))
            return
        self.lines.append(if_header(conjunction(word.conditions), self.indent))
        self.lines.append(assignment(target, "=", source, self.indent + INDENT))
        self._line("}")

    def _label(self, wanted: str) -> str:
        label = unused(spelled(wanted), self.labels)
        self.labels.add(label)
        return label

    def _body(self, block: Block, carried: Iterable[Carried]) -> None:
        self.indent += INDENT
        self._block(block)
        self._hand_on(block, tuple(carried))
        self.indent -= INDENT

    def _if(self, node: If) -> None:
        for carried in node.carried:
            self._line(f"{self._carried_type(carried.variable)} {carried.variable.data};")
        self.lines.append(if_header(node.condition, self.indent))
        self._body(node.then, node.carried)
        if node.orelse is not None:
            self._line("} else {")
            self._body(node.orelse, node.carried)
        self._line("}")

    def _carried_type(self, variable: Value) -> str:
        if variable.real:
            return self.values.type_of(Real(name(""), variable.real))
        return self.needs.type(variable_type(variable))

    def _start(self, carried: Carried, value: Value) -> None:
        head = f"{self._carried_type(carried.variable)} {carried.variable.data} ="
        self.lines.append(statement(head, self._handed(value), self.indent))

    def _handed(self, value: Value) -> Cpp:
        number = self.values.number(value)
        if isinstance(number, Real):
            return number.bare or number.cpp
        return self.values.ops.assigned(number, variable_type(value))

    def _hand_on(self, block: Block, carried: tuple[Carried, ...]) -> None:
        """Set the carried variables, all from their old values."""
        texts = [self._handed(v) for v in block.yields]
        if len(texts) > 1:
            fresh = [self.names.numbered("t") for _ in texts]
            for variable, text, c in zip(fresh, texts, carried, strict=True):
                head = f"const {self._carried_type(c.variable)} {variable} ="
                self.lines.append(statement(head, text, self.indent))
            texts = [name(v) for v in fresh]
        for c, text in zip(carried, texts, strict=True):
            self.lines.append(statement(f"{c.variable.data} =", text, self.indent))
