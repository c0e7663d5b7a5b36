"""Integers are as wide as what they can hold: ranges of values that counters, numbers and tables of them tell.

A tool keeps of a counter the bits that its bounds need, and of what is computed from counters and numbers no more than
that can be. So ``i * j`` of two counters below 256 is a product of eight bits, whatever the type that it is written in.
Of data nothing is known but their types.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dsl.expressions.affine import Affine
from dsl.expressions.types import DType, IntType
from qor_gnn.design.region import Function, Guard, Kernel, Loop, Node, Op, Statement

Range = tuple[int, int]
"""The least and the greatest value."""

Known = Mapping[str, Range]
"""Ranges by name: of counters, and of the elements of tables whose words are narrower than their type."""

_RESULTS = frozenset({"index", "add", "sub", "mul", "and", "shr", "mod", "div", "select"})


def narrowed(kernel: Kernel) -> Kernel:
    """The design with integer operations of the widths that their values need."""
    tables = ranges_of({m.name: m.dtype for m in kernel.memories if not m.argument})
    functions = tuple(Function(f.name, _nodes(f.body, tables), f.symbols) for f in kernel.functions)
    return replace(kernel, functions=functions)


def narrowed_alone(statement: Statement, known: Known) -> Statement:
    """A statement with integer operations of the widths that their values need.

    Args:
        statement: any.
        known: of the counters around it and of tables.
    """
    told = (op.kind == "index" or _table(op) in known for op in statement.ops)
    return replace(statement, ops=_ops(statement.ops, known)) if any(told) else statement


def ranges_of(words: Mapping[str, DType]) -> Known:
    """The values of what is in arrays, by the types of their words."""
    own = {name: dtype for name, dtype in words.items() if isinstance(dtype, IntType)}
    return {f"{name}[]": _values(dtype) for name, dtype in own.items()}


def _table(op: Op) -> str:
    """What the elements that an operation loads are called."""
    return f"{op.access.memory}[]" if op.kind == "load" and op.access is not None else ""


def _values(dtype: IntType) -> Range:
    half = 1 << (dtype.width - 1)
    return (-half, half - 1) if dtype.signed else (0, 2 * half - 1)


def _nodes(nodes: tuple[Node, ...], values: Known) -> tuple[Node, ...]:
    return tuple(_node(n, values) for n in nodes)


def _node(node: Node, values: Known) -> Node:
    match node:
        case Loop():
            known = _counted(node, values)
            inner = {**values, node.iv: known} if known is not None else values
            return replace(node, body=_nodes(node.body, inner))
        case Guard():
            return replace(node, body=_nodes(node.body, values))
        case Statement():
            return narrowed_alone(node, values)


def _counted(loop: Loop, values: Known) -> Range | None:
    """The values of a loop's counter: one of its bounds that is known is enough on either side."""
    lowers = [r[0] for b in loop.lowers if (r := _affine(b, values)) is not None]
    uppers = [r[1] for b in loop.uppers if (r := _affine(b, values)) is not None]
    return (max(lowers), max(max(lowers), min(uppers) - 1)) if lowers and uppers else None


def _affine(value: Affine, values: Known) -> Range | None:
    least = most = value.const
    for atom, factor in value.terms:
        known = values.get(atom) if isinstance(atom, str) else None
        if known is None:
            return None
        ends = (factor * known[0], factor * known[1])
        least, most = least + min(ends), most + max(ends)
    return least, most


def _ops(ops: Sequence[Op], values: Known) -> tuple[Op, ...]:
    found: list[Op] = []
    ranges: list[Range | None] = []
    for op in ops:
        taken = [ranges[k] for k in op.operands]
        known = _range(op, taken, values) if op.type == "int" else None
        if known is not None and not _fits(known, op.width):
            known = None  # it wraps around
        new = op
        if known is not None and op.kind in _RESULTS:
            new = replace(op, width=min(op.width, bits(known)))
        elif op.kind == "cmp" and all(r is not None for r in taken):
            new = replace(op, width=min(op.width, max(bits(r) for r in taken if r is not None)))
        if op.kind == "mul" and op.type == "int":
            new = replace(new, factors=_factors(op, [ops[k] for k in op.operands], taken))
        found.append(new)
        # A rest may be of what is computed.
        told = known is not None and (known[0] >= 0 or op.kind == "load")
        ranges.append(known if told else None)
    return tuple(found)


def _factors(op: Op, operands: Sequence[Op], ranges: Sequence[Range | None]) -> tuple[int, int]:
    """The widths of a product's factors, of those whose range is known no more than that needs."""
    widths = list(op.factors)
    for operand, known in zip(operands, ranges, strict=True):
        if known is not None and operand.kind != "const" and operand.width in widths:
            place = widths.index(operand.width)
            widths[place] = min(operand.width, bits(known))
    short, long = sorted(widths)
    return long, short


def _range(op: Op, taken: Sequence[Range | None], values: Known) -> Range | None:
    if op.kind == "index" and op.access is not None:
        return _affine(op.access.indices[0], values)
    if op.kind == "load":
        words = values.get(_table(op))
        return words if words is not None and bits(words) < op.width else None
    if op.kind == "const":
        number = int(op.value)
        return (number, number) if not number >> (op.width - 1) else None
    known = [r for r in taken if r is not None]
    if op.kind == "select":
        known, taken = known[-2:], taken[1:]
    if not known or len(known) < len(taken):
        return None
    return _computed(op.kind, known[0], known[-1])


def _computed(kind: str, a: Range, b: Range) -> Range | None:
    """What an operation gives of two values; None where no more is known than its type."""
    divisor = b[0] if b[0] == b[1] else 0
    match kind:
        case "add":
            return a[0] + b[0], a[1] + b[1]
        case "sub":
            return a[0] - b[1], a[1] - b[0]
        case "mul":
            ends = [x * y for x in a for y in b]
            return min(ends), max(ends)
        case "select":
            return min(a[0], b[0]), max(a[1], b[1])
        case "and" if a[0] >= 0 and b[0] >= 0:
            return 0, min(a[1], b[1])
        case "mod" if divisor > 0 and a[0] >= 0:
            return 0, min(a[1], divisor - 1)
        case "div" if divisor > 0:
            return a[0] // divisor, a[1] // divisor
        case "shr" if divisor >= 0:
            return (a[0] >> divisor, a[1] >> divisor) if b[0] == b[1] else None
        case _:
            return None


def bits(values: Range) -> int:
    """Bits of a number that can be any of these; one for the sign where some are negative."""
    least, most = values
    if least >= 0:
        return max(1, most.bit_length())
    return max((-least - 1).bit_length(), most.bit_length()) + 1


def _fits(values: Range, width: int) -> bool:
    return bits(values) <= width
