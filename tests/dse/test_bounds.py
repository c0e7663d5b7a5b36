"""Lower bounds: known figures, exact counts, and that no design is below them."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from pathlib import Path

import networkx as nx
import pytest

import weft
from dse.bounds.bounds import Bounds, bounds, work_of
from dse.bounds.counted import kind_of
from dse.bounds.sums_in_order import reordered
from dsl.kernels.loader import load_kernels
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from polyhedral.codegen.generate import loop_tree
from polyhedral.dependences.chains import chains
from polyhedral.dependences.values import values_of
from polyhedral.looptree.counts import instance_counts
from polyhedral.schedule import apply
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.design.region import Op
from qor_gnn.estimate import estimate
from qor_gnn.tools.personality import personality
from weft import f32, i32, u8

U280 = personality("vitis-2023.2-u280-3.33ns")
ZU9EG = personality("vitis-2022.1-zu9eg-10ns")
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

NI, NJ, NK = 20, 22, 24


@weft.kernel
def product(A: f32[NI, NK], B: f32[NK, NJ], C: f32[NI, NJ]):
    for i, j, k in weft.grid(NI, NJ, NK):
        C[i, j] += A[i, k] * B[k, j]


@weft.kernel
def tiled(A: f32[NI, NK], B: f32[NK, NJ], C: f32[NI, NJ]):
    """The same product, in tiles by hand; 8 does not divide NI, nor 5 NJ."""
    for ii, jj, kk in weft.grid(range(0, NI, 8), range(0, NJ, 5), range(0, NK, 4)):
        for i in range(ii, min(ii + 8, NI)):
            for j in range(jj, min(jj + 5, NJ)):
                for k in range(kk, kk + 4):
                    C[i, j] += A[i, k] * B[k, j]


@weft.kernel
def overlapping(A: f32[22], B: f32[10, 4]):
    """Windows that overlap: five products of A[i] at most are of one element."""
    for ii in range(0, 20, 2):
        for i in range(ii, ii + 3):
            B[ii // 2, i - ii] = A[i] * A[i]


@weft.kernel
def triangle(A: f32[9, 9], x: i32[9]):
    for i in range(9):
        x[i] = 0
        for j in range(i):
            for k in range(j, 9):
                if i + k < 12:
                    A[i, j] += A[j, k]


@weft.kernel
def sweeps(A: f32[30], B: f32[30]):
    for _t in range(7):
        for i in range(1, 29):
            B[i] = A[i - 1] + A[i + 1]
        for i in range(1, 29):
            A[i] = B[i - 1] + B[i + 1]


@weft.kernel
def resets(x: f32[6, 50], y: f32[6]):
    acc: f32
    for n in range(6):
        acc = 0.0
        for i in range(50):
            acc += x[n, i]
        y[n] = acc


def found(program: Program, dsp: int, tool=ZU9EG, reassociate: bool = False) -> Bounds:
    return bounds(work_of(program, tool, reassociate), tool, dsp)


def _of(work: Work, core: str) -> tuple[int, int]:
    """Operations on a core, and the slices of a unit."""
    return work.operations[core].times, work.operations[core].dsp


def counts(program: Program) -> dict[str, int | None]:
    return instance_counts(loop_tree(apply(program, Schedule())))


def test_the_roofline_of_a_product_is_multiply_adds_over_units() -> None:
    total = NI * NJ * NK
    for budget in (5, 50, 220, 2520):
        assert found(product.program, budget).dsp.cycles == ceil(total / (budget // 5))


def test_the_roofline_of_the_published_gemm_counts_the_products_with_alpha() -> None:
    gemm = weft.load(f"{EXAMPLES}/polybench/gemm.py:gemm").program
    tool = replace(U280, library=replace(U280.library, implementations={}))
    work = work_of(gemm, tool)
    assert _of(work, "fadd") == (200 * 220 * 240, 2)
    # C * beta, alpha * A (it does not change with j), and the product itself.
    assert _of(work, "fmul") == (200 * 220 + 200 * 240 + 200 * 220 * 240, 3)
    assert 240_000 <= bounds(work, tool, 220).dsp.cycles <= 1.01 * 240_000
    # Sums can be built of logic instead: then the products alone count.
    free = bounds(work_of(gemm, U280), U280, 220).dsp.cycles
    assert 10_560_000 / 73 <= free <= 1.01 * 10_560_000 / 73


def test_tiles_by_hand_take_as_many_products() -> None:
    for budget in (5, 50, 220):
        assert found(tiled.program, budget).dsp == found(product.program, budget).dsp


def test_windows_that_overlap_share_products() -> None:
    """30 products of 21 elements, of which no two are the same."""
    assert _of(work_of(overlapping.program, ZU9EG), "fmul")[0] == 21


def test_a_reduction_is_a_chain_unless_it_may_be_reassociated() -> None:
    add = ZU9EG.operator("add", "f32", 32).distance - ZU9EG.recurrences.closing
    product_ = ZU9EG.operator("mul", "f32", 32).distance
    assert found(product.program, 9000).recurrence.cycles == product_ + NK * add + 1
    assert found(product.program, 9000, reassociate=True).recurrence.cycles == 5 * add


def test_the_order_of_sums_is_named_where_it_alone_keeps_a_kernel_slow() -> None:
    bound, free = (
        found(product.program, 9000, reassociate=any_order).cycles for any_order in (False, True)
    )
    said = reordered(product.program, ZU9EG, 1.2 * bound, bound, (9000, 10**6))
    assert said is not None
    assert f"in any order {free:,}" in said
    assert "--reassociate" in said
    assert reordered(product.program, ZU9EG, 2 * bound, bound, (9000, 10**6)) is None
    few = found(product.program, 5).recurrence.cycles  # slices keep it as slow
    assert reordered(product.program, ZU9EG, few, few, (5, 400)) is None


def test_an_accumulation_that_begins_anew_is_a_chain_for_each_beginning() -> None:
    scop = apply(resets.program, Schedule()).scop
    chain = next(c for c in chains(values_of(scop), counts(resets.program)) if c.reduction)
    assert (chain.statements, chain.repeats) == (("S1",), 49)


@pytest.mark.parametrize("first", [0, 1])
def test_a_chain_is_counted_from_where_it_has_the_most_repeats(monkeypatch, first) -> None:
    """networkx begins cycles anywhere: as sets are walked, in another order in each process."""
    cycles = nx.simple_cycles

    def begun(graph, length_bound):
        for cycle in cycles(graph, length_bound=length_bound):
            at = sorted(range(len(cycle)), key=cycle.__getitem__)[min(first, len(cycle) - 1)]
            yield cycle[at:] + cycle[:at]

    monkeypatch.setattr("polyhedral.dependences.chains.nx.simple_cycles", begun)

    @weft.kernel
    def solve(L: f32[400, 400], b: f32[400], x: f32[400]):
        for i in range(400):
            x[i] = b[i]
            for j in range(i):
                x[i] -= L[i, j] * x[j]
            x[i] = x[i] / L[i, i]

    scop = apply(solve.program, Schedule()).scop
    best = chains(values_of(scop), counts(solve.program))[0]
    assert (best.statements, best.repeats) == (("S1", "S2"), 399)


def test_sweeps_in_turn_are_a_chain_over_time() -> None:
    bound = found(sweeps.program, 9000).recurrence
    add = ZU9EG.operator("add", "f32", 32).distance
    assert bound.cycles == 6 * 2 * add
    assert "S0 -> S1" in bound.reason or "S1 -> S0" in bound.reason


@weft.kernel
def gcd(a: i32[8], b: i32[8], g: i32[8]):
    for n in range(8):
        x: i32 = a[n]
        y: i32 = b[n]
        for _step in range(24):
            if y != 0:
                r = x % y
                x = y
                y = r
        g[n] = x


@weft.kernel
def shortest(d: f32[12, 12]):
    for k, i, j in weft.grid(12, 12, 12):
        d[i, j] = min(d[i, j], d[i, k] + d[k, j])


@weft.kernel
def wave(u: f32[20, 16]):
    for t in range(2, 20):
        for i in range(1, 15):
            u[t, i] = u[t - 1, i] - u[t - 2, i] + 0.5 * (u[t - 1, i - 1] + u[t - 1, i + 1])


def test_a_chain_of_values_of_which_the_last_is_not_used() -> None:
    """The last remainder is read by nothing, those before it are."""
    bound = found(gcd.program, 9000).recurrence
    assert "23 mod of int" in bound.reason
    assert bound.cycles >= 23 * 32


def test_a_chain_goes_through_the_load_that_is_read() -> None:
    """Through d[i, j] alone there is no sum; rows and columns of k are read in the round that writes
    them and in the one after it.
    """
    add = ZU9EG.operator("add", "f32", 32).distance
    assert found(shortest.program, 9000).recurrence.cycles >= 22 * add
    mul = ZU9EG.operator("mul", "f32", 32).distance
    assert found(wave.program, 9000).recurrence.cycles >= 16 * min(2 * add, add + mul)


def test_counts_are_those_of_enumeration() -> None:
    expected = sum(i + k < 12 for i in range(9) for j in range(i) for k in range(j, 9))
    assert counts(triangle.program) == {"S0": 9, "S1": expected}


def test_counts_of_large_triangles_need_no_enumeration() -> None:
    n = 4000
    cholesky = weft.load(f"{EXAMPLES}/polybench/cholesky.py:cholesky").at(N=n).program
    expected = {sum(i * (i - 1) // 2 for i in range(n)), n * (n - 1) // 2, n}
    assert set(counts(cholesky).values()) == expected


def test_an_array_of_registers_has_no_ports() -> None:
    assert found(product.program, 220).ports.cycles == 0


def test_elements_of_a_large_array_pass_its_ports() -> None:
    gemm = weft.load(f"{EXAMPLES}/polybench/gemm.py:gemm").program
    ports = found(gemm, 220, U280).ports
    # 52,800 elements of B at two a cycle from each of 1,024 banks, or C read and written.
    assert ports.cycles == ceil(2 * 200 * 220 / 2048)
    assert "C" in ports.reason


@pytest.mark.parametrize("tool", [U280, ZU9EG], ids=lambda t: t.device)
@pytest.mark.parametrize("name", ["gemm", "atax", "jacobi_2d", "syrk", "trmm", "gesummv"])
def test_no_schedule_of_an_example_is_below_the_bounds(name: str, tool) -> None:
    kernel = load_kernels(EXAMPLES / f"polybench/{name}.py")[name].at("mini")
    work = work_of(kernel.program, tool)
    for schedule in (Schedule(), *kernel.schedules.values()):
        design = kernel_of_tree(loop_tree(apply(kernel.program, schedule)))
        answer = estimate(design, tool)
        assert bounds(work, tool, answer.dsp).cycles <= answer.latency.average


def test_a_sum_costs_no_more_than_in_an_adder_of_three_operands() -> None:
    tool = personality("vitis-2022.1-zu9eg-10ns")
    found = kind_of(Op("add", "int", 32), tool)
    assert found is not None
    assert min(lut for _, lut in found.ways) == 32


@weft.kernel
def lengths(d: u8[6, 6]):
    for k in range(6):
        for i in range(6):
            for j in range(6):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])


def test_what_an_element_has_already_is_not_computed_for_it() -> None:
    # Without signs no length is below 0: row and column k stay what they are, and the chain is one step for each k.
    s = ScheduleBuilder().pivot("k").unroll("S0.i").unroll("S0.j").unroll("S0.k")
    s.unroll("copy_d_at_i.j").unroll("copy_d_at_j.i").partition("d", 0, "complete")
    for array, dim in (("d", 1), ("d_at_i", 0), ("d_at_j", 0)):
        s.partition(array, dim, "complete")
    made = estimate(kernel_of_tree(loop_tree(apply(lengths.program, s.build()))), ZU9EG)
    assert found(lengths.program, 100).tightest.cycles <= made.latency.average
