"""Vitis HLS 2025.1: arrays of which an iteration updates too many elements to compare them all."""

from __future__ import annotations

import pytest

from dsl.builder.program import ProgramBuilder
from dsl.expressions.types import f64
from dsl.schedules.steps import Pipeline, Step, Unroll
from qor_gnn.design.directives import with_directives
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.estimate import estimate
from qor_gnn.fit.labelled.u200_design import source_tree
from qor_gnn.memory.automatic_partition import partitioned
from qor_gnn.result.qor_estimate import QorEstimate
from qor_gnn.tools.personality import personality

TOOL = "vitis-2025.1-u200-4ns"
LOAD, SUM, STORE, COLUMNS = 2, 6, 1, 8
ITERATIONS = 2 * 4


def updated(rows: int, *, moves: bool) -> QorEstimate:
    """``C[t][i][j] += a[k][i][j] * b[k][j]`` in arrays of one dimension, pipelined over k.

    Args:
        rows: values of i; of j there are 8, and both loops are unrolled.
        moves: each t has elements of its own.
    """
    p = ProgramBuilder("updated")
    c, a = p.local("C", f64, (4096,)), p.local("a", f64, (4096,))
    b = p.local("b", f64, (64,))
    t, k, i, j = p.loops(t=2, k=4, i=rows, j=COLUMNS)
    at = 8 * i + j
    place = 512 * t + at if moves else at
    p.compute("S", (t, k, i, j), c[place], c[place] + a[512 * k + at] * b[8 * k + j])
    design = with_directives(kernel_of_tree(source_tree(p.build(), {})), (Pipeline("k"),))
    return estimate(design, TOOL, kept=frozenset("tkij"))


@pytest.mark.parametrize(
    ("moves", "row"),
    [
        # Two ports: eight loads take four states, and the stores come as the loads did.
        (True, 3 + LOAD + SUM + STORE),
        # A row that the loop stays at has one port to write: eight stores take eight states.
        (False, LOAD + SUM + 8 * STORE),
    ],
)
def test_rows_are_updated_one_after_the_other(moves: bool, row: int) -> None:
    # As gemm-blocked L1:pipeline, whose 64 rows take 21 and 25 states each.
    rows = 64
    latency = updated(rows, moves=moves).latency.maximum
    assert 0 <= latency - ITERATIONS * rows * row < ITERATIONS * 25


def test_fewer_elements_are_told_apart() -> None:
    # 60 rows: 480 elements, all updated in ports' time: two accesses of each through two ports.
    assert updated(60, moves=True).latency.maximum < ITERATIONS * 480 + 100


def test_what_a_state_loads_is_multiplied_at_once() -> None:
    # a is read from 16 copies, 17 elements a state (gemm-blocked: 17 loads of 8 products, 136).
    assert dict(updated(64, moves=True).units)["dmul"] == 17


@pytest.mark.parametrize(("steps", "banks"), [((), 36), ((Pipeline("k"),), 1)])
def test_what_a_loop_that_the_tool_unrolls_reads_has_banks(
    steps: tuple[Step, ...], banks: int
) -> None:
    # m2 does not move with i: it is read in front of the loop. Where nobody asks for j's copies it has
    # its banks nevertheless (gemm-blocked L1=2;L3=8: 104 BRAM18; with L3:pipeline 32).
    p = ProgramBuilder("hoisted")
    c, m1 = p.local("C", f64, (4096,)), p.local("m1", f64, (4096,))
    m2 = p.local("m2", f64, (4096,))
    t, i, k, j = p.loops(t=8, i=64, k=8, j=8)
    value = m1[64 * i + k] * m2[512 * t + 64 * k + j]
    p.compute("S", (t, i, k, j), c[64 * i + j], c[64 * i + j] + value)
    asked = (Unroll("t", 2), Unroll("k", 8), *steps)
    design = with_directives(kernel_of_tree(source_tree(p.build(), {})), asked)
    split, _ = partitioned(design, personality(TOOL), frozenset("tik"))
    assert {m.name: m.banks for m in split.memories}["m2"] == banks
