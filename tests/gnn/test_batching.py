"""Batches of graphs: rows of each graph end up where its edges point."""

import time

import numpy as np
import pytest

from qor_gnn.gnn.graph.schema import EDGES, EdgeType, NodeType
from qor_gnn.gnn.nets.batching import batch, packed, rows_of
from tests.gnn.designs import designs

GRAPHS = [e.graph for kernel in ("gemm", "atax", "gesummv") for e in designs(kernel, 4)]


def test_rows_of_chosen_graphs():
    rows, owner = rows_of(np.array([0, 2, 2, 5]), np.array([2, 0, 2, 1]))
    assert rows.tolist() == [2, 3, 4, 0, 1, 2, 3, 4]
    assert owner.tolist() == [0, 0, 0, 1, 1, 2, 2, 2]


def edges_by_features(graph_nodes, pairs, key):
    """Edges as the features of their ends: the same wherever the rows are."""
    sources, targets = graph_nodes[key[0]][pairs[0]], graph_nodes[key[2]][pairs[1]]
    return np.concatenate([sources, targets], axis=1)


@pytest.mark.parametrize("chosen", [None, [3, 7, 3], [11], []])
def test_a_batch_has_the_graphs_that_were_chosen(chosen):
    picked = range(len(GRAPHS)) if chosen is None else chosen
    found = batch(packed(GRAPHS), None if chosen is None else np.array(chosen, np.int64))
    assert found.size == len(picked)
    nodes = {kind: matrix.numpy() for kind, matrix in found.nodes.items()}
    for kind in NodeType:
        wanted = [GRAPHS[n].nodes[kind] for n in picked]
        empty = GRAPHS[0].nodes[kind][:0]
        assert (nodes[kind] == np.concatenate([empty, *wanted])).all()
        lengths = [len(w) for w in wanted]
        assert found.graph[kind].tolist() == np.repeat(np.arange(len(lengths)), lengths).tolist()
    for key in EDGES:
        pairs = found.edges[key].numpy()
        wanted = [
            edges_by_features(GRAPHS[n].nodes, GRAPHS[n].edges[key], key)
            for n in picked
            if key in GRAPHS[n].edges
        ]
        got = edges_by_features(nodes, pairs, key)
        assert (got == np.concatenate([got[:0], *wanted])).all()
        owners = [found.graph[key[end]].numpy()[pairs[i]] for i, end in ((0, 0), (1, 2))]
        assert (owners[0] == owners[1]).all()


def test_distances_go_with_their_edges():
    key = (NodeType.OP, EdgeType.CARRIED, NodeType.OP)
    with_some = [g for g in GRAPHS if key in g.edges]
    assert with_some
    found = batch(packed(with_some), np.array([0]))
    assert found.distances.tolist() == with_some[0].distances.tolist()
    assert found.edges[key].shape[1] == len(found.distances)


def test_batching_is_fast():
    many = GRAPHS * 50
    start = time.process_time()
    batch(packed(many))
    assert (time.process_time() - start) / len(many) < 5e-4
