"""What Vitis HLS 2025.1 does by itself on xcu200 at 4 ns: short loops, pipelines, banks, copies."""

from __future__ import annotations

import pytest

from dsl.builder.program import ProgramBuilder
from dsl.expressions.types import f64
from dsl.schedules.steps import Pipeline, Step, Unroll
from polyhedral.looptree.tree import TripCount
from qor_gnn.design.directives import with_directives
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.design.region import Kernel, loops_in
from qor_gnn.estimate import estimate
from qor_gnn.fit.labelled.u200_design import source_tree
from qor_gnn.result.qor_estimate import QorEstimate
from qor_gnn.schedule.automatic_directives import automatic
from qor_gnn.schedule.reasons import Recurrence
from qor_gnn.tools.personality import personality

TOOL = "vitis-2025.1-u200-4ns"


def kernel(p: ProgramBuilder, *steps: Step, trips: dict[str, TripCount] | None = None) -> Kernel:
    return with_directives(kernel_of_tree(source_tree(p.build(), trips or {})), steps)


def sums(columns: int, rows: int = 100) -> ProgramBuilder:
    p = ProgramBuilder("sums")
    a, y = p.local("A", f64, (rows, columns)), p.local("y", f64, (rows,))
    i, j = p.loops(i=rows, j=columns)
    p.compute("S", (i, j), y[i], y[i] + a[i, j])
    return p


