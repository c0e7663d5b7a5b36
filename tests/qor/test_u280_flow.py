"""FIFO dataflow designs of streamhls-u280 as programs, and their labels."""

from __future__ import annotations

import numpy as np
import pytest

from dsl.arrays.inputs import random_inputs
from dsl.errors.errors import ScheduleError
from dsl.interp import run
from polyhedral.codegen.generate import loop_tree
from polyhedral.schedule import apply
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.estimate import estimate
from qor_gnn.fit.labelled import u280_flow
from qor_gnn.fit.labelled.u280 import PERSONALITY
from qor_gnn.fit.labelled.u280_flow import KERNELS, Shape, all_orders, designs, orders, shapes_of
from qor_gnn.fit.labelled.u280_flow_program import flow_design
from qor_gnn.result.qor_estimate import QorEstimate
from tests.support.labelled import labelled

FOLDER = labelled("streamhls-u280")


def untiled(kernel: str, *sums: str, fabric: bool = False) -> dict[str, Shape]:
    chosen = all_orders(kernel, sums)
    return {name: Shape(x, dict.fromkeys(x, 1), fabric) for name, x in chosen.items()}


def answer(kernel: str, shapes: dict[str, Shape], streams: str) -> QorEstimate:
    program, schedule = flow_design(kernel, shapes, streams.split())
    return estimate(kernel_of_tree(loop_tree(apply(program, schedule))), PERSONALITY)


# Cycles of co-simulation. The tool's own reports are 1% and 0.5% (2mm), 100% and 60% (atax) less:
# they let the second product begin with the first one's first iteration.
@pytest.mark.parametrize(
    ("kernel", "sums", "streams", "fabric", "cosim"),
    [
        ("2mm", "jki jil", "tmp v w", False, 7561670),
        ("2mm", "ijk ilj", "tmp v w", True, 30254881),
        ("atax", "ji ij", "copy tmp y", False, 319441),
        ("atax", "ij ji", "tmp y", True, 1277665),
        ("gesummv", "ji ji", "tmp w y", False, 62531),
    ],
)
def test_the_true_first_word_gives_the_cycles_of_cosimulation(
    kernel: str, sums: str, streams: str, fabric: bool, cosim: int
) -> None:
    found = answer(kernel, untiled(kernel, *sums.split(), fabric=fabric), streams)
    assert found.latency.average == pytest.approx(cosim, rel=1e-4)


def test_other_orders_are_no_streams() -> None:
    with pytest.raises(ScheduleError, match="W218"):
        answer("2mm", untiled("2mm", "ikj", "jil"), "tmp v w")


def test_a_design_computes_its_kernel() -> None:
    tile = {"node3": {"i": 10, "j": 5}, "node2": {"i": 10, "j": 5}}
    shapes = {n: Shape("ji", t) for n, t in tile.items()}
    shapes |= {n: Shape("i", {"i": 10}) for n in ("node1", "node0")}
    program, schedule = flow_design("gesummv", shapes, ("tmp", "y", "w"))
    assert apply(program, schedule).dataflow is not None
    given = random_inputs(program, 3)
    v = {name: np.asarray(x, np.float64) for name, x in given.items()}
    wanted = v["alpha"] * (v["A_node3"] @ v["x_node3"]) + v["beta"] * (v["B_node2"] @ v["x_node2"])
    np.testing.assert_allclose(run(program, given)["out"], wanted, rtol=1e-3, atol=1e-2)


def test_every_design_has_tiles() -> None:
    found = list(designs(FOLDER))
    assert len(found) == 7 * len(KERNELS)
    for design in found:
        _, nodes = KERNELS[design.kernel]
        for node in nodes:
            row, tile = design.rows[node.name], design.shapes[node.name].tile
            copies = np.prod([tile[x] for x in node.loops])
            if node.total:
                assert row.n_fmul in (0, copies)


@pytest.mark.slow
def test_the_order_is_the_fastest_legal_one() -> None:
    design = next(d for d in designs(FOLDER) if d.label.design.endswith("2560_DSPs/opt2"))
    assert design.kernel == "2mm"
    latencies = {}
    for chosen in orders(design.kernel, design.rows):
        shapes = shapes_of(design.kernel, design.rows, chosen)
        try:
            found = answer(design.kernel, shapes, " ".join(design.streams))
        except ScheduleError:  # its streams are none
            continue
        latencies[" ".join(chosen[n] for n in ("node3", "node2"))] = found.latency.average
    listed = u280_flow.ORDERS["2mm"][design.label.design]
    assert latencies[listed] == min(latencies.values())


@pytest.mark.parametrize("name", ["2560_DSPs/opt3", "2560_DSPs/opt4", "9024_DSPs/opt5"])
def test_sums_of_sixteen_and_twenty_five_terms(name: str) -> None:
    design = next(d for d in designs(FOLDER) if (d.kernel, d.label.design) == ("mvt", name))
    found = answer(design.kernel, dict(design.shapes), " ".join(design.streams))
    assert found.latency.average == pytest.approx(design.label.cosim_cycles, rel=0.01)


def test_a_nest_of_93_statements_in_tiles_is_proven_in_order():
    """Thousands of pairs are asked for where no other way of building the loops is left."""
    shapes = {
        "node3": Shape("ikj", {"i": 9, "j": 10, "k": 7}, fabric=True),
        "node2": Shape("ijl", {"i": 9, "l": 11, "j": 10}, fabric=True),
        "node1": Shape("il", {"i": 9, "l": 11}, fabric=False),
        "node0": Shape("il", {"i": 9, "l": 11}, fabric=False),
    }
    program, schedule = flow_design("2mm", shapes, ("v", "tmp", "w"))
    tree = loop_tree(apply(program, schedule))
    assert len(list(tree.program.statements())) > 93
