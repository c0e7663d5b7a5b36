"""The whole network: normalised features, a body with or without hierarchy, and the heads."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from qor_gnn.gnn.graph.geometric import HeteroData
from qor_gnn.gnn.graph.schema import FEATURES, Edge, NodeType
from qor_gnn.gnn.nets.flat_net import FlatNet
from qor_gnn.gnn.nets.heads import Heads
from qor_gnn.gnn.nets.kernel_net import KernelNet

_FAR = 4.0  # standard deviations: what is farther out than anything learned from is held there


@dataclass(frozen=True, slots=True)
class Shape:
    """The size of a network.

    Attributes:
        members: of the ensemble.
        hidden: channels of each.
        layers: rounds of messages inside of loops' bodies (of the flat network: in all).
        outer: rounds of messages between loops as super-nodes.
        flat: without hierarchy, the baseline.
        targets: tools with a row of their own.
    """

    members: int = 5
    hidden: int = 24
    layers: int = 2
    outer: int = 2
    flat: bool = False
    targets: int = 1


class Network(nn.Module):
    """Corrections of the white box, and logarithms of the scales of their errors."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        members, hidden = shape.members, shape.hidden
        self.body: KernelNet | FlatNet
        if shape.flat:
            self.body = FlatNet(members, hidden, shape.layers)
        else:
            self.body = KernelNet(members, hidden, shape.layers, shape.outer)
        self.heads = Heads(members, hidden, shape.targets)
        for kind, columns in FEATURES.items():
            self.register_buffer(f"mean_{kind.value}", torch.zeros(len(columns)))
            self.register_buffer(f"scale_{kind.value}", torch.ones(len(columns)))

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The kinds of edges that messages go along."""
        return self.body.edges

    def normalise_as(self, nodes: Mapping[str, Tensor]) -> None:
        """Take the features' means and scales from those of all nodes, by kind."""
        for kind, features in nodes.items():
            if len(features):
                wide = features.double()
                spread = wide.std(dim=0, correction=0)
                self.get_buffer(f"mean_{kind}").copy_(wide.mean(dim=0))
                # A feature that never changes says nothing until it does; then not too much.
                self.get_buffer(f"scale_{kind}").copy_(spread.clamp(min=0.05))

    def forward(self, batch: HeteroData) -> tuple[Tensor, Tensor]:
        """Two tensors of shape (n, members, metrics).

        Args:
            batch: n designs, each a `qor_gnn.gnn.examples.design_data.DesignData`, and of each

                - ``tool``: row of its tool, 0 for one that is not known, shape (n,);
                - ``clock``: logarithm of its clock period in ns, shape (n,);
                - ``shares``: of LUT and FF by term, as each member counts them, shape
                  (n, members, 2, terms).
        """
        features: Mapping[str, Tensor] = {
            kind.value: (
                (batch[kind.value].x - self.get_buffer(f"mean_{kind.value}"))
                / self.get_buffer(f"scale_{kind.value}")
            ).clamp(-_FAR, _FAR)
            for kind in NodeType
        }
        state = self.body(features, batch)
        found: tuple[Tensor, Tensor] = self.heads(state, batch.tool, batch.clock, batch.shares)
        return found


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Sums in one order, whatever the number of cores; small matrices gain nothing by more."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
