"""The networks: what they start from, what they depend on, and that members stay apart."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from qor_gnn.gnn.examples.example import METRICS
from qor_gnn.gnn.examples.targets import MOST, clock_of, rows_of_targets, starts
from qor_gnn.gnn.examples.terms import TermModel, fit_terms
from qor_gnn.gnn.graph.schema import FEATURES, NodeType
from qor_gnn.gnn.nets.members import MemberLinear, MemberNorm, side_by_side
from qor_gnn.gnn.nets.messages import both_ways, mean_messages, messages, reverse
from qor_gnn.gnn.nets.network import Network, Shape
from qor_gnn.gnn.nets.readout import WeightedMean
from qor_gnn.gnn.training.columns import columns_of, loaded
from tests.gnn.designs import TOOL, designs

EXAMPLES = [*designs("gemm", 6), *designs("atax", 6)]
TERMS = fit_terms(EXAMPLES)
SHAPES = [Shape(members=2, hidden=6), Shape(members=2, hidden=6, flat=True)]


def network(shape):
    torch.manual_seed(0)
    net = Network(shape)
    net.normalise_as(inputs(EXAMPLES).x_dict)
    return net


def inputs(examples):
    (batch,) = loaded(examples)
    return columns_of(examples, [TERMS] * 2, [TOOL]).put_on(batch, slice(None))


def moved(net, examples):
    with torch.no_grad():
        return net(inputs(examples))[0].numpy()


def stirred(net):
    """Every weight another one, so that nothing is 0 by how it begins."""
    with torch.no_grad():
        for parameter in net.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    return net


@pytest.mark.parametrize("shape", SHAPES)
def test_an_untrained_network_is_the_white_box(shape):
    assert np.abs(moved(network(shape), EXAMPLES)).max() < 1e-6


@pytest.mark.parametrize("shape", SHAPES)
def test_a_design_is_answered_the_same_in_any_company(shape):
    net = stirred(network(shape))
    together = moved(net, EXAMPLES)
    assert np.abs(together).max() > 1e-3
    for n in (0, 7):
        assert moved(net, [EXAMPLES[n]])[0] == pytest.approx(together[n], abs=1e-5)
    assert moved(net, EXAMPLES[::-1])[::-1] == pytest.approx(together, abs=1e-5)


def with_feature(example, kind, row, column, value):
    matrix = example.graph.nodes[kind].copy()
    matrix[row, FEATURES[kind].index(column)] = value
    return replace(
        example, graph=replace(example.graph, nodes={**example.graph.nodes, kind: matrix})
    )


@pytest.mark.parametrize(
    ("kind", "column"),
    [(NodeType.OP, "lut"), (NodeType.MEMORY, "banks"), (NodeType.LOOP, "ii"),
     (NodeType.KERNEL, "loops")],
)  # fmt: skip
def test_every_kind_of_node_counts(kind, column):
    net = stirred(network(SHAPES[0]))
    before = moved(net, EXAMPLES[:1])
    after = moved(net, [with_feature(EXAMPLES[0], kind, 0, column, 3.0)])
    assert np.abs(after - before).max() > 1e-5


def test_what_is_far_from_everything_learned_is_held_near():
    net = stirred(network(SHAPES[0]))
    far, farther = (
        moved(net, [with_feature(EXAMPLES[0], NodeType.KERNEL, 0, "loops", v)]) for v in (1e3, 1e6)
    )
    assert (far == farther).all()


def test_members_do_not_touch_each_other():
    net = stirred(network(SHAPES[0]))
    moves, scales = net(inputs(EXAMPLES))
    (moves[:, 0].sum() + scales[:, 0].sum()).backward()
    for name, parameter in net.named_parameters():
        if parameter.grad is None:
            continue
        if name.endswith("weight"):
            assert (parameter.grad[1] == 0).all(), name
        elif name.endswith("bias"):
            assert (parameter.grad.view(2, -1)[1] == 0).all(), name


def test_a_term_that_costs_more_moves_the_sum_by_its_share():
    net = network(SHAPES[0])
    columns = columns_of(EXAMPLES, [TERMS] * 2, [TOOL])
    with torch.no_grad():
        net.heads.costs[1, :, 0, 4] = 0.3  # of the LUT terms the fifth, of the one tool known
    move = moved(net, EXAMPLES)
    factor = math.exp(1.5 * math.tanh(0.3 / 1.5))
    share = columns.starts[0].shares[:, 0, 4]
    lut = METRICS.index("lut")
    assert move[:, 0, lut] == pytest.approx(np.log(1 + share * (factor - 1)), abs=1e-5)
    assert np.abs(np.delete(move, lut, axis=2)).max() < 1e-6


def test_a_tool_that_is_not_known_has_no_row():
    net = network(SHAPES[0])
    with torch.no_grad():
        net.heads.costs += 0.5
    assert rows_of_targets(EXAMPLES, ["another", TOOL])[0] == 2
    others = [replace(e, target="mine") for e in EXAMPLES]
    assert rows_of_targets(others, [TOOL]).max() == 0
    assert np.abs(moved(net, EXAMPLES)).max() > 0.1
    assert np.abs(moved(net, others)).max() < 1e-6
    assert clock_of("mine") == clock_of(TOOL) == 10


def test_the_start_is_the_sum_of_the_terms():
    (found,) = starts(EXAMPLES, [TERMS])
    assert found.shares.shape == (12, 2, MOST)
    assert found.shares.sum(axis=2) == pytest.approx(np.ones((12, 2)))
    lut = np.expm1(found.base[:, METRICS.index("lut")])
    assert lut == pytest.approx(TERMS.parts(EXAMPLES, "lut").sum(axis=1))
    nothing, _ = starts(EXAMPLES, [TermModel(), TERMS])
    assert (nothing.shares.max(axis=2) == 1).all()
    plain = np.expm1(nothing.base[:, METRICS.index("ff")])
    assert plain == pytest.approx([e.base["ff"] for e in EXAMPLES])


def test_the_mean_of_what_comes_in():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    edges = torch.tensor([[0, 1, 2], [1, 1, 0]])
    mean = mean_messages()
    assert mean(x, edges).tolist() == [[5, 6], [2, 3], [0, 0]]
    assert mean(x, edges, torch.tensor([1.0, 0.0, 2.0])).tolist() == [[10, 12], [0.5, 1], [0, 0]]
    assert mean((x, x[:2]), edges[:, :0]).tolist() == [[0, 0], [0, 0]]


def test_messages_of_relations_are_side_by_side():
    states = {"a": torch.tensor([[1.0], [2.0]]), "b": torch.tensor([[4.0]])}
    ways = both_ways({("a", "to", "b"): torch.tensor([[0, 1], [0, 0]]),
                      ("b", "of", "b"): torch.tensor([[0], [0]])})  # fmt: skip
    assert reverse(("a", "to", "b")) == ("b", "rev_to", "a")
    heard = messages(("b", "rev_of", "b"), ("a", "to", "b"), ("b", "rev_to", "a"))(states, ways)
    assert heard["b"].tolist() == [[[4], [1.5]]]
    assert heard["a"].tolist() == [[[4]], [[4]]]


def test_the_mean_by_weight():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    owner, weight = torch.tensor([0, 0, 2]), torch.tensor([1.0, 3.0, 1.0])
    found = WeightedMean()(x, owner, dim_size=3, weight=weight)
    assert found.tolist() == [[2.5, 3.5], [0, 0], [5, 6]]


def pipelined(example):
    column = FEATURES[NodeType.LOOP].index("pipelined")
    return bool(example.graph.nodes[NodeType.LOOP][:, column].any())


@pytest.mark.parametrize("kind", ["pipelined", "sequential"])
def test_loops_of_each_kind_have_a_network_of_their_own(kind):
    net = stirred(network(SHAPES[0]))
    before = moved(net, EXAMPLES)
    with torch.no_grad():
        for parameter in net.body.inner_loops.get_submodule(kind).parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    change = np.abs(moved(net, EXAMPLES) - before).max(axis=(1, 2))
    some = np.array([pipelined(e) for e in EXAMPLES])
    assert some.any()
    assert not some.all()
    if kind == "pipelined":
        assert (change[~some] == 0).all()
        assert (change[some] > 1e-6).all()
    else:
        assert (change[~some] > 1e-6).all()


def test_layers_of_members_are_those_of_each():
    torch.manual_seed(1)
    x = torch.randn(5, 2 * 3)
    layer = MemberLinear(2, 3, 4)
    parts = [x[:, 3 * m : 3 * m + 3] @ layer.weight[m] for m in range(2)]
    assert torch.allclose(layer(x), torch.cat(parts, dim=1), atol=1e-6)
    shared = MemberLinear(2, 3, 4, share=True)
    parts = [x[:, :3] @ shared.weight[m] for m in range(2)]
    assert torch.allclose(shared(x[:, :3]), torch.cat(parts, dim=1), atol=1e-6)
    normal = MemberNorm(2)(x).view(5, 2, 3)
    assert torch.allclose(normal.mean(dim=2), torch.zeros(5, 2), atol=1e-6)
    mixed = side_by_side(2, x, 10 * x).view(5, 2, 6)
    assert torch.equal(mixed[:, 1], torch.cat([x[:, 3:], 10 * x[:, 3:]], dim=1))
    stacked = side_by_side(2, x, torch.stack([10 * x, 100 * x], dim=1))
    assert torch.equal(stacked, side_by_side(2, x, 10 * x, 100 * x))
    nothing = x[:0]
    assert layer(nothing).shape == (0, 8)
    assert MemberNorm(2)(nothing).shape == nothing.shape
    assert side_by_side(2, nothing, nothing).shape == (0, 12)
