"""The baseline without hierarchy: every node of a design alike, one pool over all of them."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from qor_gnn.gnn.graph.geometric import HeteroData, MeanAggregation
from qor_gnn.gnn.graph.schema import EDGES, NodeType, relation
from qor_gnn.gnn.nets.members import MemberLinear, MemberNorm, encoders, side_by_side
from qor_gnn.gnn.nets.messages import mean_messages


class FlatNet(nn.Module):
    """A state of each design, of a graph whose nodes and edges have no types but in features.

    Args:
        members: of the ensemble.
        hidden: channels of a member.
        layers: rounds of messages.
    """

    edges = EDGES

    def __init__(self, members: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.members = members
        self.first = encoders(NodeType, members, hidden)
        self.layers = nn.ModuleList(
            MemberLinear(members, 3 * hidden, hidden) for _ in range(layers)
        )
        self.out = MemberLinear(members, hidden, hidden)
        self.norm = MemberNorm(members)
        self.messages, self.mean = mean_messages(), MeanAggregation()

    def forward(self, features: Mapping[str, Tensor], batch: HeteroData) -> Tensor:
        """Shape (designs, members * hidden).

        Args:
            features: of each kind of node, normalised.
            batch: the designs.
        """
        state = torch.cat([self.first[kind.value](features[kind.value]) for kind in NodeType])
        edges, owner = _together(batch)
        for layer in self.layers:
            heard = self.messages(state, edges), self.messages(state, edges.flip(0))
            mixed = self.norm(side_by_side(self.members, state, *heard))
            state = state + torch.relu(layer(mixed))
        size = len(batch[NodeType.KERNEL.value].x)
        return torch.relu(self.out(self.norm(self.mean(state, owner, dim_size=size))))


def _together(batch: HeteroData) -> tuple[Tensor, Tensor]:
    """All edges among all nodes, and each node's design."""
    first, below = {}, 0
    for kind in NodeType:
        first[kind] = below
        below += len(batch[kind.value].x)
    edges = [
        batch[relation(key)].edge_index + torch.tensor([[first[key[0]]], [first[key[2]]]])
        for key in EDGES
    ]
    return torch.cat(edges, dim=1), torch.cat([batch[kind.value].batch for kind in NodeType])
