"""Recurrences of products through registers, and where loops of such end (Vitis 2025.1 at 4 ns)."""

from __future__ import annotations

import pytest

from dsl.builder.program import ProgramBuilder
from dsl.expressions.types import f64
from dsl.programs.program import Program
from dsl.schedules.steps import Pipeline, Step, Unroll
from qor_gnn.design.directives import with_directives
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.estimate import estimate
from qor_gnn.fit.labelled.u200_design import source_tree
from qor_gnn.result.qor_estimate import LoopEstimate, QorEstimate

TOOL = "vitis-2025.1-u200-4ns"
STEPS = 40


def found(program: Program, *steps: Step) -> QorEstimate:
    kernel = with_directives(kernel_of_tree(source_tree(program, {})), steps)
    return estimate(kernel, TOOL, kept=frozenset("ijt"))


def filtered() -> Program:
    p = ProgramBuilder("filtered")
    a, s = p.local("A", f64, (STEPS,)), p.local("s", f64)
    (t,) = p.loops(t=STEPS)
    p.compute("S", (t,), s, (s * 0.5 + a[t]) * 0.25)
    return p.build()


@pytest.mark.parametrize("factor", [1, 2, 4])
def test_products_on_a_register_recurrence_are_a_state_shorter(factor: int) -> None:
    loop = found(filtered(), Pipeline("t"), Unroll("t", factor)).loops[-1]
    assert loop.ii == factor * (6 + 6 + 6) + 1


def test_a_pipeline_that_overlaps_nothing_ends_with_its_last_copy() -> None:
    def cycles(factor: int) -> float:
        return found(filtered(), Pipeline("t"), Unroll("t", factor)).latency.average

    # 40 steps are three iterations of 12 copies and a third: the tool leaves in the middle.
    assert cycles(12) == pytest.approx(cycles(10), rel=0.03)
    assert cycles(12) < 4 * 12 * 18


def rows(two: int) -> Program:
    """A loop over three neighbours, and one that writes them ``two`` at a time."""
    p = ProgramBuilder("rows")
    a, b = p.local("A", f64, (120,)), p.local("B", f64, (120,))
    i, j = p.loops(i=range(1, 119), j=range(1, 119))
    p.compute("S", (i,), b[i], a[i - 1] + a[i] + a[i + 1])
    p.compute("T", (j,), a[j], b[j] * 2.0)
    return p.build()


def test_neighbours_are_counted_through_banks_of_any_number() -> None:
    def depth(answer: QorEstimate) -> float:
        loops: dict[tuple[str, ...], LoopEstimate] = {x.loops: x for x in answer.loops}
        return loops[("i",)].depth

    # The other loop's copies want eight banks; the loop over neighbours runs through all of them.
    alone = depth(found(rows(1), Unroll("i", 8)))
    beside = depth(found(rows(8), Unroll("j", 16)))
    assert beside == pytest.approx(alone, abs=1)


def test_what_the_next_iteration_loads_is_kept_in_a_register_and_added_last() -> None:
    p = ProgramBuilder("sweep")
    q, u = p.local("Q", f64, (60, 60)), p.local("U", f64, (60, 62))
    i, j, m = p.loops(i=58, j=range(1, 59), m=58)
    near = 2.0 * u[i, j - 1] + 3.0 * u[i, j] + 5.0 * u[i, j + 1]
    p.compute("S", (i, j), q[i, j], (near - 7.0 * q[i, j - 1]) / 9.0)
    p.compute("T", (i, m), u[i, m], 0.0, after=("S", i))
    answer = estimate(kernel_of_tree(source_tree(p.build(), {})), TOOL, kept=frozenset("ijm"))
    loop = next(x for x in answer.loops if x.loops == ("j",))
    assert loop.ii == 7 + 6 + 29  # the product, one sum and the division, no load


def test_a_load_by_itself_just_runs_through_the_banks() -> None:
    p = ProgramBuilder("copied")
    a, b, c = p.local("A", f64, (120,)), p.local("B", f64, (120, 8)), p.local("C", f64, (120,))
    i, j, m = p.loops(i=120, j=119, m=119)
    p.compute("S", (i,), a[i], 1.0)
    p.compute("T", (j,), b[j, 0], a[j])
    p.compute("U", (m,), c[m], a[m] + a[m + 1])
    kernel = with_directives(kernel_of_tree(source_tree(p.build(), {})), [Unroll("i", 10)])
    answer = estimate(kernel, TOOL, kept=frozenset("ijm"))
    depth = {x.loops: x.depth for x in answer.loops}
    assert depth["j",] == 2
    assert depth["m",] == 2 + 6  # neighbours are counted as well


def test_an_array_of_which_more_is_loaded_is_not_kept_in_a_register() -> None:
    p = ProgramBuilder("relaxed")
    a, u = p.local("A", f64, (60, 60)), p.local("U", f64, (60, 60))
    i, j, m = p.loops(i=58, j=range(1, 59), m=58)
    p.compute("S", (i, j), a[i, j], (a[i, j - 1] + a[i, j + 1]) / 9.0)
    p.compute("T", (i, m), u[i, m], 0.0, after=("S", i))
    answer = estimate(kernel_of_tree(source_tree(p.build(), {})), TOOL, kept=frozenset("ijm"))
    loop = next(x for x in answer.loops if x.loops == ("j",))
    assert loop.ii == 2 + 6 + 29
