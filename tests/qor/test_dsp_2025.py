"""DSP slices of Vitis HLS 2025.1 on xcu200 at 4 ns: small kernels, with the figures of its labels.

A double-precision sum takes 3 slices, a product 8.
"""

from __future__ import annotations

import pytest

from dsl.builder.program import ProgramBuilder
from dsl.expressions.types import IntType, f64
from dsl.schedules.steps import Pipeline, Step, Unroll
from qor_gnn.design.directives import with_directives
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.design.region import Kernel
from qor_gnn.estimate import estimate
from qor_gnn.fit.labelled.u200_design import source_tree
from qor_gnn.memory.automatic_partition import partitioned
from qor_gnn.result.qor_estimate import QorEstimate
from qor_gnn.tools.personality import personality

TOOL = "vitis-2025.1-u200-4ns"
KEPT = frozenset({"i", "j", "k", "l"})
SUM, PRODUCT = 3, 8


def design(p: ProgramBuilder, *steps: Step) -> Kernel:
    return with_directives(kernel_of_tree(source_tree(p.build(), {})), steps)


def found(p: ProgramBuilder, *steps: Step) -> QorEstimate:
    return estimate(design(p, *steps), TOOL, kept=KEPT)


# ------------------------------------------------------------------------------------- addresses


def strided() -> ProgramBuilder:
    """``s[i] += m1[64 i + k] m2[64 k]``: gemm-ncubed of MachSuite."""
    p = ProgramBuilder("strided")
    m1, m2 = p.local("m1", f64, (4096,)), p.local("m2", f64, (4096,))
    out = p.local("out", f64, (4096,))
    i, j, k = p.loops(i=64, j=64, k=64)
    p.compute("S", (i, j, k), out[64 * i + j], out[64 * i + j] + m1[64 * i + k] * m2[j + 64 * k])
    return p


@pytest.mark.parametrize(("factor", "units"), [(4, 1), (8, 2), (32, 6)])
def test_each_place_that_is_divided_takes_a_slice(factor: int, units: int) -> None:
    # 5, 9, 33 banks of m2: a division for each of its elements (gemm-ncubed: 16, 31, 99).
    assert found(strided(), Unroll("k", factor)).dsp == units * (SUM + PRODUCT) + factor


@pytest.mark.parametrize("copies", [2, 8])
def test_modules_divide_by_themselves(copies: int) -> None:
    steps = Unroll("k", 4), Unroll("i", copies)
    assert found(strided(), *steps).dsp == SUM + PRODUCT + 4 * copies


def rows(extent: int) -> ProgramBuilder:
    """``y[i] += A[i, j] * x[j]``."""
    p = ProgramBuilder("rows")
    a, x = p.local("A", f64, (extent, extent)), p.local("x", f64, (extent,))
    y = p.local("y", f64, (extent,))
    i, j = p.loops(i=extent, j=extent)
    p.compute("S", (i, j), y[i], y[i] + a[i, j] * x[j])
    return p


@pytest.mark.parametrize(("extent", "slices"), [(120, 0), (256, 0), (400, 1)])
def test_wide_numbers_of_rows_are_multiplied_in_a_slice(extent: int, slices: int) -> None:
    # mvt: 11 at 120 and, of two such nests, 12 at 400 (the other one's rows step evenly).
    assert found(rows(extent)).dsp == SUM + PRODUCT + slices


def test_rows_of_a_loop_by_itself_are_not_multiplied() -> None:
    # bicg-medium: 12 flattened, 11 with the outer loop unrolled.
    assert found(rows(400), Unroll("i", 2)).dsp == SUM + PRODUCT


def test_a_copy_of_an_array_counts_its_elements() -> None:
    p = ProgramBuilder("copy")
    a, b = p.placeholder("A", f64, (400, 390)), p.local("B", f64, (400, 390))
    i, j = p.loops(i=400, j=390)
    p.compute("S", (i, j), b[i, j], a[i, j])
    assert found(p).dsp == 0


# ------------------------------------------------------------------------------------- operators


def test_a_product_cut_to_64_bits_takes_ten_slices() -> None:
    p = ProgramBuilder("long")
    x, y = p.local("x", IntType(64), (64,)), p.local("y", IntType(64), (64,))
    (i,) = p.loops(i=64)
    p.compute("S", (i,), y[i], x[i] * x[i])
    assert found(p).dsp == 10  # stencil-3d: 20 for two, besides its addresses


def test_constants_are_not_computed_in_the_design() -> None:
    p = ProgramBuilder("constants")
    x, y = p.local("x", f64, (64,)), p.local("y", f64, (64,))
    a, b = p.local("a", f64), p.local("b", f64)
    p.compute("A", (), a, 0.25)
    p.compute("B", (), b, a * a + 2.0)
    (i,) = p.loops(i=64)
    p.compute("S", (i,), y[i], x[i] * (1.0 + b * 2.0))
    assert dict(found(p).units) == {"dmul": 1}


def test_a_scalar_that_is_set_twice_is_no_constant() -> None:
    p = ProgramBuilder("variable")
    x, y = p.local("x", f64, (64,)), p.local("y", f64, (64,))
    b = p.local("b", f64)
    p.compute("B", (), b, 2.0)
    (i,) = p.loops(i=64)
    p.compute("S", (i,), y[i], x[i] * (b + 1.0))
    p.compute("C", (i,), b, x[i], after=("S", i))
    assert dict(found(p).units) == {"dadd": 1, "dmul": 1}


