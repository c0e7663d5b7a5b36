"""Operators of a statement that have an implementation of their own (``bind_op``)."""

from __future__ import annotations

from typing import Any

from mlir_passes.emit.nodes import Block, Value

_KINDS = {"add": "add", "sub": "sub", "mul": "mul", "div": "div"}
_REAL_PREFIX = {"f16": "h", "bf16": "h", "f32": "f", "f64": "d"}


def bind(value: Value, binds: tuple[Any, ...], block: Block) -> None:
    """Tell the operators of a statement of the implementation that was asked for them."""
    pending, seen = [value], set()
    while pending:
        v = pending.pop()
        if id(v) in seen or v.block is not block:
            continue
        seen.add(id(v))
        kind = operator_kind(v)
        v.binds = tuple(b for b in binds if b.op == kind)
        pending.extend(v.operands)


def operator_kind(value: Value) -> str:
    """The name that ``bind_op`` has for an operator (UG1399): ``fadd``, ``mul``, ``dsqrt``."""
    dialect, _, base = value.op.partition(".")
    if value.real:
        base = base.removesuffix("f") if dialect == "arith" else base
        return _REAL_PREFIX[value.real] + base
    return _KINDS.get(base[:3], "") if dialect == "arith" else ""
