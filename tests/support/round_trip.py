"""From a program to its text in the language and back."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from dsl.expressions.expr import (
    Binary,
    BinaryOp,
    Cast,
    Compare,
    Expr,
    Gather,
    Scatter,
    Select,
    Unary,
)
from dsl.expressions.guarded import harmless
from dsl.expressions.types import boolean
from dsl.kernels.loader import load_kernels
from dsl.programs.pretty import pretty
from dsl.programs.program import Program, map_statements


def reloaded(program: Program) -> Program:
    """The program that its own text gives, through a file, as a user's kernel is loaded."""
    with tempfile.TemporaryDirectory(prefix="weft-text-") as folder:
        file = Path(folder) / "kernel.py"
        file.write_text(pretty(program), encoding="utf-8")
        (kernel,) = load_kernels(file).values()
        return kernel.program


def as_read(program: Program) -> Program:
    """The program as the language reads its text: the side of a choice that is not taken does not fail."""
    body = (map_statements(n, lambda s: replace(s, value=_read(s.value))) for n in program.body)
    return replace(program, body=tuple(body))


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
