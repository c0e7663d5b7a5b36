"""Graphs of many designs as a few large matrices, and any choice of them as one batch.

Per design only references are collected; NumPy does the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from qor_gnn.gnn.graph.build import DesignGraph, Matrix
from qor_gnn.gnn.graph.schema import EDGES, FEATURES, EdgeType, NodeType

if TYPE_CHECKING:
    from torch import Tensor

Indices = npt.NDArray[np.int64]
Edge = tuple[NodeType, EdgeType, NodeType]
_CARRIED = (NodeType.OP, EdgeType.CARRIED, NodeType.OP)


@dataclass(frozen=True, slots=True)
class Packed:
    """Graphs one behind the other. Rows of edges count within their own graph.

    Attributes:
        nodes: of each type the features of all graphs.
        node_at: of each type where each graph's rows begin, shape (graphs + 1,).
        edges: of each of `EDGES` pairs of rows, shape (2, n).
        edge_at: of each of `EDGES` where each graph's begin.
        distances: of the carried edges.
    """

    nodes: Mapping[NodeType, Matrix]
    node_at: Mapping[NodeType, Indices]
    edges: Mapping[Edge, Indices]
    edge_at: Mapping[Edge, Indices]
    distances: Matrix

    def __len__(self) -> int:
        return len(self.node_at[NodeType.KERNEL]) - 1


@dataclass(frozen=True, slots=True)
class Batch:
    """Tensors of a batch of graphs; rows count over the whole batch.

    Attributes:
        nodes: of each type the features of `schema.FEATURES`, shape (nodes, features).
        features: the same as the layers read them; normalised by `Network`.
        graph: of each type the graph that a node is of, shape (nodes,).
        edges: of each of `EDGES` sources and targets, shape (2, n).
        distances: of the carried edges, shape (n,).
        size: number of graphs.
    """

    nodes: Mapping[NodeType, Tensor]
    features: Mapping[NodeType, Tensor]
    graph: Mapping[NodeType, Tensor]
    edges: Mapping[Edge, Tensor]
    distances: Tensor
    size: int


def packed(graphs: Sequence[DesignGraph]) -> Packed:
    """Lay graphs one behind the other."""
    nodes, node_at, edges, edge_at = {}, {}, {}, {}
    for kind, columns in FEATURES.items():
        parts = [g.nodes[kind] for g in graphs]
        nodes[kind] = _joined(parts, np.zeros((0, len(columns)), np.float32))
        node_at[kind] = _starts([len(p) for p in parts])
    none = np.zeros((2, 0), np.int64)
    for key in EDGES:
        pairs = [g.edges.get(key, none) for g in graphs]
        edges[key] = np.concatenate(pairs, axis=1) if pairs else none
        edge_at[key] = _starts([p.shape[1] for p in pairs])
    return Packed(
        nodes,
        node_at,
        edges,
        edge_at,
        _joined([g.distances for g in graphs], np.zeros(0, np.float32)),
    )


def _joined(parts: Sequence[Matrix], none: Matrix) -> Matrix:
    return np.concatenate(parts) if parts else none


def _starts(lengths: Sequence[int] | Indices) -> Indices:
    found = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=found[1:])
    return found


def rows_of(at: Indices, chosen: Indices) -> tuple[Indices, Indices]:
    """The rows of chosen graphs, in that order, and for each its place among the chosen.

    Args:
        at: where each graph's rows begin, shape (graphs + 1,).
        chosen: numbers of graphs, shape (m,).
    """
    lengths = at[chosen + 1] - at[chosen]
    owner = np.repeat(np.arange(len(chosen)), lengths)
    inside = np.arange(len(owner)) - np.repeat(_starts(lengths)[:-1], lengths)
    return at[chosen][owner] + inside, owner


def batch(all_: Packed, chosen: Indices | None = None) -> Batch:
    """Some graphs as tensors.

    Args:
        all_: the graphs.
        chosen: their numbers, shape (m,); None for all.
    """
    import torch

    picked = np.arange(len(all_)) if chosen is None else np.asarray(chosen, np.int64)
    nodes, graph, first = {}, {}, {}
    for kind in NodeType:
        rows, owner = rows_of(all_.node_at[kind], picked)
        matrix = all_.nodes[kind] if chosen is None else all_.nodes[kind][rows]
        nodes[kind], graph[kind] = torch.from_numpy(matrix), torch.from_numpy(owner)
        first[kind] = _starts(np.bincount(owner, minlength=len(picked)))
    edges, carried = {}, None
    for key in EDGES:
        rows, owner = rows_of(all_.edge_at[key], picked)
        pairs = all_.edges[key][:, rows] + np.stack([first[key[0]][owner], first[key[2]][owner]])
        edges[key] = torch.from_numpy(pairs)
        if key == _CARRIED:
            carried = torch.from_numpy(all_.distances[rows])
    assert carried is not None
    return Batch(nodes, nodes, graph, edges, carried, len(picked))
