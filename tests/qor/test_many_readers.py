"""Local arrays that nobody partitioned: read from copies where they have one writer, split where subscripts are numbers.

Figures are those of csynth reports of Vitis HLS 2022.2, xcu55c, 5 ns (docs/lab/storage.md, Arrays of many readers).
"""

from __future__ import annotations

import pytest

import weft
from dse.estimates.estimation import estimated, setting
from dsl.kernels.kernel import Kernel
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import BindStorage, Partition, Pipeline, Step, Unroll
from polyhedral.codegen.generate import loop_tree
from polyhedral.schedule import apply
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.design.region import READ_FROM_COPIES, loops_in
from qor_gnn.design.region import Kernel as Design
from qor_gnn.estimate import estimate
from qor_gnn.memory.automatic_partition import partitioned
from qor_gnn.result.qor_estimate import QorEstimate
from qor_gnn.tools.personality import personality
from weft import f32, i32

PLACE = "vitis-2022.2-xcu55c-2-5ns"


@weft.kernel
def product(A: f32[64, 64], B: f32[64, 64], C: f32[64, 64]):
    a: f32[64, 64]
    b: f32[64, 64]
    c: f32[64, 64]
    for i in range(64):
        for j in range(64):
            a[i, j] = A[i, j]
            b[i, j] = B[i, j]
            c[i, j] = 0.0
    for i in range(64):
        for j in range(64):
            for k in range(64):
                c[i, j] += a[i, k] * b[k, j]
    for i in range(64):
        for j in range(64):
            C[i, j] = c[i, j]


@weft.kernel
def rows(A: f32[64, 64], x: f32[64], y: f32[64]):
    a: f32[64, 64]
    for i in range(64):
        for j in range(64):
            a[i, j] = A[i, j]
        y[i] = 0.0
    for i in range(64):
        for j in range(64):
            y[i] += a[i, j] * x[j]


@weft.kernel
def columns_too(A: f32[64, 64], x: f32[64], y: f32[64]):
    a: f32[64, 64]
    for i in range(64):
        for j in range(64):
            a[i, j] = A[i, j]
        y[i] = 0.0
    for i in range(64):
        for j in range(64):
            y[i] += a[i, j] * x[j]
    for i in range(64):
        for j in range(64):
            y[i] += a[j, i] * x[j]


@weft.kernel
def taps(A: f32[400], B: f32[400]):
    t: f32[400]
    for i in range(400):
        t[i] = A[i]
    for j in range(400 - 4):
        B[j] = t[j] + t[j + 1] + t[j + 2] + t[j + 3]


@weft.kernel
def two_stores(A: f32[400], B: f32[400]):
    t: f32[400]
    for i in range(200):
        t[i] = A[i]
        t[i + 200] = A[i + 200]
    for j in range(400 - 4):
        B[j] = t[j] + t[j + 1] + t[j + 2] + t[j + 3]


@weft.kernel
def powers(A: f32[400], B: f32[400]):
    t: f32[400]
    for i in range(400):
        t[i] = A[i]
    for j in range(4, 400):
        t[j] = t[j - 2] + t[j - 3] * t[j - 4]
    for i in range(400):
        B[i] = t[i]


@weft.kernel
def chosen(A: f32[400], x: i32[400], w: f32[64, 64], B: f32[400]):
    t: f32[400]
    for i in range(400):
        t[i] = A[i]
    for j in range(400 - 4):
        B[j] = (
            t[j]
            + t[j + 1]
            + t[j + 2]
            + t[j + 3]
            + w[0, x[j] & 63]
            + w[1, x[j] & 63]
            + w[2, x[j] & 63]
            + w[3, x[j] & 63]
        )


