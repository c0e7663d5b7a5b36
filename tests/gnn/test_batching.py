"""Batches gathered for ranking are those of PyTorch Geometric's loader."""

import time

import numpy as np
import pytest
import torch

from qor_gnn.gnn.examples.terms import fit_terms
from qor_gnn.gnn.family.batching import Packed, batch, gathered, rows_of
from qor_gnn.gnn.graph.schema import EDGES, FEATURES, EdgeType, NodeType, relation
from qor_gnn.gnn.nets.network import Network, Shape
from qor_gnn.gnn.training.columns import columns_of, loaded
from tests.gnn.designs import TOOL, designs

EXAMPLES = [e for kernel in ("gemm", "atax", "gesummv") for e in designs(kernel, 4)]
CARRIED = (NodeType.OP, EdgeType.CARRIED, NodeType.OP)


def starts(lengths):
    return np.cumsum([0, *lengths])


def packed(examples) -> Packed:
    """The graphs of examples one behind the other."""
    graphs = [e.graph for e in examples]
    none = np.zeros((2, 0), np.int64)
    pairs = {key: [g.edges.get(key, none) for g in graphs] for key in EDGES}
    return Packed(
        {kind: np.concatenate([g.nodes[kind] for g in graphs]) for kind in FEATURES},
        {kind: starts([len(g.nodes[kind]) for g in graphs]) for kind in FEATURES},
        {key: np.concatenate(pairs[key], axis=1) for key in EDGES},
        {key: starts([p.shape[1] for p in pairs[key]]) for key in EDGES},
        np.concatenate([g.distances for g in graphs]),
    )


def test_rows_of_chosen_graphs():
    rows, owner = rows_of(np.array([0, 2, 2, 5]), np.array([2, 0, 2, 1]))
    assert rows.tolist() == [2, 3, 4, 0, 1, 2, 3, 4]
    assert owner.tolist() == [0, 0, 0, 1, 1, 2, 2, 2]


def same(found, wanted):
    for kind in NodeType:
        for name in ("x", "batch"):
            assert torch.equal(found[kind.value][name], wanted[kind.value][name]), (kind, name)
    for edge in EDGES:
        key = relation(edge)
        assert torch.equal(found[key].edge_index, wanted[key].edge_index), key
    assert torch.equal(found[relation(CARRIED)].edge_attr, wanted[relation(CARRIED)].edge_attr)


@pytest.mark.parametrize("chosen", [list(range(12)), [3, 7, 3], [11]])
def test_a_gathered_batch_is_that_of_the_loader(chosen):
    (wanted,) = loaded([EXAMPLES[n] for n in chosen])
    same(batch(packed(EXAMPLES), np.array(chosen)), wanted)


def test_no_designs_are_an_empty_batch():
    found = batch(packed(EXAMPLES), np.zeros(0, np.int64))
    assert all(len(found[kind.value].x) == 0 for kind in NodeType)


@pytest.mark.parametrize("flat", [False, True])
def test_a_network_says_the_same_of_both(flat):
    torch.manual_seed(0)
    net = Network(Shape(members=2, hidden=6, flat=flat)).eval()
    with torch.no_grad():
        for parameter in net.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    columns = columns_of(EXAMPLES, [fit_terms(EXAMPLES)] * 2, [TOOL])
    (one,), (other,) = list(gathered(packed(EXAMPLES))), list(loaded(EXAMPLES, net.edges))
    with torch.no_grad():
        found = net(columns.put_on(one, slice(None)))
        wanted = net(columns.put_on(other, slice(None)))
    assert wanted[0].abs().max() > 1e-3
    assert all(torch.equal(a, b) for a, b in zip(found, wanted, strict=True))


def test_more_designs_than_a_batch_holds_are_in_several(monkeypatch):
    for module in ("qor_gnn.gnn.family.batching", "qor_gnn.gnn.training.columns"):
        monkeypatch.setattr(f"{module}.AT_ONCE", 5)
    pairs = list(zip(gathered(packed(EXAMPLES)), loaded(EXAMPLES), strict=True))
    assert len(pairs) == 3
    for found, wanted in pairs:
        same(found, wanted)


def test_gathering_is_fast():
    many = packed(EXAMPLES * 40)
    start = time.process_time()
    list(gathered(many))
    assert (time.process_time() - start) / len(many) < 5e-4
