"""The design space: factors, legal orders, structures, and partitions that follow from accesses."""

from __future__ import annotations

import random
from itertools import product
from math import ceil
from pathlib import Path

import pytest

import weft
from backends.verify import verify
from dse.bounds.bounds import MAX_BANKS
from dse.estimates.estimation import estimated, setting
from dse.space.costs.cost import cost, dsp_of, stages
from dse.space.memory.banks import demand, port_interval
from dse.space.nests.factors import factors
from dse.space.nests.groups import groups
from dse.space.nests.nest import Order
from dse.space.space import Choice, Point, Space, space_of
from dse.strategies.ladder import vectors
from dsl.kernels.loader import load_kernels
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Distribute, Partition, Reorder, Skew
from polyhedral.schedule import apply
from polyhedral.scop.execution_order import shared_levels
from qor_gnn.tools.personality import personality
from tests.support.random_programs import random_program
from weft import f32, u8, u32

TOOL = personality("vitis-2022.1-zu9eg-10ns")
OPEN = personality("open-ecp5-10ns")
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def kernel_of(name: str, size: str | None = "mini") -> weft.Kernel:
    kernel = load_kernels(EXAMPLES / f"{name}.py")[name.rpartition("/")[2]]
    return kernel.at(size) if size else kernel


def example(name: str, size: str | None = "mini"):
    return kernel_of(name, size).program


def space(name: str, size: str | None = "mini") -> Space:
    return space_of(example(name, size), TOOL)


def names(order: Order) -> str:
    return " ".join(loop.name for loop in order.loops)


@weft.kernel
def tones(image: u8[20, 24], few: u8[20, 3], h: u32[256], g: u32[256]):
    for i in range(20):
        for j in range(24):
            h[image[i, j]] += 1
    for k in range(20):
        for c in range(3):
            g[few[k, c]] += 1


def test_copies_that_take_turns_are_of_one_loop_where_it_has_enough():
    # Copies of several loops wait for each other all the same: a search would only try as many ways to have them.
    long, short = space_of(tones.program, TOOL).variants[0].nests
    orders = [o for nest in (long, short) for o in nest.orders if not o.skewed]
    most = {names(o): [max(loop.factors) for loop in o.loops] for o in orders}
    assert most == {"i j": [1, 12], "j i": [1, 10], "k c": [5, 3], "c k": [1, 10]}


# ----------------------------------------------------------------------------------------- factors


@pytest.mark.parametrize("extent", [1, 2, 7, 10, 60, 220, 389])
def test_factors_are_the_least_of_each_number_of_blocks(extent):
    expected = sorted({ceil(extent / blocks) for blocks in range(1, extent + 1)})
    assert list(factors(extent)) == expected
    assert {d for d in range(1, extent + 1) if extent % d == 0} <= set(factors(extent))


# ------------------------------------------------------------------------------------------ orders


def test_a_product_has_the_orders_of_its_loops_but_for_equal_neighbours():
    found = space("polybench/gemm").variants[0]
    assert [step for step in found.steps if isinstance(step, Distribute)]
    scaling, product = found.nests
    assert [names(o) for o in scaling.orders] == ["i j"]
    assert {names(o) for o in product.orders} == {"i k j", "i j k", "k i j", "j k i"}
    assert all(loop.unrolls for order in product.orders for loop in order.loops)


def test_the_loop_of_a_reduction_carries_and_the_others_do_not():
    order = space("polybench/gemm").variants[0].nests[1].orders[0]
    assert {loop.name: bool(loop.carries) for loop in order.loops} == {
        "i": False, "k": True, "j": False,
    }  # fmt: skip
    assert order.loops[1].carries[0].distance == 1


def test_sweeps_in_place_are_skewed_until_the_innermost_loop_is_free():
    (nest,) = space("polybench/seidel_2d").variants[0].nests
    skewed = [order for order in nest.orders if order.skewed]
    assert skewed
    assert all(order.free for order in skewed)
    assert any(isinstance(step, Skew) for step in skewed[0].steps)
    assert not any(order.free for order in nest.orders if not order.skewed)


def test_sweeps_over_time_stay_in_their_loop():
    variant = space("polybench/jacobi_2d").variants[0]
    assert [(nest.leader, nest.around) for nest in variant.nests] == [
        ("S0", ("t",)),
        ("S1", ("t",)),
    ]
    assert [nest.runs for nest in variant.nests] == [20.0, 20.0]


