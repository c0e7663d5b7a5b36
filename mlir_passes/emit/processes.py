"""Dataflow regions as C++: a function for each process, and a top function or a loop that calls them.

The channels are arrays of the top function, or of the loop's body; a stream is an array with a pragma,
which the tool makes a FIFO of and which runs as an array anywhere else. (UG1399, "Canonical dataflow",
"Canonical forms of dataflow: loops"; pragma HLS stream.)
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass, field

from dsl.errors.errors import IRError
from mlir_passes.emit.cpp import call, extents, name
from mlir_passes.emit.layout import LIMIT, laid_out
from mlir_passes.emit.lines import INDENT
from mlir_passes.emit.nodes import Block, Declare, If, Kernel, Loop, Memory, Node, Store, Value
from mlir_passes.emit.pragmas import function_pragmas, memory_pragmas
from mlir_passes.emit.statements import CHEAP, Printer
from mlir_passes.emit.types import Needs

_WORD = re.compile(r"\w+")


def parameters(
    memory: Memory, written: bool, needs: Needs, words: Container[str] | None = None
) -> list[str]:
    """How memory is passed: scalars by value, a local one that is written by reference; arrays only read are
    const. Further pointers are parameters by themselves.

    Args:
        memory: that is passed.
        written: whether it is written.
        needs: headers.
        words: those of the function's body, of which only what is named is passed; None for all.
    """
    texts = [
        _parameter(memory, name, written and name in memory.ways(True), needs)
        for name in memory.names
    ]
    return [
        text
        for text, name in zip(texts, memory.names, strict=True)
        if words is None or name in words
    ]


def _parameter(memory: Memory, name: str, written: bool, needs: Needs) -> str:
    element = needs.element(memory.info)
    if not memory.is_array:
        reference = "&" if written and not memory.is_argument else ""
        return f"{element} {reference}{name}"
    const = "" if written else "const "
    sizes = extents(memory.info.axi.words(memory.info.shape)) or "[1]"
    return f"{const}{element} {name}{sizes}"


def signature_lines(head: str, parameters: list[str]) -> list[str]:
    """``head(a, b)``, parameters aligned where one line is too short; ``head`` ends in ``(``."""
    lines, at = [head], len(head)
    for n, text in enumerate(parameters):
        text += ")" if n == len(parameters) - 1 else ","
        room = 2 if n == len(parameters) - 1 else 0  # the brace
        if n and at + 1 + len(text) + room > LIMIT:
            lines.append(" " * len(head) + text)
            at = len(head) + len(text)
        else:
            separator = " " if n else ""
            lines[-1] += separator + text
            at += len(separator) + len(text)
    lines[-1] += "" if parameters else ")"
    return lines


@dataclass(slots=True)
class RegionPrinter(Printer):
    """Prints functions whose body, or whose loops, are dataflow regions; ``functions`` are the lines of the
    functions of their processes.
    """

    kernel: Kernel | None = None
    functions: list[str] = field(default_factory=list)
    open_loops: list[Loop] = field(default_factory=list)

    def top(self, kernel: Kernel) -> None:
        """The body of the top function."""
        self.kernel = kernel
        if not kernel.processes:
            self.function(kernel)
            return
        self.lines += function_pragmas(kernel)
        self.lines.append("#pragma HLS dataflow")
        start = len(self.lines)
        self._region(kernel.body, kernel.processes)
        words = _words(self.lines[start:])
        self.lines[start:start] = self.unused(kernel, words)

    def within(self, loop: Loop) -> None:
        """What stands in a loop: calls of its processes, where it is a region."""
        self.open_loops.append(loop)
        if loop.info.processes:
            if loop.carried:
                raise IRError(
                    "W320", f"a value is carried by the dataflow region '{loop.info.name}'"
                )
            self.indent += INDENT
            self._region(loop.body, loop.info.processes)
            self.indent -= INDENT
        else:
            Printer.within(self, loop)
        self.open_loops.pop()

    def _region(self, body: Block, processes: Sequence[Sequence[str]]) -> None:
        """Declarations of what goes between processes, and a call of each."""
        parts = _parts(body, processes)
        used = [_memories(part) for part in parts]
        declared = [node.memory for node in body.nodes if isinstance(node, Declare)]
        shared = [m for m in declared if sum(m in u for u in used) > 1]
        calls: list[str] = []
        for part, own in zip(parts, used, strict=True):
            _check_values(part)
            inside = [m for m in declared if m in own and m not in shared]
            outside = [m for m in shared if m in own]
            known = {n.memory for n, _ in Block(part).walk() if isinstance(n, Declare)}
            known |= set(declared)
            outside += [m for m in own if not m.is_argument and m not in known]
            calls.append(self._process(Block([*map(Declare, inside), *part]), outside))
        for memory in shared:
            sizes = extents(memory.info.shape)
            self._line(f"{self.needs.type(memory.info.dtype)} {memory.name}{sizes};")
            self.lines += memory_pragmas(memory)
        self.lines += calls

    def _process(self, body: Block, outside: Sequence[Memory]) -> str:
        """The function of a process; returns the call of it."""
        assert self.kernel is not None, "the top function is printed first"
        names = self.kernel.names
        around = [*self.kernel.arguments, *outside]
        # Its loops may be regions themselves: the functions of their processes come in front of its own.
        process = RegionPrinter(
            names,
            self.needs,
            said=self.said,
            kernel=self.kernel,
            functions=self.functions,
            open_loops=[*self.open_loops],
        )
        process.process(body, around)
        words = _words(process.lines)
        written = _written(body.nodes)
        passed = [name for m in around for name in m.names if name in words]
        loops = [loop for loop in self.open_loops if loop.var in words]
        title = names.fresh(f"{self.kernel.name}_{_first_statement(body.nodes)}")
        texts = [text for m in around for text in parameters(m, m in written, self.needs, words)]
        texts += [f"{loop.type} {loop.var}" for loop in loops]
        self.functions += signature_lines(f"static void {title}(", texts)
        self.functions[-1] += " {"
        self.functions += ["#pragma HLS inline off", *process.lines, "}", ""]
        given = [name(x) for x in (*passed, *(loop.var for loop in loops))]
        depth = self.indent // INDENT
        return f"{' ' * self.indent}{laid_out(call(title, *given), self.indent, depth).text};"


def _words(lines: Sequence[str]) -> set[str]:
    """Those of the text, comments left out."""
    return set(_WORD.findall("\n".join(line for line in lines if not _is_comment(line))))


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("//")


def _parts(body: Block, processes: Sequence[Sequence[str]]) -> list[list[Node]]:
    """The nodes of each process that has any; locals belong to none."""
    numbers = {name: n for n, names in enumerate(processes) for name in names}
    parts: dict[int, list[Node]] = {}
    waiting: list[Node] = []
    for node in body.nodes:
        if isinstance(node, Declare):
            continue
        waiting.append(node)
        found = {numbers.get(s.info.name, -1) for s in _stores(node)}
        if len(found) > 1 or -1 in found:
            raise IRError("W320", "statements of two processes, or of none, are in one nest")
        if found:
            parts.setdefault(found.pop(), []).extend(waiting)
            waiting = []
    return [parts[n] for n in sorted(parts)]


def _check_values(part: Sequence[Node]) -> None:
    """W320 where a process takes a value that is computed outside of it: only memory is handed on."""
    within = Block(list(part))
    blocks = {id(block) for _, block in within.walk()}
    own = {id(node) for node in part}
    for node, _ in within.walk():
        for value in _operands(node):
            if value.op in CHEAP or id(value.block) in blocks or id(value) in own:
                continue
            raise IRError("W320", f"a process takes a value of {value.op} that is not its own")


def _operands(node: Node) -> Sequence[Value]:
    match node:
        case Value(operands=operands):
            return operands
        case Store():
            return node.operands
        case _:
            return ()


def _stores(node: Node) -> list[Store]:
    return [n for n, _ in Block([node]).walk() if isinstance(n, Store)]


def _first_statement(part: Sequence[Node]) -> str:
    return next(s.info.name for node in part for s in _stores(node))


def _memories(part: Sequence[Node]) -> dict[Memory, None]:
    """The memory that nodes access, in the order of its first use."""
    found: dict[Memory, None] = {}
    for node, _ in Block(list(part)).walk():
        if isinstance(node, Store) or (isinstance(node, Value) and node.memory is not None):
            assert node.memory is not None
            found.setdefault(node.memory)
    return found


def _written(part: Sequence[Node]) -> set[Memory]:
    found: set[Memory] = set()
    for node in part:
        match node:
            case Store(memory=memory):
                found.add(memory)
            case Loop(body=body):
                found |= body.stores
            case If(then=then, orelse=orelse):
                found |= then.stores | (orelse.stores if orelse is not None else set())
            case _:
                pass
    return found
