"""Constants are computed by the compiler, not by the design.

A floating-point scalar that is set once, outside of loops, to what is known then, is a constant
wherever it is read.
"""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

from dsl.expressions.types import FloatType
from qor_gnn.design.region import Function, Guard, Kernel, Loop, Node, Op, Statement, walk

_FORMATS = {"f64": "<d", "f32": "<f"}
_OPERATORS: Mapping[str, Callable[..., float]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b if b else math.nan,
    "neg": lambda a: -a,
}


def folded(kernel: Kernel) -> Kernel:
    """The kernel without arithmetic on constants, and without the scalars that hold them."""
    once = _set_once(kernel)
    known: dict[str, Op] = {}
    functions = tuple(
        Function(f.name, _top(f.body, once, known), f.symbols) for f in kernel.functions
    )
    return replace(kernel, functions=functions)


def folded_alone(statement: Statement) -> Statement:
    """A statement without arithmetic on constants; what scalars hold is not known."""
    return _statement(statement, {})


def _set_once(kernel: Kernel) -> frozenset[str]:
    """Local floating-point scalars that a single statement sets."""
    scalars = {
        m.name
        for m in kernel.memories
        if not m.shape and not m.argument and isinstance(m.dtype, FloatType)
    }
    stores = Counter(
        node.target.memory
        for function in kernel.functions
        for node in walk(function.body)
        if isinstance(node, Statement)
    )
    return frozenset(name for name in scalars if stores[name] == 1)


def _top(nodes: tuple[Node, ...], once: frozenset[str], known: dict[str, Op]) -> tuple[Node, ...]:
    found: list[Node] = []
    for node in nodes:
        new = _placed(node, known)
        constant = isinstance(new, Statement) and new.ops[-1].kind == "const"
        if isinstance(new, Statement) and constant and new.target.memory in once:
            known[new.target.memory] = new.ops[-1]
        else:
            found.append(new)
    return tuple(found)


def _placed(node: Node, known: Mapping[str, Op]) -> Node:
    match node:
        case Statement():
            return _statement(node, known)
        case Loop() | Guard():
            return replace(node, body=tuple(_placed(n, known) for n in node.body))


def _statement(statement: Statement, known: Mapping[str, Op]) -> Statement:
    """Each operation at its place: those on constants are constants."""
    ops: list[Op] = []
    for op in statement.ops:
        constant = known.get(op.access.memory) if op.kind == "load" and op.access else None
        operands = [ops[k] for k in op.operands]
        if operands and all(o.kind == "const" and o.type == op.type for o in operands):
            constant = _computed(op, [float(o.value) for o in operands])
        ops.append(constant or op)
    return replace(statement, ops=tuple(ops))


def _computed(op: Op, values: list[float]) -> Op | None:
    """The constant that an operation on constants gives; None where it is none, or no number."""
    if op.kind not in _OPERATORS or op.type not in _FORMATS:
        return None
    format_ = _FORMATS[op.type]
    try:
        (value,) = struct.unpack(format_, struct.pack(format_, _OPERATORS[op.kind](*values)))
    except OverflowError:
        return None
    return Op("const", op.type, op.width, value=repr(value)) if math.isfinite(value) else None
