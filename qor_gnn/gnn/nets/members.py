"""Layers of several networks at once: the members of an ensemble, side by side in the channels.

A node's state has shape (nodes, members * hidden): the members of an ensemble share the gathering
and scattering of messages, and each has weights of its own.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from qor_gnn.gnn.graph.schema import FEATURES, NodeType


class MemberLinear(nn.Module):
    """One linear layer for each member.

    Args:
        members: of the ensemble.
        inputs: of one member, or of all where they ``share`` them.
        outputs: of one member.
        share: all members read the same input, of shape (n, inputs).
        zero: begin with weights of 0.
    """

    def __init__(
        self, members: int, inputs: int, outputs: int, *, share: bool = False, zero: bool = False
    ) -> None:
        super().__init__()
        self.members, self.share = members, share
        scale = 0.0 if zero else (1.0 / max(1, inputs)) ** 0.5
        self.weight = nn.Parameter(torch.randn(members, inputs, outputs) * scale)
        self.bias = nn.Parameter(torch.zeros(members * outputs))

    def forward(self, x: Tensor) -> Tensor:
        """Shape (n, members * inputs), or (n, inputs) where shared, to (n, members * outputs)."""
        if self.share:
            flat = self.weight.permute(1, 0, 2).reshape(self.weight.shape[1], -1)
            return torch.addmm(self.bias, x, flat)
        found = torch.bmm(_apart(x, self.members).transpose(0, 1), self.weight).transpose(0, 1)
        return found.reshape(len(x), len(self.bias)) + self.bias


def encoders(kinds: Iterable[NodeType], members: int, hidden: int) -> nn.ModuleDict:
    """For each kind of node, by the kind's value, the layer from its features to its state."""
    return nn.ModuleDict(
        {
            kind.value: MemberLinear(members, len(FEATURES[kind]), hidden, share=True)
            for kind in kinds
        }
    )


class MemberNorm(nn.Module):
    """Layer normalisation of each member's own channels, without parameters."""

    def __init__(self, members: int) -> None:
        super().__init__()
        self.members = members

    def forward(self, x: Tensor) -> Tensor:
        """Shape (n, members * hidden), as before."""
        apart = _apart(x, self.members)
        return nn.functional.layer_norm(apart, apart.shape[-1:]).view(x.shape)


def side_by_side(members: int, *parts: Tensor) -> Tensor:
    """Channels of several states, member by member, shape (n, members * all).

    Args:
        members: of the ensemble.
        parts: of shape (n, members * any), or several in one, of shape (n, parts, members * any).
    """
    together = torch.cat([_apart(p, members) for p in parts], dim=2)
    return together.reshape(len(parts[0]), members * together.shape[2])


def _apart(x: Tensor, members: int) -> Tensor:
    """Shape (n, members * any) to (n, members, any), of no rows too: a design may have no loop."""
    if x.dim() == 3:
        rows, parts, width = x.shape
        several = x.view(rows, parts, members, width // members).transpose(1, 2)
        return several.reshape(rows, members, parts * width // members)
    return x.view(len(x), members, x.shape[1] // members)
