"""Loops that are spread over ports (`dsl.schedules.port_steps.Spread`): their copies stand by themselves, each with the
pointers that it goes through, as they are in C++. A further pointer to an array outside is a memory outside of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from dsl.expressions.affine import Affine, Constraint
from qor_gnn.design.region import (
    Access,
    Function,
    Guard,
    Kernel,
    Loop,
    Memory,
    Node,
    Op,
    Statement,
    walk,
)

_Renaming = Mapping[str, str]
_Values = Mapping[str, Affine]


def spread_out(kernel: Kernel) -> Kernel:
    """The design with each copy of a loop that is spread, and a memory for each pointer that one goes through."""
    nodes = [node for f in kernel.functions for node in walk(f.body)]
    if not any(isinstance(node, Loop) and node.requests.spread for node in nodes):
        return kernel
    pointers = {m.name: tuple(_pointers(m)) for m in kernel.memories if m.port is not None}
    functions = tuple(
        Function(f.name, _nodes(f.body, pointers), f.symbols) for f in kernel.functions
    )
    memories = tuple(one for m in kernel.memories for one in pointers.get(m.name, (m,)))
    return replace(kernel, memories=memories, functions=functions)


def _pointers(memory: Memory) -> Iterator[Memory]:
    assert memory.port is not None
    yield memory
    for n, bundle in enumerate(memory.port.also, 1):
        reads = bundle if memory.port.reads else ""
        port = replace(memory.port, bundle=bundle, reads=reads, also=(), of=memory.name)
        yield replace(memory, name=f"{memory.name}@{n}", port=port)


def _nodes(nodes: Sequence[Node], pointers: Mapping[str, Sequence[Memory]]) -> tuple[Node, ...]:
    found: list[Node] = []
    for node in nodes:
        if isinstance(node, Statement):
            found.append(node)
        elif isinstance(node, Loop) and node.requests.spread:
            first = max(b.const for b in node.lowers)
            for port in range(node.trips.maximum):
                names = {a: m[port].name for a, m in pointers.items() if port < len(m)}
                values = {node.iv: Affine((), first + port)}
                found += _copied(node.body, f"@{port}" if port else "", names, values)
        else:
            found.append(replace(node, body=_nodes(node.body, pointers)))
    return tuple(found)


def _copied(nodes: Sequence[Node], tag: str, names: _Renaming, values: _Values) -> Iterator[Node]:
    """Nodes with loops of names of their own, counters in terms of those, and other pointers."""
    for node in nodes:
        match node:
            case Statement():
                ops = tuple(_op(op, names, values) for op in node.ops)
                yield replace(node, ops=ops, target=_access(node.target, names, values))
            case Guard():
                held = tuple(
                    Constraint(c.expr.substitute(values), c.kind) for c in node.constraints
                )
                yield Guard(held, tuple(_copied(node.body, tag, names, values)))
            case Loop():
                iv = node.iv + tag
                yield replace(
                    node, iv=iv,
                    lowers=tuple(b.substitute(values) for b in node.lowers),
                    uppers=tuple(b.substitute(values) for b in node.uppers),
                    body=tuple(_copied(node.body, tag, names, {**values, node.iv: Affine.of(iv)})),
                )  # fmt: skip


def _op(op: Op, names: _Renaming, values: _Values) -> Op:
    return op if op.access is None else replace(op, access=_access(op.access, names, values))


def _access(access: Access, names: _Renaming, values: _Values) -> Access:
    indices = tuple(index.substitute(values) for index in access.indices)
    return replace(access, memory=names.get(access.memory, access.memory), indices=indices)
