"""Sums as trees under unsafe math (Vitis HLS 2025.1 on xcu200 at 4 ns): f64 sums take 6 states."""

from __future__ import annotations

from math import ceil, log2

import pytest

import weft
from dsl.builder.program import ProgramBuilder
from dsl.expressions.types import f32, f64
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Partition, Pipeline, Step, Unroll
from qor_gnn.design.directives import with_directives
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.estimate import estimate
from qor_gnn.fit.labelled.u200_design import source_tree
from qor_gnn.result.qor_estimate import LoopEstimate
from qor_gnn.tools.personality import allowed, personality
from weft import i32

TOOL = "vitis-2025.1-u200-4ns"
U280 = "vitis-2023.2-u280-3.33ns"
KEPT = frozenset({"i", "j"})
ROWS, COLUMNS = 90, 120


def products(flat: bool = True) -> ProgramBuilder:
    """``y[i] += A[i, j] * x[j]``; not flat: every element with itself, in a loop by itself."""
    p = ProgramBuilder("products")
    a, x = p.local("A", f64, (ROWS, COLUMNS)), p.local("x", f64, (COLUMNS,))
    if flat:
        y = p.local("y", f64, (ROWS,))
        i, j = p.loops(i=ROWS, j=COLUMNS)
        p.compute("S", (i, j), y[i], y[i] + a[i, j] * x[j])
    else:
        s = p.local("s", f64, (2,))
        (j,) = p.loops(j=COLUMNS)
        p.compute("S", (j,), s[0], s[0] + x[j] * x[j])
    return p


def inner(p: ProgramBuilder, *steps: Step) -> LoopEstimate:
    kernel = with_directives(kernel_of_tree(source_tree(p.build(), {})), steps)
    return estimate(kernel, TOOL, kept=KEPT).loops[-1]


@pytest.mark.parametrize("factor", [1, 2, 3, 4, 8, 20, 40])
def test_a_factor_that_divides_leaves_one_sum_on_the_recurrence(factor: int) -> None:
    found = inner(products(), Unroll("j", factor))
    assert found.loops == ("i", "j")
    assert found.ii == 6


@pytest.mark.parametrize("factor", [2, 4, 8])
def test_each_level_of_the_tree_takes_five_states(factor: int) -> None:
    one = inner(products(flat=False), Unroll("j", 1))
    tree = inner(products(flat=False), Unroll("j", factor))
    waiting = tree.depth - one.depth - 5 * ceil(log2(factor))
    assert 0 <= waiting <= tree.ii  # for the few units that the interval leaves


@pytest.mark.parametrize(("factor", "behind"), [(7, 6), (9, 6), (16, 8), (32, 8)])
def test_sums_behind_the_exit_of_a_flattened_nest_stay_a_chain(factor: int, behind: int) -> None:
    assert COLUMNS % factor == factor - behind
    assert inner(products(), Unroll("j", factor)).ii == 6 * (behind + 2) - 1


@pytest.mark.parametrize("factor", [7, 9, 16, 32])
def test_both_parts_are_trees_in_a_loop_of_its_own(factor: int) -> None:
    assert inner(products(flat=False), Unroll("j", factor)).ii == 10


def test_guarded_sums_stay_a_chain() -> None:
    p = ProgramBuilder("guarded")
    a, y = p.local("A", f64, (ROWS, COLUMNS)), p.local("y", f64, (ROWS,))
    i, j = p.loops(i=ROWS, j=COLUMNS)
    p.compute("S", (i, j), y[i], y[i] + a[i, j], where=j < i)
    assert inner(p, Unroll("j", 4)).ii == 24


def test_without_unsafe_math_the_chain_grows_with_the_factor() -> None:
    kernel = with_directives(
        kernel_of_tree(source_tree(products(flat=False).build(), {})), [Unroll("j", 4)]
    )
    strict = allowed(personality(U280), reassociates=False)
    assert estimate(kernel, strict).loops[-1].ii == 4 * 8
    assert estimate(kernel, U280).loops[-1].ii == 3 * 8


@pytest.mark.parametrize(("terms", "latency"), [(10, 35), (15, 35), (40, 49), (400, 70)])
def test_the_accumulator_is_a_term_of_the_tree_in_2023(terms: int, latency: int) -> None:
    # Loads, products, ceil(log2(terms + 1)) sums of 7 states and a store: as the reports of designs
    # that unroll a sum completely inside of a pipelined loop have it (400 terms of mvt: 70).
    p = ProgramBuilder("mvt")
    a, x = p.placeholder("A", f32, (400, terms)), p.placeholder("x", f32, (terms,))
    y = p.placeholder("y", f32, (400,))
    i, j = p.loops(i=400, j=terms)
    p.compute("S", (i, j), y[i], y[i] + a[i, j] * x[j])
    steps = [Pipeline("i"), Partition("A", 1, "complete"), Partition("x", 0, "complete")]
    kernel = with_directives(kernel_of_tree(source_tree(p.build(), {})), steps)
    found = estimate(kernel, U280).loops[-1]
    assert found.ii == 1
    assert found.latency.average == 399 + latency - 1
    assert found.dsp == 5 * terms


@pytest.mark.parametrize(("start", "sums"), [(0.0, 7), (1.0, 8)])
def test_a_sum_that_starts_at_zero_has_an_addition_less(start: float, sums: int) -> None:
    p = ProgramBuilder("starts")
    a, y = p.local("A", f64, (ROWS, 8)), p.local("y", f64, (ROWS,))
    (i,) = p.loops(i=ROWS)
    total = a[i, 0] + start
    for j in range(1, 8):
        total = total + a[i, j]
    p.compute("S", (i,), y[i], total)
    assert dict(inner(p).units) == {"dadd": sums}


@weft.kernel
def of_counters(B: i32[12]):
    for i, j in weft.grid(6, 6):
        B[i] = B[i] * (i32(j) + -1 - -128)


@pytest.mark.parametrize("tool", ["vitis-2022.1", "vitis-2023.2", "vitis-2025.1"])
def test_a_sum_of_counters_and_constants_alone_is_one_operation(tool: str) -> None:
    found = weft.estimate(of_counters, Schedule((Pipeline("j"),)), tool=tool)
    assert found.latency.average > 36


@weft.kernel
def chosen_again(a: i32[8, 48], y: i32[8]):
    for i in range(8):
        v: i32 = 0
        for j in range(48):
            v = weft.select(a[i, j] > 0, weft.select(a[i, j] > 3, v, a[i, j]), v)
        y[i] = v + a[i, 0] + a[i, 1]


def test_values_that_choices_share_are_looked_at_once() -> None:
    # Each choice has the one before twice: 2^48 ways lead from the sum to the first value.
    found = weft.estimate(chosen_again, Schedule((Pipeline("i"),)), tool="vitis-2023.2")
    assert 0 < found.latency.average < 400
