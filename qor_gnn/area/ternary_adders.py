"""Adders of three operands: two additions of integers in one state, of which one is all that takes the other.

The tool makes one carry chain of both, and books each with as many LUTs as it has bits (reports of public projects of
2020.1 to 2025.2: docs/lab/resources.md, Small designs).
"""

from __future__ import annotations

from qor_gnn.area.modules import Leaf

_SUMS = ("add", "sub")


def three_operands(leaf: Leaf) -> int:
    """LUTs that additions have less for it than adders of two operands."""
    body, graph, start = leaf.body, leaf.body.graph, leaf.times.start
    if body.personality.is_open:  # its carry chains have two operands
        return 0
    kept = set(body.registers.values())
    paired: set[int] = set()
    saved = 0
    for n in body.nodes:
        if n in paired or not _logic(leaf, n):
            continue
        for d in graph.deps[n]:
            sole = [after for after, _ in body.succs[d]] == [n] and d not in kept
            if d in paired or not sole or not _logic(leaf, d) or start.get(d) != start[n]:
                continue
            paired |= {d, n}
            saved += _less(leaf, d) + _less(leaf, n)
            break
    return saved


def _logic(leaf: Leaf, n: int) -> bool:
    """An addition or subtraction of integers that is an adder of its own."""
    operator = leaf.body.graph.operator[n]
    sums = leaf.body.graph.kind[n] in _SUMS
    return sums and operator is not None and operator.width > 0 and not operator.shared


def _less(leaf: Leaf, n: int) -> int:
    operator = leaf.body.graph.operator[n]
    assert operator is not None, "it is logic"
    return max(
        0, operator.lut - leaf.body.personality.operator("ternary", "int", operator.width).lut
    )
