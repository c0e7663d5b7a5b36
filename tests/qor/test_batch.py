"""Batches: the template is the exact tree, and every answer is that of a single estimate."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import weft
from dsl.kernels.loader import load
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from qor_gnn.batch.estimates import Batch
from qor_gnn.batch.family import Family, family
from qor_gnn.batch.integers import integers_of, rebuilt
from qor_gnn.batch.template import NoTemplateError, template_of
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.design.region import Statement, walk
from qor_gnn.estimate import estimate
from qor_gnn.tools.personality import personality
from tests.qor.batch_designs import (
    constants_and_scalars,
    copies_of_pipelines,
    sequential_nests,
)
from weft import f32

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "polybench"
ZU9EG, U280 = "vitis-2022.1-zu9eg-10ns", "vitis-2023.2-u280-3.33ns"


def gemm() -> Family:
    kernel = load(f"{EXAMPLES / 'gemm.py'}:gemm").at(NI=16, NJ=12, NK=24)
    return family(kernel.program, kernel.schedules["tiled"])


def three_products() -> Family:
    kernel = load(f"{EXAMPLES / 'k3mm.py'}:k3mm").at(NI=16, NJ=8, NK=16, NL=12, NM=24)
    return family(kernel.program, kernel.schedules["tiled"])


def unrolled() -> Family:
    """Unrolled by factors: pipelined, sequential and outer loops."""
    kernel = load(f"{EXAMPLES / 'gemm.py'}:gemm").at(NI=8, NJ=12, NK=16)
    s = ScheduleBuilder()
    s.distribute(["S1"])
    s.unroll("S0.j", 4)
    s.unroll("S1.i", 2)
    s.pipeline("S1.j")
    s.unroll("S1.j", 4)
    s.partition("B", 1, "cyclic", 4)
    s.partition("C", 1, "block", 4)
    return family(kernel.program, s.build())


def triangle() -> Family:
    kernel = load(f"{EXAMPLES / 'trmm.py'}:trmm").at("mini")
    s = ScheduleBuilder()
    s.unroll("S0.k", 2, tail="guard")
    s.pipeline("S0.k")
    s.partition("A", 0, "cyclic", 2)
    return family(kernel.program, s.build())


FAMILIES = {
    "gemm": gemm,
    "3mm": three_products,
    "unrolled": unrolled,
    "constants": constants_and_scalars,
    "sequential": sequential_nests,
    "copies": copies_of_pipelines,
}
LOOPS = ("split", "tile", "unroll")


def points(of: Family, count: int, seed: int, factors: Sequence[int]) -> np.ndarray:
    rng = random.Random(seed)
    rows = [
        [rng.choice((1, 1, 2, 3) if name.startswith("pipeline") else factors) for name in of.names]
        for _ in range(count)
    ]
    return np.array(rows, np.int64)


def check(batch: Batch, table: np.ndarray, tree: str) -> np.ndarray:
    """Every answer is that of the direct road; which points were composed."""
    found = batch.evaluate(table)
    for n, point in enumerate(table.tolist()):
        answer = estimate(kernel_of_tree(getattr(batch, tree)(point)), batch.tool)
        cycles = answer.latency
        assert (cycles.average, cycles.minimum, cycles.maximum) == (
            found.latency[n], found.minimum[n], found.maximum[n],
        ), dict(zip(batch.family.names, point, strict=True))  # fmt: skip
        blocks = (found.dsp[n], found.bram18[n], found.uram[n])
        assert blocks == (answer.dsp, answer.bram18, answer.uram)
        logic = (found.lut[n], found.ff[n], found.period_ns[n])
        assert logic == (answer.lut, answer.ff, answer.period_ns)
    return found.together


@pytest.mark.parametrize("name", FAMILIES)
def test_the_template_is_the_exact_tree(name: str) -> None:
    of = FAMILIES[name]()
    template = template_of(of)
    batch = Batch(of, ZU9EG)
    table = points(of, 24, 1, (1, 2, 4))
    table = table[template.regular(table)]
    assert len(table) >= 6
    for point in table.tolist():
        exact = kernel_of_tree(batch.exact_tree(point))
        assert kernel_of_tree(template.at(point)) == exact


@pytest.mark.parametrize("tool", [ZU9EG, U280])
@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("gemm", 60),
        ("3mm", 20),
        ("unrolled", 100),
        ("constants", 40),
        ("sequential", 40),
        ("copies", 40),
    ],
)
def test_random_points_are_as_estimated_one_by_one(name: str, count: int, tool: str) -> None:
    regular_points(name, count, tool, 2)


@pytest.mark.slow
@pytest.mark.parametrize("tool", [ZU9EG, U280])
@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("gemm", 1500), ("3mm", 300), ("unrolled", 1500), ("constants", 600), ("sequential", 600),
        ("copies", 600),
    ],
)  # fmt: skip
def test_thousands_of_random_points_are_as_estimated_one_by_one(
    name: str, count: int, tool: str
) -> None:
    regular_points(name, count, tool, 5)


def regular_points(name: str, count: int, tool: str, seed: int) -> None:
    of = FAMILIES[name]()
    batch = Batch(of, tool)
    table = points(of, count, seed, (1, 2, 4, 8))
    assert batch.template is not None
    table = table[batch.template.regular(table)]
    together = check(batch, table, "tree")
    assert together.mean() > 0.3


def test_by_the_exact_road() -> None:
    batch = Batch(gemm(), ZU9EG)
    assert check(batch, points(batch.family, 25, 3, (1, 2, 3, 4)), "exact_tree").any()


def test_remainders_are_estimated_by_themselves() -> None:
    of = gemm()
    batch = Batch(of, ZU9EG)
    table = np.array([of.point, of.point], np.int64)
    table[:, of.names.index("tile S1.i")] = (4, 5)
    assert check(batch, table, "exact_tree").tolist() == [True, False]


def test_illegal_points_have_no_figures() -> None:
    of = gemm()
    batch = Batch(of, ZU9EG)
    table = np.array([of.point, of.point], np.int64)
    table[1, of.names.index("partition A 0")] = 17  # of 16 elements
    found = batch.evaluate(table)
    assert np.isnan(found.latency).tolist() == [False, True]
    assert found.dsp[1] == -1
    assert found.dsp[0] > 0


def test_parts_are_scheduled_once() -> None:
    of = three_products()
    batch = Batch(of, ZU9EG)
    loops = [1 if name.startswith("pipeline") else 2 for name in of.names]
    table = np.tile(np.array([loops], np.int64), (64, 1))
    for bit, name in enumerate(("tile S1.i", "tile S3.i", "tile S5.i")):
        table[:, of.names.index(name)] = 1 << (np.arange(64) >> (2 * bit) & 3)
    first = batch.evaluate(table)
    assert first.together.all()
    # Three parts have one of these factors each, three have none.
    assert batch.scheduled == 3 * 4 + 3
    again = batch.evaluate(table[::-1])
    assert batch.scheduled == 3 * 4 + 3
    assert (again.latency == first.latency[::-1]).all()


def test_data_dependent_trip_counts() -> None:
    batch = Batch(triangle(), ZU9EG)
    table = points(batch.family, 30, 4, (1, 2, 4))
    check(batch, table, "tree")
    found = batch.evaluate(table)
    assert (found.minimum < found.maximum).all()


def test_a_constant_is_known_in_the_parts_behind_it() -> None:
    batch = Batch(constants_and_scalars(), ZU9EG)
    assert batch.template is not None
    (function,) = kernel_of_tree(batch.tree(batch.family.point)).functions
    names = {s.name for s in walk(function.body) if isinstance(s, Statement)}
    assert "S0" not in names  # alpha = 1.5
    assert "S2" in names  # s = 0.0 is not the only value of s
    assert batch.evaluate([batch.family.point]).together.all()


def test_the_first_constant_of_two_is_none() -> None:
    """In its own nest the scalar is set once, in the design twice."""
    kernel = twice.program
    s = ScheduleBuilder()
    s.unroll("S1.i", 2)
    batch = Batch(family(kernel, s.build()), ZU9EG)
    assert batch.template is None
    check(batch, np.array([[1], [2]], np.int64), "exact_tree")


def test_what_runs_in_front_of_a_pipeline_runs_beside_the_next() -> None:
    s = ScheduleBuilder()
    s.pipeline("S0.i")
    s.unroll("S0.i", 2)
    s.pipeline("S1.i")
    batch = Batch(family(apart.program, s.build()), ZU9EG)
    points = np.array([[1, 1, 1], [1, 2, 1]], np.int64)
    assert check(batch, points, "tree").all()
    # Two products in the first pipeline or one, one in front of it, one in the second.
    answer = estimate(kernel_of_tree(batch.tree([1, 1, 1])), ZU9EG)
    assert dict(answer.units)["fmul"] == 3


@weft.kernel
def apart(g: f32, h: f32, a: f32[8], b: f32[8], c: f32[8], d: f32[8]):
    for i in range(8):
        b[i] = a[i] * (g * h)
    for i in range(8):
        d[i] = c[i] * c[i]


def test_nothing_is_left_of_constants() -> None:
    batch = Batch(family(nothing.program, ScheduleBuilder().build()), ZU9EG)
    assert batch.template is None
    check(batch, np.zeros((1, 0), np.int64), "exact_tree")


@weft.kernel
def nothing(x: f32[8]):
    a: f32
    a = 2.0  # noqa: F841


@weft.kernel
def twice(x: f32[8], y: f32[8]):
    a: f32
    a = 2.0
    for i in range(8):
        x[i] = a * x[i]
    a = 3.0
    for i in range(8):
        y[i] = a * y[i]


def test_tools_without_coefficients_have_no_logic() -> None:
    tool = replace(personality(ZU9EG), name="open-ecp5-10ns")
    found = Batch(gemm(), tool).evaluate([gemm().point])
    assert found.together.all()
    assert (found.lut[0], found.ff[0]) == (-1, -1)
    assert found.period_ns[0] == tool.clock_ns


def test_no_points() -> None:
    found = Batch(gemm(), ZU9EG).evaluate(np.zeros((0, 9), np.int64))
    assert found.latency.shape == (0,)


# --------------------------------------------------------------------------------------- families


def test_names_and_points() -> None:
    of = gemm()
    assert of.names[:4] == ("split S0.i", "pipeline S0.j", "tile S1.i", "tile S1.k")
    assert of.point == (8, 1, 8, 4, 1, 8, 4, 4, 8)
    assert of.at(of.point) == of.schedule
    other = list(of.point)
    other[3] = 2
    (changed,) = [a for a, b in zip(of.at(other), of.schedule, strict=True) if a != b]
    assert (changed.kind, changed.factors) == ("tile", (8, 2))


def test_tied_factors() -> None:
    kernel = load(f"{EXAMPLES / 'gemm.py'}:gemm")
    of = family(
        kernel.program, kernel.schedules["tiled"], [("tile S1.k", "partition A 1", "partition B 0")]
    )
    point = list(of.point)
    point[of.names.index("tile S1.k")] = 6
    text = of.at(point).to_python()
    assert 's.partition("B", 0, factor=6)' in text
    assert 's.partition("A", 1, factor=6)' in text
    assert "[8, 6]" in text
    with pytest.raises(KeyError):
        family(kernel.program, kernel.schedules["tiled"], [("tile S1.k", "partition Z 0")])


def test_integers_are_put_back_in_order() -> None:
    tree = template_of(gemm()).tree
    numbers = iter(integers_of(tree.body))
    assert rebuilt(tree.body, lambda _: next(numbers)) == tree.body
    assert next(numbers, None) is None


def test_a_factor_that_cannot_vary_has_no_template() -> None:
    kernel = load(f"{EXAMPLES / 'gemm.py'}:gemm").at(NI=7, NJ=12, NK=16)
    program: Program = kernel.program
    schedule: Schedule = ScheduleBuilder().distribute(["S1"]).split("S1.i", 7).build()
    of = family(program, schedule)
    with pytest.raises(NoTemplateError, match="cannot be varied"):
        template_of(of)
    batch = Batch(of, ZU9EG)
    found = batch.evaluate([[7], [2]])
    assert not found.together.any()
    assert (
        found.latency[0] == estimate(kernel_of_tree(batch.exact_tree([7])), ZU9EG).latency.average
    )
