"""Updates in place through several elements of one array: each copy of the body waits for the one
before (Vitis 2025.1 at 4 ns: a load 2 states, an f64 product 7, a sum 6, a store 1).
"""

from __future__ import annotations

import pytest

from dsl.builder.program import ProgramBuilder
from dsl.expressions.types import f64
from dsl.programs.program import Program
from dsl.schedules.steps import Step, Unroll
from qor_gnn.design.directives import with_directives
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.estimate import estimate
from qor_gnn.fit.labelled.u200_design import source_tree
from qor_gnn.result.qor_estimate import LoopEstimate
from qor_gnn.schedule.reasons import Recurrence

TOOL = "vitis-2025.1-u200-4ns"
ROWS, COLUMNS = 60, 80


def triangular() -> Program:
    """``if k > i: B[i][j] += A[k][i] * B[k][j]``: the loop over k updates a row that it reads."""
    p = ProgramBuilder("triangular")
    a, b = p.placeholder("A", f64, (ROWS, ROWS)), p.placeholder("B", f64, (ROWS, COLUMNS))
    i, j, k = p.loops(i=ROWS, j=COLUMNS, k=ROWS)
    p.compute("S", (i, j, k), b[i, j], b[i, j] + a[k, i] * b[k, j], where=k > i)
    return p.build()


def innermost(*steps: Step) -> LoopEstimate:
    kernel = with_directives(kernel_of_tree(source_tree(triangular(), {})), steps)
    return estimate(kernel, TOOL, kept=frozenset("ijk")).loops[-1]


@pytest.mark.parametrize("factor", [1, 2, 4, 10])
def test_each_copy_waits_for_the_store_of_the_one_before(factor: int) -> None:
    found = innermost(Unroll("k", factor))
    assert found.ii == (2 + 7 + 6) * factor
    limit = found.limits[0]
    assert isinstance(limit, Recurrence)
    assert (limit.array, limit.through, limit.distance) == ("B", "memory", 1)
    assert limit.operators.count("mul") == factor


def test_copies_that_cannot_be_of_one_element_wait_for_the_sum_only() -> None:
    # i is 4 i' + c: of the 10 copies k = 10 k' + d, those of odd d - c are never the row i.
    found = innermost(Unroll("i", 4), Unroll("k", 10))
    assert found.ii == 5 * (2 + 7 + 6) + 5 * (2 + 6 + 1)


def test_what_follows_a_pipeline_waits_for_what_it_stored() -> None:
    # The product with a constant behind each of the copies: load, product, and a state of the store.
    p = ProgramBuilder("scaled")
    a, b = p.placeholder("A", f64, (ROWS, ROWS)), p.placeholder("B", f64, (ROWS, COLUMNS))
    i, j, k = p.loops(i=ROWS, j=COLUMNS, k=ROWS)
    p.compute("S", (i, j, k), b[i, j], b[i, j] + a[k, i] * b[k, j], where=k > i)
    p.compute("T", (i, j), b[i, j], b[i, j] * 3.0, after=("S", j))
    kernel = kernel_of_tree(source_tree(p.build(), {}))
    plain, copied = (
        estimate(with_directives(kernel, steps), TOOL, kept=frozenset("ijk"))
        for steps in ((), (Unroll("j", 4),))
    )
    assert copied.latency.average == pytest.approx(plain.latency.average, rel=0.002)


def test_an_accumulator_that_is_stored_elsewhere_too_keeps_its_recurrence() -> None:
    p = ProgramBuilder("symmetric")
    a, c = p.placeholder("A", f64, (ROWS, ROWS)), p.placeholder("C", f64, (ROWS, ROWS))
    i, j, k = p.loops(i=ROWS, j=ROWS, k=ROWS)
    p.compute("S", (i, j), c[i, j], 0.0)
    p.compute("T", (i, j, k), c[i, j], c[i, j] + a[k, i] * a[k, j], after=("S", j))
    p.compute("U", (i, j), c[j, i], c[i, j], after=("T", j))
    for factor in (1, 2, 6):
        kernel = with_directives(kernel_of_tree(source_tree(p.build(), {})), [Unroll("k", factor)])
        assert estimate(kernel, TOOL, kept=frozenset("ijk")).loops[-1].ii == 6
