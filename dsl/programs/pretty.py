"""A program as text of the language: a file that loads back to an equal program."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dsl.expressions.affine import Affine
from dsl.expressions.elements import assigned_element
from dsl.expressions.expr import Binary, BinaryOp, Scatter, loads, stored_value
from dsl.programs.pretty_expr import (
    MARK,
    access_text,
    affine_text,
    cond_text,
    gather_text,
    stored_text,
    type_text,
    update_text,
)
from dsl.programs.pretty_tables import table_text
from dsl.programs.program import Array, If, Loop, Node, Program, Stmt, statements_in
from dsl.programs.scopes import Path, local_scopes

LINE = 100
INDENT = "    "
_TYPE = re.compile(MARK + r"(\w+)")
_NO_UPDATE = (BinaryOp.MIN, BinaryOp.MAX)


def pretty(program: Program) -> str:
    """The program in the language's own syntax, with the imports that it needs.

    Loading the text (`dsl.kernels.loader`) gives an equal program, provided that this one is in the form
    that the front doors make: locals in the order of `dsl.programs.scopes.ordered_locals`, types as
    `dsl.expressions.typing` gives them, constants in bounds folded.
    """
    text = "\n".join([*_signature(program), *_Printer(program).lines()]) + "\n"
    imports = ["import weft"]
    if "math." in text:
        imports.insert(0, "import math")
    if "Fraction(" in text:
        imports.insert(0, "from fractions import Fraction")
    names = {a.name for a in program.arrays} | _loop_names(program) | {program.name}
    types = sorted(set(_TYPE.findall(text)) - names)
    if types:
        imports.append(f"from weft import {', '.join(types)}")
    text = _TYPE.sub(lambda m: f"weft.{m[1]}" if m[1] in names else m[1], text)
    if tables := [table_text(a) for a in program.tables]:
        imports = ["import numpy as np", *imports, "", *tables]
    return "\n".join(imports) + "\n\n\n" + text


def _statement_text(stmt: Stmt, target: Array) -> str:
    """One assignment, such as ``C[i, j] += alpha * A[i, k]``; ``target`` is what it writes."""
    value, goal = stored_value(stmt.value), access_text(stmt.target)
    if isinstance(stmt.value, Scatter):
        goal = gather_text(stmt.target, stmt.value.data)
    if isinstance(value, Binary) and value.op not in _NO_UPDATE:
        old = assigned_element(stmt.target, stmt.value, target.dtype)
        update = update_text(old, value)
        if update is not None:
            return f"{goal} {value.op.value}= {update}"
    return f"{goal} = {stored_text(value, target.dtype)}"


def statement_text(stmt: Stmt, target: Array) -> str:
    """One assignment, such as ``C[i, j] += alpha * A[i, k]``; ``target`` is what it writes."""
    return _statement_text(stmt, target).replace(MARK, "")


def _loop_names(program: Program) -> set[str]:
    return {node.var for node, _ in program.walk() if isinstance(node, Loop)}


def _signature(program: Program) -> list[str]:
    arguments = [f"{a.name}: {_argument_type(a)}" for a in program.arguments]
    line = f"def {program.name}({', '.join(arguments)}):"
    if len(line) <= LINE:
        return ["@weft.kernel", line]
    return [
        "@weft.kernel",
        f"def {program.name}(",
        *(f"{INDENT}{argument}," for argument in arguments),
        "):",
    ]


def _argument_type(array: Array) -> str:
    return f"weft.const[{type_text(array.type)}]" if array.const else type_text(array.type)


class _Printer:
    """Prints a body; it counts loops and statements as it goes, in program order."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._loops = 0
        self._statements = 0
        scopes = local_scopes(program)
        self._locals: dict[Path, list[Array]] = {}
        for array in (*program.scratch, *program.locals):
            self._locals.setdefault(scopes.get(array.name, ()), []).append(array)

    def lines(self) -> list[str]:
        """The indented lines of the function's body."""
        return self._scope(self._program.body, (), INDENT)

    def _scope(self, nodes: Sequence[Node], path: Path, indent: str) -> list[str]:
        """The body of the function or of a loop: what it declares, then its nodes."""
        declared = self._locals.get(path, [])
        merged = _merged(declared, nodes)
        lines = [f"{indent}{a.name}: {type_text(a.type)}" for a in declared if a.name not in merged]
        return [*lines, *self._nodes(nodes, path, indent, merged)] or [f"{indent}pass"]

    def _nodes(
        self, nodes: Sequence[Node], path: Path, indent: str, merged: frozenset[str] = frozenset()
    ) -> list[str]:
        lines: list[str] = []
        for node in nodes:
            match node:
                case Stmt(target=target):
                    lines += self._statement(node, indent, declares=target.array in merged)
                    merged -= {target.array}
                case Loop():
                    lines += self._loop(node, path, indent)
                case If():
                    lines += self._if(node, path, indent, "if")
        return lines

    def _statement(self, stmt: Stmt, indent: str, *, declares: bool) -> list[str]:
        target = self._program.array(stmt.target.array)
        line = _statement_text(stmt, target)
        if declares:
            declared = f"{target.name}: {type_text(target.type)}"
            line = f"{declared} = {stored_text(stmt.value, target.dtype)}"
        named = stmt.name != f"S{self._statements}"
        self._statements += 1
        if named:
            return [f'{indent}with weft.stmt("{stmt.name}"):', f"{indent}{INDENT}{line}"]
        return [f"{indent}{line}"]

    def _loop(self, loop: Loop, path: Path, indent: str) -> list[str]:
        """A loop, or a perfect nest of loops from 0 as one ``weft.grid``."""
        nest = [loop]
        path = self._enter(path)
        while _is_plain(loop) and not self._locals.get(path) and len(loop.body) == 1:
            inner = loop.body[0]
            if not isinstance(inner, Loop) or not _is_plain(inner):
                break
            nest.append(inner)
            loop, path = inner, self._enter(path)
        if len(nest) == 1:
            header = f"for {loop.var} in {_range(loop)}:"
        else:
            extents = ", ".join(affine_text(n.uppers[0]) for n in nest)
            header = f"for {', '.join(n.var for n in nest)} in weft.grid({extents}):"
        return [f"{indent}{header}", *self._scope(loop.body, path, indent + INDENT)]

    def _enter(self, path: Path) -> Path:
        self._loops += 1
        return (*path, self._loops)

    def _if(self, node: If, path: Path, indent: str, word: str) -> list[str]:
        inside = indent + INDENT
        lines = [f"{indent}{word} {cond_text(node.cond)}:"]
        lines += self._nodes(node.then, path, inside) or [f"{inside}pass"]
        match node.orelse:
            case ():
                pass
            case (If() as other,):
                lines += self._if(other, path, indent, "elif")
            case orelse:
                lines += [f"{indent}else:", *self._nodes(orelse, path, inside)]
        return lines


