"""Which partitions arrays get whose banks the accesses are to decide."""

import random
from collections.abc import Callable

import pytest

import weft
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from dsl.schedules.steps import AutoPartition
from mlir_passes.dialect.attributes import argument_infos, top_function
from mlir_passes.dialect.auto_partition import AUTO_PARTITION
from mlir_passes.pipeline import compile_design
from polyhedral.banks.wanted import MAX_BANKS
from qor_gnn.design.from_module import kernel_of_module
from qor_gnn.design.from_tree import kernel_of_tree
from tests.rtl.front_support import hardware_walk
from tests.support.profiles import FAST
from tests.support.random_programs import random_program
from weft import f32

Build = Callable[[ScheduleBuilder], object]


@weft.kernel
def product(A: f32[32, 60], B: f32[60, 48], C: f32[32, 48]):
    for i, j, k in weft.grid(32, 48, 60):
        C[i, j] += A[i, k] * B[k, j]


@weft.kernel
def pairs(A: f32[64], B: f32[32]):
    for i in range(32):
        B[i] = A[2 * i] + A[2 * i + 1]


@weft.kernel
def triangle(A: f32[32, 32], x: f32[32], y: f32[32]):
    for i in range(32):
        for j in range(i):
            y[i] += A[i, j] * x[j]


@weft.kernel
def divided(A: f32[64], B: f32[128]):
    for i in range(128):
        B[i] = A[i // 2]


@weft.kernel
def wide(A: f32[64, 64], s: f32[1]):
    for i, j in weft.grid(64, 64):
        s[0] += A[i, j]


def wanted(kernel: weft.Kernel, build: Build) -> dict[str, list[tuple[str, int, int]]]:
    """The partitions of each array: kind, factor and dimension."""
    steps = ScheduleBuilder()
    build(steps)
    for array in kernel.program.arrays:
        steps.auto_partition(array.name)
    design = compile_design(kernel.program, steps.build())
    assert kernel_of_module(design.module).memories == kernel_of_tree(design.tree).memories
    function = top_function(design.module)
    assert AUTO_PARTITION not in function.operation.attributes
    infos = argument_infos(function)
    return {
        i.name: [(p.kind, p.factor, p.dim) for p in i.partitions] for i in infos if i.partitions
    }


CASES: list[tuple[str, weft.Kernel, Build, dict[str, list[tuple[str, int, int]]]]] = [
    ("no copies", product, lambda s: s.pipeline("k"), {}),
    (
        "each of eight copies has banks of its own",
        product,
        lambda s: s.unroll("j", 8),
        {"B": [("cyclic", 8, 1)], "C": [("cyclic", 8, 1)]},
    ),
    (
        "a pipeline unrolls what is inside",
        product,
        lambda s: s.pipeline("j"),
        {"A": [("complete", 0, 1)], "B": [("complete", 0, 0)]},
    ),
    (
        "what a factor leaves over lies apart in the same banks",
        product,
        lambda s: s.unroll("k", 8),
        {"A": [("cyclic", 8, 1)], "B": [("cyclic", 8, 0)]},
    ),
    (
        "two dimensions, one by hand",
        product,
        lambda s: s.unroll("i", 4).unroll("j", 6).partition("C", 1, "block", 2),
        {"A": [("cyclic", 4, 0)], "B": [("cyclic", 6, 1)], "C": [("block", 2, 1), ("cyclic", 4, 0)]},
    ),
    (
        "tiles",
        product,
        lambda s: s.tile(["i", "j"], [4, 8]).unroll("j_1").pipeline("k"),
        {"B": [("cyclic", 8, 1)], "C": [("cyclic", 8, 1)]},
    ),
    (
        "every second element",
        pairs,
        lambda s: s.unroll("i", 4),
        {"A": [("cyclic", 8, 0)], "B": [("cyclic", 4, 0)]},
    ),
    (
        "a loop that begins or ends elsewhere each time",
        triangle,
        lambda s: s.unroll("j", 4),
        {"A": [("cyclic", 4, 1)], "x": [("cyclic", 4, 0)]},
    ),
    (
        "what is divided moves by a block of its own",
        divided,
        lambda s: s.unroll("i", 4),
        {"A": [("cyclic", 2, 0)], "B": [("cyclic", 4, 0)]},
    ),
    (
        "no more banks than there may be",
        wide,
        lambda s: s.unroll("i").unroll("j"),
        {"A": [("cyclic", 32, 0), ("cyclic", 32, 1)]},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("kernel", "build", "found"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])  # fmt: skip
def test_what_accesses_want(
    kernel: weft.Kernel, build: Build, found: dict[str, list[tuple[str, int, int]]]
) -> None:
    assert wanted(kernel, build) == found


def test_the_most_banks_are_kept_to() -> None:
    """Also beside a partition by hand that leaves little."""

    def halved(s: ScheduleBuilder) -> object:
        return s.unroll("i").unroll("j").partition("A", 0, "complete")

    (by_hand, (_, banks, _)) = wanted(wide, halved)["A"]
    assert by_hand == ("complete", 0, 0)
    assert 64 * banks == MAX_BANKS


def test_a_local_array_is_partitioned_where_it_is_declared() -> None:
    @weft.kernel
    def staged(A: f32[16, 16], B: f32[16, 16]):
        for i in range(16):
            t: f32[16]
            for j in range(16):
                t[j] = A[i, j]
            for k in range(16):
                B[i, k] = t[15 - k]

    steps = ScheduleBuilder()
    steps.unroll("j", 4).unroll("k", 2).auto_partition("t")
    shown = []
    design = compile_design(
        staged.program,
        steps.build(),
        print_after=["promote-single-trip", "infer-partitions"],
        listener=lambda _, text: shown.append(text),
    )
    assert "type=cyclic factor=4 dim=1" in design.hls_cpp
    before, after = shown
    assert 'hls.auto_partition = ["t"]' in before
    assert "hls.partition" not in before
    (line,) = [line for line in after.splitlines() if "memref.alloc" in line]
    assert 'hls.partition = [#hls.partition<"cyclic", 4 : i64, 0 : i64>]' in line


@pytest.mark.parametrize("first", [5000, 5040])
def test_what_is_ranked_has_the_banks_of_the_module(first: int) -> None:
    """Among them a copy of a pipelined loop that has no more iterations than its factor (5042)."""
    inferred = 0
    for seed in range(first, first + 6):
        program = random_program(seed, FAST)
        walk = hardware_walk(random.Random(seed), program, seed % 4)
        steps = (AutoPartition(a.name) for a in program.arrays if a.shape)
        design = compile_design(program, Schedule((*walk.schedule, *steps)))
        kernel = kernel_of_module(design.module)
        assert kernel == kernel_of_tree(design.tree), seed
        inferred += sum(s.factor > 1 for m in kernel.memories for s in m.splits)
    assert inferred >= 2