# --------------------------------------------------------------------------------------- regions


def guarded(extent: int) -> ProgramBuilder:
    """``t += B[k] * A[i, k]`` where k < i: a chain of sums."""
    p = ProgramBuilder("guarded")
    a, b = p.local("A", f64, (extent, extent)), p.local("B", f64, (extent,))
    y = p.local("y", f64, (extent,))
    i, k = p.loops(i=extent, k=extent)
    p.compute("S", (i, k), y[i], y[i] + b[k] * a[i, k], where=k < i)
    return p


@pytest.mark.parametrize(("factor", "kind"), [(40, "pipeline"), (50, "sequential")])
def test_loops_of_long_intervals_are_not_pipelined(factor: int, kind: str) -> None:
    # symm-opt-medium: II 240 is pipelined, 300 is not.
    loops = found(guarded(200), Unroll("k", factor)).loops
    assert loops[-1].kind == kind
    assert loops[-1].ii == pytest.approx(6 * factor, rel=0.05)


def test_products_of_elements_that_have_a_bank_each_start_at_once() -> None:
    # symm-opt-medium with its inner loop at 100 of 200: 100 products.
    assert dict(found(guarded(200), Unroll("k", 100)).units) == {"dadd": 1, "dmul": 100}


def update_and_sum(extent: int) -> ProgramBuilder:
    """An update and a sum, one after the other, that read one array: symm-opt."""
    p = ProgramBuilder("both")
    a, b = p.local("A", f64, (extent, extent)), p.local("B", f64, (extent, extent))
    c, s = p.local("C", f64, (extent, extent)), p.local("s", f64, (extent,))
    i, j, k, m = p.loops(i=extent, j=extent, k=extent, l=extent)
    p.compute("S", (i, j, k), c[k, j], c[k, j] + b[i, j] * a[i, k], where=k < i)
    p.compute("T", (i, j, m), s[i], s[i] + b[m, j] * a[i, m], after=("S", j), where=m < i)
    return p


@pytest.mark.parametrize(("factor", "together"), [(30, True), (20, False)])
def test_readers_of_an_array_that_is_split_completely_run_together(
    factor: int, together: bool
) -> None:
    # symm-opt: 107 with its second loop at 30 of 60, of which 88 are the first loop's at 8.
    units = dict(found(update_and_sum(60), Unroll("k", 8), Unroll("l", factor)).units)
    assert units == {"dadd": 9, "dmul": 9} if together else {"dadd": 8, "dmul": 8}


# ---------------------------------------------------------------------------------------- arrays


def test_an_array_that_cannot_be_partitioned_is_read_from_copies() -> None:
    steps = Pipeline("j"), Unroll("j", 16)
    kernel, copies = partitioned(design(strided(), *steps), personality(TOOL), KEPT)
    assert copies["m2"] == 16
    assert next(m for m in kernel.memories if m.name == "m2").banks == 1
    at = found(strided(), *steps)
    assert at.loops[-1].ii == 61  # 1024 loads at 17 a state
    assert at.dsp == 17 * (SUM + PRODUCT)


def test_guards_that_no_iteration_of_a_copy_meets_are_gone() -> None:
    # trmm-opt with its outer loop at 5: the copies for k = 0 never run, 59 sums at interval 1.
    p = ProgramBuilder("upper")
    a, b = p.local("A", f64, (60, 60)), p.local("B", f64, (60, 80))
    s = p.local("s", f64)
    i, j, k = p.loops(i=60, j=80, k=60)
    p.compute("S", (i, j), s, b[i, j])
    p.compute("T", (i, j, k), s, s + a[k, i] * b[k, j], after=("S", j), where=k > i)
    p.compute("U", (i, j), b[i, j], s * 2.0, after=("T", j))
    at = found(p, Unroll("i", 5), Unroll("k", 60))
    assert at.loops[-1].ii == 1
    assert dict(at.units) == {"dadd": 59, "dmul": 60}


def test_an_element_and_the_row_that_moves_past_it_share_no_bank() -> None:
    # symm-opt with its outer loop at 4 and the next one pipelined: interval 1, not 2.
    p = ProgramBuilder("passing")
    c, y = p.local("C", f64, (60, 80)), p.local("y", f64, (60, 80))
    i, j, k = p.loops(i=60, j=80, k=60)
    p.compute("S", (i, j, k), c[k, j], c[k, j] + y[i, j], where=k < i)
    p.compute("T", (i, j), c[i, j], c[i, j] * 2.0, after=("S", j))
    assert found(p, Unroll("i", 4), Unroll("k", 60)).loops[-1].ii == 1


@pytest.mark.parametrize("factor", [64, 128, 256])
def test_sums_behind_the_exit_of_a_nest_that_is_given_up_stay_a_chain(factor: int) -> None:
    # mvt-medium, whose interval would be over 256: 256 products start at once where A is split
    # completely, a few where it is not.
    at = found(rows(400), Unroll("j", factor))
    behind = factor - 400 % factor
    assert at.loops[-1].kind == "sequential"
    assert at.loops[-1].depth > 6 * behind
    assert (dict(at.units)["dmul"] == factor) is (factor == 256)