def triangle(n: int = 32) -> tuple[ProgramBuilder, dict[str, TripCount]]:
    p = ProgramBuilder("triangle")
    a, b = p.local("A", f64, (n, n)), p.local("B", f64, (n, n))
    i = p.loop("i", 0, n)
    j = p.loop("j", 0, i + 1)
    p.compute("S", (i, j), b[i, j], a[i, j] * 2.0)
    return p, {"j": TripCount(1, n, n * (n + 1) // 2)}


def shapes(design: Kernel) -> dict[str, tuple[int, bool]]:
    return {x.name: (x.factor, x.automatic) for f in design.functions for x in loops_in(f.body)}


def found(p: ProgramBuilder, *steps: Step, kept: frozenset[str] = frozenset()) -> QorEstimate:
    return estimate(kernel(p, *steps), TOOL, kept=kept)


def test_a_short_loop_is_unrolled_into_its_parent_unless_somebody_gave_a_factor() -> None:
    copied = kernel(sums(16), Unroll("i", 2))
    by_itself = automatic(copied, personality(TOOL))
    assert shapes(by_itself) == {"i": (2, True), "j": (16, True)}
    kept = automatic(copied, personality(TOOL), frozenset({"j"}))
    assert shapes(kept) == {"i": (2, True), "j": (1, True)}
    wide = automatic(kernel(sums(64), Unroll("i", 2)), personality(TOOL))
    assert shapes(wide)["j"] == (1, True)
    # A nest that makes one loop is pipelined as that.
    assert shapes(automatic(kernel(sums(16)), personality(TOOL)))["j"] == (1, True)


def test_a_directive_below_a_pipeline_changes_nothing() -> None:
    above = found(sums(80), Pipeline("i"), kept=frozenset({"i", "j"}))
    both = found(sums(80), Pipeline("i"), Unroll("j", 4), kept=frozenset({"i", "j"}))
    assert above == both
    assert above.loops[0].loops == ("i",)


def test_a_pipeline_over_a_loop_of_variable_trip_count_fails() -> None:
    p, trips = triangle()
    free = estimate(kernel(p, trips=trips), TOOL, kept=frozenset({"i", "j"}))
    p, trips = triangle()
    asked = kernel(p, Pipeline("i"), trips=trips)
    assert shapes(automatic(asked, personality(TOOL))) == {"i": (1, False), "j": (1, False)}
    failed = estimate(asked, TOOL, kept=frozenset({"i", "j"}))
    assert free.loops[-1].kind == "pipeline"
    assert [x.kind for x in failed.loops] == ["nest", "sequential"]
    assert failed.latency.maximum > 4 * free.latency.maximum


def test_banks_follow_the_unroll_factor() -> None:
    design = automatic(kernel(sums(80), Unroll("j", 8)), personality(TOOL), frozenset({"j"}))
    assert [s.factor for s in design.memory("A").splits] == [1, 4]


def test_other_tools_leave_the_design_alone() -> None:
    design = kernel(sums(16), Unroll("j", 4))
    assert automatic(design, personality("vitis-2022.1-zu9eg-10ns")) == design
    assert automatic(design, personality("open-ecp5-10ns")) == design


def test_2023_unrolls_loops_of_up_to_64_iterations_and_sums_of_perfect_nests() -> None:
    tool = personality("vitis-2023.2-u280-3.33ns")
    short = automatic(kernel(sums(64)), tool)
    assert shapes(short) == {"i": (1, True), "j": (64, True)}
    assert shapes(automatic(kernel(sums(65)), tool))["j"] == (1, True)
    assert shapes(automatic(kernel(sums(64)), tool, frozenset({"j"})))["j"] == (1, True)


@pytest.mark.parametrize("columns", [64, 96])
def test_a_partial_last_iteration_counts_whole(columns: int) -> None:
    one = found(sums(columns, rows=100), Unroll("i", 50), kept=frozenset({"i", "j"}))
    more = found(sums(columns, rows=100), Unroll("i", 40), kept=frozenset({"i", "j"}))
    nest = {e.unroll: e for e in (one.loops[0], more.loops[0])}
    assert nest[50].trips.maximum == 2
    assert nest[40].trips.maximum == 3


def test_nests_without_a_common_array_run_at_the_same_time() -> None:
    def cycles(second: str) -> float:
        p = ProgramBuilder("two")
        a, b, c = (p.local(n, f64, (128,)) for n in ("A", "B", "C"))
        arrays = {"A": a, "C": c}
        i, k = p.loops(i=128, k=128)
        p.compute("S", (i,), b[i], a[i] * 3.0) if second == "A" else None
        p.compute("T", (k,), c[k], arrays[second][k] * 2.0)
        if second != "A":
            p.compute("S", (i,), b[i], a[i] * 3.0)
        return found(p).latency.average

    assert cycles("A") > 1.8 * 128
    assert cycles("C") < 1.3 * 128


def test_blocks_of_local_arrays_are_counted() -> None:
    plain = found(sums(64), kept=frozenset({"i", "j"}))
    wide = found(sums(64), Unroll("j", 8), kept=frozenset({"i", "j"}))
    assert (plain.bram18, plain.uram) == (34, 0)
    assert (wide.bram18, wide.uram) == (2, 4)  # banks of 1600 words


def test_neighbours_are_in_different_banks_wherever_the_window_is() -> None:
    p = ProgramBuilder("window")
    a, b = p.local("A", f64, (120,)), p.local("B", f64, (120,))
    (i,) = p.loops(i=range(1, 119))
    p.compute("S", (i,), b[i], a[i - 1] + a[i] + a[i + 1])
    loop = found(p).loops[0]
    assert loop.ii == 1
    assert loop.depth == 2 + 5 + 5  # loads from 3 banks, which are counted, and a sum of three


def test_an_update_under_a_guard_keeps_its_loop_apart() -> None:
    def first(guarded: bool) -> tuple[str, ...]:
        p = ProgramBuilder("update")
        a, y = p.local("A", f64, (80, 80)), p.local("y", f64, (80,))
        i, j = p.loops(i=80, j=80)
        p.compute("S", (i, j), y[i], y[i] + a[i, j], where=j < i if guarded else None)
        return found(p).loops[0].loops

    assert first(False) == ("i", "j")
    assert first(True) == ("i",)


def test_a_row_is_updated_from_others_only_in_a_later_row() -> None:
    """``B[i][j] += B[k][j]`` with all k in one iteration: the next one has another j."""
    p = ProgramBuilder("rows")
    b = p.local("B", f64, (60, 80))
    i, j, k = p.loops(i=60, j=80, k=60)
    p.compute("S", (i, j, k), b[i, j], b[i, j] + b[k, j])
    row = next(x for x in found(p, Pipeline("j"), Unroll("i", 2)).loops if x.loops == ("j",))
    assert not any(isinstance(limit, Recurrence) for limit in row.limits)


def test_parallel_recurrences_of_several_operators_have_units_of_their_own() -> None:
    p = ProgramBuilder("smooth")
    a = p.local("A", f64, (24,))
    t, i = p.loops(t=40, i=24)
    p.compute("S", (t, i), a[i], (a[i] * 0.5 + 1.0) * 0.25)
    loop = found(p, Pipeline("t")).loops[0]
    assert loop.ii == 6 + 6 + 6 + 1  # a state of each product is saved, and one taken to close
    assert dict(loop.units) == {"dadd": 24, "dmul": 24}
