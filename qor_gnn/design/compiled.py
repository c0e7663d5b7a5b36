"""What every compiler does to statements before they are scheduled: constants are folded, integers
are no wider than what is kept of them, and what a statement computes twice it computes once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dsl.expressions.types import DType, IntType
from qor_gnn.design.constants import folded, folded_alone
from qor_gnn.design.padding import padded
from qor_gnn.design.region import Function, Kernel, Node, Op, Statement
from qor_gnn.design.reshaped import in_words
from qor_gnn.design.spread import spread_out
from qor_gnn.design.value_ranges import narrowed, narrowed_alone, ranges_of

_LOW_BITS = ("add", "sub", "mul")


def compiled(kernel: Kernel) -> Kernel:
    """The kernel as a compiler hands it on, locals in the order of their names."""
    kernel = narrowed(folded(padded(spread_out(kernel))))
    types = {m.name: m.dtype for m in kernel.memories}
    arguments = [m for m in kernel.memories if m.argument]
    own = sorted((m for m in kernel.memories if not m.argument), key=lambda m: m.name)
    functions = tuple(Function(f.name, _nodes(f.body, types), f.symbols) for f in kernel.functions)
    return in_words(replace(kernel, memories=(*arguments, *own), functions=functions))


def compiled_alone(statement: Statement, stored: DType, tables: Mapping[str, DType]) -> Statement:
    """A statement as a compiler hands it on, known without the rest of its kernel.

    Args:
        statement: any.
        stored: the type of the elements that it stores.
        tables: of words, by array.
    """
    known = narrowed_alone(folded_alone(statement), ranges_of(tables))
    return _ordered(_narrowed(known, stored))


def _nodes(nodes: tuple[Node, ...], types: Mapping[str, DType]) -> tuple[Node, ...]:
    return tuple(
        _ordered(_narrowed(node, types[node.target.memory]))
        if isinstance(node, Statement)
        else replace(node, body=_nodes(node.body, types))
        for node in nodes
    )


def _narrowed(statement: Statement, stored: DType) -> Statement:
    """Integer sums and products as wide as the bits of them that are stored.

    The low bits of a sum, a difference or a product follow from those of the operands.
    """
    if not isinstance(stored, IntType):
        return statement
    wanted = [0] * len(statement.ops)
    wanted[-1] = stored.width
    for k in statement.subscripts:
        wanted[k] = max(wanted[k], statement.ops[k].width)
    ops = list(statement.ops)
    for n in reversed(range(len(ops))):
        op = ops[n]
        low = op.type == "int" and op.kind in _LOW_BITS
        if low and 0 < wanted[n] < op.width:
            op = ops[n] = replace(op, width=wanted[n])
        for k in op.operands:
            wanted[k] = max(wanted[k], op.width if low else ops[k].width)
    return replace(statement, ops=tuple(ops))


def _ordered(statement: Statement) -> Statement:
    """Each operation once, operands first, in the order in which the last one asks for them."""
    places: dict[int, int] = {}
    merged: dict[Op, int] = {}
    pending = [(len(statement.ops) - 1, False), *((k, False) for k in statement.subscripts[::-1])]
    while pending:
        n, done = pending.pop()
        op = statement.ops[n]
        if done:
            operands = tuple(places[k] for k in op.operands)
            moved = op if operands == op.operands else replace(op, operands=operands)
            places[n] = merged.setdefault(moved, len(merged))
        elif n not in places:
            pending.append((n, True))
            pending += [(k, False) for k in reversed(op.operands)]
    ops, last = list(merged), places[len(statement.ops) - 1]
    if last < len(ops) - 1:  # a subscript takes what is stored
        ops.append(ops[last])
    return replace(
        statement, ops=tuple(ops), subscripts=tuple(places[k] for k in statement.subscripts)
    )