def _merged(declared: Sequence[Array], nodes: Sequence[Node]) -> frozenset[str]:
    """The scalars that the first assignment declares: ``acc: f32 = 0.0``.

    Only where the order of declarations stays: all of them come after those without a value.
    """
    names = [a.name for a in declared if not a.shape]
    merged: list[str] = []
    seen: set[str] = set()
    for node in nodes:
        if isinstance(node, Stmt):
            read = {access.array for access in loads(node.value)}
            name = node.target.array
            if name in names and name not in seen | read:
                merged.append(name)
            seen |= read | {name}
        else:
            seen |= {a.array for s in statements_in(node) for a in (s.target, *loads(s.value))}
    tail = [a.name for a in declared][-len(merged) :] if merged else []
    return frozenset(merged) if tail == merged else frozenset()


def _is_plain(loop: Loop) -> bool:
    """Whether it counts from 0 to a constant, by 1."""
    bounds = (loop.lowers, loop.step, len(loop.uppers))
    return bounds == ((Affine(),), 1, 1) and loop.uppers[0].is_const


def _range(loop: Loop) -> str:
    if loop.step > 0:
        low, high = _extremum("max", loop.lowers), _extremum("min", loop.uppers)
        if loop.step != 1:
            return f"range({low}, {high}, {loop.step})"
        return f"range({high})" if loop.lowers == (Affine(),) else f"range({low}, {high})"
    start = _extremum("min", tuple(b - 1 for b in loop.uppers))
    stop = _extremum("max", tuple(b - 1 for b in loop.lowers))
    return f"range({start}, {stop}, {loop.step})"


def _extremum(function: str, bounds: tuple[Affine, ...]) -> str:
    texts = [affine_text(b) for b in bounds]
    return texts[0] if len(texts) == 1 else f"{function}({', '.join(texts)})"
