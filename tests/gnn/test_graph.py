"""Graphs of designs: what is in them, and that copies do not make them grow."""

import re

import numpy as np
import pytest

import weft
from dse.estimates.estimation import estimated, setting
from dsl.kernels.loader import load
from dsl.schedules.schedule import Schedule
from qor_gnn.gnn.graph.build import design_graph
from qor_gnn.gnn.graph.draw import svg
from qor_gnn.gnn.graph.schema import FEATURES, EdgeType, NodeType
from weft import f32

GEMM = load("examples/polybench/gemm.py:gemm").at("mini")


@weft.kernel
def sums(A: f32[64, 64], x: f32[64], y: f32[64]):
    for i in range(64):
        for j in range(64):
            y[i] += A[i, j] * x[j]


def graph_of(kernel, schedule):
    found = estimated(kernel.program, schedule, setting())
    return design_graph(found.regions, found.setting.tool, found.answer)


def value(graph, kind, row, column):
    return float(graph.nodes[kind][row, FEATURES[kind].index(column)])


def test_nodes_and_edges_of_a_nest():
    graph = graph_of(sums, Schedule())
    assert graph.names[NodeType.OP] == ("load", "load", "load", "mul", "add", "store")
    assert graph.names[NodeType.LOOP] == ("i", "j")
    assert graph.names[NodeType.MEMORY] == ("A", "x", "y")
    op, memory, loop = NodeType.OP, NodeType.MEMORY, NodeType.LOOP
    data = {tuple(p) for p in graph.edges[op, EdgeType.DATA, op].T.tolist()}
    assert data == {(1, 3), (2, 3), (0, 4), (3, 4), (4, 5)}
    assert graph.edges[op, EdgeType.STORE, memory].T.tolist() == [[5, 2]]
    assert graph.edges[loop, EdgeType.HELD, loop].T.tolist() == [[1, 0]]
    assert graph.edges[loop, EdgeType.HELD, NodeType.KERNEL].T.tolist() == [[0, 0]]
    assert graph.region.tolist() == [1] * 6


def test_what_limits_an_interval_is_an_edge():
    pipelined = GEMM.schedules["pipelined"]
    assert (NodeType.OP, EdgeType.CARRIED, NodeType.OP) not in graph_of(GEMM, Schedule()).edges
    graph = graph_of(sums, Schedule.from_json(_pipelined()))
    pairs = graph.edges[NodeType.OP, EdgeType.CARRIED, NodeType.OP].T.tolist()
    assert pairs == [[5, 0]]
    assert graph.distances == pytest.approx(np.log1p([1]))
    row = graph.names[NodeType.LOOP].index("j")
    assert value(graph, NodeType.LOOP, row, "ii") > value(graph, NodeType.LOOP, row, "asked")
    assert graph_of(GEMM, pipelined).names[NodeType.LOOP].count("j") == 2


def _pipelined():
    return (
        '{"schema_version": 1, "kernel": "sums", "steps": '
        '[{"step": "pipeline", "loop": "j", "ii": 1}]}'
    )


def test_copies_are_counted_not_drawn():
    tiled = GEMM.schedules["tiled"]
    plain, wide = graph_of(GEMM, Schedule()), graph_of(load_medium(), tiled)
    assert len(wide.names[NodeType.OP]) == len(plain.names[NodeType.OP])
    column = FEATURES[NodeType.OP].index("multiplicity")
    assert np.expm1(plain.nodes[NodeType.OP][:, column]).max() == pytest.approx(1)
    assert np.expm1(wide.nodes[NodeType.OP][:, column]).max() == pytest.approx(32)


def load_medium():
    return load("examples/polybench/gemm.py:gemm")


def test_loops_of_one_name_keep_their_own_figures():
    graph = graph_of(load_medium(), GEMM.schedules["tiled"])
    rows = [n for n, name in enumerate(graph.names[NodeType.LOOP]) if name == "j"]
    first, second = (value(graph, NodeType.LOOP, n, "depth") for n in rows)
    assert second > first  # two products and a sum against one product


def test_features_are_finite_and_named():
    for name, schedule in GEMM.schedules.items():
        graph = graph_of(GEMM, schedule)
        for kind, columns in FEATURES.items():
            assert graph.nodes[kind].shape == (len(graph.names[kind]), len(columns)), name
            assert np.isfinite(graph.nodes[kind]).all()


def test_the_picture_escapes_names_and_has_every_node():
    graph = graph_of(GEMM, GEMM.schedules["tiled"])
    text = svg(graph)
    assert len(re.findall(r'<rect class="op"', text)) == len(graph.names[NodeType.OP])
    assert "i_1  ·  8 trips  ·  unrolled by 8" in text
    hostile = type(graph)(
        graph.nodes,
        {**graph.names, NodeType.KERNEL: ("<script>alert(1)</script>",)},
        graph.edges,
        graph.distances,
        graph.region,
    )
    assert "<script>" not in svg(hostile)


@weft.kernel
def large(A: f32[1_000_000_000], b: f32[500_000], c: f32[1_048_576]):
    for i in range(1_000_000_000):
        A[i] = b[0] + c[0]


def test_the_picture_says_no_more_digits_of_a_count_than_are_known():
    text = svg(graph_of(large, Schedule()))
    assert "A  1.000e9 words" in text
    assert "b  500,000 words" in text
    assert "c  1.049e6 words" in text
    assert "i  ·  1.000e9 trips" in text
