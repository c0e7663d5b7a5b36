"""Pipelines of integers in Vitis HLS 2025.1: what shares states, units and registers (stencil-3d)."""

from __future__ import annotations

import pytest

from dsl.builder.program import ProgramBuilder
from dsl.expressions.types import IntType
from dsl.schedules.schedule import ScheduleBuilder
from dsl.schedules.steps import Unroll
from qor_gnn.area.binding import units_of
from qor_gnn.area.modules import leaves
from qor_gnn.area.resources import terms_of
from qor_gnn.area.terms import Sums
from qor_gnn.design.directives import with_directives
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.estimate import estimate
from qor_gnn.fit.labelled.u200_design import source_tree
from qor_gnn.result.qor_estimate import QorEstimate
from qor_gnn.schedule.compose import function_latency
from qor_gnn.schedule.loops import Scope
from qor_gnn.tools.personality import personality
from tests.qor.designs import region_tree

TOOL = "vitis-2025.1-u200-4ns"
LONG = IntType(64)


def neighbours(unroll: int) -> QorEstimate:
    """A stencil over a cube in one dimension; its result is too short to be split."""
    p = ProgramBuilder("neighbours")
    a, b = p.local("A", LONG, (39304,)), p.local("B", LONG, (32768,))
    c, d = (p.placeholder(name, LONG) for name in "cd")
    i, j, k = p.loops(i=range(1, 33), j=range(1, 33), k=32)
    at = 1156 * i + 34 * j + k + 1
    around = a[at + 1156] + a[at - 1156] + a[at + 34] + a[at - 34] + a[at + 1] + a[at - 1]
    p.compute("S", (i, j, k), b[at], a[at] * c + around * d)
    kernel = kernel_of_tree(source_tree(p.build(), {}))
    return estimate(with_directives(kernel, (Unroll("k", unroll),)), TOOL, kept=frozenset("ijk"))


@pytest.mark.parametrize(
    ("unroll", "interval", "products"),
    # stencil-3d: 8, 8 and 5 products at a time. Copies of the banks give all elements in one state,
    # and the products of 4 and 8 results start together; 17 banks give them one after the other.
    [(4, 2, 8), (8, 4, 8), (16, 8, 4)],
)
def test_products_come_at_the_rate_of_loads_that_take_several_states(
    unroll: int, interval: int, products: int
) -> None:
    at = neighbours(unroll)
    assert at.loops[-1].ii == interval
    assert dict(at.units) == {"mul_64_64_64": products}


def test_what_a_division_leaves_of_multiples_of_the_banks_is_there_at_once() -> None:
    # 34 and 1156 are multiples of 17 banks, not of 7: no division of the whole index.
    divided, narrow = neighbours(8).loops[-1].depth, neighbours(16).loops[-1].depth
    stores = (16 - 8) // 2  # two in a state
    assert narrow - stores < divided


def strided(extent: int) -> int:
    """States of ``y += A[extent / 64 · i]``, four times in an iteration, in five banks."""
    p = ProgramBuilder("strided")
    a, y = p.local("A", LONG, (extent,)), p.local("y", LONG, (64,))
    (i,) = p.loops(i=64)
    p.compute("S", (i,), y[i], a[extent // 64 * i])
    kernel = kernel_of_tree(source_tree(p.build(), {}))
    found = estimate(with_directives(kernel, (Unroll("i", 4),)), TOOL, kept=frozenset("i"))
    assert found.loops[-1].depth is not None
    return found.loops[-1].depth


def test_a_division_of_more_bits_takes_more_states() -> None:
    # 12 bits: 10 states (gemm-ncubed); 16 bits: 14 (stencil-3d: 13 to 15 with 7 to 10 banks).
    assert strided(1 << 16) - strided(1 << 12) == 4


@pytest.mark.parametrize(
    ("units", "lut", "ff"), [(2, 1439, 1408), (4, 1913, 2230), (8, 3013, 3994)]
)
def test_products_of_64_bits_are_what_grows_with_the_units(units: int, lut: int, ff: int) -> None:
    # stencil-3d with L2 unrolled 1, 2 and 4 times, copies of L1 extrapolated to none.
    product = personality(TOOL).operator("mul", "int", 64)
    assert lut - units * product.lut == pytest.approx(940, rel=0.06)
    assert ff - units * product.ff == pytest.approx(496, rel=0.08)


def scaled(scalar: bool) -> Sums:
    """``y[i] = c * a[i] * x[i]``, the product by way of a scalar that each iteration sets anew."""
    p = ProgramBuilder("scaled")
    a, x, y = (p.local(name, LONG, (64,)) for name in "axy")
    (i,), c = p.loops(i=64), p.placeholder("c", LONG)
    if scalar:
        t = p.local("t", LONG)
        p.compute("T", (i,), t, c * a[i])
        p.compute("S", (i,), y[i], t * x[i])
    else:
        p.compute("S", (i,), y[i], c * a[i] * x[i])
    kernel = kernel_of_tree(source_tree(p.build(), {}))
    found = estimate(kernel, TOOL, kept=frozenset("i")).sums
    assert found is not None
    return found


def test_a_scalar_that_each_iteration_sets_anew_is_no_accumulator() -> None:
    assert not scaled(scalar=True).ff["accumulators"]
    assert scaled(scalar=True).ff["before"] == scaled(scalar=False).ff["before"] + 64


def pipeline(terms: int) -> tuple[int, Sums]:
    """``y[i] = (a[i] + …) * x[i]`` of so many terms: states, and what it has of each term."""
    p = ProgramBuilder("product")
    (i,) = p.loops(i=64)
    x, y = p.placeholder("x", LONG, (64,)), p.placeholder("y", LONG, (64,))
    total = p.placeholder("a0", LONG, (64,))[i]
    for n in range(1, terms):
        total = total + p.placeholder(f"a{n}", LONG, (64,))[i]
    p.compute("S", (i,), y[i], total * x[i])
    s = ScheduleBuilder()
    s.pipeline("S.i")
    kernel = region_tree(p, s)
    regions = function_latency(Scope(kernel, personality(TOOL)), kernel.functions[0])[1]
    (leaf,) = leaves(regions)
    return leaf.times.states, terms_of([regions], units_of(regions))


def test_a_product_in_several_states_takes_its_operands_from_registers() -> None:
    (alone, product), (behind, summed) = pipeline(1), pipeline(2)
    assert behind == alone + 1
    # The sum, and no other: nobody shares an adder of integers or its register.
    assert summed.ff["results_pipelined"] == product.ff["results_pipelined"] + 64


def test_two_sums_of_64_bits_are_a_state() -> None:
    # Of four terms two levels; of five a third one, behind registers of the first four and the fifth.
    (four, together), (five, third) = pipeline(4), pipeline(5)
    assert (four, five) == (pipeline(2)[0], four + 1)
    assert third.ff["results_pipelined"] == together.ff["results_pipelined"] + 64
