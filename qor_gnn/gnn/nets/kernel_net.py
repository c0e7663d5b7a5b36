"""The kernel network: loops as super-nodes with their networks' states, to a state of the design."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from qor_gnn.gnn.graph.geometric import HeteroData, MeanAggregation
from qor_gnn.gnn.graph.schema import FEATURES, Edge, EdgeType, NodeType, relation
from qor_gnn.gnn.nets import inner_loops
from qor_gnn.gnn.nets.inner_loops import InnerLoops
from qor_gnn.gnn.nets.members import MemberLinear, MemberNorm, side_by_side
from qor_gnn.gnn.nets.messages import both_ways, messages, reverse
from qor_gnn.gnn.nets.readout import WeightedMean

OP, MEMORY, LOOP, KERNEL = (kind.value for kind in NodeType)
EDGES_READ: tuple[Edge, ...] = (
    (NodeType.LOOP, EdgeType.HELD, NodeType.LOOP),
    (NodeType.LOOP, EdgeType.NEXT, NodeType.LOOP),
)
"""The kinds of edges that messages go along between super-nodes."""

HELD, NEXT = map(relation, EDGES_READ)
_WAYS = (HELD, reverse(HELD), NEXT, reverse(NEXT))
_COPIES = FEATURES[NodeType.LOOP].index("multiplicity")
_SHARE = FEATURES[NodeType.LOOP].index("latency_share")


class KernelNet(nn.Module):
    """A state of each design, from the super-nodes of its loops.

    Args:
        members: of the ensemble.
        hidden: channels of a member.
        layers: rounds of messages in bodies of loops.
        outer: rounds of messages between super-nodes.
    """

    edges = (*inner_loops.EDGES_READ, *EDGES_READ)

    def __init__(self, members: int, hidden: int, layers: int, outer: int) -> None:
        super().__init__()
        self.members = members
        self.inner_loops = InnerLoops(members, hidden, layers)
        heard = len(_WAYS) + 1
        self.super_node = nn.ModuleList(
            MemberLinear(members, heard * hidden, hidden) for _ in range(outer)
        )
        self.kernel = MemberLinear(members, len(FEATURES[NodeType.KERNEL]), hidden, share=True)
        self.out = MemberLinear(members, 6 * hidden, hidden)
        self.norm = MemberNorm(members)
        self.messages = messages(*_WAYS)
        self.mean, self.weighted = MeanAggregation(), WeightedMean()

    def forward(self, features: Mapping[str, Tensor], batch: HeteroData) -> Tensor:
        """Shape (designs, members * hidden).

        Args:
            features: of each kind of node, normalised.
            batch: the designs.
        """
        op, memory, loop = self.inner_loops(features, batch)
        ways = both_ways({key: batch[key].edge_index for key in (HELD, NEXT)})
        for layer in self.super_node:
            heard = self.messages({LOOP: loop}, ways)[LOOP]
            mixed = self.norm(side_by_side(self.members, loop, heard))
            loop = loop + torch.relu(layer(mixed))
        raw, owner, size = batch[LOOP].x, batch[LOOP].batch, len(batch[KERNEL].x)
        copies = torch.expm1(raw[:, _COPIES].clamp(min=0))
        share = raw[:, _SHARE].clamp(min=0)
        state = side_by_side(
            self.members,
            torch.relu(self.kernel(features[KERNEL])),
            self.mean(loop, owner, dim_size=size),
            self.weighted(loop, owner, dim_size=size, weight=copies),
            self.weighted(loop, owner, dim_size=size, weight=share),
            self.mean(memory, batch[MEMORY].batch, dim_size=size),
            self.mean(op, batch[OP].batch, dim_size=size),
        )
        return torch.relu(self.out(self.norm(state)))
