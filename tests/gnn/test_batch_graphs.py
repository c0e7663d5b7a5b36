"""Graphs of families: every design is the one that `design` draws, composed or not."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import weft
from dsl.errors.errors import ScheduleError
from dsl.kernels.loader import load
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from qor_gnn.batch.family import Family, family, written_unrolls
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.estimate import estimate
from qor_gnn.gnn.examples.example import METRICS, Example
from qor_gnn.gnn.examples.terms import TERMS, amounts_of
from qor_gnn.gnn.family.graphs import MOST, FamilyGraphs, GraphBatch, predict_family
from qor_gnn.gnn.family.pool import FamilyPool
from qor_gnn.gnn.training.baselines import WhiteBox
from qor_gnn.gnn.training.ensemble import structure
from qor_gnn.gnn.training.predict import design
from qor_gnn.gnn.training.weights import load as load_weights
from qor_gnn.gnn.training.weights import shipped
from tests.qor.batch_designs import (
    constants_and_scalars,
    copies_of_pipelines,
    sequential_nests,
)
from tests.qor.test_batch import triangle, unrolled
from weft import f32

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "polybench"
ZU9EG, U280 = "vitis-2022.1-zu9eg-10ns", "vitis-2023.2-u280-3.33ns"


def polybench(kernel: str, schedule: Schedule | None = None, **sizes: int) -> Family:
    """At the smallest size, or at one that more factors divide."""
    whole = load(f"{EXAMPLES / kernel}.py:{kernel}")
    found = whole.at(**sizes) if sizes else whole.at("mini")
    return family(found.program, schedule or found.schedules["tiled"])


def atax() -> Family:
    """Two products in a nest of their own, one of them with a statement in front of its loop."""
    s = ScheduleBuilder()
    s.distribute(["S2"])
    s.pipeline("S0.i")
    s.unroll("S0.i", 2)
    s.pipeline("S2.j")
    s.unroll("S2.j", 2)
    s.split("S3.i", 2)
    s.interchange("S3.i_1", "S3.j")
    s.pipeline("S3.j")
    s.unroll("S3.i_1")
    s.partition("A", 1, "cyclic", 2)
    s.partition("y", 0, "cyclic", 2)
    return polybench("atax", s.build(), M=12, N=16)


def bicg() -> Family:
    """Sums of rows and of columns in one body, behind two nests that clear them."""
    s = ScheduleBuilder()
    s.distribute(["S1"])
    s.pipeline("S0.i")
    s.unroll("S0.i", 2)
    s.pipeline("S2.j")
    s.unroll("S2.j", 2)
    s.partition("A", 1, "cyclic", 2)
    s.partition("s", 0, "cyclic", 2)
    s.partition("p", 0, "cyclic", 2)
    return polybench("bicg", s.build())


@weft.kernel
def twice(x: f32[16], out: f32[16]):
    z: f32[16]
    a: f32[16]
    for i in range(16):
        z[i] = x[i] * 2.0
    for i in range(16):
        a[i] = z[i] + x[i]
    for i in range(16):
        out[i] = a[i] * z[i]


def locals_out_of_order() -> Family:
    """Two arrays of its own, banked apart, that the design does not name in their order."""
    s = ScheduleBuilder()
    for statement in ("S0", "S1", "S2"):
        s.pipeline(f"{statement}.i")
        s.unroll(f"{statement}.i", 2)
    s.partition("z", 0, "cyclic", 2)
    s.partition("a", 0, "cyclic", 2)
    return family(twice.program, s.build())


FAMILIES: dict[str, Callable[[], Family]] = {
    "gemm": lambda: polybench("gemm"),
    "k2mm": lambda: polybench("k2mm", NI=16, NJ=8, NK=16, NL=12),
    "atax": atax,
    "bicg": bicg,
    "unrolled": unrolled,
    "constants": constants_and_scalars,
    "copies": copies_of_pipelines,
    "sequential": sequential_nests,
    "triangle": triangle,
    "locals": locals_out_of_order,
}


def points(of: Family, count: int, seed: int, factors: tuple[int, ...] = (1, 2)) -> np.ndarray:
    rng = random.Random(seed)
    rows = [
        [rng.choice((1, 1, 2, 3) if name.startswith("pipeline") else factors) for name in of.names]
        for _ in range(count)
    ]
    return np.array(rows, np.int64)


def alone(batch: GraphBatch, point: list[int]) -> Example | None:
    """The example of a point by the road of single designs."""
    kept = written_unrolls(batch.family.schedule)
    try:
        kernel = kernel_of_tree(batch.tree(point))
    except ScheduleError:
        return None
    answer = estimate(kernel, batch.tool, batch.device, kept=kept)
    return design(kernel, batch.tool, answer, kept)


def same(found: Example, wanted: Example) -> None:
    for kind, matrix in wanted.graph.nodes.items():
        assert found.graph.nodes[kind] == pytest.approx(matrix, rel=1e-6, abs=1e-7), kind
    assert set(found.graph.edges) == set(wanted.graph.edges)
    for key, pairs in wanted.graph.edges.items():
        assert found.graph.edges[key].tolist() == pairs.tolist(), key
    assert found.graph.distances.tolist() == wanted.graph.distances.tolist()
    assert found.graph.region.tolist() == wanted.graph.region.tolist()
    assert found.base == wanted.base
    for resource in TERMS:
        amounts = (amounts_of([one], resource) for one in (found, wanted))
        np.testing.assert_allclose(*amounts, rtol=1e-9, atol=1e-6)
    assert structure(found) == structure(wanted)
    assert (found.target, found.kernel, found.group) == (wanted.target, wanted.kernel, wanted.group)


def composed(found: FamilyGraphs) -> list[Example]:
    return [] if found.together is None else found.together.examples()


def check(batch: GraphBatch, table: np.ndarray) -> int:
    """Every example is that of the direct road; how many were composed."""
    found = batch.graphs(table)
    examples = dict(zip(found.where.tolist(), composed(found), strict=True))
    assert not examples.keys() & found.alone.keys()
    examples |= found.alone
    for n, point in enumerate(table.tolist()):
        wanted = alone(batch, point)
        assert (wanted is None) == (n not in examples)
        if wanted is not None:
            same(examples[n], wanted)
    return len(found.where)


@pytest.mark.parametrize("tool", [ZU9EG, U280])
@pytest.mark.parametrize("name", FAMILIES)
def test_every_design_is_as_it_is_asked_by_itself(name: str, tool: str) -> None:
    batch = GraphBatch(FAMILIES[name](), tool)
    table = points(batch.family, 25, 7)
    assert batch.template is not None
    table = table[batch.template.regular(table)]
    assert len(table) > 4
    assert check(batch, table) >= 0.8 * len(table)


def test_shares_are_of_the_device_that_was_asked_for() -> None:
    batch = GraphBatch(FAMILIES["bicg"](), ZU9EG, "xc7z020")
    assert check(batch, points(batch.family, 4, 5)) == 4


def test_points_without_a_template_go_the_road_of_single_designs() -> None:
    batch = GraphBatch(FAMILIES["gemm"](), ZU9EG)
    table = points(batch.family, 6, 3, (1, 3))
    table[0] = batch.family.point
    assert 0 < check(batch, table) < len(table)


def test_a_family_without_a_template_is_asked_one_by_one() -> None:
    kernel = load(f"{EXAMPLES / 'atax'}.py:atax").at("mini")
    batch = GraphBatch(family(kernel.program, kernel.schedules["rows"]), ZU9EG)
    assert batch.template is None
    assert check(batch, points(batch.family, 3, 1)) == 0


def test_what_was_asked_before_is_not_scheduled_again() -> None:
    batch = GraphBatch(FAMILIES["gemm"](), ZU9EG)
    table = points(batch.family, 25, 7)
    first = batch.graphs(table)
    known = batch.scheduled
    again = batch.graphs(table[::-1])
    assert batch.scheduled == known
    for one, other in zip(composed(first), composed(again)[::-1], strict=True):
        same(one, other)


def test_predictions_of_a_family_are_those_of_its_designs() -> None:
    model = load_weights(shipped(ZU9EG))
    batch = GraphBatch(FAMILIES["gemm"](), ZU9EG)
    table = points(batch.family, 12, 3, (1, 2, 2, 3))
    table[0] = batch.family.point
    table[1, batch.family.names.index("split S0.i")] = 0
    found = predict_family(model, batch, table)
    wanted = [alone(batch, point) for point in table.tolist()]
    legal = [n for n, one in enumerate(wanted) if one is not None]
    assert 0 < len(legal) < len(table)
    single = model.predict([one for one in wanted if one is not None])
    for metric in METRICS:
        assert np.isnan(np.delete(found.mean[metric], legal)).all()
        assert found.mean[metric][legal] == pytest.approx(single.mean[metric], rel=1e-5)
        assert found.std[metric][legal] == pytest.approx(single.std[metric], rel=1e-5)


def test_a_predictor_without_networks_can_be_asked_about_a_family() -> None:
    batch = GraphBatch(FAMILIES["gemm"](), ZU9EG)
    table = points(batch.family, 6, 3, (1, 2))
    wanted = [one for point in table.tolist() if (one := alone(batch, point)) is not None]
    assert len(wanted) == len(table)
    labelled = [replace(one, label={"lut": 2 * one.base["lut"]}) for one in wanted]
    model = WhiteBox().fit(labelled, (), 0)
    found = predict_family(model, batch, table)
    assert found.mean["lut"] == pytest.approx(model.predict(wanted).mean["lut"])


def test_processes_together_say_what_one_says() -> None:
    model = load_weights(shipped(ZU9EG))
    of = FAMILIES["triangle"]()
    table = points(of, 13, 5, (1, 2, 3))
    wanted = predict_family(model, GraphBatch(of, ZU9EG), table)
    with contextlib.closing(FamilyPool(model, of, ZU9EG, jobs=2)) as pool:
        for _ in range(2):  # the second time from what they remember
            found = pool.predict(table)
            for metric in METRICS:
                assert found.mean[metric] == pytest.approx(
                    wanted.mean[metric], rel=1e-5, nan_ok=True
                )
                assert found.std[metric] == pytest.approx(wanted.std[metric], rel=1e-5, nan_ok=True)
        assert len(pool.predict(table[:1]).mean["lut"]) == 1
    with pytest.raises(ValueError, match="0 processes"):
        FamilyPool(model, of, ZU9EG, jobs=0)


def test_too_many_points_at_once_are_refused() -> None:
    batch = GraphBatch(FAMILIES["triangle"](), ZU9EG)
    with pytest.raises(ValueError, match="points at once"):
        batch.graphs(np.ones((MOST + 1, len(batch.family.names)), np.int64))
