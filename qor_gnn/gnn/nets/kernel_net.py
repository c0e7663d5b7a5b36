"""The kernel network: loops as super-nodes with the region network's states, to a state of the design."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from qor_gnn.gnn.graph.schema import FEATURES, EdgeType, NodeType
from qor_gnn.gnn.nets.members import MemberLinear, MemberNorm, side_by_side
from qor_gnn.gnn.nets.region_net import RegionNet
from qor_gnn.gnn.nets.relation import Relation, pooled

if TYPE_CHECKING:
    from qor_gnn.gnn.nets.batching import Batch

LOOP, KERNEL = NodeType.LOOP, NodeType.KERNEL
HELD = (LOOP, EdgeType.HELD, LOOP)
NEXT = (LOOP, EdgeType.NEXT, LOOP)
_COPIES = FEATURES[LOOP].index("multiplicity")
_SHARE = FEATURES[LOOP].index("latency_share")


class KernelNet(nn.Module):
    """A state of each design.

    Args:
        members: of the ensemble.
        hidden: channels of a member.
        layers: rounds of messages in regions.
        outer: rounds of messages between loops.
    """

    def __init__(self, members: int, hidden: int, layers: int, outer: int) -> None:
        super().__init__()
        self.members = members
        self.region = RegionNet(members, hidden, layers)
        self.loop = nn.ModuleList(MemberLinear(members, 5 * hidden, hidden) for _ in range(outer))
        self.kernel = MemberLinear(members, len(FEATURES[KERNEL]), hidden, share=True)
        self.out = MemberLinear(members, 6 * hidden, hidden)
        self.norm = MemberNorm(members)
        self.relation = Relation()

    def forward(self, batch: Batch) -> Tensor:
        """Shape (designs, members * hidden)."""
        op, memory, loop = self.region(batch)
        loops, mean = len(loop), self.relation
        held, after = batch.edges[HELD], batch.edges[NEXT]
        for layer in self.loop:
            heard = side_by_side(
                self.members,
                loop,
                mean(loop, held, loops),
                mean(loop, held.flip(0), loops),
                mean(loop, after, loops),
                mean(loop, after.flip(0), loops),
            )
            loop = loop + torch.relu(layer(self.norm(heard)))
        graph, size = batch.graph, batch.size
        raw = batch.nodes[LOOP]
        state = side_by_side(
            self.members,
            torch.relu(self.kernel(batch.features[KERNEL])),
            pooled(loop, graph[LOOP], size),
            pooled(loop, graph[LOOP], size, torch.expm1(raw[:, _COPIES].clamp(min=0))),
            pooled(loop, graph[LOOP], size, raw[:, _SHARE].clamp(min=0)),
            pooled(memory, graph[NodeType.MEMORY], size),
            pooled(op, graph[NodeType.OP], size),
        )
        return torch.relu(self.out(self.norm(state)))