def test_statements_get_loops_of_their_own_where_that_is_legal():
    by_name = {v.name: v for v in space("polybench/atax").variants}
    assert [n.statements for n in by_name["distributed"].nests] == [
        ("S0",), ("S1",), ("S2",), ("S3",),
    ]  # fmt: skip
    assert by_name["as written"].steps == ()


def test_neighbours_of_the_same_loops_are_merged():
    by_name = {v.name: v for v in space("polybench/gesummv").variants}
    assert ("S2", "S3") in [n.statements for n in by_name["merged"].nests]


def test_a_loop_whose_range_depends_on_others_is_not_unrolled():
    product = space("polybench/syrk").variants[0].nests[1]
    for order in product.orders:
        for loop in order.loops:
            assert loop.extent is not None or loop.factors == (1,)


def test_nests_that_share_no_array_run_at_the_same_time():
    whole = space("polybench/k3mm")
    found = whole.variants[0].nests
    together = [[found[n].leader for n in stage] for stage in stages(found, whole.tool)]
    assert [name for stage in together for name in stage] == [f"S{n}" for n in range(6)]
    assert ["S1", "S2"] in together


def test_pipelines_of_the_open_backend_run_one_after_the_other_on_their_own_units():
    vitis, of_open = space("polybench/gesummv"), space_of(example("polybench/gesummv"), OPEN)
    assert (0, 1) in stages(vitis.variants[0].nests, TOOL)
    assert all(len(stage) == 1 for stage in stages(of_open.variants[0].nests, OPEN))
    for whole, sharing in ((vitis, True), (of_open, False)):
        nests = whole.variants[1].nests
        units = [cost(n, n.orders[0], (1,) * len(n.orders[0].loops)).units for n in nests]
        each = [dsp_of([u]) for u in units]
        assert sum(x > 0 for x in each) == 2
        assert dsp_of(units) == (max(each) if sharing else sum(each))


@weft.kernel
def small(x: weft.i16[20], y: weft.i16[20]):
    for i in range(20):
        y[i] = x[i] * y[i]
    for k in range(20):
        x[k] = x[k] * y[k]


def test_nests_share_multipliers_that_end_in_their_state():
    # Reports list them as instances, as those of several states.
    nests = space_of(small.program, TOOL).variants[0].nests
    units = [cost(n, n.orders[0], (1,)).units for n in nests]
    assert [dsp_of([u]) for u in units] == [1, 1]
    assert dsp_of(units) == estimated(small.program, Schedule(), setting()).answer.dsp == 1


# ------------------------------------------------------------------------------------------- banks


def order_of(name: str, nest: int, loops: str) -> Order:
    found = space(name).variants[0].nests[nest]
    return next(o for o in found.orders if names(o) == loops)


def test_partitions_follow_the_unrolled_loops():
    order = order_of("polybench/gemm", 1, "k i j")  # 30 x 20 x 25
    assert demand(order, (1, 4, 5)) == {("A", 0): 4, ("B", 1): 5, ("C", 0): 4, ("C", 1): 5}
    assert port_interval(order, (1, 4, 5)) == 1


def test_a_loop_unrolled_completely_asks_for_all_elements():
    order = order_of("polybench/gemm", 1, "k i j")
    assert demand(order, (1, 1, 25)) == {("B", 1): 25, ("C", 1): 25}


def test_neighbours_of_a_point_lie_in_the_banks_of_others():
    order = order_of("polybench/jacobi_2d", 0, "i j")  # 28 x 28 points of 30 x 30
    assert demand(order, (4, 7)) == {(a, d): f for a in "AB" for d, f in ((0, 4), (1, 7))}
    # Five reads a point, two ports a bank: rows share elements.
    assert port_interval(order, (1, 1)) == 3
    assert port_interval(order, (4, 7)) == 2


def test_a_remainder_that_would_wait_for_itself_is_guarded_instead():
    nest = space("polybench/gesummv", None).variants[0].nests[2]  # tmp[i] += A[i, j] * x[j]
    order = next(o for o in nest.orders if names(o) == "j i")
    # 250 = 5 * 42 + 40: the 40 rows left would be a loop over j alone, an addition after the other.
    assert cost(nest, order, (1, 42)).tail == "guard"
    assert cost(nest, order, (1, 25)).tail == "remainder"


