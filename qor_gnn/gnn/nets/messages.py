"""Messages along the edges of a design, as a heterogeneous convolution over relations.

A node hears from each relation the mean of what its neighbours there are, and tells the means apart:
they are put side by side, and the networks' own layers make a state of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor, nn

from qor_gnn.gnn.graph.geometric import HeteroConv, SimpleConv

Relation = tuple[str, str, str]


def reverse(relation: Relation) -> Relation:
    """The same edges read backwards, as `torch_geometric.transforms.ToUndirected` names them."""
    source, kind, target = relation
    return target, f"rev_{kind}", source


def both_ways(edges: Mapping[Relation, Tensor]) -> dict[Relation, Tensor]:
    """Edges, and the same read backwards: by relation sources and targets, each of shape (2, n)."""
    return dict(edges) | {reverse(one): pairs.flip(0) for one, pairs in edges.items()}


def mean_messages() -> nn.Module:
    """The mean of what comes in: ``y_i = sum over edges (j, i) of w_ji x_j / degree_i``.

    The aggregation of GraphSAGE (Hamilton et al., 2017, "mean"), without a layer of its own.
    """
    found: nn.Module = SimpleConv(aggr="mean")
    return found


def messages(*relations: Relation) -> nn.Module:
    """Of each kind of node the means of its relations, in their order, (n, relations, channels)."""
    found: nn.Module = HeteroConv({one: mean_messages() for one in relations}, aggr=None)
    return found
