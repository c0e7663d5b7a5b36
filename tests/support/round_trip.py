"""From a program to its text in the language and back."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from dsl.expressions.expr import (
    Access,
    Binary,
    BinaryOp,
    Cast,
    Compare,
    Expr,
    Gather,
    Load,
    Scatter,
    Select,
    Unary,
    map_leaves,
)
from dsl.expressions.guarded import harmless
from dsl.expressions.types import boolean
from dsl.kernels.loader import load_kernels
from dsl.programs.pretty import pretty
from dsl.programs.program import If, Loop, Node, Program, Stmt

Ranges = dict[str, tuple[int, int]]


def reloaded(program: Program) -> Program:
    """The program that its own text gives, through a file, as a user's kernel is loaded."""
    with tempfile.TemporaryDirectory(prefix="weft-text-") as folder:
        file = Path(folder) / "kernel.py"
        file.write_text(pretty(program), encoding="utf-8")
        (kernel,) = load_kernels(file).values()
        return kernel.program


def as_read(program: Program) -> Program:
    """The program as the language reads its text: the side of a choice that is not taken does not fail, and what is below 0 in
    all iterations, which are none here, counts from the end.
    """
    shapes = {array.name: array.shape for array in program.arrays}
    body = (_node(n, shapes, {}) for n in program.body)
    return replace(program, body=tuple(body))


def _node(node: Node, shapes: Mapping[str, tuple[int, ...]], ranges: Ranges) -> Node:
    match node:
        case Loop(var, lowers, uppers):
            low = max(a.interval(ranges)[0] for a in lowers)
            high = min(a.interval(ranges)[1] for a in uppers) - 1
            inside = {**ranges, var: (low, max(low, high))}
            runs = shapes if low <= high else {}
            return replace(node, body=tuple(_node(n, runs, inside) for n in node.body))
        case If():
            then, orelse = (
                tuple(_node(n, shapes, ranges) for n in side) for side in (node.then, node.orelse)
            )
            return replace(node, then=then, orelse=orelse)
        case Stmt():
            return replace(
                node,
                target=_counted(node.target, shapes, ranges),
                value=map_leaves(
                    _read(node.value),
                    lambda x: (
                        replace(x, access=_counted(x.access, shapes, ranges))
                        if isinstance(x, Load)
                        else x
                    ),
                ),
            )


def _counted(access: Access, shapes: Mapping[str, tuple[int, ...]], ranges: Ranges) -> Access:
    """Subscripts that are below 0 whatever the variables are, from the end."""
    if access.array not in shapes:
        return access
    found = []
    for index, extent in zip(access.indices, shapes[access.array], strict=True):
        known = not index.is_data and index.variables() <= ranges.keys()
        low, high = index.interval(ranges) if known else (0, 0)
        found.append(index + extent if -extent <= low and high < 0 else index)
    return replace(access, indices=tuple(found))


def _read(expr: Expr) -> Expr:
    match expr:
        case Select(c, a, b, dtype, span):
            c, a, b = _read(c), _read(a), _read(b)
            return Select(c, harmless(a, c, True), harmless(b, c, False), dtype, span)
        case Unary(op, x, dtype, span):
            return Unary(op, _read(x), dtype, span)
        case Cast(x, dtype, span):
            return Cast(_read(x), dtype, span)
        case Binary(op, a, b, dtype, span):
            a, b = _read(a), _read(b)
            if op in (BinaryOp.AND, BinaryOp.OR) and a.dtype == b.dtype == boolean:
                b = harmless(b, a, op is BinaryOp.AND)
            return Binary(op, a, b, dtype, span)
        case Compare(op, a, b, dtype, span):
            return Compare(op, _read(a), _read(b), dtype, span)
        case Gather(access, data, dtype):
            return Gather(access, tuple(map(_read, data)), dtype)
        case Scatter(access, data, value):
            return Scatter(access, tuple(map(_read, data)), _read(value))
        case _:
            return expr
