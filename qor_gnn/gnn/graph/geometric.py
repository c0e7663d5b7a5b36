"""PyTorch Geometric, as the networks use it; everything else imports it from here.

Importing this imports PyTorch too, which takes seconds: what answers without a network must not.
"""

from __future__ import annotations

import warnings

with warnings.catch_warnings():
    # Importing it scripts functions, which torch 2.13 calls deprecated.
    warnings.filterwarnings("ignore", r"`torch\.jit\.script", DeprecationWarning)
    from torch_geometric.data import Dataset, HeteroData
    from torch_geometric.loader import DataLoader
    from torch_geometric.nn import HeteroConv, SimpleConv
    from torch_geometric.nn.aggr import Aggregation, MeanAggregation

__all__ = (
    "Aggregation",
    "DataLoader",
    "Dataset",
    "HeteroConv",
    "HeteroData",
    "MeanAggregation",
    "SimpleConv",
)
