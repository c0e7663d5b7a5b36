"""What Vitis HLS 2025.1 (xcu200, 4 ns) makes of guards that the loop decides: syr2k's triangle."""

from __future__ import annotations

import pytest

from dsl.builder.program import ProgramBuilder
from dsl.expressions.types import f64
from dsl.schedules.steps import Pipeline, Step, Unroll
from qor_gnn.area.guards import guards
from qor_gnn.area.modules import leaves
from qor_gnn.area.terms import Sums
from qor_gnn.design.directives import with_directives
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.design.region import Kernel
from qor_gnn.estimate import estimate
from qor_gnn.fit.labelled.u200_design import source_tree
from qor_gnn.result.qor_estimate import QorEstimate
from qor_gnn.schedule.compose import function_latency
from qor_gnn.schedule.loops import Scope
from qor_gnn.tools.personality import personality
from tests.support.tools import under

TOOL = "vitis-2025.1-u200-4ns"
KEPT = frozenset("imkj")
ROWS, DEPTH = 80, 60
SUM, PRODUCT = 3, 8


def triangle(*steps: Step, guarded: bool = True) -> Kernel:
    """``if (j <= i) C[i][j] += A[j][k] * alpha * B[i][k] + B[j][k] * alpha * A[i][k]``, and a loop
    over C[i][m] in front.
    """
    p = ProgramBuilder("triangle")
    alpha = p.placeholder("alpha", f64)
    a, b = p.local("A", f64, (ROWS, DEPTH)), p.local("B", f64, (ROWS, DEPTH))
    c = p.local("C", f64, (ROWS, ROWS))
    i, m, k, j = p.loops(i=ROWS, m=ROWS, k=DEPTH, j=ROWS)
    p.compute("R", (i, m), c[i, m], c[i, m] * alpha)
    value = c[i, j] + (a[j, k] * alpha * b[i, k] + b[j, k] * alpha * a[i, k])
    p.compute("S", (i, k, j), c[i, j], value, after=("R", i), where=j <= i if guarded else None)
    return with_directives(kernel_of_tree(source_tree(p.build(), {})), steps)


def found(*steps: Step, guarded: bool = True) -> QorEstimate:
    return estimate(triangle(*steps, guarded=guarded), TOOL, kept=KEPT)


ROW_AGAIN = Unroll("m", 16), Unroll("j", 4), Unroll("k", 2), Pipeline("k")


def test_products_begin_with_what_is_known_outside_of_the_guard() -> None:
    # The copy j = 0 always runs and loads B[i][k] for all: alpha·B[i][k] is one product for each k.
    answer = found(*ROW_AGAIN)
    assert answer.loops[-1].ii == 16
    assert dict(answer.units)["dmul"] == -(-(320 + 4) // 16)


def test_a_load_under_a_guard_stays_in_the_loop() -> None:
    # The two rows of a loop without a guard are loaded in front of each of its calls, which takes two
    # states: B[i][k], known before the first j, is not.
    steps = Unroll("j", 4), Unroll("k", 2)
    in_front, inside = found(*steps, guarded=False), found(*steps)
    assert in_front.latency.maximum - inside.latency.maximum >= ROWS * DEPTH // 2


def test_what_is_loaded_of_unknown_banks_under_a_guard_is_kept_from_each() -> None:
    # A[i][k] and B[i][k] may be in any of four banks, unless a copy of i is known modulo 4: eight words
    # of 64 flip-flops less (syr2k: some 520 for each pipeline).
    def of_a_copy(rows: int) -> float:
        steps = Unroll("j", 4), Unroll("k", 2)
        fewer, more = (found(*steps, Unroll("i", n)).ff for n in (rows, 5 * rows))
        return (more - fewer) / (4 * rows) / 2

    assert of_a_copy(1) - of_a_copy(4) == pytest.approx(8 * 64, abs=64)


def of_guards(kernel: Kernel, **rules: bool) -> tuple[float, float]:
    """LUTs and flip-flops that guards take by themselves."""
    tool = under(personality(TOOL), "guards", **rules)
    regions = function_latency(Scope(kernel, tool), kernel.functions[0])[1]
    sums = Sums()
    guards(leaves(regions), sums)
    return sums.lut_fixed, sums.ff["before"]


def of_triangle(copies: int, of_j: int = 4) -> tuple[float, float]:
    kernel = triangle(Unroll("j", of_j), Unroll("k", 2), Unroll("i", copies))
    return of_guards(kernel, compared=False)


def test_behind_an_exit_guards_compare_all_bits() -> None:
    # 80 rows in copies of 32 can end behind the 16th copy: each copy compares 64 bits of i, not 7, eight
    # times (four copies of j in each of k's), and keeps them. (syr2k, whose first loop is guarded as well,
    # LUTs of a copy at 32 and 64: 520 more than at 16, 20 and 40; 60 flip-flops.)
    assert of_triangle(32) == (32 * 8 * 57, 32 * 64)
    assert of_triangle(64) == (64 * 8 * 57, 64 * 64)
    assert of_triangle(40) == (0, 0)
    assert found(Unroll("i", 32)).lut / 32 > found(Unroll("i", 40)).lut / 40 + 57


def test_a_loop_that_ends_between_its_own_copies_is_a_bound() -> None:
    assert of_triangle(32, of_j=32) == (0, 0)


def test_guards_compare_and_select() -> None:
    # Comparisons of 7 bits, an adder's LUTs each. A sum in a register is selected in each copy, in the
    # last one on its way into the register.
    assert of_guards(triangle(Unroll("j", 4)))[0] == 4 * (7 + 7)
    p = ProgramBuilder("rows")
    a, s = p.local("A", f64, (ROWS, DEPTH)), p.local("s", f64, ())
    i, k = p.loops(i=ROWS, k=DEPTH)
    p.compute("S", (i, k), s, s + a[i, k], where=k <= i)
    kernel = with_directives(
        kernel_of_tree(source_tree(p.build(), {})), (Unroll("k", 2), Unroll("i", 2))
    )
    assert of_guards(kernel)[0] == 2 * (2 * (7 + 7) + 64)
