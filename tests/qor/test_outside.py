"""Memory outside in the model: bursts as reports have them, adapters, tools that know nothing of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import weft
from dsl.kernels.kernel import Kernel
from dsl.kernels.loader import load
from dsl.schedules.schedule import ScheduleBuilder
from mlir_passes.pipeline import compile_design
from qor_gnn.design.from_module import kernel_of_module
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.estimate import estimate
from qor_gnn.result.qor_estimate import QorEstimate
from weft import f32

TOOL = "vitis-2023.2-u280-3.33ns"
OTHERS = ("vitis-2022.1-zu9eg-10ns", "vitis-2025.1-u200-4ns")
EXAMPLES = Path(__file__).parents[2] / "examples" / "outside"
Build = Callable[[ScheduleBuilder], ScheduleBuilder]


@weft.kernel
def copied(a: f32[64, 16], b: f32[64, 16], c: f32[64, 16]):
    for i in range(64):
        for j in range(16):
            b[i, j] = a[i, j] * 2.0
    for i in range(64):
        for j in range(16):
            c[i, j] = b[i, j] + 1.0


def estimated(build: Build, tool: str = TOOL) -> QorEstimate:
    design = compile_design(copied.program, build(ScheduleBuilder()).build())
    kernel = kernel_of_module(design.module)
    assert kernel == kernel_of_tree(design.tree)
    return estimate(kernel, tool)


def cycles(build: Build, tool: str = TOOL) -> float:
    return estimated(build, tool).latency.average


@pytest.mark.parametrize(
    ("build", "more"),
    [
        (lambda s: s.interface("a", "m_axi"), 72),  # reports: N + 72 for a burst that is read
        (lambda s: s.interface("c", "m_axi"), 70),  # and N + 70 for one that is written
        (lambda s: s.interface("b", "m_axi"), 70 + 72),  # written by one nest, read by the other
        (lambda s: s.interface("a", "m_axi", latency=0), 8),
        (lambda s: s.interface("a", "m_axi", latency=100), 108),
        (lambda s: s.interface("a", "bram"), 0),
    ],
)
def test_a_burst_takes_the_way_to_memory_once(build: Build, more: int) -> None:
    assert cycles(build) == cycles(lambda s: s) + more


def test_rows_that_are_no_one_nest_take_it_for_each_row() -> None:
    apart: Build = lambda s: s.flatten("S0.j", False)  # noqa: E731
    both = cycles(lambda s: apart(s).interface("a", "m_axi"))
    assert both == cycles(apart) + 64 * 72


@pytest.mark.parametrize(
    ("bits", "banks", "ii"),
    [(64, 1, 1), (128, 1, 2), (128, 2, 1), (512, 1, 1), (512, 2, 4), (512, 8, 1)],
)
def test_a_word_is_one_access_and_its_lanes_want_banks(bits: int, banks: int, ii: int) -> None:
    """Which 2023.2 makes by itself where nobody has split the copy."""

    def build(s: ScheduleBuilder) -> ScheduleBuilder:
        s.interface("a", "m_axi").pack("a", bits).buffer("a").pipeline("load_a_1")
        return s.partition("a_buf", 1, factor=banks) if banks > 1 else s

    found = estimated(build)
    # A loop of one word is no loop.
    loop = next(row for row in found.loops if {"load_a_0", "load_a_1"} & {*row.loops})
    assert (loop.ii, loop.trips.average) == (ii, 64 * 16 * 32 // bits)


def test_all_lanes_of_a_word_that_is_written_are_read() -> None:
    found = estimated(
        lambda s: s.interface("c", "m_axi").pack("c", 512).buffer("c").pipeline("store_c_1")
    )
    loop = next(row for row in found.loops if "store_c_0" in row.loops)
    assert loop.ii == 1  # sixteen reads, of eight banks that nobody asked for, and one word
    assert found.bram18 < found_in_one_piece()


def found_in_one_piece() -> int:
    """BRAM18 of the same with a buffer that somebody bound."""
    found = estimated(
        lambda s: (
            s.interface("c", "m_axi")
            .pack("c", 512)
            .buffer("c")
            .bind_storage("c_buf", "ram_t2p")
            .pipeline("store_c_1")
        )
    )
    loop = next(row for row in found.loops if "store_c_0" in row.loops)
    assert loop.ii == 8  # through two ports
    return found.bram18


@weft.kernel
def tiles(a: f32[64, 96], b: f32[64, 96]):
    for i in range(64):
        for j in range(96):
            b[i, j] = a[i, j] * 2.0


@weft.kernel
def planes(a: f32[6, 16, 32], b: f32[6, 16, 32]):
    for c in range(6):
        for i in range(16):
            for j in range(32):
                b[c, i, j] = a[c, i, j] * 2.0


@pytest.mark.parametrize(
    ("kernel", "loops", "factors", "entered"),
    [
        (tiles, ["i"], [16], 4),  # 16 rows are one burst
        (tiles, ["i", "j"], [16, 32], 64 * 3),  # a row of 32 of 96 elements is one
        (tiles, ["i", "j"], [64, 96], 1),
        (planes, ["c", "i"], [6, 4], 4 * 6),  # four rows of each plane are one, whatever is around
        (planes, ["c", "i", "j"], [6, 4, 8], 4 * 4 * 6 * 4),
        (planes, ["c"], [2], 3),
    ],
)
def test_rows_of_a_tile_that_are_not_whole_are_bursts_of_their_own(
    kernel: Kernel, loops: list[str], factors: list[int], entered: int
) -> None:
    def cycles_with(latency: int) -> float:
        s = ScheduleBuilder()
        s.interface("a", "m_axi", latency=latency).tile(loops, factors)
        innermost = len(kernel.program.array("a").shape) - 1
        s.buffer("a", f"{loops[-1]}_0").pipeline(f"load_a_{innermost}")
        return estimate(
            kernel_of_module(compile_design(kernel.program, s.build()).module), TOOL
        ).latency.average

    assert cycles_with(64) - cycles_with(14) == entered * 50


def test_a_copy_is_counted_as_a_memory_and_as_loops() -> None:
    plain = estimated(lambda s: s)
    whole = estimated(lambda s: s.interface("a", "m_axi").buffer("a"))
    assert whole.bram18 == plain.bram18 + 2 + 4  # 1,024 words, and the adapter
    loop = next(row for row in whole.loops if "load_a_1" in row.loops)
    assert (loop.ii, loop.trips.average) == (1, 1024)
    assert whole.latency.average > plain.latency.average + 1024 + 72


@pytest.mark.parametrize(
    ("build", "blocks"),
    [
        (lambda s: s.interface("a", "m_axi"), 4),
        (lambda s: s.interface("a", "m_axi", width=128), 8),
        (lambda s: s.interface("a", "m_axi", width=512), 30),
        (lambda s: s.interface("a", "m_axi", width=1024), 30),
        (lambda s: s.interface("a", "m_axi").interface("c", "m_axi"), 4),
        (lambda s: s.interface("a", "m_axi", "x").interface("c", "m_axi", "y", width=256), 4 + 16),
    ],
)
def test_a_port_takes_an_adapter(build: Build, blocks: int) -> None:
    plain, found = estimated(lambda s: s), estimated(build)
    assert found.bram18 == plain.bram18 + blocks
    assert found.lut is not None and plain.lut is not None  # noqa: PT018
    assert found.lut > plain.lut + 900


@pytest.mark.parametrize("tool", OTHERS)
def test_other_versions_take_it_over(tool: str) -> None:

    def piped(s: ScheduleBuilder) -> ScheduleBuilder:  # 2022.1 pipelines nothing by itself
        return s.pipeline("S0.j").pipeline("S1.j")

    plain = cycles(piped, tool)
    assert cycles(lambda s: piped(s).interface("a", "m_axi"), tool) == plain + 72
    assert cycles(lambda s: piped(s).interface("a", "m_axi", latency=32), tool) == plain + 40


@pytest.mark.parametrize("name", ["gemm_tiles", "blur_strips"])
def test_examples_are_the_same_from_both_sides(name: str) -> None:
    kernel = load(f"{EXAMPLES / name}.py:{name}")
    for schedule in kernel.schedules.values():
        design = compile_design(kernel.program, schedule)
        assert kernel_of_tree(design.tree) == kernel_of_module(design.module)
