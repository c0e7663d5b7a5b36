"""What Vitis HLS 2025.1 knows of the copies of a loop, of banks that counters choose, of short loops
and of integers (xcu200 at 4 ns: a load 2 states, an f64 product 7, a sum 6, a store 1).
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from dsl.builder.program import ProgramBuilder
from dsl.expressions.types import IntType, f64
from dsl.schedules.steps import Partition, Step, Unroll
from qor_gnn.design.directives import with_directives
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.design.region import Kernel
from qor_gnn.estimate import estimate
from qor_gnn.fit.labelled.u200_design import source_tree
from qor_gnn.memory.automatic_partition import partitioned
from qor_gnn.result.qor_estimate import QorEstimate
from qor_gnn.tools.personality import personality

TOOL = "vitis-2025.1-u200-4ns"
ROWS, COLUMNS = 60, 80


def kernel(p: ProgramBuilder, *steps: Step) -> Kernel:
    return with_directives(kernel_of_tree(source_tree(p.build(), {})), steps)


def found(p: ProgramBuilder, *steps: Step, kept: str = "ijk") -> QorEstimate:
    return estimate(kernel(p, *steps), TOOL, kept=frozenset(kept))


def banks(design: Kernel) -> dict[str, list[int]]:
    split, _ = partitioned(design, personality(TOOL), frozenset("ijk"))
    return {m.name: [s.factor for s in m.splits] for m in split.memories if m.banks > 1}


# ------------------------------------------------------------------------------ copies of a loop


def updates(first: int) -> ProgramBuilder:
    """``E[i][j] -= H[i][j]`` in columns from ``first`` on."""
    p = ProgramBuilder("updates")
    e, h = p.local("E", f64, (ROWS, COLUMNS)), p.local("H", f64, (ROWS, COLUMNS))
    i, j = p.loops(i=ROWS, j=range(first, COLUMNS))
    p.compute("S", (i, j), e[i, j], e[i, j] - h[i, j])
    return p


@pytest.mark.parametrize("factor", [2, 4, 16])
def test_copies_wait_for_each_other_where_a_loop_ends_between_them_and_starts_late(
    factor: int,
) -> None:
    # 79 columns from the second on; each copy loads, subtracts and stores (fdtd-2d, L5).
    answer = found(updates(1), Unroll("j", factor))
    assert answer.loops[-1].ii == factor * (2 + 6 + 1)
    assert answer.dsp == 3
    assert banks(kernel(updates(1), Unroll("j", factor))) == {}


@pytest.mark.parametrize(("first", "factor"), [(0, 32), (1, 1), (20, 4)])
def test_copies_are_known_apart_in_other_loops(first: int, factor: int) -> None:
    assert found(updates(first), Unroll("j", factor)).loops[-1].ii == 1


def test_a_recurrence_of_copies_that_is_too_long_is_not_pipelined() -> None:
    assert found(updates(1), Unroll("j", 16)).loops[-1].kind == "pipeline"
    assert found(updates(1), Unroll("j", 32)).loops[-1].kind == "sequential"


def test_copies_of_a_store_need_not_wait_where_nothing_is_loaded() -> None:
    p = ProgramBuilder("apart")
    a, b = p.local("A", f64, (120,)), p.local("B", f64, (120,))
    (i,) = p.loops(i=range(1, 119))
    p.compute("S", (i,), b[i], a[i] * 2.0)
    assert found(p, Unroll("i", 16)).loops[-1].ii == 1


def test_what_another_copy_stored_in_the_same_place_is_not_loaded_again() -> None:
    # The copies of a recurrence are a chain of its operators alone (adi, L2).
    p = ProgramBuilder("recurrence")
    q = p.local("Q", f64, (ROWS, ROWS))
    i, j = p.loops(i=ROWS, j=range(1, ROWS))
    p.compute("S", (i, j), q[i, j], q[i, j - 1] * 0.5 + 1.0)
    once, four = (found(p, Unroll("j", n)).loops[-1].ii or 0 for n in (1, 4))
    assert four - once == 3 * (7 + 6)


@pytest.mark.parametrize(("first", "rows"), [(0, 48), (1, 32)])
def test_a_late_loop_around_another_counts_whole_iterations_only(first: int, rows: int) -> None:
    # 40 rows in copies of 16: three times 16, or two times (seidel-2d L1, fdtd-2d L2, heat-3d L4).
    p = ProgramBuilder("late")
    e, h = p.local("E", f64, (ROWS, COLUMNS)), p.local("H", f64, (ROWS, COLUMNS))
    i, j = p.loops(i=range(first, first + 40), j=COLUMNS)
    p.compute("S", (i, j), e[i, j], h[i, j] * 2.0)
    times = {x.loops: x for x in found(p, Unroll("i", 16)).loops}
    fewer = {x.loops: x for x in found(p, Unroll("i", 8)).loops}
    per_row = fewer["i",].latency.average / 40
    assert times["i",].latency.average == pytest.approx(per_row * rows, rel=0.02)


# ----------------------------------------------------------------------- banks that counters choose


@pytest.mark.parametrize(("factor", "interval"), [(1, 1), (20, 1), (40, 6)])
def test_banks_of_a_flattened_nest_hide_when_an_element_comes_again(
    factor: int, interval: int
) -> None:
    # From half the columns on each has its bank (fdtd-2d: L3 = 40).
    assert found(updates(0), Unroll("j", factor)).loops[-1].ii == interval


def test_another_loop_that_runs_through_such_banks_is_slow_too() -> None:
    p = ProgramBuilder("two")
    h, e = p.local("H", f64, (ROWS, COLUMNS)), p.local("E", f64, (ROWS, COLUMNS))
    i, j = p.loops(i=ROWS, j=COLUMNS)
    k, m = p.loops(k=ROWS, m=COLUMNS)
    p.compute("S", (i, j), e[i, j], h[i, j] * 2.0)
    p.compute("T", (k, m), h[k, m], h[k, m] - 1.0)
    slow, fast = (
        found(p, *steps, kept="ijkm").loops[-1].ii
        for steps in ([Unroll("j", 40)], [Unroll("j", 40), Unroll("m", 8)])
    )
    assert (slow, fast) == (6, 1)  # with 8 banks of its own its accesses are known apart


def test_a_loop_by_itself_knows_its_banks() -> None:
    answer = found(updates(0), Unroll("i", 2), Unroll("j", 40))  # syr2k: L1 = 64
    assert answer.loops[-1].ii == 1


# ------------------------------------------------------------------------------------ short loops


def short(stores: bool) -> ProgramBuilder:
    """Eight terms to each element; what starts the sum is stored or kept in a scalar."""
    p = ProgramBuilder("short")
    a, b = p.local("A", f64, (ROWS, ROWS, 8)), p.local("B", f64, (ROWS, ROWS, 8))
    c = p.local("C", f64, (ROWS, ROWS))
    x = p.local("x", f64)
    i, j, k = p.loops(i=ROWS, j=ROWS, k=8)
    p.compute("S", (i, j), c[i, j] if stores else x, a[i, j, 0])
    p.compute("T", (i, j, k), b[i, j, k], a[i, j, k] * (c[i, j] if stores else x), after=("S", j))
    return p


@pytest.mark.parametrize(("stores", "products"), [(False, 1), (True, 8)])
def test_a_short_loop_stays_in_a_perfect_nest(stores: bool, products: int) -> None:
    # heat-3d and gemm-blocked without directives, doitgen.
    assert dict(found(short(stores), kept="ij").units) == {"dmul": products}


def test_an_unrolled_parent_takes_the_short_loop_in() -> None:
    assert dict(found(short(False), Unroll("j", 2), kept="ij").units)["dmul"] == 16


@pytest.mark.parametrize(("copies", "replicas"), [(2, 1), (4, 3)])
def test_a_row_that_the_pipelined_loop_updates_again_sets_the_interval(
    copies: int, replicas: int
) -> None:
    # gemm-blocked, L3 = 2 and 4: 8 elements are updated through a port for each, and what is only
    # read is read from copies; 22 and 44 slices, without a division.
    p = ProgramBuilder("updated")
    a, b = p.local("a", f64, (512,)), p.local("b", f64, (512,))
    c, x = p.local("c", f64, (512,)), p.local("x", f64)
    i, k, j = p.loops(i=64, k=8, j=8)
    p.compute("S", (i, k), x, a[8 * i + k])
    p.compute("T", (i, k, j), c[8 * i + j], c[8 * i + j] + x * b[64 * k + j], after=("S", k))
    answer = found(p, Unroll("k", copies), kept="ik")
    assert answer.loops[-1].ii == 8
    assert answer.dsp == copies * (8 + 3)
    whole = kernel(p, Unroll("k", copies))
    parts, times = partitioned(whole, personality(TOOL), frozenset("ik"))
    assert all(m.banks == 1 for m in parts.memories)
    assert times["b"] == replicas


# ------------------------------------------------------------------------------------------ banks


def test_an_array_that_is_indexed_beyond_its_end_is_not_split() -> None:
    p = ProgramBuilder("beyond")
    x, y = p.local("x", f64, (96,)), p.local("y", f64, (96,))
    (i,) = p.loops(i=96)
    p.compute("S", (i,), y[i], x[i])
    whole = kernel(p, Unroll("i", 8))
    assert banks(whole) == {"x": [4], "y": [4]}
    shorter = tuple(replace(m, shape=(90,)) if m.name == "y" else m for m in whole.memories)
    assert banks(replace(whole, memories=shorter)) == {"x": [4]}


def test_rows_that_others_are_updated_from_are_not_split_for_copies_of_a_flattened_nest() -> None:
    # trmm-opt, L1 = 2 with L2 unrolled completely: 122 loads through the two ports of one bank.
    p = ProgramBuilder("rows")
    b = p.local("B", f64, (ROWS, COLUMNS))
    s = p.local("s", f64)
    i, j, k = p.loops(i=ROWS, j=COLUMNS, k=ROWS)
    p.compute("S", (i, j), s, b[i, j])
    p.compute("T", (i, j, k), s, s + b[k, j], where=k > i, after=("S", j))
    p.compute("U", (i, j), b[i, j], s, after=("T", j))
    one, two = kernel(p, Unroll("k", ROWS)), kernel(p, Unroll("j", 2), Unroll("k", ROWS))
    assert "B" in banks(one)
    assert banks(two) == {}
    assert partitioned(two, personality(TOOL), frozenset("ijk"))[1]["B"] == 2


# --------------------------------------------------------------------------------------- integers


def test_products_of_integers_have_a_unit_each_where_they_start_at_once() -> None:
    # stencil-3d: four stores an iteration through one bank, and yet all units (L2 = 4).
    p = ProgramBuilder("squares")
    x, y = p.local("x", IntType(64), (64,)), p.local("y", IntType(64), (64,))
    (i,) = p.loops(i=64)
    p.compute("S", (i,), y[i], x[i] * x[i])
    answer = found(p, Unroll("i", 8), Partition("y", 0, factor=2), Partition("x", 0, factor=8))
    assert (answer.loops[-1].ii, answer.dsp) == (2, 8 * 10)


def test_sums_of_integers_are_trees() -> None:
    p = ProgramBuilder("terms")
    xs = [p.local(f"x{n}", IntType(64), (64,)) for n in range(8)]
    y = p.local("y", IntType(64), (64,))
    (i,) = p.loops(i=64)
    total = xs[0][i] + xs[1][i]
    for x in xs[2:]:
        total = total + x[i]
    p.compute("S", (i,), y[i], total)
    assert found(p).loops[-1].depth == 3  # two sums a state; one after the other: 5 states


# ------------------------------------------------------------------------------ calls side by side


def columns(*more: Step) -> QorEstimate:
    """``x[i] += A[j][i] * y[j]`` with four copies of the loop over i, all of j's in banks."""
    p = ProgramBuilder("columns")
    a, y = p.local("A", f64, (ROWS, ROWS)), p.local("y", f64, (ROWS,))
    x = p.local("x", f64, (ROWS,))
    i, j = p.loops(i=ROWS, j=ROWS)
    p.compute("S", (i, j), x[i], x[i] + a[j, i] * y[j])
    whole = [Partition("A", 0, factor=ROWS), Partition("y", 0, factor=ROWS)]
    return found(p, Unroll("i", 4), Unroll("j", 30), *whole, *more)


def test_copies_of_a_loop_that_are_known_to_be_in_other_banks_run_at_the_same_time() -> None:
    # gemver-medium with L2 unrolled: as many units as all copies want, in the time of one.
    one_by_one = columns(Partition("x", 0, factor=3))
    two = columns(Partition("x", 0, factor=4))  # through the two ports of the banks of A
    all_four = columns(Partition("x", 0, factor=4), Partition("A", 1, factor=4))
    once = dict(one_by_one.units)
    assert dict(two.units) == {core: 2 * n for core, n in once.items()}
    assert dict(all_four.units) == {core: 4 * n for core, n in once.items()}
    assert all_four.latency.average < 0.4 * one_by_one.latency.average
    # Of eight banks each copy takes two: which one is known at run time only.
    unknown = columns(Partition("x", 0, factor=8), Partition("A", 1, factor=8))
    assert unknown.units == one_by_one.units