@weft.kernel
def both_sums(A: f32[64, 64], B: f32[64, 64], x: f32[64], y: f32[64]):
    a: f32[64, 64]
    b: f32[64, 64]
    c: f32[64]
    s: f32[64]
    t: f32[64]
    for i in range(64):
        c[i] = x[i]
        s[i] = 0.0
        t[i] = 0.0
        for j in range(64):
            a[i, j] = A[i, j]
            b[i, j] = B[i, j]
    for i in range(64):
        for j in range(64):
            s[i] += a[i, j] * c[j]
    for i in range(64):
        for j in range(64):
            t[i] += b[i, j] * c[j]
    for i in range(64):
        y[i] = s[i] + t[i]


def answer(kernel: Kernel, *steps: Step, tool: str = "vitis-2022.2") -> QorEstimate:
    return estimated(kernel.program, Schedule(steps), setting(tool, "u55c", 5.0)).answer


def design_of(kernel: Kernel, *steps: Step) -> Design:
    return kernel_of_tree(loop_tree(apply(kernel.program, Schedule(steps))))


def intervals(found: QorEstimate) -> list[float]:
    return [row.ii for row in found.loops if row.kind == "pipeline"]


def test_one_writer_and_many_readers() -> None:
    """64 reads of each array are 16 a state, through 15 copies and the port of the writer: gemm of the reports."""
    found = answer(product)
    assert intervals(found) == [1, 4, 1]
    assert found.uram == 15 + 15 + 1


def test_all_subscripts_of_a_dimension_are_numbers() -> None:
    """gesummv of the reports: 64 columns, a bank each, interval 1, and no URAM."""
    found = answer(rows)
    assert intervals(found) == [32, 1]
    assert found.uram == 0


def test_subscripts_that_move_elsewhere_leave_it_in_one_piece() -> None:
    """mvt of the reports: read by rows and by columns, and 64 stores an iteration: two ports."""
    found = answer(columns_too)
    assert intervals(found) == [32, 32, 32]
    assert found.uram == 1


def test_2023_2_splits_what_copies_access() -> None:
    """Half as many banks as copies that fill the array unasked (Allo, ScaleHLS); all of it where they are asked for."""
    tool = personality("vitis-2023.2-u280-3.33ns")
    unasked = partitioned(design_of(columns_too), tool)[0]
    assert [s.factor for s in unasked.memory("a").splits] == [1, 32]
    asked = partitioned(design_of(product, Pipeline("S3.j", 1)), tool)[0]
    factors = {name: [s.factor for s in asked.memory(name).splits] for name in "abc"}
    assert factors == {"a": [1, 64], "b": [64, 1], "c": [1, 1]}


@pytest.mark.parametrize(("kernel", "ii"), [(taps, 1), (two_stores, 2)])
def test_a_second_store_in_an_iteration_keeps_two_ports(kernel: Kernel, ii: int) -> None:
    assert intervals(answer(kernel))[-1] == ii


def test_with_a_store_in_the_loop_each_read_has_a_copy() -> None:
    """Three reads beside a store are three copies: so have the reports of a message schedule four for four reads."""
    stored, copies = partitioned(design_of(powers), personality(PLACE))
    assert copies == {"t": 3}
    assert next(m for m in stored.memories if m.name == "t").storage == READ_FROM_COPIES
    assert answer(powers).bram18 == 3


@weft.kernel
def two_reads(A: f32[400], B: f32[400]):
    t: f32[400]
    for i in range(400):
        t[i] = A[i]
    for j in range(8, 400):
        t[j] = t[j - 8] * t[j - 7]
    for i in range(400):
        B[i] = t[i]


def test_two_loads_beside_a_store_are_two_copies() -> None:
    assert partitioned(design_of(two_reads), personality(PLACE))[1] == {"t": 2}
    assert intervals(answer(two_reads)) == [1, 1, 1]


@pytest.mark.parametrize(
    "asked",
    [
        BindStorage("t", "ram_2p"),
        Partition("t", 0, "complete"),
        Partition("t", 0, "cyclic", 4),
    ],
    ids=["bound", "in registers", "a bank for each"],
)
def test_what_somebody_asked_for_stays(asked: Step) -> None:
    kernel = design_of(taps, asked)
    stored, copies = partitioned(kernel, personality(PLACE))
    assert (stored, dict(copies)) == (kernel, {})


