"""The feasibility score: what a design asks for before units are shared."""

from __future__ import annotations

import pytest

from benchmarks.qor_u200 import ordered_pairs
from dsl.builder.program import ProgramBuilder
from dsl.errors.errors import ToolError
from dsl.expressions.types import f32, f64
from dsl.schedules.steps import Partition, Pipeline, Step, Unroll
from qor_gnn.design.directives import with_directives
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.design.region import Kernel
from qor_gnn.fit.feasibility import Feasibility, feasibility
from qor_gnn.fit.labelled.parts import family, part_of
from qor_gnn.fit.labelled.u200 import Labels, Row
from qor_gnn.fit.labelled.u200_design import source_tree
from qor_gnn.fit.labelled.u200_faulty import faulty

TOOL = "vitis-2025.1-u200-4ns"


def product(*steps: Step, dtype=f64) -> Kernel:
    p = ProgramBuilder("product")
    a, b, c = (p.local(n, dtype, (80, 80)) for n in ("A", "B", "C"))
    i, j, k = p.loops(i=80, j=80, k=80)
    p.compute("S", (i, j, k), c[i, j], c[i, j] + a[i, k] * b[k, j])
    return with_directives(kernel_of_tree(source_tree(p.build(), {})), steps)


def found(*steps: Step) -> Feasibility:
    return feasibility(product(*steps), TOOL)


def test_every_copy_of_an_operation_counts() -> None:
    assert found().operations == 2
    assert found(Unroll("k", 4)).operations == 8
    assert found(Unroll("i", 2), Unroll("k", 4)).operations == 16
    assert found(Unroll("k", 4)).dsp == 4 * (8 + 3)


def test_below_a_pipeline_everything_is_unrolled() -> None:
    assert found(Pipeline("j"), Unroll("k", 4)).operations == 2 * 80
    assert found(Pipeline("i")).operations == 2 * 80 * 80


def test_an_access_chooses_among_the_banks_of_its_array() -> None:
    plain = feasibility(product(dtype=f32), "vitis-2022.1-zu9eg-10ns")
    split = feasibility(
        product(Partition("A", 0, "cyclic", 8), dtype=f32), "vitis-2022.1-zu9eg-10ns"
    )
    assert split.operations == plain.operations
    assert split.lut - plain.lut == pytest.approx(7 * 32 / 3, abs=1)


def test_the_score_is_the_largest_share_of_the_device() -> None:
    small, large = found(Unroll("k", 4)), feasibility(product(Unroll("k", 4)), TOOL, "xc7z020")
    assert large.dsp == small.dsp == 44
    assert large.score == max(large.dsp / 220, large.lut / 53_200, large.bram18 / 280)
    assert large.score > small.score
    assert found(Pipeline("i")).score > found(Pipeline("j")).score > 0


def test_an_unknown_tool_is_an_error() -> None:
    with pytest.raises(ToolError) as e:
        feasibility(product(), "vitis")
    assert e.value.code == "W450"


def test_pairs_are_counted_with_ties() -> None:
    assert ordered_pairs([1, 2], [3, 4]) == 1
    assert ordered_pairs([3, 4], [1, 2]) == 0
    assert ordered_pairs([1, 2], [2, 2]) == 0.75


def test_a_report_far_faster_than_its_copies_is_faulty() -> None:
    def row(directives: str, latency: int) -> Row:
        return Row("k", directives, Labels(latency, 1, 1, 1, 0, 0))

    whole = row("L1:unroll=58", 4_000)
    lost = row("L1:unroll=32", 9_000)
    rows = [row("none", 7_600_000), row("L1:unroll=29", 7_500_000), lost, whole]
    assert faulty(rows, {"L1": 58}) == [lost]
    assert faulty([row("none", 7_600_000), row("L1:unroll=32", 240_000)], {"L1": 58}) == []


def test_sizes_and_variants_of_a_kernel_are_in_one_part():
    assert {family(k) for k in ("gemm-p-large", "gemm-ncubed", "gemm-blocked")} == {"gemm"}
    for names in (("mvt", "mvt-medium"), ("trmm", "trmm-opt"), ("bicg", "bicg-large")):
        assert len({part_of(name) for name in names}) == 1
    assert part_of("atax") != part_of("gemver")  # both parts have kernels
