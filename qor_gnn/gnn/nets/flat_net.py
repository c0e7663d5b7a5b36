"""The baseline without hierarchy: every node of a design alike, one pool over all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from qor_gnn.gnn.graph.schema import EDGES, NodeType
from qor_gnn.gnn.nets.members import MemberLinear, MemberNorm, encoders, side_by_side
from qor_gnn.gnn.nets.relation import Relation, pooled

if TYPE_CHECKING:
    from qor_gnn.gnn.nets.batching import Batch


class FlatNet(nn.Module):
    """A state of each design, of a graph whose nodes and edges have no types but in features.

    Args:
        members: of the ensemble.
        hidden: channels of a member.
        layers: rounds of messages.
    """

    def __init__(self, members: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.members = members
        self.first = encoders(NodeType, members, hidden)
        self.layers = nn.ModuleList(
            MemberLinear(members, 3 * hidden, hidden) for _ in range(layers)
        )
        self.out = MemberLinear(members, hidden, hidden)
        self.norm = MemberNorm(members)
        self.relation = Relation()

    def forward(self, batch: Batch) -> Tensor:
        """Shape (designs, members * hidden)."""
        state = torch.cat([self.first[kind.value](batch.features[kind]) for kind in NodeType])
        edges, owner = _together(batch)
        count, mean = len(state), self.relation
        for layer in self.layers:
            heard = side_by_side(
                self.members, state, mean(state, edges, count), mean(state, edges.flip(0), count)
            )
            state = state + torch.relu(layer(self.norm(heard)))
        return torch.relu(self.out(self.norm(pooled(state, owner, batch.size))))


def _together(batch: Batch) -> tuple[Tensor, Tensor]:
    """All edges among all nodes, and each node's design."""
    first, below = {}, 0
    for kind in NodeType:
        first[kind] = below
        below += len(batch.features[kind])
    edges = [batch.edges[key] + torch.tensor([[first[key[0]]], [first[key[2]]]]) for key in EDGES]
    return torch.cat(edges, dim=1), torch.cat([batch.graph[kind] for kind in NodeType])
