"""What the labels of Vitis HLS 2025.1 (xcu200, 4 ns) say of constants that copies pass on."""

from __future__ import annotations

from dsl.builder.program import ProgramBuilder
from dsl.expressions.types import f64
from dsl.schedules.steps import Step, Unroll
from qor_gnn.design.directives import with_directives
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.estimate import estimate
from qor_gnn.fit.labelled.u200_design import source_tree
from qor_gnn.result.qor_estimate import QorEstimate

TOOL = "vitis-2025.1-u200-4ns"
ROWS, POINTS = 40, 9


def swept(first: float | None, *steps: Step) -> QorEstimate:
    """Coefficients of a line, each from the one before it (adi's p, and q that takes it)."""
    p = ProgramBuilder("swept")
    c, d = p.local("c", f64, (ROWS, POINTS)), p.local("d", f64, (ROWS, POINTS))
    x, start = p.local("x", f64, (ROWS, POINTS)), p.local("start", f64, (ROWS,))
    i, j = p.loops(i=ROWS, j=range(1, POINTS))
    p.compute("S", (i,), c[i, 0], start[i] if first is None else first)
    p.compute("C", (i, j), c[i, j], c[i, j - 1] * 0.5 + 3.0, after=("S", i))
    p.compute("D", (i, j), d[i, j], x[i, j] * c[i, j - 1], after=("C", j))
    kernel = with_directives(kernel_of_tree(source_tree(p.build(), {})), steps)
    return estimate(kernel, TOOL, kept=frozenset("ij"))


def units(found: QorEstimate) -> dict[str, int]:
    return dict(found.units)


def test_what_copies_pass_on_of_constants_is_constant() -> None:
    """adi, L2 unrolled 58 times: 19 DSP, a multiplier less than with p computed; 232 adders at interval 1."""
    whole = Unroll("j", POINTS - 1)
    known, unknown = swept(1.0, whole), swept(None, whole)
    assert "dadd" not in units(known)  # no element of c is computed
    assert units(known)["dmul"] == POINTS - 1
    assert units(unknown)["dadd"] == POINTS - 1
    assert units(unknown)["dmul"] == 2 * (POINTS - 1)


def test_a_loop_that_runs_computes_its_constants() -> None:
    assert units(swept(1.0, Unroll("j", 2)))["dadd"] > 0
