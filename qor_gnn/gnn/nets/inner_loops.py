"""The networks of inner loops: operations and memories of each loop's body, to a super-node.

As in the paper (Gao et al., "Hierarchical source-to-post-route QoR prediction in high-level synthesis
with GNNs", DATE 2024) loops that are pipelined and loops that are not each have a network of their
own: operators of a pipeline are there once an interval, those of a sequential loop are shared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from qor_gnn.gnn.graph.geometric import HeteroData, MeanAggregation
from qor_gnn.gnn.graph.schema import FEATURES, Edge, EdgeType, NodeType, relation
from qor_gnn.gnn.nets.members import MemberLinear, MemberNorm, encoders, side_by_side
from qor_gnn.gnn.nets.messages import both_ways, mean_messages, messages, reverse
from qor_gnn.gnn.nets.readout import WeightedMean

OP, MEMORY, LOOP = NodeType.OP, NodeType.MEMORY, NodeType.LOOP
EDGES_READ: tuple[Edge, ...] = (
    (OP, EdgeType.DATA, OP),
    (OP, EdgeType.CARRIED, OP),
    (MEMORY, EdgeType.LOAD, OP),
    (OP, EdgeType.STORE, MEMORY),
    (OP, EdgeType.HELD, LOOP),
)
"""The kinds of edges that messages go along here."""

DATA, CARRIED, LOAD, STORE, IN_LOOP = map(relation, EDGES_READ)
_UNITS = FEATURES[OP].index("units")
_PIPELINED = FEATURES[LOOP].index("pipelined")
_OF_OP = (DATA, reverse(DATA), LOAD, reverse(STORE), CARRIED)
_OF_MEMORY = (reverse(LOAD), STORE)


class InnerLoopNet(nn.Module):
    """The layers of one kind of inner loops.

    Args:
        members: of the ensemble.
        hidden: channels of a member.
        layers: rounds of messages.
    """

    def __init__(self, members: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.first = encoders((OP, LOOP), members, hidden)
        heard = len(_OF_OP) + 2  # beside itself, and its loop
        self.op = nn.ModuleList(
            MemberLinear(members, heard * hidden, hidden) for _ in range(layers)
        )
        self.out = MemberLinear(members, 4 * hidden, hidden)


class InnerLoops(nn.Module):
    """Super-nodes: states of loops from what is in their own bodies.

    In each layer an operation hears of its operands and users, of the memories that it reads and
    writes, of what it depends on iterations earlier, and of its loop; a memory, which loops share,
    of its accesses. What is in no pipeline is sequential.

    Args:
        members: of the ensemble.
        hidden: channels of a member.
        layers: rounds of messages.
    """

    def __init__(self, members: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.members = members
        self.pipelined = InnerLoopNet(members, hidden, layers)
        self.sequential = InnerLoopNet(members, hidden, layers)
        self.first = encoders((MEMORY,), members, hidden)
        heard = len(_OF_MEMORY) + 1
        self.memory = nn.ModuleList(
            MemberLinear(members, heard * hidden, hidden) for _ in range(layers)
        )
        self.norm = MemberNorm(members)
        self.messages = messages(*_OF_OP, *_OF_MEMORY)
        self.around = mean_messages()
        self.mean, self.weighted = MeanAggregation(), WeightedMean()

    def forward(
        self, features: Mapping[str, Tensor], batch: HeteroData
    ) -> tuple[Tensor, Tensor, Tensor]:
        """States of operations, memories and super-nodes, each of shape (nodes, members * hidden).

        Args:
            features: of each kind of node, normalised.
            batch: the designs.
        """
        edges = batch.edge_index_dict
        inside, owner = edges[IN_LOOP]
        ops, loops = _kinds(batch, inside, owner)
        one, other = self.pipelined, self.sequential
        op, loop = (
            torch.relu(kinds.through(features[kind], one.first[kind], other.first[kind]))
            for kind, kinds in ((OP.value, ops), (LOOP.value, loops))
        )
        memory = torch.relu(self.first[MEMORY.value](features[MEMORY.value]))
        ways = both_ways({key: edges[key] for key in map(relation, EDGES_READ)})
        near = {CARRIED: torch.exp(-batch[CARRIED].edge_attr)}
        around = self.around((loop, op), ways[reverse(IN_LOOP)])
        for of_one, of_other, of_memory in zip(one.op, other.op, self.memory, strict=True):
            states = {OP.value: op, MEMORY.value: memory}
            heard = self.messages(states, ways, edge_weight_dict=near)
            mixed = self.norm(side_by_side(self.members, op, heard[OP.value], around))
            accessed = self.norm(side_by_side(self.members, memory, heard[MEMORY.value]))
            op = op + torch.relu(ops.through(mixed, of_one, of_other))
            memory = memory + torch.relu(of_memory(accessed))
        units = torch.expm1(batch[OP.value].x[inside, _UNITS].clamp(min=0))
        body, count = op.index_select(0, inside), len(loop)
        state = side_by_side(
            self.members,
            loop,
            self.mean(body, owner, dim_size=count),
            self.weighted(body, owner, dim_size=count, weight=units),
            self.weighted(body, owner, dim_size=count, weight=1.0 - (units > 0).to(op.dtype)),
        )
        return op, memory, loop + torch.relu(loops.through(self.norm(state), one.out, other.out))


@dataclass(frozen=True, slots=True)
class _Kinds:
    """Which nodes are of pipelined loops, and which are of others.

    Attributes:
        pipelined, sequential: rows of nodes.
        place: of each node where it is with both one behind the other.
    """

    pipelined: Tensor
    sequential: Tensor
    place: Tensor

    @staticmethod
    def of(pipelined: Tensor) -> _Kinds:
        """By whether each node is of a pipelined loop, shape (n,)."""
        one, other = (torch.nonzero(mask).flatten() for mask in (pipelined, ~pipelined))
        return _Kinds(one, other, torch.argsort(torch.cat((one, other))))

    def through(self, x: Tensor, pipelined: nn.Module, sequential: nn.Module) -> Tensor:
        """Each node through the layer of its kind, shape (n, any)."""
        parts = (
            pipelined(x.index_select(0, self.pipelined)),
            sequential(x.index_select(0, self.sequential)),
        )
        return torch.cat(parts).index_select(0, self.place)


def _kinds(batch: HeteroData, inside: Tensor, owner: Tensor) -> tuple[_Kinds, _Kinds]:
    """Kinds of operations, and of loops.

    Args:
        batch: the designs.
        inside: operations that are in a loop, shape (n,).
        owner: the loop of each of those.
    """
    loops = batch[LOOP.value].x[:, _PIPELINED] > 0.5
    ops = torch.zeros(len(batch[OP.value].x), dtype=torch.bool)
    ops[inside] = loops[owner]
    return _Kinds.of(ops), _Kinds.of(loops)
