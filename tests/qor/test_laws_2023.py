"""What Vitis HLS 2023.2 does at 3.33 ns without any directive: automatic pipelines, flattened nests.

A load takes 2 states, an f32 product 4, a sum 7, a store 1.
"""

from __future__ import annotations

import pytest

import weft
from dsl.builder.program import ProgramBuilder
from dsl.expressions.types import f32
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from dsl.schedules.steps import BindOp
from mlir_passes.pipeline import compile_design
from polyhedral.codegen.generate import loop_tree
from polyhedral.schedule import apply
from polyhedral.scop.scheduled import build
from qor_gnn.design.from_module import kernel_of_module
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.estimate import estimate
from qor_gnn.fit.labelled.u280_programs import KERNELS, program
from qor_gnn.result.qor_estimate import LoopEstimate, QorEstimate
from qor_gnn.schedule.reasons import Recurrence

TOOL = "vitis-2023.2-u280-3.33ns"


def plain(kernel: str) -> QorEstimate:
    return estimate(kernel_of_tree(loop_tree(build(program(kernel)))), TOOL)


def loop(found: QorEstimate, *names: str) -> LoopEstimate:
    return next(each for each in found.loops if each.loops == names)


@pytest.mark.parametrize("kernel", KERNELS)
def test_innermost_loops_are_pipelined(kernel: str) -> None:
    found = plain(kernel)
    nests = [each.loops for each in found.loops if each.kind == "nest"]
    assert nests == {"atax": [("loop2",)], "gemm": [("loop1",)]}.get(kernel, [])
    assert all(each.kind == "pipeline" for each in found.loops if each.loops not in nests)


def test_a_nest_flattens_around_the_statement_in_front_of_its_inner_loop() -> None:
    found = loop(plain("2mm"), "loop4", "loop5", "loop6")
    assert (found.trips.average, found.ii) == (180 * 220 * 190, 8)
    limit = found.limits[0]
    assert isinstance(limit, Recurrence)
    # D[i][j] *= beta is not on the cycle: it has nothing from the iteration before.
    assert (limit.array, limit.through, limit.statements) == ("D", "memory", ("S2", "S3"))
    assert "mul" not in limit.operators


def test_a_loop_with_two_inner_loops_does_not_flatten() -> None:
    found = plain("atax")
    assert loop(found, "loop2").kind == "nest"
    accumulates = loop(found, "loop3")
    assert accumulates.ii == 7
    assert isinstance(accumulates.limits[0], Recurrence)
    assert accumulates.limits[0].through == "register"
    assert loop(found, "loop4").ii == 1
    assert loop(found, "loop4").depth + 1 == 2 + 4 + 7 + 1


def test_a_loop_of_one_state() -> None:
    zero = loop(plain("atax"), "loop1")
    assert (zero.ii, zero.latency.average) == (1, 410)


def test_calls_that_share_no_memory_run_at_the_same_time() -> None:
    found = plain("3mm")
    first, second, third = (each.latency.average for each in found.loops)
    assert first < second
    assert found.latency.average == pytest.approx(second + third, abs=8)
    # Both have units of their own; the third shares them.
    assert dict(found.units) == {"fadd": 2, "fmul": 2}


def test_calls_that_share_a_memory_do_not() -> None:
    found = plain("mvt")
    both = sum(each.latency.average for each in found.loops)
    assert found.latency.average == pytest.approx(both, abs=8)


@pytest.mark.parametrize(
    ("kernel", "dsp"), [("3mm", 19), ("atax", 5), ("bicg", 6), ("gemm", 9), ("gesummv", 6)]
)
def test_units_and_products(kernel: str, dsp: int) -> None:
    assert plain(kernel).dsp == dsp


def test_the_outermost_loop_of_a_flattened_nest_may_vary() -> None:
    p = ProgramBuilder("trmm")
    a, b = p.placeholder("A", f32, (20, 20)), p.placeholder("B", f32, (20, 30))
    c = p.placeholder("C", f32, (20, 30))
    k, i, j = p.loops(k=20, i=20, j=30)
    p.compute("S", (k, i, j), c[i, j], c[i, j] + a[k, i] * b[k, j], where=i < k)
    found = estimate(kernel_of_tree(loop_tree(build(p.build()))), TOOL)
    assert [each.loops for each in found.loops] == [("k",), ("i", "j")]
    flat = loop(found, "i", "j")
    assert flat.kind == "pipeline"
    assert flat.trips.average == 30 * 9.5 * 20 / 19  # k = 0 does not enter it


