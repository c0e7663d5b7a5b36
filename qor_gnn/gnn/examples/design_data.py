"""Examples as PyTorch Geometric has them: a heterogeneous graph, its targets, and where it is from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from qor_gnn.gnn.examples.example import BASE, METRICS, Example
from qor_gnn.gnn.graph.geometric import Dataset, HeteroData
from qor_gnn.gnn.graph.schema import EDGES, Edge, EdgeType, NodeType, relation

CARRIED = (NodeType.OP, EdgeType.CARRIED, NodeType.OP)
ABOUT = ("target", "kernel", "family", "group", "part", "name")
LABELLED = ("y", "base", "weight", "about")
"""What is known of an example beside its graph; no network reads it."""

_NO_EDGES = torch.zeros((2, 0), dtype=torch.int64)


class DesignData(HeteroData):  # type: ignore[misc] # torch-geometric has no types
    """A design: a node type for each `NodeType`, an edge type for each of `EDGES`, with edges or not.

    Attributes:
        x: of each node type, columns of `schema.FEATURES`, shape (nodes, features).
        edge_index: of each edge type, sources and targets, shape (2, edges).
        edge_attr: of the carried edges, columns of `schema.EDGE_FEATURES`, shape (edges, 1).
        y: ``log1p`` of what the tool said of `METRICS`, NaN where there is no label, (1, metrics).
        base: what the white box says of `BASE`, shape (1, metrics).
        weight: equal designs that it stands for, shape (1,).
        about: by names of `ABOUT`, where it is from; never an input.
    """

    def __inc__(self, key: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        """By how much rows move behind this design in a batch.

        HeteroData looks that up by way of all its stores, and makes a tensor of it, for each edge type
        of each design each time, which takes most of the time of making a batch.
        """
        if key != "edge_index":
            return 0
        edge, nodes = args[0]._key, self._node_store_dict
        size = len(nodes[edge[0]]["x"]), len(nodes[edge[2]]["x"])
        known = self.__dict__.setdefault("_moves", {}).get(edge)
        if known is None or known[0] != size:
            known = self.__dict__["_moves"][edge] = size, torch.tensor(size).unsqueeze(1)
        return known[1]


def design_data(example: Example, edges: Sequence[Edge] = EDGES) -> DesignData:
    """A labelled design, or one to ask about (then ``y`` is NaN), as the networks read it.

    Args:
        example: the design.
        edges: the kinds of edges to have; the rest is left out.
    """
    data, graph = DesignData(), example.graph
    for kind in NodeType:
        data[kind.value].x = torch.tensor(graph.nodes[kind])
    for edge in edges:
        pairs, store = graph.edges.get(edge), data[relation(edge)]
        store.edge_index = _NO_EDGES if pairs is None else torch.tensor(pairs)
        if edge == CARRIED:
            store.edge_attr = torch.tensor(graph.distances).unsqueeze(1)
    label = np.array([[example.label.get(metric, np.nan) for metric in METRICS]])
    data.y = torch.from_numpy(np.log1p(np.maximum(label, 0.0)))
    data.base = torch.tensor([[example.base[metric] for metric in BASE]], dtype=torch.float64)
    data.weight = torch.tensor([example.weight], dtype=torch.float64)
    data.about = {name: getattr(example, name) for name in ABOUT}
    return data


class DesignDataset(Dataset):  # type: ignore[misc] # torch-geometric has no types
    """Examples as a data set; each is made when it is asked for.

    Args:
        examples: labelled designs, or ones to ask about.
        edges: the kinds of edges to have.
    """

    def __init__(self, examples: Sequence[Example], edges: Sequence[Edge] = EDGES) -> None:
        super().__init__()
        self.examples, self.edges = examples, edges

    def len(self) -> int:
        """How many there are."""
        return len(self.examples)

    def get(self, idx: int) -> DesignData:
        """One of them."""
        return design_data(self.examples[idx], self.edges)
