"""What the labels of Vitis HLS 2025.1 (xcu200, 4 ns) say of modules: units, divided stores, loops."""

from __future__ import annotations

import pytest

from dsl.builder.program import ProgramBuilder
from dsl.expressions.types import f64
from dsl.schedules.steps import Partition, Step, Unroll
from qor_gnn.area.multiplexers import ADDER, multiplexer
from qor_gnn.area.resources import terms_of
from qor_gnn.design.directives import with_directives
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.design.region import Kernel
from qor_gnn.estimate import estimate
from qor_gnn.fit.labelled.u200_design import source_tree
from qor_gnn.memory.automatic_partition import partitioned
from qor_gnn.result.qor_estimate import QorEstimate
from qor_gnn.schedule.compose import function_latency
from qor_gnn.schedule.loops import Scope
from qor_gnn.tools.personality import personality

TOOL = "vitis-2025.1-u200-4ns"
STEPS, POINTS = 40, 120


@pytest.mark.parametrize(
    ("adders", "multipliers", "ff"),
    [
        (324, 144, 203_612),  # heat-3d: copies of an outer loop extrapolated to none
        (16, 8, 10_809),  # jacobi-1d, of which some 9 banks are 576 FF
        (58, 60, 50_847),  # doitgen
    ],
)
def test_units_are_most_of_what_is_not_copied(adders: int, multipliers: int, ff: int) -> None:
    tool = personality(TOOL)
    add, mul = (tool.operator(kind, "f64", 64) for kind in ("add", "mul"))
    assert 0.94 * ff < adders * add.ff + multipliers * mul.ff < ff


@pytest.mark.parametrize(
    ("adders", "multipliers", "others", "lut"),
    [
        (
            324,
            144,
            70_092,
            305_470,
        ),  # heat-3d, L2 and L5 at 2; the other terms as the model has them
        (120, 120, 11_192, 106_770),  # mvt, L1 at 120
        (400, 400, 33_793, 353_214),  # mvt-medium, L3 at 400
        (130, 130, 49_624, 153_329),  # bicg-large, L1 pipelined
    ],
)
def test_luts_of_units(adders: int, multipliers: int, others: int, lut: int) -> None:
    """Nine adders for four multipliers, and one for one: that tells both."""
    tool = personality(TOOL)
    add, mul = (tool.operator(kind, "f64", 64) for kind in ("add", "mul"))
    assert others + adders * add.lut + multipliers * mul.lut == pytest.approx(lut, rel=0.003)


# ------------------------------------------------------------------------------- divided stores


def smoothing(*steps: Step) -> Kernel:
    """Points from their neighbours, to and fro between two arrays (jacobi-1d)."""
    p = ProgramBuilder("smoothing")
    a, b = p.local("A", f64, (POINTS,)), p.local("B", f64, (POINTS,))
    t, i, j = p.loops(t=STEPS, i=range(1, POINTS - 1), j=range(1, POINTS - 1))
    p.compute("S", (t, i), b[i], (a[i - 1] + a[i] + a[i + 1]) * 0.3)
    p.compute("R", (t, j), a[j], (b[j - 1] + b[j] + b[j + 1]) * 0.3, after=("S", t))
    return with_directives(kernel_of_tree(source_tree(p.build(), {})), steps)


def smoothed(forth: int, back: int, copies: int = 1) -> QorEstimate:
    steps = (Unroll("t", copies), Unroll("i", forth), Unroll("j", back))
    return estimate(smoothing(*steps), TOOL, kept=frozenset("tij"))


def iteration(forth: int, back: int, copies: int = 1) -> float:
    """Cycles of a step, of both loops."""
    return smoothed(forth, back, copies).latency.average / STEPS


@pytest.mark.parametrize(("forth", "back", "a", "b"), [(8, 1, 5, 4), (4, 4, 3, 3), (2, 16, 8, 9)])
def test_neighbours_are_in_half_as_many_banks_as_there_are(
    forth: int, back: int, a: int, b: int
) -> None:
    # u + 2 neighbours of u copies, two ports a bank; no number divides the steps of u copies with an
    # exit between them. What is stored asks for u / 2.
    split, _ = partitioned(
        smoothing(Unroll("i", forth), Unroll("j", back)), personality(TOOL), frozenset("tij")
    )
    assert {m.name: m.banks for m in split.memories if m.shape} == {"A": a, "B": b}


@pytest.mark.parametrize(
    ("forth", "back", "cycles"),
    [
        (8, 1, 37 + 150),  # stores of one at a time to 5 banks: 10 states of a division
        (4, 8, 111 + 37),  # 4 stores to 5 banks, no bound known: 59 states
        (4, 4, 120 + 120),  # the loads are divided as well: 68
        (8, 16, 96 + 30),  # 15 and 8 iterations, what waits is the same
    ],
)
def test_a_store_to_banks_that_are_no_power_of_two_is_a_switch_in_front(
    forth: int, back: int, cycles: int
) -> None:
    assert iteration(forth, back) == pytest.approx(cycles, abs=3)


