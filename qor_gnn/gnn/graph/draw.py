"""A design's graph as SVG: loops as boxes, operations in them, memories beside."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from math import expm1

import numpy as np

from qor_gnn.gnn.graph.build import DesignGraph
from qor_gnn.gnn.graph.schema import FEATURES, EdgeType, NodeType

_CHIP, _ROW, _PAD, _HEAD, _GAP = 96, 26, 12, 22, 70
_STYLE = """
svg { font: 12px system-ui, sans-serif; background: #ffffff; color: #1d2530; }
.box { fill: #4c78a81a; stroke: #4c78a8; } .pipeline { fill: #54a24b22; stroke: #54a24b; }
.op { fill: #ffffff; stroke: #8a94a3; } .memory { fill: #f5851826; stroke: #f58518; }
text { fill: currentColor; } .head { font-weight: 600; } .note { fill: #667085; }
path { fill: none; stroke: #8a94a3; } .load, .store { stroke: #f58518; stroke-opacity: .6; }
.carried { stroke: #d62728; stroke-width: 1.6; stroke-dasharray: 4 3; }
@media (prefers-color-scheme: dark) { svg { background: #14181f; color: #e6e9ee; }
.op { fill: #1d2530; } .note { fill: #98a2b3; } }
"""


@dataclass(slots=True)
class _Canvas:
    """Parts of the picture, and where each node's middle is."""

    graph: DesignGraph
    boxes: list[str] = field(default_factory=list)
    chips: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    at: dict[tuple[NodeType, int], tuple[float, float]] = field(default_factory=dict)

    def value(self, kind: NodeType, row: int, column: str) -> float:
        """A feature of a node."""
        return float(self.graph.nodes[kind][row, FEATURES[kind].index(column)])

    def count(self, kind: NodeType, row: int, column: str) -> int:
        """What a feature is the logarithm of."""
        return round(expm1(self.value(kind, row, column)))

    def counted(self, kind: NodeType, row: int, column: str) -> str:
        """The same as text, as far as it is known: features are in single precision."""
        count = self.count(kind, row, column)
        off = (count + 1) * float(np.spacing(np.float32(self.value(kind, row, column)))) / 2
        if off < 0.5:
            return f"{count:,}"
        digits, _, power = f"{count:.3e}".partition("e")
        return f"{digits}e{int(power)}"


def svg(graph: DesignGraph) -> str:
    """The picture, one self-contained SVG document."""
    canvas = _Canvas(graph)
    inside = _children(graph)
    y, width = float(_PAD), 0.0
    for row in inside.get(-1, ()):
        w, h = _loop(canvas, inside, row, _PAD, y)
        y, width = y + h + _PAD, max(width, w)
    width, y = _loose(canvas, width, y)
    right = width + _GAP + 2 * _PAD
    height = max(y, _memories(canvas, right))
    _edges(canvas)
    total = right + 2 * _CHIP + _PAD
    title = escape(graph.names[NodeType.KERNEL][0])
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total:.0f} {height:.0f}" '
            f'width="{total:.0f}" height="{height:.0f}" role="img">',
            f"<title>{title}</title><style>{_STYLE}</style>",
            *canvas.boxes,
            *canvas.lines,
            *canvas.chips,
            "</svg>",
        ]
    )


def _children(graph: DesignGraph) -> dict[int, list[int]]:
    """The loops in each loop, in order; -1 is the kernel."""
    found: dict[int, list[int]] = {}
    held = graph.edges.get((NodeType.LOOP, EdgeType.HELD, NodeType.LOOP))
    inner = {int(a): int(b) for a, b in held.T} if held is not None else {}
    for row in range(len(graph.names[NodeType.LOOP])):
        found.setdefault(inner.get(row, -1), []).append(row)
    return found


def _loop(
    canvas: _Canvas, inside: dict[int, list[int]], row: int, x: float, y: float
) -> tuple[float, float]:
    """A loop's box with all that is in it; its size."""
    top = y + _HEAD
    width, height = _ops(canvas, row, x + _PAD, top)
    top += height
    for child in inside.get(row, ()):
        w, h = _loop(canvas, inside, child, x + _PAD, top)
        width, top = max(width, w), top + h + _PAD / 2
    head = _heading(canvas, row)
    whole = max(width + 2 * _PAD, 7.0 * len(head))
    size = top - y + _PAD / 2
    style = "pipeline" if canvas.value(NodeType.LOOP, row, "pipelined") else "box"
    canvas.boxes.insert(
        0, f'<rect class="{style}" x="{x:.0f}" y="{y:.0f}" width="{whole:.0f}" '
        f'height="{size:.0f}" rx="6"/>'
    )  # fmt: skip
    canvas.chips.append(
        f'<text class="head" x="{x + 8:.0f}" y="{y + 15:.0f}">{escape(head)}</text>'
    )
    canvas.at[NodeType.LOOP, row] = (x, y + _HEAD / 2)
    return whole, size


def _heading(canvas: _Canvas, row: int) -> str:
    def counted(column: str) -> str:
        return canvas.counted(NodeType.LOOP, row, column)

    parts = [canvas.graph.names[NodeType.LOOP][row], f"{counted('trips')} trips"]
    if canvas.value(NodeType.LOOP, row, "pipelined"):
        parts.append(f"II {counted('ii')}, depth {counted('depth')}")
    if canvas.count(NodeType.LOOP, row, "unroll") > 1:
        parts.append(f"unrolled by {counted('unroll')}")
    return "  ·  ".join(parts)


def _ops(canvas: _Canvas, row: int, x: float, y: float) -> tuple[float, float]:
    """The operations of a loop's own body by their place on the path; the size they take."""
    graph = canvas.graph
    mine = [n for n, region in enumerate(graph.region) if region == row]
    columns: dict[int, int] = {}
    width = height = 0.0
    for n in mine:
        depth = canvas.count(NodeType.OP, n, "depth") - 1
        line = columns.get(depth, 0)
        columns[depth] = line + 1
        left, top = x + depth * (_CHIP + 22), y + line * (_ROW + 6)
        copies = canvas.counted(NodeType.OP, n, "multiplicity")
        bits = round(64 * canvas.value(NodeType.OP, n, "width"))
        label = f"{graph.names[NodeType.OP][n]} {bits}" + (
            f" ×{copies}" if copies not in ("0", "1") else ""
        )
        _chip(canvas, NodeType.OP, n, label, left, top)
        width, height = max(width, left + _CHIP - x), max(height, top + _ROW + 6 - y)
    return width, height


def _chip(
    canvas: _Canvas, kind: NodeType, row: int, label: str, x: float, y: float, wide: float = _CHIP
) -> None:
    canvas.at[kind, row] = (x + wide / 2, y + _ROW / 2)
    canvas.chips.append(
        f'<rect class="{kind.value}" x="{x:.0f}" y="{y:.0f}" width="{wide:.0f}" height="{_ROW}" '
        f'rx="5"/><text x="{x + wide / 2:.0f}" y="{y + 17:.0f}" text-anchor="middle">'
        f"{escape(label)}</text>"
    )


def _loose(canvas: _Canvas, width: float, y: float) -> tuple[float, float]:
    """Operations outside of all loops."""
    w, h = _ops(canvas, -1, _PAD, y)
    return max(width, w + _PAD), y + h


def _memories(canvas: _Canvas, x: float) -> float:
    y = float(_PAD)
    for row, name in enumerate(canvas.graph.names[NodeType.MEMORY]):
        words, banks = (canvas.counted(NodeType.MEMORY, row, c) for c in ("words", "banks"))
        label = f"{name}  {words} words" + (f", {banks} banks" if banks not in ("0", "1") else "")
        _chip(canvas, NodeType.MEMORY, row, label, x, y, 2 * _CHIP)
        y += _ROW + _PAD
    return y


def _edges(canvas: _Canvas) -> None:
    for (source, kind, target), pairs in canvas.graph.edges.items():
        if kind in (EdgeType.HELD, EdgeType.NEXT):
            continue
        for a, b in pairs.T:
            (x0, y0), (x1, y1) = canvas.at[source, int(a)], canvas.at[target, int(b)]
            bend = (y0 + y1) / 2 - 34 if kind is EdgeType.CARRIED else (y0 + y1) / 2
            middle = (x0 + x1) / 2
            canvas.lines.append(
                f'<path class="{kind.value}" d="M{x0:.0f} {y0:.0f} Q{middle:.0f} {bend:.0f} '
                f'{x1:.0f} {y1:.0f}"/>'
            )