def test_factors_that_do_not_go_together_have_no_schedule():
    found = space("polybench/gemm")
    point = Point(0, (Choice(0, (3, 7)), Choice(0, (4, 1, 8))))
    assert found.schedule(point) is None  # lcm(7, 8) is more than the 25 columns of C


# ----------------------------------------------------------------------------------------- schedules


def test_the_schedule_of_a_point_is_as_a_person_would_write_it():
    found = space("polybench/gemm")
    product = found.variants[0].nests[1]
    number = next(n for n, o in enumerate(product.orders) if names(o) == "k i j")
    schedule = found.schedule(Point(0, (Choice(0, (1, 5)), Choice(number, (1, 4, 5)))))
    assert schedule is not None
    assert Reorder(("S1.k", "S1.i_0", "S1.j_0", "S1.i_1", "S1.j_1")) in schedule.steps
    assert Partition("C", 1, "cyclic", 5) in schedule.steps


KERNELS = (
    *("polybench/gemm", "polybench/atax", "polybench/bicg", "polybench/mvt", "polybench/syrk"),
    *("polybench/jacobi_2d", "polybench/seidel_2d", "polybench/trmm", "polybench/lu"),
    *("stencil/heat_1d", "image/blur", "fixed_point/conv2d_i8", "fixed_point/fir"),
)


def random_point(found: Space, seed: int, copies: int = 24) -> Point:
    rng = random.Random(seed)
    number = rng.randrange(len(found.variants))
    choices = []
    for nest in found.variants[number].nests:
        order = rng.randrange(len(nest.orders))
        choices.append(Choice(order, rng.choice(list(vectors(nest.orders[order], copies)))))
    return Point(number, tuple(choices))


@pytest.mark.parametrize("name", KERNELS)
def test_every_point_with_partitions_is_legal(name):
    found = space(name)
    tried = 0
    for seed in range(60):
        schedule = found.schedule(random_point(found, seed))
        if schedule is not None:
            state = apply(found.program, schedule)
            for step in state.partitions:
                assert step.factor <= MAX_BANKS
            tried += 1
        if tried == 12:
            return
    assert tried >= 3


@pytest.mark.parametrize("name", KERNELS)
def test_points_compute_what_the_program_does(name):
    found = space(name)
    seeds = (s for s in range(100) if found.schedule(random_point(found, s, 8)) is not None)
    for _ in range(2):
        point = random_point(found, next(seeds), 8)
        schedule = found.schedule(point)
        assert schedule is not None
        # Of its own inputs: without pivots rounding grows in a factorisation of random numbers.
        inputs = kernel_of(name).make_inputs
        result = verify(found.program, schedule, cxx=False, make_inputs=inputs)
        assert result.ok, (point, result)


# ------------------------------------------------------------------------------- loops that run once


@weft.kernel
def narrow(A: f32[5, 1], B: f32[5, 1]):
    for i in range(5):
        for j in range(1):
            B[i, j] += A[i, j] * 2.0


@weft.kernel
def short(A: f32[4, 5], B: f32[4, 5]):
    for i in range(4):
        for j in range(5):
            B[i, j] += A[i, j] * 2.0


@pytest.mark.parametrize("kernel", [narrow, short])
def test_a_loop_that_runs_once_is_not_the_one_that_is_pipelined(kernel):
    found = space_of(kernel.program, TOOL)
    (variant,) = found.variants
    (nest,) = variant.nests
    tried = 0
    for number, order in enumerate(nest.orders):
        ranges = [factors(loop.extent) for loop in order.loops]
        for vector in product(*ranges):
            schedule = found.schedule(Point(0, (Choice(number, vector),)))
            if schedule is not None:
                apply(kernel.program, schedule)
                tried += 1
    assert tried > 2


def test_pieces_of_one_nest_are_those_that_share_all_its_loops():
    for seed in range(60):
        state = apply(random_program(seed), Schedule())
        found = groups(state)
        assert sorted(id(p) for g in found for p in g.pieces) == sorted(map(id, state.pieces))
        for n, group in enumerate(found):
            first, depth = group.pieces[0], group.end
            assert all(len(p.dims) == depth == shared_levels(first, p) for p in group.pieces[1:])
            assert depth == len(first.dims)
            assert depth or len(group.pieces) == 1
            for other in found[:n]:
                near = other.pieces[0]
                apart = other.end != depth or shared_levels(first, near) < depth
                assert apart or not depth