def test_places_of_divided_stores_are_products_of_128_bits() -> None:
    # 14 DSP for each copy of the larger loop, 16 for each divided store.
    assert smoothed(4, 8).dsp == 8 * 14 + 4 * 16
    assert smoothed(8, 1).dsp == 8 * 14
    assert smoothed(4, 4).dsp == 4 * 14 + 5 * 16
    assert smoothed(4, 4, 2).dsp == smoothed(4, 4).dsp  # units: copies of modules share them


def test_one_division_of_64_bits_in_each_module() -> None:
    def each(forth: int, back: int) -> tuple[int, int]:
        one, two = (smoothed(forth, back, n) for n in (1, 2))
        return (two.lut or 0) - (one.lut or 0), (two.ff or 0) - (one.ff or 0)

    # Labels: 11,710 and 15,642 against 4,054 and 4,661; of the difference 6,900 and 8,800.
    (lut, ff), (plain_lut, plain_ff) = each(8, 4), each(8, 2)
    assert 6_900 < lut - plain_lut < 8_500
    assert 8_800 < ff - plain_ff < 12_000


def test_a_block_waits_for_the_call_that_stores_what_it_loads() -> None:
    # The first loop is unrolled completely; copies over time gain nothing.
    whole = POINTS - 2
    assert iteration(whole, 8, 2) == pytest.approx(iteration(whole, 8), abs=1)


def scanned(*, chained: bool) -> float:
    """Cycles to load a row, scan its first elements in a block, and store it."""
    p = ProgramBuilder("scanned")
    a, b = p.local("A", f64, (POINTS,)), p.local("B", f64, (POINTS,))
    x, y = p.placeholder("x", f64, (POINTS,)), p.placeholder("y", f64, (POINTS,))
    i, j, k = p.loops(i=POINTS, j=range(1, 8), k=POINTS)
    p.compute("S", (i,), a[i], x[i] + x[i])
    if chained:
        p.compute("T", (j,), a[j], a[j - 1] * b[0])
    p.compute("R", (k,), y[k], a[k] + a[k])
    steps = (Unroll("j", 7),) if chained else ()
    kernel = with_directives(kernel_of_tree(source_tree(p.build(), {})), steps)
    return estimate(kernel, TOOL, kept=frozenset("ijk")).latency.average


def test_a_block_waits_though_it_loads_what_nobody_has_stored_as_well() -> None:
    assert scanned(chained=True) > scanned(chained=False) + 7 * 6


# -------------------------------------------------------------------------------- copies of arrays


def copying(rows: int, columns: int, shift: int = 0) -> Kernel:
    """A matrix copied element by element; in place of it its right neighbour's with ``shift``."""
    p = ProgramBuilder("copying")
    a, b = (p.local(name, f64, (rows, columns + shift)) for name in "AB")
    i, j = p.loops(i=rows, j=columns)
    p.compute("S", (i, j), b[i, j], a[i, j + shift])
    return kernel_of_tree(source_tree(p.build(), {}))


def luts(kernel: Kernel) -> dict[str, float]:
    regions = function_latency(Scope(kernel, personality(TOOL)), kernel.functions[0])[1]
    return terms_of([regions], {}).lut


def test_a_copy_of_a_matrix_has_one_counter() -> None:
    copied, moved = luts(copying(60, 80)), luts(copying(60, 80, shift=1))
    # 4,800 elements: a counter of 13 bits, with adder and comparison; no nest, no address.
    assert copied["loop"] == multiplexer(2) + 2 * (13 + ADDER)
    assert copied["levels"] == 1
    assert not copied["loop_flat"]
    assert not copied["addresses_pipelined"]
    # Another column needs both counters.
    assert (moved["levels"], moved["loop_flat"]) == (2, 1)


def test_stages_at_interval_1_are_flip_flops_alone() -> None:
    """adi with L2 and L3 unrolled 58 times: 3,143 stages in each copy of L1."""
    kernel = copying(60, 80, shift=1)
    regions = function_latency(Scope(kernel, personality(TOOL)), kernel.functions[0])[1]
    found = terms_of([regions], {})
    assert found.ff["stages"] > 0
    assert found.lut["stages"] == 0


@pytest.mark.parametrize(("dim", "levels"), [(1, 1), (0, 2)])
def test_rows_that_have_banks_are_counted_too(dim: int, levels: int) -> None:
    design = with_directives(copying(60, 80), [Partition("B", dim, factor=5)])
    assert luts(design)["levels"] == levels


def test_each_loop_of_a_nest_is_flattened_into_the_next() -> None:
    p = ProgramBuilder("sums")
    s = p.local("s", f64, (4, 6))
    x = p.local("x", f64, (4, 6, 50))
    i, j, k = p.loops(i=4, j=6, k=50)
    p.compute("S", (i, j, k), s[i, j], s[i, j] + x[i, j, k])
    assert luts(kernel_of_tree(source_tree(p.build(), {})))["loop_flat"] == 2
