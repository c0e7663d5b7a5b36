"""Pooling: from the states of many nodes to one of the loop, or the design, that they are of."""

from __future__ import annotations

from torch import Tensor

from qor_gnn.gnn.graph.geometric import Aggregation

_LEAST = 1e-6  # of the weights of an owner together


class WeightedMean(Aggregation):  # type: ignore[misc] # torch-geometric has no types
    """The mean of the states of each owner by weight; zeros where an owner has none.

    ``y_k = sum over i of k of w_i x_i / sum over i of k of w_i``.
    """

    def forward(
        self,
        x: Tensor,
        index: Tensor | None = None,
        ptr: Tensor | None = None,
        dim_size: int | None = None,
        dim: int = -2,
        *,
        weight: Tensor,
    ) -> Tensor:
        """Shape (n, channels) to (owners, channels).

        Args:
            x: states.
            index: of each its owner, shape (n,).
            ptr: instead of that where each owner's rows begin, shape (owners + 1,).
            dim_size: how many owners there are.
            dim: of the rows.
            weight: of each row, shape (n,), not negative.
        """
        share = weight.unsqueeze(1)
        total: Tensor = self.reduce(x * share, index, ptr, dim_size, dim)
        mass: Tensor = self.reduce(share, index, ptr, dim_size, dim)
        return total / mass.clamp(min=_LEAST)