def test_a_sum_in_logic_takes_no_dsp_and_four_states() -> None:
    found = {}
    for impl in ("auto", "fabric"):
        p = ProgramBuilder("axpy")
        a, b = p.placeholder("A", f32, (64,)), p.placeholder("B", f32, (64,))
        (i,) = p.loops(i=64)
        p.compute("S", (i,), b[i], b[i] + a[i] * a[i])
        state = apply(p.build(), Schedule((BindOp("S", "fadd", impl),)))
        tree = loop_tree(state)
        found[impl] = estimate(kernel_of_tree(tree), TOOL)
        module = compile_design(p.build(), Schedule((BindOp("S", "fadd", impl),))).module
        assert kernel_of_module(module) == kernel_of_tree(tree)
    assert dict(found["auto"].units) == {"fadd": 1, "fmul": 1}
    assert dict(found["fabric"].units) == {"fadd_fabric": 1, "fmul": 1}
    assert (found["auto"].dsp, found["fabric"].dsp) == (5, 3)
    assert found["auto"].latency.average - found["fabric"].latency.average == 7 - 4


@pytest.mark.parametrize(("rows", "interval"), [(64, 1), (25, 1), (6, 2)])
def test_a_sum_through_memory_that_does_not_close_in_its_tree_is_added_at_the_root(
    rows: int, interval: int
) -> None:
    """Ten terms and the sum so far are four levels: 29 states, which 25 rows do not cover. At the
    root it is one addition, 8 states.
    """
    p = ProgramBuilder("columns")
    a, x = p.placeholder("A", f32, (rows, 400)), p.placeholder("x", f32, (400,))
    y = p.placeholder("y", f32, (rows,))
    k, i, u = p.loops(k=40, i=rows, u=10)
    p.compute("S", (k, i, u), y[i], y[i] + a[i, k * 10 + u] * x[k * 10 + u])
    s = ScheduleBuilder().reassociate("S").pipeline("i").partition("A", 1, "cyclic", 10)
    schedule = s.partition("x", 0, "cyclic", 10).build()
    found = estimate(kernel_of_tree(loop_tree(apply(p.build(), schedule))), TOOL)
    assert loop(found, "k", "i").ii == interval


@pytest.mark.parametrize(
    ("terms", "additions"), [(1, 1), (2, 1), (4, 3), (8, 3), (10, 4), (15, 4), (16, 4), (25, 4)]
)
def test_how_many_additions_a_sum_in_a_register_passes(terms: int, additions: int) -> None:
    """Intervals of sums in logic that reports have: 4 states for each addition."""
    p = ProgramBuilder("total")
    a, y = p.placeholder("A", f32, (16 * terms,)), p.placeholder("y", f32, (1,))
    k, u = p.loops(k=16, u=terms)
    p.compute("S", (k, u), y[0], y[0] + a[k * terms + u])
    s = ScheduleBuilder().reassociate("S").pipeline("k").partition("A", 0, "cyclic", terms)
    schedule = s.bind_op("S", "fadd", "fabric").build()
    found = estimate(kernel_of_tree(loop_tree(apply(p.build(), schedule))), TOOL)
    assert loop(found, "k").ii == 4 * additions


def test_a_sum_through_memory_in_logic_stays_a_leaf() -> None:
    """25 terms and the sum so far: four additions of 4 states and a load, with 16 rows between."""
    p = ProgramBuilder("columns")
    a, y = p.placeholder("A", f32, (16, 400)), p.placeholder("y", f32, (16,))
    k, i, u = p.loops(k=16, i=16, u=25)
    p.compute("S", (k, i, u), y[i], y[i] + a[i, k * 25 + u])
    s = ScheduleBuilder().reassociate("S").pipeline("i").partition("A", 1, "cyclic", 25)
    schedule = s.bind_op("S", "fadd", "fabric").build()
    found = estimate(kernel_of_tree(loop_tree(apply(p.build(), schedule))), TOOL)
    assert loop(found, "k", "i").ii == 2


@weft.kernel
def spread(x: weft.f32[24], y: weft.f32[24], a: weft.f32[384]) -> None:
    for i in range(24):
        y[i] = x[i]
        for k in range(16):
            a[16 * i + k] = x[i]


@pytest.mark.parametrize(
    ("banks", "asked", "interval"), [(10, False, 8), (41, False, 8), (10, True, 1), (8, False, 1)]
)
def test_copies_made_unasked_do_not_tell_their_banks(
    banks: int, asked: bool, interval: int
) -> None:
    schedule = ScheduleBuilder().partition("a", 0, "cyclic", banks)
    if asked:
        schedule = schedule.unroll("k").pipeline("i")
    state = apply(spread.program, schedule.build())
    kernel = kernel_of_tree(loop_tree(state))
    (found,) = (x for x in estimate(kernel, TOOL).loops if x.kind == "pipeline")
    assert found.ii == interval
    stores_in_turn = not asked and banks == 10  # fewer banks than copies
    assert (found.depth > 16) == stores_in_turn
