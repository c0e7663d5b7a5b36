"""Latency, interval and units of small designs, by the laws of Vitis HLS 2022.1 at 10 ns.

The numbers are worked out by hand: a load takes 2 states, an f32 product 3, a sum 4, a store 1. Where ports are short,
arrays are bound to `ONE`, a port that reads and one that writes.
"""

from __future__ import annotations

import pytest

from dsl.builder.program import ProgramBuilder
from dsl.expressions.types import f32
from dsl.schedules.schedule import ScheduleBuilder
from qor_gnn.design.region import Kernel, body_as_kernel, split_functions
from qor_gnn.estimate import estimate
from qor_gnn.result.qor_estimate import LoopEstimate, QorEstimate
from qor_gnn.schedule.reasons import Conflict, PortLimit, Recurrence, Requested
from tests.qor.designs import N, column_sums, matrix_vector, prefix, region_tree, scale

ONE = "ram_s2p"
CALL = 1  # a function that a top calls takes a cycle more than as the top


def innermost(found: QorEstimate) -> LoopEstimate:
    return found.loops[-1]


def called(kernel: Kernel) -> QorEstimate:
    nests = range(len(kernel.functions[0].body))
    return estimate(split_functions(kernel, tuple((n,) for n in nests)))


# ---------------------------------------------------------------------------- sequential loops


@pytest.mark.parametrize(("factor", "states"), [(1, 9), (2, 13), (4, 21), (8, 37), (16, 69)])
def test_each_further_term_of_a_reduction_adds_a_sum(factor: int, states: int) -> None:
    s = ScheduleBuilder()
    s.unroll("j", factor)
    assert innermost(estimate(region_tree(matrix_vector(), s))).depth == states


def test_a_sequential_reduction_has_a_prologue_and_a_final_state() -> None:
    # Inside the loop i: the load of y[i], a header, the loop, the final check.
    inner = 1 + 1 + 64 * 9 + 1
    assert called(region_tree(matrix_vector())).latency.average == 64 * inner + 2


def test_a_bank_that_is_not_known_serialises_what_a_known_one_does_not() -> None:
    # The loop j alone, i is an argument: C is split in both dimensions.
    s = ScheduleBuilder()
    s.partition("C", 0, "cyclic", 2).partition("C", 1, "cyclic", 2).unroll("j", 2)
    unknown = body_as_kernel(region_tree(scale(), s), "i")
    assert innermost(estimate(unknown)).depth == 11
    s = ScheduleBuilder()
    s.partition("C", 1, "cyclic", 2).unroll("j", 2)
    known = body_as_kernel(region_tree(scale(), s), "i")
    assert innermost(estimate(known)).depth == 6


def test_loads_of_one_bank_take_turns() -> None:
    s = ScheduleBuilder()
    s.unroll("j", 4).bind_storage("C", ONE)
    whole = body_as_kernel(region_tree(scale(), s), "i")
    # Four loads, one after the other: the last product starts in state 3 + 2, the store in 8.
    assert innermost(estimate(whole)).depth == 9
    s = ScheduleBuilder()
    both = body_as_kernel(region_tree(scale(), s.unroll("j", 4)), "i")
    assert innermost(estimate(both)).depth == 7  # two and two


def test_copies_of_an_outer_loop_run_one_after_the_other() -> None:
    plain = called(region_tree(matrix_vector())).latency.average
    s = ScheduleBuilder()
    s.unroll("i", 2)
    copied = called(region_tree(matrix_vector(), s)).latency.average
    # Half the iterations; two copies share a state, so each pair saves one.
    assert copied == plain - 32


# ----------------------------------------------------------------------------------- pipelines


def test_a_pipeline_that_is_the_whole_function() -> None:
    s = ScheduleBuilder()
    s.pipeline("j")
    found = called(region_tree(scale(), s))
    loop = innermost(found)
    assert (loop.loops, loop.ii, loop.depth) == (("i", "j"), 1, 5)
    assert found.latency.average == (64 * 64 - 1) + 5 + 3


def test_flattening_can_be_forbidden() -> None:
    s = ScheduleBuilder()
    s.pipeline("j").flatten("j", False)
    found = called(region_tree(scale(), s))
    assert [loop.loops for loop in found.loops] == [("i",), ("j",)]
    assert found.latency.average == 64 * (63 + 5 + 4) + 2


