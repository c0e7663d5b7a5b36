"""The whole network: normalised features, a body with or without hierarchy, and the heads."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from qor_gnn.gnn.graph.schema import FEATURES, NodeType
from qor_gnn.gnn.nets.flat_net import FlatNet
from qor_gnn.gnn.nets.heads import Heads
from qor_gnn.gnn.nets.kernel_net import KernelNet

if TYPE_CHECKING:
    from qor_gnn.gnn.nets.batching import Batch, Packed

_FAR = 4.0  # standard deviations: what is farther out than anything learned from is held there


@dataclass(frozen=True, slots=True)
class Shape:
    """The size of a network.

    Attributes:
        members: of the ensemble.
        hidden: channels of each.
        layers: rounds of messages inside of regions (of the flat network: in all).
        outer: rounds of messages between loops.
        flat: without hierarchy, the baseline.
        targets: tools with a row of their own.
    """

    members: int = 5
    hidden: int = 24
    layers: int = 2
    outer: int = 2
    flat: bool = False
    targets: int = 1


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a network reads of n designs.

    Attributes:
        graphs: of the designs.
        target: row of each one's tool, 0 for one that is not known, shape (n,).
        clock: logarithm of each one's clock period in ns, shape (n,).
        shares: of LUT and FF by term, as each member counts them, shape (n, members, 2, terms).
    """

    graphs: Batch
    target: Tensor
    clock: Tensor
    shares: Tensor


class Network(nn.Module):
    """Corrections of the white box, and logarithms of the scales of their errors."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        members, hidden = shape.members, shape.hidden
        self.body: nn.Module
        if shape.flat:
            self.body = FlatNet(members, hidden, shape.layers)
        else:
            self.body = KernelNet(members, hidden, shape.layers, shape.outer)
        self.heads = Heads(members, hidden, shape.targets)
        for kind, columns in FEATURES.items():
            self.register_buffer(f"mean_{kind.value}", torch.zeros(len(columns)))
            self.register_buffer(f"scale_{kind.value}", torch.ones(len(columns)))

    def normalise_as(self, graphs: Packed) -> None:
        """Take the features' means and scales from graphs."""
        for kind in NodeType:
            features = torch.from_numpy(graphs.nodes[kind]).double()
            if len(features):
                spread = features.std(dim=0, correction=0)
                self.get_buffer(f"mean_{kind.value}").copy_(features.mean(dim=0))
                # A feature that never changes says nothing until it does; then not too much.
                self.get_buffer(f"scale_{kind.value}").copy_(spread.clamp(min=0.05))

    def forward(self, inputs: Inputs) -> tuple[Tensor, Tensor]:
        """Two tensors of shape (n, members, metrics)."""
        nodes: Mapping[NodeType, Tensor] = {
            kind: (
                (features - self.get_buffer(f"mean_{kind.value}"))
                / self.get_buffer(f"scale_{kind.value}")
            ).clamp(-_FAR, _FAR)
            for kind, features in inputs.graphs.nodes.items()
        }
        graphs = replace(inputs.graphs, features=nodes)
        state = self.body(graphs)
        found: tuple[Tensor, Tensor] = self.heads(state, inputs.target, inputs.clock, inputs.shares)
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
