"""Messages along one kind of edges: the mean of what comes in."""

from __future__ import annotations

import warnings

from torch import Tensor

with warnings.catch_warnings():
    # Importing it scripts functions, which torch 2.13 calls deprecated.
    warnings.filterwarnings("ignore", r"`torch\.jit\.script", DeprecationWarning)
    from torch_geometric.nn import MessagePassing
    from torch_geometric.utils import scatter


class Relation(MessagePassing):  # type: ignore[misc] # torch-geometric has no types
    """The mean of the sources' states: ``y_i = sum over edges (j, i) of w_ji x_j / degree_i``.

    The aggregation of GraphSAGE (Hamilton et al., 2017, "mean"); linear layers are the caller's, so
    that several relations share one.
    """

    def __init__(self) -> None:
        super().__init__(aggr="mean")

    def forward(
        self, x: Tensor, edges: Tensor, targets: int, weight: Tensor | None = None
    ) -> Tensor:
        """Shape (sources, channels) to (targets, channels).

        Args:
            x: states of the sources.
            edges: sources and targets, shape (2, n).
            targets: how many there are.
            weight: of each edge, shape (n,).
        """
        found: Tensor = self.propagate(edges, x=(x, None), weight=weight, size=(len(x), targets))
        return found

    def message(self, x_j: Tensor, weight: Tensor | None) -> Tensor:
        """What each edge carries, shape (n, channels)."""
        return x_j if weight is None else x_j * weight.unsqueeze(1)


def pooled(x: Tensor, owner: Tensor, count: int, weight: Tensor | None = None) -> Tensor:
    """The mean of the states of each owner, by weight; zeros where an owner has none.

    Args:
        x: shape (n, channels).
        owner: of each, shape (n,).
        count: of owners.
        weight: of each, shape (n,), not negative.
    """
    if weight is None:
        mean: Tensor = scatter(x, owner, dim_size=count, reduce="mean")
        return mean
    total: Tensor = scatter(x * weight.unsqueeze(1), owner, dim_size=count)
    mass: Tensor = scatter(weight, owner, dim_size=count).clamp(min=1e-6)
    return total / mass.unsqueeze(1)
