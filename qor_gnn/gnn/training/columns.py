"""What is read of designs beside their graphs: the tool, the white box's figures, labels.

It depends on who asks: each predictor has fitted what resource terms cost by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from qor_gnn.gnn.examples.design_data import LABELLED, DesignData, DesignDataset
from qor_gnn.gnn.examples.example import METRICS, Example, Floats, column
from qor_gnn.gnn.examples.targets import Start, clock_of, rows_of_targets, starts
from qor_gnn.gnn.examples.terms import TermModel
from qor_gnn.gnn.graph.geometric import DataLoader, HeteroData
from qor_gnn.gnn.graph.schema import EDGES, Edge

AT_ONCE = 512
"""Designs that a network is asked about at a time."""


@dataclass(frozen=True, slots=True)
class Columns:
    """A row for each of n designs.

    Attributes:
        starts: the white box's figures, as each member counts them.
        tool, clock, shares: see `Network.forward`.
        label: ``log1p`` of each metric, NaN where there is no label, shape (n, metrics).
    """

    starts: tuple[Start, ...]
    tool: Tensor
    clock: Tensor
    shares: Tensor
    label: Floats

    def base(self) -> Floats:
        """``log1p`` of what is corrected, as each member counts it, (n, members, metrics)."""
        return np.stack([s.base for s in self.starts], axis=1)

    def put_on(self, batch: HeteroData, rows: slice | Sequence[int]) -> HeteroData:
        """Some rows, on the graphs of the same designs."""
        batch.tool, batch.clock = self.tool[rows], self.clock[rows]
        batch.shares = self.shares[rows]
        return batch


def columns_of(
    examples: Sequence[Example], terms: Sequence[TermModel], targets: Sequence[str]
) -> Columns:
    """Examples as the networks read them, but for the graphs.

    Args:
        examples: the designs.
        terms: what resource terms cost, as each member counts it.
        targets: the tools that have a row.
    """
    clocks = {name: np.log(clock_of(name)) for name in {e.target for e in examples}}
    label = np.stack([column(examples, m) for m in METRICS], axis=1)
    found = starts(examples, terms)
    return Columns(
        found,
        torch.from_numpy(rows_of_targets(examples, targets)),
        torch.tensor([clocks[e.target] for e in examples], dtype=torch.float32),
        torch.from_numpy(np.stack([s.shares for s in found], axis=1)).float(),
        np.log1p(np.maximum(label, 0.0)),
    )


def loaded(examples: Sequence[Example], edges: Sequence[Edge] = EDGES) -> Iterator[HeteroData]:
    """The graphs of designs, `AT_ONCE` of them in a batch, with some kinds of edges."""
    designs = DesignDataset(examples, edges)
    yield from loader(designs, batch_size=AT_ONCE, exclude_keys=[*LABELLED])


def loader(designs: DesignDataset | Sequence[DesignData], **options: object) -> DataLoader:
    """A loader of batches of designs.

    Args:
        designs: the data set.
        options: of `torch_geometric.loader.DataLoader`.
    """
    # A generator of its own: the caller's random numbers are not to depend on what is asked.
    return DataLoader(designs, generator=torch.Generator(), **options)