@pytest.mark.parametrize(("factor", "interval"), [(1, 3), (2, 8), (4, 16), (8, 32)])
def test_an_accumulator_in_a_register_limits_the_interval(factor: int, interval: int) -> None:
    s = ScheduleBuilder()
    s.pipeline("j").partition("A", 1, "cyclic", 8).partition("x", 0, "cyclic", 8)
    s.unroll("j", factor)
    loop = innermost(estimate(region_tree(matrix_vector(), s)))
    assert loop.ii == interval
    limit = loop.limits[0]
    assert isinstance(limit, Recurrence)
    assert (limit.array, limit.element, limit.statements) == ("y", "y[i]", ("S",))
    assert limit.operators == ("add",) * factor
    assert (limit.distance, limit.through, limit.interval) == (1, "register", interval)


@pytest.mark.parametrize("distance", [1, 2, 3, 4])
def test_a_recurrence_through_memory_counts_its_load_and_store(distance: int) -> None:
    s = ScheduleBuilder()
    s.pipeline("i")
    loop = innermost(estimate(region_tree(prefix(distance), s)))
    assert loop.ii == -(-(2 + 4 + 1) // distance)
    limit = loop.limits[0]
    assert isinstance(limit, Recurrence)
    assert (limit.array, limit.through, limit.delay) == ("a", "memory", 7)
    assert limit.distance == distance


def test_a_bank_limits_the_interval() -> None:
    s = ScheduleBuilder()
    s.pipeline("j").unroll("j", 8).bind_storage("A", ONE).bind_storage("y", ONE)
    loop = innermost(estimate(region_tree(column_sums(), s)))
    limit = loop.limits[0]
    assert isinstance(limit, PortLimit)
    assert (limit.count, limit.ports, limit.interval, loop.ii) == (8, 1, 8, 8)
    assert limit.array in ("A", "y")
    assert limit.bank == ()
    s.partition("A", 1, "cyclic", 8).partition("y", 0, "cyclic", 8)
    assert innermost(estimate(region_tree(column_sums(), s))).ii == 1


def test_the_port_limit_names_the_bank() -> None:
    s = ScheduleBuilder()
    s.pipeline("j").unroll("j", 8)
    s.partition("A", 1, "cyclic", 8).partition("y", 0, "cyclic", 4).bind_storage("y", ONE)
    limit = innermost(estimate(region_tree(column_sums(), s))).limits[0]
    assert isinstance(limit, PortLimit)
    assert (limit.array, limit.bank, limit.count) == ("y", (0,), 2)
    assert limit.accesses == ("y[8*j]", "y[8*j + 4]")


def test_nothing_limits_but_what_was_asked_for() -> None:
    s = ScheduleBuilder()
    s.pipeline("j", 4)
    loop = innermost(estimate(region_tree(scale(), s)))
    assert loop.ii == loop.asked == 4
    assert loop.limits[0] == Requested(4)


def test_a_pipelined_loop_unrolls_all_inside() -> None:
    s = ScheduleBuilder()
    s.pipeline("i")
    found = estimate(region_tree(matrix_vector(), s))
    loop = innermost(found)
    assert (loop.loops, loop.ii) == (("i",), 32)  # 64 loads through two ports
    # y is loaded and stored once an iteration, and carries nothing to the next one.
    assert isinstance(loop.limits[0], PortLimit)


# ------------------------------------------------------------------------------------ functions


def two_nests() -> ProgramBuilder:
    p = ProgramBuilder("two")
    c, d = p.placeholder("C", f32, (N,)), p.placeholder("D", f32, (N,))
    (i,) = p.loops(i=N)
    p.compute("S", (i,), c[i], c[i] * 2.0)
    (k,) = p.loops(k=N)
    p.compute("T", (k,), d[k], d[k] + 1.0)
    return p


def test_functions_that_are_called_in_turn() -> None:
    kernel = region_tree(two_nests())
    first, second = 64 * 6 + 2, 64 * 7 + 2
    assert called(kernel).latency.average == first + second + 1
    # In one function the second loop's header is the first one's final check.
    assert estimate(kernel).latency.average == 1 + 64 * 6 + 1 + 64 * 7 + 1 - CALL


# ------------------------------------------------------------------------------------- operators


@pytest.mark.parametrize(("factor", "products"), [(1, 1), (2, 2), (4, 4), (16, 4)])
def test_a_reduction_holds_back_the_terms_that_its_chain_cannot_take(
    factor: int, products: int
) -> None:
    s = ScheduleBuilder()
    s.unroll("j", factor).partition("A", 1, "cyclic", 16).partition("x", 0, "cyclic", 16)
    found = estimate(region_tree(matrix_vector(), s))
    assert dict(found.units) == {"fadd": 1, "fmul": products}
    assert found.dsp == 3 * products + 2


@pytest.mark.parametrize(("factor", "units"), [(1, 1), (2, 1), (4, 2), (8, 4)])
def test_a_pipeline_has_as_many_units_as_its_interval_needs(factor: int, units: int) -> None:
    s = ScheduleBuilder()
    s.pipeline("j").unroll("j", factor)
    s.partition("A", 1, "cyclic", max(1, factor // 2))
    s.partition("y", 0, "cyclic", max(1, factor // 2))
    found = estimate(region_tree(column_sums(), s))
    assert innermost(found).ii == (1 if factor == 1 else 2)
    assert dict(found.units) == {"fadd": units, "fmul": units}


def test_the_critical_path_is_given_where_it_is_asked_for() -> None:
    kernel = region_tree(matrix_vector())
    assert innermost(estimate(kernel)).path == ()
    path = innermost(estimate(kernel, explain=True)).path
    assert [(step.operation, step.start, step.states) for step in path] == [
        ("load A[i][j]", 0, 2),
        ("mul", 2, 3),
        ("add", 5, 4),
    ]
    assert {step.statement for step in path} == {"S"}


def two_sums() -> ProgramBuilder:
    """``s[j]`` is summed over rows, ``q[i]`` over columns, in one loop."""
    p = ProgramBuilder("sums")
    i, j = p.loops(i=N, j=N)
    a = p.placeholder("A", f32, (N, N))
    s, q = p.placeholder("s", f32, (N,)), p.placeholder("q", f32, (N,))
    p.compute("S", (i, j), s[j], s[j] + a[i, j])
    p.compute("T", (i, j), q[i], q[i] + a[i, j], after=("S", j))
    return p


def test_a_chain_shares_its_unit_with_other_sums() -> None:
    s = ScheduleBuilder()
    s.unroll("j", 4).partition("A", 1, "cyclic", 4).partition("s", 0, "cyclic", 4)
    assert dict(estimate(region_tree(two_sums(), s)).units) == {"fadd": 1}


def test_an_accumulator_among_registers_does_not_prevent_flattening() -> None:
    s = ScheduleBuilder()
    s.pipeline("j").partition("y", 0, "complete")
    loop = innermost(estimate(region_tree(matrix_vector(), s)))
    assert loop.loops == ("i", "j")
    limit = loop.limits[0]
    assert isinstance(limit, Recurrence)
    # A multiplexer of registers, the sum, the register.
    assert (limit.array, limit.through, limit.delay) == ("y", "memory", 1 + 4 + 1)


def three_stores(second: float | None) -> QorEstimate:
    """To bank 0, to bank 1, and to one of both; the second is later by one state where it is a
    sum and not a copy of the first one's product.
    """
    p = ProgramBuilder("stores")
    (i,) = p.loops(i=14)
    a, b = p.placeholder("A", f32, (64,)), p.placeholder("B", f32, (14,))
    p.compute("S", (i,), a[2 * i], b[i] * 2.0)
    value = b[i] * 2.0 if second is None else b[i] + second
    p.compute("T", (i,), a[2 * i + 1], value, after=("S", i))
    p.compute("U", (i,), a[3 * i + 20], b[i] * 2.0, after=("T", i))
    s = ScheduleBuilder()
    s.pipeline("i").partition("A", 0, "cyclic", 2).bind_storage("A", ONE).bind_storage("B", ONE)
    return estimate(region_tree(p, s))


def test_an_access_of_unknown_bank_takes_a_port_of_each() -> None:
    loop = innermost(three_stores(None))
    assert loop.ii == 2
    limit = loop.limits[0]
    assert isinstance(limit, PortLimit)
    assert (limit.array, limit.port, limit.count) == ("A", "store", 2)


def test_accesses_to_several_banks_that_do_not_fit_together() -> None:
    # The known banks are stored to in odd and in even states: both are never free at once.
    loop = innermost(three_stores(1.0))
    assert loop.ii == 3
    assert loop.limits[0] == Conflict(("A",), 3)