def test_banks_with_more_reads_than_ports_are_copied() -> None:
    _, copies = partitioned(design_of(product, Partition("a", 1, "cyclic", 2)), personality(PLACE))
    assert copies == {"a": 7, "b": 15}  # b has 64 reads in 4 states, of a's banks each has 32


@weft.kernel
def last_row(A: f32[5, 64], w: f32[16], y: f32[48]):
    K: f32[5, 64]
    for i in range(5):
        for j in range(64):
            K[i, j] = A[i, j]
    for c in range(48):
        acc: f32 = 0.0
        for t in range(16):
            acc += K[4, c + t] * w[t]
        for i in range(4):
            acc += K[i, c]
        y[c] = acc


def test_a_bank_is_copied_for_its_own_readers() -> None:
    """The last of five rows is read 16 times an iteration, each other one once: not 15 copies of all of them."""
    steps: list[Step] = [
        Partition("K", 0, "complete"),
        Partition("w", 0, "complete"),
        Pipeline("c"),
    ]
    tree = kernel_of_tree(loop_tree(apply(last_row.program, Schedule(tuple(steps)))))
    design, copies = partitioned(tree, personality(PLACE))
    assert design.memory("K").storage == READ_FROM_COPIES
    assert copies["K"] * design.memory("K").banks == 15 + 4


def test_without_automatic_pipelines_only_those_that_are_asked_for() -> None:
    """2022.1 does nothing to a loop that nobody pipelined."""
    tool = personality("vitis-2022.1-xcu55c-2-5ns")
    loop = next(
        x.name for x in loops_in(design_of(taps).functions[0].body) if x.name.startswith("j")
    )
    assert not partitioned(design_of(taps), tool)[1]
    assert partitioned(design_of(taps, Pipeline(loop)), tool)[1] == {"t": 3}
    assert partitioned(design_of(taps, Pipeline(loop, 2)), tool)[1] == {"t": 1}
    copied = (Unroll(loop, 6), Pipeline(loop))
    # Nine elements an iteration; B has two ports to store, in each bank.
    assert partitioned(design_of(taps, *copied), tool)[1] == {"t": 2}
    assert partitioned(design_of(taps, Partition("B", 0, "cyclic", 6), *copied), tool)[1] == {
        "t": 8
    }


def test_places_that_data_tell_are_loaded_in_each_iteration() -> None:
    """Four loads of w, an argument, take two states, in which t is read twice each: one copy and the writer's port."""
    assert partitioned(design_of(chosen), personality(PLACE))[1] == {"t": 1}


def test_pipelines_that_load_the_same_in_front_run_at_the_same_time() -> None:
    """Gesummv of the reports: x is loaded once, 33 states, for both sums, each 394; units of both."""
    found = answer(both_sums)
    first, second = [row for row in found.loops if row.depth > 300]
    assert first.latency.maximum == second.latency.maximum
    assert found.latency.maximum < 2050 + 33 + 394 + 72 + 20
    assert found.dsp == 2 * 64 * 5


@pytest.mark.parametrize("tool", ["vitis-2022.1-xcu55c-2-5ns", PLACE])
def test_more_banks_are_never_slower(tool: str) -> None:
    """2022.1 does not tell the neighbours' banks apart: each bank has four readers, and is copied as the whole was."""
    found = []
    for factor in (1, 2, 4, 8):
        steps = (Pipeline("j"), Partition("t", 0, "cyclic", factor))
        row = [
            row
            for row in estimate(design_of(taps, *steps), tool).loops
            if row.kind == "pipeline" and "j" in row.loops
        ]
        found.append(row[0].ii)
    assert found == [1, 1, 1, 1]


def test_2025_splits_instead() -> None:
    design, copies = partitioned(design_of(taps), personality("vitis-2025.1-u200-4ns"))
    assert [m.banks for m in design.memories if m.name == "t"] == [4]
    assert not copies
