"""What Vitis HLS 2025.1 (xcu200, 4 ns) has done before the pipelines between blocks of code: symm."""

from __future__ import annotations

import pytest

from dsl.builder.program import ProgramBuilder
from dsl.expressions.types import f64
from dsl.schedules.steps import Step, Unroll
from qor_gnn.area.index_divisions import index_divisions
from qor_gnn.area.modules import leaves
from qor_gnn.area.multiplexers import divider
from qor_gnn.area.resources import terms_of
from qor_gnn.area.terms import Sums
from qor_gnn.design.directives import with_directives
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.design.region import Kernel
from qor_gnn.fit.labelled.u200_design import source_tree
from qor_gnn.memory.automatic_partition import partitioned
from qor_gnn.schedule.automatic_directives import automatic
from qor_gnn.schedule.compose import function_latency
from qor_gnn.schedule.loops import Scope
from qor_gnn.tools.personality import Personality, personality
from tests.support.tools import under

TOOL = personality("vitis-2025.1-u200-4ns")
KEPT = frozenset("ijk")
ROWS, COLUMNS = 60, 80


def product(*steps: Step) -> Kernel:
    """``for k < i: C[k][j] += alpha * B[i][j] * A[i][k]``, and ``C[i][j] = beta * C[i][j] + alpha * B[i][j] *
    A[i][i]`` behind it.
    """
    p = ProgramBuilder("product")
    alpha, beta = p.placeholder("alpha", f64), p.placeholder("beta", f64)
    a, b = p.local("A", f64, (ROWS, ROWS)), p.local("B", f64, (ROWS, COLUMNS))
    c = p.local("C", f64, (ROWS, COLUMNS))
    i, j, k = p.loops(i=ROWS, j=COLUMNS, k=ROWS)
    p.compute("S", (i, j, k), c[k, j], c[k, j] + alpha * b[i, j] * a[i, k], where=k < i)
    value = beta * c[i, j] + alpha * b[i, j] * a[i, i]
    p.compute("R", (i, j), c[i, j], value, after=("S", j))
    return with_directives(kernel_of_tree(source_tree(p.build(), {})), steps)


def sums_of(*steps: Step, tool: Personality = TOOL) -> Sums:
    kernel = automatic(product(*steps), tool, KEPT)
    return terms_of([function_latency(Scope(kernel, tool), kernel.functions[0])[1]], {})


@pytest.mark.parametrize(("rows", "count"), [(1, 1), (2, 2), (5, 1)])
def test_an_index_that_does_not_move_with_a_pipeline_is_divided_once(rows: int, count: int) -> None:
    # A, B and C are in five banks: copies of j, their pipelines and the blocks behind them share the row's
    # division; copies of i in different places of a row of banks have their own.
    kernel = automatic(product(Unroll("i", rows), Unroll("j", 4), Unroll("k", 5)), TOOL, KEPT)
    own = leaves(function_latency(Scope(kernel, TOOL), kernel.functions[0])[1])
    sums = Sums()
    index_divisions(own, sums)
    assert sums.ff_fixed == count * divider(6)[1]


def test_what_a_block_computes_ahead_of_pipelines_has_its_own_registers() -> None:
    # symm with L2=5, flip-flops of each further copy of L1: four words more than the terms where the row's bank
    # is known: B[i][j], A[i][i], and two products.
    def words_of_a_copy(**rules: bool) -> float:
        few, many = (
            sums_of(
                Unroll("i", 5), Unroll("j", n), Unroll("k", 5), tool=under(TOOL, "guards", **rules)
            )
            for n in (4, 8)
        )
        more = [many.ff[name] - few.ff[name] for name in ("loaded", "results")]
        return sum(more) / 64 / (5 * 4)

    assert words_of_a_copy(speculates=True) == 4
    assert words_of_a_copy(speculates=False) == 0


def test_the_state_machine_has_no_states_for_what_is_done_ahead() -> None:
    # A product of 7 states, which does not wait for C[i][j].
    def states_of_a_copy(**rules: bool) -> float:
        few, many = (
            sums_of(Unroll("j", n), tool=under(TOOL, "guards", **rules)).ff["fsm"] for n in (2, 4)
        )
        return (many - few) / 2

    assert states_of_a_copy(speculates=False) - states_of_a_copy(speculates=True) == 7


@pytest.mark.parametrize("columns", [1, 2])
def test_what_is_around_an_updating_loop_asks_for_no_banks(columns: int) -> None:
    # symm with L2=6, with L1 flattened or not: B and C in six banks each, A in three (48 BRAM18, 3 URAM).
    design, _ = partitioned(
        product(Unroll("i", 2), Unroll("j", columns), Unroll("k", 6)), TOOL, KEPT
    )
    assert {m.name: m.banks for m in design.memories if m.shape} == {"A": 3, "B": 1, "C": 6}


def test_what_a_flattened_nest_loads_around_its_loop_is_kept_from_each_bank() -> None:
    # C[i][j] and A[i][i], each in one of five banks, are loaded under the guard of the last k: five words each,
    # what is selected of them is shifted along. (symm, L0 = 2 and 4: 1,006 flip-flops a copy more than 5 and 10.)
    def words_of_a_copy(rows: int) -> float:
        few, many = (sums_of(Unroll("i", n), Unroll("k", 5)) for n in (rows, 2 * rows))
        return (many.ff["selected"] - few.ff["selected"]) / 64 / rows

    assert words_of_a_copy(2) == 2 * 5
    assert words_of_a_copy(5) == 0
