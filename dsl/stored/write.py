"""A program as JSON.

Loops, conditions and expressions are flat lists, so that no nesting is too deep to be read: a body is
its nodes in order with ``end`` behind those of a loop, an expression is its nodes with the operands
in front of each operator. `dsl.stored.read` reads it back to an equal program.
"""

from __future__ import annotations

import hashlib
import json
import linecache
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dsl.errors.errors import Span
from dsl.expressions.affine import And, Cond, Constraint
from dsl.expressions.expr import (
    Access,
    Binary,
    Cast,
    Compare,
    Const,
    Expr,
    Gather,
    Index,
    Load,
    Scatter,
    Select,
    Unary,
    children,
)
from dsl.programs.program import Array, If, Loop, Node, Program, Stmt
from dsl.stored.parts import affine_data, const_data, shown

SCHEMA_VERSION = 1


def program_data(program: Program, *, places: bool = True) -> dict[str, Any]:
    """A program as JSON, with a digest of itself.

    Args:
        program: any that a front door made.
        places: keep where in its file everything is, and those lines; without, what is read is an
            equal program, but messages name no places.
    """
    kept = _Places() if places else None
    inner: dict[str, Any] = {
        "name": program.name,
        "arrays": [_array(array, kept) for array in program.arrays],
        "body": list(_body(program.body, kept)),
        "span": _place(kept, program.span),
    }
    inner["files"] = list(kept.files) if kept else []
    inner["lines"] = [[*at, text] for at, text in kept.lines.items()] if kept else []
    return {"schema_version": SCHEMA_VERSION, "digest": digest(inner), "program": inner}


def program_json(program: Program, *, places: bool = True) -> str:
    """The text of `program_data`."""
    return json.dumps(program_data(program, places=places), separators=(",", ":")) + "\n"


def digest(data: object) -> str:
    """Of JSON, however it is laid out."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(slots=True)
class _Places:
    """The files that places are in, by name alone, and the lines that messages show."""

    files: dict[str, int] = field(default_factory=dict)
    lines: dict[tuple[int, int], str] = field(default_factory=dict)

    def add(self, span: Span) -> list[int]:
        """The place as numbers, that of its file in front."""
        file = self.files.setdefault(shown(Path(span.file).name), len(self.files))
        if (file, span.line) not in self.lines:
            text = linecache.getline(span.file, span.line) if span.text is None else span.text
            self.lines[file, span.line] = shown(text.rstrip("\r\n"))
        return [file, span.line, span.col, span.end_line, span.end_col]


def _place(places: _Places | None, span: Span | None) -> list[int] | None:
    return None if places is None or span is None else places.add(span)


def _array(array: Array, places: _Places | None) -> dict[str, Any]:
    words = {"contents": list(array.contents)} if array.contents else {}
    return words | {
        "name": array.name,
        "type": str(array.dtype),
        "shape": list(array.shape),
        "storage": array.storage.value,
        "const": array.const,
        "scope_depth": array.scope_depth,
        "span": _place(places, array.span),
    }


def _body(nodes: tuple[Node, ...], places: _Places | None) -> Iterator[list[Any]]:
    """The nodes and those in them, flat."""
    waiting: list[Node | list[Any]] = list(reversed(nodes))
    while waiting:
        match waiting.pop():
            case Stmt() as stmt:
                source = shown(stmt.source) if places else ""
                value = list(_expression(stmt.value, places))
                target = _access(stmt.target, places)
                yield ["set", stmt.name, target, value, source, _place(places, stmt.span)]
            case Loop() as loop:
                bounds = [[affine_data(b) for b in ends] for ends in (loop.lowers, loop.uppers)]
                yield ["for", loop.var, *bounds, loop.step, _place(places, loop.span)]
                waiting += [["end"], *reversed(loop.body)]
            case If() as branch:
                yield ["if", list(_condition(branch.cond)), _place(places, branch.span)]
                orelse = [*reversed(branch.orelse), ["else"]] if branch.orelse else []
                waiting += [["end"], *orelse, *reversed(branch.then)]
            case list() as mark:
                yield mark


def _condition(cond: Cond) -> Iterator[list[Any]]:
    """Its parts in front of it."""
    waiting: list[Cond | list[Any]] = [cond]
    while waiting:
        match waiting.pop():
            case Constraint(expr, kind):
                yield [kind, affine_data(expr)]
            case list() as mark:
                yield mark
            case both:
                word = "and" if isinstance(both, And) else "or"
                waiting += [[word, len(both.parts)], *reversed(both.parts)]


def _access(access: Access, places: _Places | None) -> list[Any]:
    """A subscript that is data is null: the values are its operands, in order."""
    indices = [None if i.is_data else affine_data(i) for i in access.indices]
    return [access.array, indices, _place(places, access.span)]


def _expression(expr: Expr, places: _Places | None) -> Iterator[list[Any]]:
    """Operands in front of operators."""
    waiting: list[Expr | list[Any]] = [expr]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            yield node
        else:
            waiting += [_node(node, places), *reversed(children(node))]


def _node(node: Expr, places: _Places | None) -> list[Any]:
    match node:
        case Const():
            return ["const", str(node.dtype), const_data(node)]
        case Load(access=access):
            return ["load", *_access(access, places)]
        case Gather(access=access):
            return ["gather", *_access(access, places), len(node.data)]
        case Scatter(access=access):
            return ["scatter", *_access(access, places), len(node.data) + 1]
        case Index(affine=affine):
            return ["index", affine_data(affine)]
        case Cast():
            head = ["cast"]
        case Select():
            head = ["select"]
        case Unary(op=op):
            head = ["unary", op.value]
        case Binary(op=op):
            head = ["binary", op.value]
        case Compare(op=op):
            head = ["compare", op.value]
    return [*head, str(node.dtype), _place(places, node.span)]
