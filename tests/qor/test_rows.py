"""Rows that a pipeline keeps in registers: loaded in front of it, stored behind it, as ports allow
(Vitis 2025.1, where memories have two ports).
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

TOOL = "vitis-2025.1-u200-4ns"
ROWS, COLUMNS, TERMS = 40, 50, 70


def product() -> Program:
    p = ProgramBuilder("product")
    a, b = p.local("A", f64, (ROWS, TERMS)), p.local("B", f64, (TERMS, COLUMNS))
    t = p.local("T", f64, (ROWS, COLUMNS))
    i, j, k = p.loops(i=ROWS, j=COLUMNS, k=TERMS)
    p.compute("S", (i, j), t[i, j], 0.0)
    p.compute("U", (i, j, k), t[i, j], t[i, j] + 3.0 * a[i, k] * b[k, j], after=("S", j))
    return p.build()


def update() -> Program:
    p = ProgramBuilder("update")
    a, b = p.local("A", f64, (ROWS, TERMS)), p.local("B", f64, (TERMS, COLUMNS))
    c = p.local("C", f64, (ROWS, COLUMNS))
    i, k, j, m = p.loops(i=ROWS, k=TERMS, j=COLUMNS, m=COLUMNS)
    p.compute("S", (i, m), c[i, m], c[i, m] * 3.0)
    p.compute("U", (i, k, j), c[i, j], c[i, j] + a[i, k] * b[k, j], after=("S", i))
    return p.build()


def cycles(program: Program, *steps: Step) -> float:
    kernel = with_directives(kernel_of_tree(source_tree(program, {})), steps)
    return estimate(kernel, TOOL, kept=frozenset("ijkm")).latency.average


def test_each_copy_loads_its_row_while_the_one_before_ends() -> None:
    def iteration(copies: int) -> float:
        steps = (Unroll("i", copies), Unroll("j", 2), Unroll("k", TERMS))
        return cycles(product(), *steps) * copies / ROWS

    # 70 elements of a row at two a state; the product with 3.0 and the first loads are hidden.
    pipeline = COLUMNS // 2 + 43 + 3
    assert (iteration(8) - iteration(4)) / 4 == pytest.approx(TERMS // 2 - 2 + pipeline, abs=1)


def test_a_row_is_loaded_and_stored_through_two_ports() -> None:
    found = cycles(update(), Unroll("j", COLUMNS)) / ROWS
    scaling = COLUMNS + 2 + 7 + 3
    products = (TERMS - 1) * 6 + 2 + 7 + 6 + 3
    assert found == pytest.approx(scaling + products + 2 * (COLUMNS // 2), abs=4)
