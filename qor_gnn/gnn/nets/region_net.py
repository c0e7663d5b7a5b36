"""The region network: operations and memories of each loop's own body, to a state of the loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from qor_gnn.gnn.graph.schema import FEATURES, EdgeType, NodeType
from qor_gnn.gnn.nets.members import MemberLinear, MemberNorm, encoders, side_by_side
from qor_gnn.gnn.nets.relation import Relation, pooled

if TYPE_CHECKING:
    from qor_gnn.gnn.nets.batching import Batch

OP, MEMORY, LOOP = NodeType.OP, NodeType.MEMORY, NodeType.LOOP
DATA = (OP, EdgeType.DATA, OP)
CARRIED = (OP, EdgeType.CARRIED, OP)
LOAD = (MEMORY, EdgeType.LOAD, OP)
STORE = (OP, EdgeType.STORE, MEMORY)
IN_LOOP = (OP, EdgeType.HELD, LOOP)
_UNITS = FEATURES[OP].index("units")


class RegionNet(nn.Module):
    """States of loops from what is in their own bodies.

    In each layer an operation hears of its operands and users, of the memories that it reads and
    writes, of what it depends on iterations earlier, and of its loop; a memory of its accesses.

    Args:
        members: of the ensemble.
        hidden: channels of a member.
        layers: rounds of messages.
    """

    def __init__(self, members: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.members = members
        self.first = encoders((OP, MEMORY, LOOP), members, hidden)
        self.op = nn.ModuleList(MemberLinear(members, 7 * hidden, hidden) for _ in range(layers))
        self.memory = nn.ModuleList(
            MemberLinear(members, 3 * hidden, hidden) for _ in range(layers)
        )
        self.out = MemberLinear(members, 4 * hidden, hidden)
        self.norm = MemberNorm(members)
        self.relation = Relation()

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """States of operations, memories and loops, each of shape (nodes, members * hidden)."""
        op, memory, loop = (
            torch.relu(self.first[kind.value](batch.features[kind])) for kind in (OP, MEMORY, LOOP)
        )
        ops, memories, loops = len(op), len(memory), len(loop)
        edges, mean = batch.edges, self.relation
        back = {key: edges[key].flip(0) for key in (DATA, CARRIED, LOAD, STORE, IN_LOOP)}
        near = torch.exp(-batch.distances)
        around = mean(loop, back[IN_LOOP], ops)
        for of_op, of_memory in zip(self.op, self.memory, strict=True):
            heard = side_by_side(
                self.members,
                op,
                mean(op, edges[DATA], ops),
                mean(op, back[DATA], ops),
                mean(memory, edges[LOAD], ops),
                mean(memory, back[STORE], ops),
                mean(op, edges[CARRIED], ops, near),
                around,
            )
            accessed = side_by_side(
                self.members,
                memory,
                mean(op, back[LOAD], memories),
                mean(op, edges[STORE], memories),
            )
            op = op + torch.relu(of_op(self.norm(heard)))
            memory = memory + torch.relu(of_memory(self.norm(accessed)))
        inside = edges[IN_LOOP]
        units = torch.expm1(batch.nodes[OP][:, _UNITS].clamp(min=0))[inside[0]]
        state = side_by_side(
            self.members,
            loop,
            mean(op, inside, loops),
            pooled(op[inside[0]], inside[1], loops, units),
            pooled(op[inside[0]], inside[1], loops, 1.0 - (units > 0).to(op.dtype)),
        )
        return op, memory, loop + torch.relu(self.out(self.norm(state)))
