"""Examples as PyTorch Geometric has them, and batches of them by its loader."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

from qor_gnn.gnn.examples.design_data import LABELLED, DesignDataset, design_data
from qor_gnn.gnn.examples.example import BASE, METRICS
from qor_gnn.gnn.graph.geometric import DataLoader, HeteroData
from qor_gnn.gnn.graph.schema import EDGES, FEATURES, EdgeType, NodeType, relation
from qor_gnn.gnn.training.columns import loaded
from tests.gnn.designs import TOOL, designs

EXAMPLES = [e for kernel in ("gemm", "atax", "gesummv") for e in designs(kernel, 4)]
CARRIED = (NodeType.OP, EdgeType.CARRIED, NodeType.OP)


@pytest.mark.parametrize("example", EXAMPLES[::4], ids=lambda e: e.kernel)
def test_a_design_is_its_graph_with_targets_and_origin(example):
    data = design_data(replace(example, label={"lut": 99.0}, weight=3.0))
    assert data.validate()
    assert data.node_types == [kind.value for kind in NodeType]
    assert data.edge_types == [relation(edge) for edge in EDGES]
    for kind, columns in FEATURES.items():
        assert data[kind.value].x.shape[1] == len(columns)
        assert (data[kind.value].x.numpy() == example.graph.nodes[kind]).all()
    for edge in EDGES:
        pairs = example.graph.edges.get(edge, np.zeros((2, 0), np.int64))
        assert data[relation(edge)].edge_index.tolist() == pairs.tolist()
    found = data[relation(CARRIED)].edge_attr
    assert found.flatten().tolist() == example.graph.distances.tolist()
    lut = METRICS.index("lut")
    assert data.y[0, lut].item() == pytest.approx(np.log1p(99.0))
    assert torch.isnan(data.y).sum() == len(METRICS) - 1
    assert data.base.tolist() == [[example.base[metric] for metric in BASE]]
    assert data.weight.tolist() == [3.0]
    assert data.about["kernel"] == example.kernel
    assert data.about["target"] == TOOL


def test_kinds_of_edges_that_nobody_reads_can_be_left_out():
    (data,) = DesignDataset(EXAMPLES[:1], EDGES[:2])
    assert data.edge_types == [relation(edge) for edge in EDGES[:2]]
    assert data.node_types == [kind.value for kind in NodeType]


def plain(data):
    """The same without what `DesignData` does by itself."""
    found = HeteroData()
    for store in data.stores:
        for key, value in store.items():
            if store._key is None:
                setattr(found, key, value)
            else:
                found[store._key][key] = value
    return found


def test_a_batch_is_that_of_any_heterogeneous_data():
    ours = list(DesignDataset(EXAMPLES))
    (one,), (other,) = (
        list(DataLoader(designs, batch_size=len(EXAMPLES)))
        for designs in (ours, [plain(data) for data in ours])
    )
    for edge in map(relation, EDGES):
        assert torch.equal(one[edge].edge_index, other[edge].edge_index)
    for kind in NodeType:
        assert torch.equal(one[kind.value].x, other[kind.value].x)
        assert torch.equal(one[kind.value].batch, other[kind.value].batch)
    assert one.y.shape == (len(EXAMPLES), len(METRICS))
    for again, data in zip(one.to_data_list(), ours, strict=True):
        for edge in map(relation, EDGES):
            assert torch.equal(again[edge].edge_index, data[edge].edge_index)


def test_a_copy_of_a_design_can_be_batched_after_nodes_were_added():
    first, second = (design_data(EXAMPLES[0]) for _ in range(2))
    loader = DataLoader([first, second], batch_size=2, exclude_keys=[*LABELLED])
    (before,) = loader
    more = copy.copy(first)
    more["op"].x = torch.cat([first["op"].x, first["op"].x[:3]])
    (after,) = DataLoader([more, second], batch_size=2, exclude_keys=[*LABELLED])
    moved = after[relation(EDGES[0])].edge_index - before[relation(EDGES[0])].edge_index
    assert set(moved.flatten().tolist()) == {0, 3}


def test_loading_leaves_the_callers_random_numbers_alone():
    torch.manual_seed(5)
    wanted = torch.rand(3)
    torch.manual_seed(5)
    (batch,) = loaded(EXAMPLES)
    assert torch.equal(torch.rand(3), wanted)
    assert not set(LABELLED) & set(batch.keys())
