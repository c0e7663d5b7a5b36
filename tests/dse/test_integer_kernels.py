"""Kernels of integers: sums in any order, orders of many loops, plans in LUTs where nothing takes a DSP slice."""

from __future__ import annotations

import pytest

import weft
from dse.space.costs.cost import cost
from dse.space.nests.arrangements import MAX_BAND
from dse.space.space import space_of
from dse.strategies.solve import solve
from dsl.schedules.steps import Reassociate
from qor_gnn.tools.personality import personality
from tests.dse.test_space import EXAMPLES, example, names
from weft import f32, fixed, i8, i16, i32

TOOL = personality("vitis-2022.1-zu9eg-10ns")
CONVOLUTION = "fixed_point/conv2d_i8"


@weft.kernel
def dot(a: i8[64], b: i8[64], y: i32[1]):
    for i in range(64):
        y[0] += a[i] * b[i]


@weft.kernel
def dot_f32(a: f32[64], b: f32[64], y: f32[1]):
    for i in range(64):
        y[0] += a[i] * b[i]


@weft.kernel
def wide(a: i16[64, 8], b: i16[64, 8], y: i32[64]):
    for i in range(64):
        for k in range(8):
            y[i] += a[i, k] * b[i, k]


@weft.kernel
def dot_fixed(a: fixed[16, 4][64], b: fixed[16, 4][64], y: fixed[40, 16][1]):
    for i in range(64):
        y[0] += a[i] * b[i]


@weft.kernel
def dot_cut(a: fixed[16, 4][64], b: fixed[16, 4][64], y: fixed[12, 6][1]):
    for i in range(64):
        y[0] += a[i] * b[i]


def freed(kernel: weft.Kernel, *, reassociate: bool = False) -> bool:
    found = space_of(kernel.program, TOOL, reassociate)
    return all(any(isinstance(s, Reassociate) for s in v.steps) for v in found.variants)


def test_sums_that_are_exact_are_done_in_any_order_always():
    assert freed(dot)
    assert freed(dot_fixed)
    assert not freed(dot_cut)  # each sum loses bits
    assert not freed(dot_f32)
    assert freed(dot_f32, reassociate=True)


def test_orders_of_more_loops_than_can_be_permuted():
    nest = next(
        nest for nest in space_of(example(CONVOLUTION), TOOL).variants[0].nests
        if len(nest.orders[0].band) > MAX_BAND
    )  # fmt: skip
    found = [names(order) for order in nest.orders]
    assert found[0] == "k h w c r q"  # as written
    assert {"k h c r q w", "h w c r q k", "c r q k h w"} <= set(found)
    for order in nest.orders[1:]:
        assert order.free or order.apart


def test_luts_are_planned_with_where_nothing_takes_a_slice():
    assert space_of(example(CONVOLUTION), TOOL, logic=200).logic == 200
    for kernel in (wide, dot_f32):  # slices are
        assert space_of(kernel.program, TOOL, logic=200).logic == 0
    assert not space_of(example(CONVOLUTION), personality("open-ecp5-10ns"), logic=200).logic


def test_what_is_planned_with_is_a_share_of_the_luts():
    product = TOOL.operator("mul", "int", 16, factors=(8, 8)).lut
    total = TOOL.operator("add", "int", 32).lut
    variants = space_of(dot.program, TOOL, logic=100).variants
    (nest,) = variants[0].nests
    (of_luts,) = next(v for v in variants if v.name.endswith("in fabric")).nests
    # A slice does a product with its sum, where nobody asks for LUTs.
    assert cost(nest, nest.orders[0], (1,)).dsp == 1
    for copies in (1, 4):
        planned = cost(of_luts, of_luts.orders[0], (copies,)).dsp
        assert planned == pytest.approx(copies * (product + total) / 100)


def test_solutions_keep_to_the_plan():
    found = space_of(example(CONVOLUTION), TOOL, logic=100)
    before = float("inf")
    for budget in (2, 8, 32, 128):
        best = solve(found, 0, budget)[0]
        assert best.dsp <= budget
        assert best.cycles <= before
        before = best.cycles


def test_a_convolution_is_faster_than_by_hand():
    kernel = weft.load(EXAMPLES / f"{CONVOLUTION}.py").at("mini")
    by_hand = weft.estimate(kernel, "channels", device="xc7z020")
    run = weft.explore(kernel, device="xc7z020", evaluator="model", trials=3)
    assert run.best().latency < 0.1 * by_hand.latency.average
