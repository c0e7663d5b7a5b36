"""Rows of packed arguments end in padding, which is copied with them: the conditions that leave it out are none of
the hardware's.

In C++ all lanes of a word are copied, where the copy on the chip has room for them (`mlir_passes.emit.words`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from dsl.expressions.affine import Affine, Constraint
from polyhedral.looptree.bounds import Bounds
from polyhedral.looptree.extremes import Scope, minimum
from qor_gnn.design.region import Access, Guard, Kernel, Loop, Memory, Node, Statement


def padded(kernel: Kernel) -> Kernel:
    """The kernel whose words are copied whole."""
    memories = {m.name: m for m in kernel.memories}
    if not any(_lanes(m) for m in kernel.memories):
        return kernel
    functions = tuple(
        replace(f, body=tuple(_nodes(f.body, memories, Scope(), ""))) for f in kernel.functions
    )
    return replace(kernel, functions=functions)


def _nodes(
    nodes: tuple[Node, ...], memories: Mapping[str, Memory], scope: Scope, lane: str
) -> Iterator[Node]:
    """The nodes in the loops of a scope, the innermost over ``lane``."""
    for node in nodes:
        match node:
            case Loop():
                inner = scope.inside(node.iv, Bounds(node.lowers, node.uppers, node.step))
                yield replace(node, body=tuple(_nodes(node.body, memories, inner, node.iv)))
            case Guard(constraints, body):
                held = tuple(_nodes(body, memories, scope, lane))
                ends = _ends(body, memories, scope, lane)
                left = [_at_first(c, lane) if c in ends else c for c in constraints]
                kept = tuple(c for c in left if not _always(c, scope))
                if kept:
                    yield Guard(kept, held)
                else:
                    yield from held
            case Statement():
                yield node


def _lanes(memory: Memory) -> int:
    return memory.port.lanes if memory.port is not None else 0


def _ends(
    nodes: tuple[Node, ...], memories: Mapping[str, Memory], scope: Scope, lane: str
) -> set[Constraint]:
    """That the lanes of statements are in their rows, where the other ones may be copied, too."""
    found = set()
    for node in nodes:
        if not isinstance(node, Statement):
            return set()
        accesses = list(_accesses(node))
        packed = [a for a in accesses if _lanes(memories[a.memory])]
        last = max((_lanes(memories[a.memory]) for a in packed), default=0) - 1
        if not all(a in packed or _has_room(a, memories, scope, lane, last) for a in accesses):
            return set()
        for access in packed:
            row = memories[access.memory].shape[-1]
            found.add(Constraint(Affine((), row - 1) - access.indices[-1], ">="))
    return found


def _has_room(
    access: Access, memories: Mapping[str, Memory], scope: Scope, lane: str, last: int
) -> bool:
    """Whether a memory has an element for the last lane of each word, too."""
    for index, extent in zip(access.indices, memories[access.memory].shape, strict=True):
        room = Affine((), extent - 1) - index.substitute({lane: Affine((), last)})
        if not _always(Constraint(room, ">="), scope):
            return False
    return True


def _accesses(node: Statement) -> Iterator[Access]:
    yield node.target
    yield from (op.access for op in node.ops if op.kind == "load" and op.access is not None)


def _at_first(constraint: Constraint, lane: str) -> Constraint:
    """The constraint for the first lane."""
    return Constraint(constraint.expr.substitute({lane: Affine()}), constraint.kind)


def _always(constraint: Constraint, scope: Scope) -> bool:
    """Whether it holds in all iterations of the loops around."""
    least = minimum(constraint.expr, scope)
    return constraint.kind == ">=" and least is not None and least >= 0
