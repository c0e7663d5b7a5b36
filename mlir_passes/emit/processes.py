"""A dataflow region as C++: a function for each process, and a top function that calls them.

The channels are arrays of the top function; a stream is an array with a pragma, which the tool makes
a FIFO of and which runs as an array anywhere else. (UG1399, "Canonical dataflow"; pragma HLS
stream.)
"""

from __future__ import annotations

import re

from dsl.errors.errors import IRError
from mlir_passes.emit.cpp import call, extents, name
from mlir_passes.emit.layout import LIMIT, laid_out
from mlir_passes.emit.lines import INDENT
from mlir_passes.emit.nodes import Block, Declare, If, Kernel, Loop, Memory, Node, Store, Value
from mlir_passes.emit.pragmas import function_pragmas, memory_pragmas
from mlir_passes.emit.statements import Printer
from mlir_passes.emit.types import Needs

_WORD = re.compile(r"\w+")


def parameter(memory: Memory, written: bool, needs: Needs) -> str:
    """Scalars by value, a local one that is written by reference; arrays only read are const."""
    element = needs.element(memory.info)
    if not memory.is_array:
        reference = "&" if written and not memory.is_argument else ""
        return f"{element} {reference}{memory.name}"
    const = "" if written else "const "
    sizes = extents(memory.info.axi.words(memory.info.shape)) or "[1]"
    return f"{const}{element} {memory.name}{sizes}"


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


def region(kernel: Kernel, printer: Printer) -> list[str]:
    """The functions of the processes; the printer gets the body of the top function."""
    parts = _parts(kernel)
    used = [_memories(part) for part in parts]
    declared = [node.memory for node in kernel.body.nodes if isinstance(node, Declare)]
    shared = [m for m in declared if sum(m in u for u in used) > 1]
    functions: list[str] = []
    calls: list[str] = []
    for part, own in zip(parts, used, strict=True):
        inside = [m for m in declared if m in own and m not in shared]
        body = Block([*map(Declare, inside), *part])
        process = Printer(kernel.names, printer.needs, said=printer.said)
        process.process(body, [*kernel.arguments, *shared])
        outside = _passed(kernel, shared, process.lines)
        title = kernel.names.fresh(f"{kernel.name}_{_first_statement(part)}")
        written = _written(part)
        texts = [parameter(m, m in written, printer.needs) for m in outside]
        functions += signature_lines(f"static void {title}(", texts)
        functions[-1] += " {"
        functions += ["#pragma HLS inline off", *process.lines, "}", ""]
        text = laid_out(call(title, *(name(m.name) for m in outside)), INDENT, 1).text
        calls.append(f"{' ' * INDENT}{text};")
    _top(kernel, shared, calls, printer)
    return functions


def _top(kernel: Kernel, shared: list[Memory], calls: list[str], printer: Printer) -> None:
    printer.lines += function_pragmas(kernel)
    printer.lines.append("#pragma HLS dataflow")
    words = set(_WORD.findall("\n".join(calls)))
    pad = " " * INDENT
    printer.lines += [f"{pad}(void){m.name};" for m in kernel.arguments if m.name not in words]
    for memory in shared:
        sizes = extents(memory.info.shape)
        printer.lines.append(f"{pad}{printer.needs.type(memory.info.dtype)} {memory.name}{sizes};")
        printer.lines += memory_pragmas(memory)
    printer.lines += calls


def _parts(kernel: Kernel) -> list[list[Node]]:
    """The nodes of each process that has any; locals belong to none."""
    numbers = {name: n for n, names in enumerate(kernel.processes) for name in names}
    parts: dict[int, list[Node]] = {}
    waiting: list[Node] = []
    for node in kernel.body.nodes:
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


def _stores(node: Node) -> list[Store]:
    return [n for n, _ in Block([node]).walk() if isinstance(n, Store)]


def _first_statement(part: list[Node]) -> str:
    return next(s.info.name for node in part for s in _stores(node))


def _memories(part: list[Node]) -> set[Memory]:
    found: set[Memory] = set()
    for node, _ in Block(part).walk():
        if isinstance(node, Store) or (isinstance(node, Value) and node.memory is not None):
            assert node.memory is not None
            found.add(node.memory)
    return found


def _written(part: list[Node]) -> set[Memory]:
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


def _passed(kernel: Kernel, shared: list[Memory], lines: list[str]) -> list[Memory]:
    """The arguments and channels that the text of a process uses, comments left out."""
    code = [line for line in lines if not line.lstrip().startswith("//")]
    words = set(_WORD.findall("\n".join(code)))
    return [m for m in (*kernel.arguments, *shared) if m.name in words]
