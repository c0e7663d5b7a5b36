"""Triangles and bands as rectangles under guards, and what the search does with their banks."""

from __future__ import annotations

import random

import pytest

import weft
from backends.equivalence import equivalence
from backends.verify import verify_many
from dse.evaluators.base import Limits, Result, Status
from dse.space.memory.banks import demand
from dse.space.space import Choice, Point, Space, space_of
from dse.space.variant import Variant
from dse.strategies.solve import solve
from dse.strategies.spend import in_vain
from dsl.kernels.kernel import Kernel
from dsl.schedules.steps import PartialSums, Skew, Split
from mlir_passes.pipeline import compile_design
from qor_gnn.tools.personality import personality
from weft import i16, i32, u8

TOOL = personality("vitis-2022.1-zu9eg-10ns")


@weft.kernel
def exchange_sort(x: i32[9]):
    for i in range(8):
        for j in range(8 - i):
            low: i32 = min(x[j], x[j + 1])
            high: i32 = max(x[j], x[j + 1])
            x[j] = low
            x[j + 1] = high


@weft.kernel
def spread(p: i32[10], out: i32[1]):
    total: i32 = 0
    for i in range(1, 10):
        for j in range(i):
            d: i32 = p[j] - p[i]
            total += d * d
    out[0] = total


@weft.kernel
def lags(x: i32[20], r: i32[5]):
    for lag in range(5):
        total: i32 = 0
        for n in range(20 - lag):
            total += x[n] * x[n + lag]
        r[lag] = total


@weft.kernel
def band(A: i32[64, 66], x: i32[66], y: i32[64]):
    for i in range(64):
        for j in range(i, i + 3):
            y[i] += A[i, j] * x[j]


@weft.kernel
def whole(A: i32[8, 8], y: i32[8]):
    for i in range(8):
        for j in range(8):
            y[i] += A[i, j]


@weft.kernel
def table(a: u8[24], b: u8[24], out: i16[1]):
    T: i16[25, 25] = 0
    for i in range(1, 25):
        for j in range(1, 25):
            T[i, j] = T[i - 1, j - 1] + 1 if a[i - 1] == b[j - 1] else max(T[i - 1, j], T[i, j - 1])
    out[0] = T[24, 24]


def rectangles(kernel: Kernel, reassociate: bool = True) -> list[tuple[Space, int, Variant]]:
    space = space_of(kernel.program, TOOL, reassociate)
    found = enumerate(space.variants)
    return [(space, n, v) for n, v in found if v.name.endswith("in rectangles")]


@pytest.mark.parametrize("kernel", [exchange_sort, spread, lags])
def test_every_loop_of_a_triangle_has_a_constant_range(kernel):
    found = rectangles(kernel)
    assert found
    for _, _, variant in found:
        loops = [loop for nest in variant.nests for loop in nest.orders[0].loops]
        assert all(loop.extent is not None for loop in loops)
        assert any(len(loop.factors) > 2 for loop in loops)


@pytest.mark.parametrize("kernel", [band, whole])
def test_what_would_idle_most_of_the_time_or_is_one_already_has_no_rectangle(kernel):
    assert not rectangles(kernel)


@pytest.mark.parametrize("kernel", [exchange_sort, spread, lags])
def test_every_point_is_legal_and_means_the_same(kernel):
    rng = random.Random(3)
    spaces, designs = rectangles(kernel), []
    for _ in range(2):
        space, number, variant = rng.choice(spaces)
        choices = []
        for nest in variant.nests:
            order = rng.randrange(len(nest.orders))
            loops = nest.orders[order].loops
            choices.append(Choice(order, tuple(rng.choice(loop.factors) for loop in loops)))
        schedule = space.schedule(Point(number, tuple(choices)))
        assert schedule is not None
        assert any(isinstance(s, Split) and s.tail == "guard" for s in schedule)
        designs.append(compile_design(kernel.program, schedule))
        assert equivalence(designs[-1]).verdict == "proven"
    assert all(result.ok for result in verify_many(designs))


def test_loops_of_one_iteration_stay_where_they_are():
    for _, _, variant in rectangles(exchange_sort):
        for order in variant.nests[0].orders:
            once = [k for k, loop in enumerate(order.loops) if loop.extent == 1]
            assert once == [1]
            assert not any(s.inner == "S0.j_0" for s in order.steps if isinstance(s, Skew))


def test_a_row_of_exchanges_is_a_pipeline_with_a_register_for_each_element():
    """Copies touch 8 of 9 elements: all have registers, not 8 banks of one or two elements."""
    ((space, number, variant),) = rectangles(exchange_sort)
    order = variant.nests[0].orders[0]
    vector = tuple(1 if loop.name == "i" else loop.extent or 1 for loop in order.loops)
    assert demand(order, vector) == {("x", 0): 9}
    schedule = space.schedule(Point(number, (Choice(0, vector),)))
    assert schedule is not None
    rows = weft.estimate(exchange_sort, schedule).latency.average
    plain = weft.estimate(exchange_sort, space.schedule(space.plain())).latency.average
    assert rows < plain / 8


def test_a_sum_with_temporaries_beside_it_is_spread():
    """The temporaries make its terms: they are no reason to wait for the sum."""
    steps = [s for _, _, v in rectangles(spread, True) for s in v.steps]
    sums = [step for step in steps if isinstance(step, PartialSums)]
    assert sums
    assert all(step.stmt == "S2" for step in sums)


def test_a_fill_has_the_banks_of_what_reads_it():
    """Zeros go to a row at once, more of them than other nests of such a budget have copies."""
    space = space_of(table.program, TOOL, logic=200.0)
    best = min(solve(space, 0, 40), key=lambda found: found.cycles).point
    fill, cells = best.choices[:2]
    wanted = [demand(space.order(best, n), c.vector) for n, c in enumerate((fill, cells))]
    ours = [{k: f for k, f in one.items() if k[0] == "T"} for one in wanted]
    assert ours[0].items() <= ours[1].items() or max(fill.vector) <= 16


def figures(lut: int) -> Result:
    return Result(Status.INFEASIBLE, latency=100.0, resources={"dsp": 0, "lut": lut})


@pytest.mark.parametrize(
    ("dearer", "cheaper", "hopeless"),
    [
        ((100, 90_000), (50, 70_000), True),  # 50,000 of it are there whatever is planned with
        ((100, 90_000), (50, 60_000), False),
        ((100, 90_000), (100, 70_000), False),
        ((100, 60_000), (50, 70_000), False),  # no line says anything
    ],
)
def test_a_structure_over_a_limit_whatever_it_spends_is_given_up(dearer, cheaper, hopeless):
    pairs = [(spend, figures(lut)) for spend, lut in (dearer, cheaper)]
    assert in_vain(*pairs, Limits({"lut": 40_000, "dsp": 100})) is hopeless
