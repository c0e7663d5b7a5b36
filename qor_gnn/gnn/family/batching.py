"""Graphs of many designs as a few large matrices, and batches of them by gathering rows.

Ranking asks about thousands of designs a second: to make each a graph of its own first, as
`torch_geometric.loader.DataLoader` needs them, would take longer than to ask.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from qor_gnn.gnn.examples.design_data import CARRIED
from qor_gnn.gnn.graph.build import Matrix
from qor_gnn.gnn.graph.geometric import HeteroData
from qor_gnn.gnn.graph.schema import EDGES, Edge, NodeType, relation
from qor_gnn.gnn.training.columns import AT_ONCE

Indices = npt.NDArray[np.int64]


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


def _starts(lengths: Indices) -> Indices:
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


def gathered(all_: Packed) -> Iterator[HeteroData]:
    """Batches of graphs, equal to those of `qor_gnn.gnn.training.columns.loaded`."""
    for first in range(0, len(all_), AT_ONCE):
        yield batch(all_, np.arange(first, min(first + AT_ONCE, len(all_))))


def batch(all_: Packed, chosen: Indices) -> HeteroData:
    """Some graphs as one, as `torch_geometric.data.Batch` has them.

    Args:
        all_: the graphs.
        chosen: their numbers, shape (m,).
    """
    found, first = HeteroData(), {}
    for kind in NodeType:
        rows, owner = rows_of(all_.node_at[kind], chosen)
        store = found[kind.value]
        store.x, store.batch = torch.from_numpy(all_.nodes[kind][rows]), torch.from_numpy(owner)
        first[kind] = _starts(np.bincount(owner, minlength=len(chosen)))
    for key in EDGES:
        rows, owner = rows_of(all_.edge_at[key], chosen)
        pairs = all_.edges[key][:, rows] + np.stack([first[key[0]][owner], first[key[2]][owner]])
        found[relation(key)].edge_index = torch.from_numpy(pairs)
        if key == CARRIED:
            found[relation(key)].edge_attr = torch.from_numpy(all_.distances[rows, None])
    return found
