"""Graphs of many designs, laid out from those of their parts by gathering rows.

The rows of a design are those of its parts one behind the other, as `qor_gnn.gnn.graph.build` numbers them:
only edges between parts, the kernel's and the memories' nodes, and shares of the latency are new.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qor_gnn.batch.gather import Counts, distinct_rows
from qor_gnn.gnn.examples.design_data import CARRIED
from qor_gnn.gnn.family.batching import Packed, rows_of
from qor_gnn.gnn.family.pieces import Floats, Indices, Link, Piece
from qor_gnn.gnn.graph.build import Matrix
from qor_gnn.gnn.graph.schema import EDGES, FEATURES, Edge, EdgeType, NodeType

OP, LOOP, MEMORY, KERNEL = NodeType.OP, NodeType.LOOP, NodeType.MEMORY, NodeType.KERNEL
_SHARE = FEATURES[LOOP].index("latency_share")
_NO_LINK = (np.zeros(0, np.int64), np.zeros((2, 0), np.int64))


@dataclass(frozen=True, slots=True)
class Column:
    """One part of n designs.

    Attributes:
        pieces: the distinct ones.
        index: which of them each design has, shape (n,).
    """

    pieces: Sequence[Piece]
    index: Counts


def columns_of(pieces: Sequence[Sequence[Piece]], rows: Sequence[Counts]) -> list[Column]:
    """The parts of n designs.

    Args:
        pieces: of each part those that are known.
        rows: for each part which of them each design has, shape (n,).
    """
    found = []
    for own, row in zip(pieces, rows, strict=True):
        first, inverse = distinct_rows([row], len(row))
        found.append(Column([own[k] for k in row[first].tolist()], inverse))
    return found


def laid_out(columns: Sequence[Column], memory: Matrix, kernel: Matrix, latency: Floats) -> Packed:
    """The graphs of n designs.

    Args:
        columns: their parts, in order.
        memory: features of arrays, shape (n, arrays, features).
        kernel: of the designs, shape (n, features).
        latency: cycles on average, shape (n,).
    """
    n, arrays = memory.shape[:2]
    nodes = {MEMORY: memory.reshape(n * arrays, -1), KERNEL: kernel}
    node_at = {MEMORY: arrays * np.arange(n + 1), KERNEL: np.arange(n + 1)}
    before: dict[NodeType, Counts] = {}
    for kind in (OP, LOOP):
        sizes = [np.array([len(p.nodes[kind]) for p in c.pieces]) for c in columns]
        layout = _Layout.of([size[c.index] for size, c in zip(sizes, columns, strict=True)])
        node_at[kind], before[kind] = layout.at, layout.before
        found = nodes[kind] = np.empty((layout.at[-1], len(FEATURES[kind])), np.float32)
        cycles = np.empty(len(found))
        for k, column in enumerate(columns):
            taken, owner, inside = _taken(sizes[k], column.index)
            place = (layout.at[:-1] + layout.before[k])[owner] + inside
            found[place] = np.concatenate([p.nodes[kind] for p in column.pieces])[taken]
            if kind is LOOP:
                cycles[place] = np.concatenate([p.cycles for p in column.pieces])[taken]
        if kind is LOOP:
            total = np.repeat(np.maximum(1.0, latency), np.diff(layout.at))
            found[:, _SHARE] = np.minimum(1.0, cycles / total)
    return Packed(nodes, node_at, *_edges(columns, before))


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where rows of parts go.

    Attributes:
        at: where each design's rows begin, shape (n + 1,).
        before: rows of a design's parts in front of each, shape (parts, n).
    """

    at: Indices
    before: Counts

    @staticmethod
    def of(counts: Sequence[Counts]) -> _Layout:
        """Of the rows that each part of each design has, (n,) each."""
        ends = np.cumsum(np.stack(counts), axis=0)
        at = np.zeros(ends.shape[1] + 1, np.int64)
        np.cumsum(ends[-1], out=at[1:])
        return _Layout(at, np.vstack([np.zeros_like(ends[:1]), ends[:-1]]))


def _taken(sizes: Counts, index: Counts) -> tuple[Indices, Indices, Indices]:
    """Rows of the distinct pieces, one behind the other, that designs have: for each its row, its
    design, and its place in its piece.
    """
    at = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=at[1:])
    taken, owner = rows_of(at, index)
    return taken, owner, taken - at[index][owner]


def _edges(
    columns: Sequence[Column], before: dict[NodeType, Counts]
) -> tuple[dict[Edge, Indices], dict[Edge, Indices], Matrix]:
    """Edges of each kind, where each design's begin, and distances of the carried ones."""
    sizes = [np.stack([p.sizes for p in c.pieces]) for c in columns]
    linked_at = [np.stack([p.linked_at for p in c.pieces]) for c in columns]
    links = [_links(columns, before, k) for k in range(len(columns))]
    edges, edge_at = {}, {}
    distances = np.zeros(0, np.float32)
    for n, key in enumerate(EDGES):
        own = [links[k].get(key, _NO_LINK) for k in range(len(columns))]
        linked = [_mask(len(c.index), link[0]) for c, link in zip(columns, own, strict=True)]
        layout = _Layout.of(
            [s[c.index, n] + more for s, c, more in zip(sizes, columns, linked, strict=True)]
        )
        edge_at[key] = layout.at
        pairs = edges[key] = np.empty((2, layout.at[-1]), np.int64)
        if key == CARRIED:
            distances = np.empty(layout.at[-1], np.float32)
        for k, column in enumerate(columns):
            start, cut = layout.at[:-1] + layout.before[k], linked_at[k][column.index, n]
            mine, ends = own[k]
            pairs[:, (start + cut)[mine]] = ends
            if not sizes[k][:, n].any():
                continue
            taken, owner, inside = _taken(sizes[k][:, n], column.index)
            # The link to a part comes when its first node is there: behind the edges in that.
            inside += linked[k][owner] & (inside >= cut[owner])
            place = start[owner] + inside
            rows = np.concatenate([p.edges[n] for p in column.pieces], axis=1)[:, taken]
            for end, kind in ((0, key[0]), (1, key[2])):
                pairs[end, place] = rows[end] + (before[kind][k][owner] if kind in before else 0)
            if key == CARRIED:
                distances[place] = np.concatenate([p.distances for p in column.pieces])[taken]
    return edges, edge_at, distances


def _links(
    columns: Sequence[Column], before: dict[NodeType, Counts], k: int
) -> dict[Edge, tuple[Counts, Indices]]:
    """The edges from the part before to a part, by kind: the designs that have one, and its ends,
    shape (2, designs).
    """
    found: dict[Edge, tuple[Counts, Indices]] = {}
    if k == 0:
        return found
    for source, target in itertools.product((OP, LOOP), repeat=2):
        ends = [
            np.array([_row(p.last, source) for p in columns[k - 1].pieces])[columns[k - 1].index],
            np.array([_row(p.first, target) for p in columns[k].pieces])[columns[k].index],
        ]
        mine = np.flatnonzero((ends[0] >= 0) & (ends[1] >= 0))
        rows = (ends[0] + before[source][k - 1], ends[1] + before[target][k])
        found[source, EdgeType.NEXT, target] = mine, np.stack(rows)[:, mine]
    return found


def _row(link: Link | None, kind: NodeType) -> int:
    """The row of a node of that type, else -1."""
    return link[1] if link is not None and link[0] is kind else -1


def _mask(n: int, chosen: Counts) -> NDArray[np.bool_]:
    found = np.zeros(n, np.bool_)
    found[chosen] = True
    return found
