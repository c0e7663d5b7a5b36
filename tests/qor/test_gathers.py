"""Accesses at subscripts that are data, to the model: no bank is known, and the address is computed first."""

from __future__ import annotations

import pytest

import weft
from dse.bounds.bounds import work_of
from dse.space.memory.banks import widest_of
from dse.space.nests.contents import accesses_in
from dse.space.nests.look_ups import anywhere, is_anywhere
from dse.space.nests.nest import Use
from dsl.expressions.affine import Affine
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Partition, Pipeline, Step, Unroll
from mlir_passes.pipeline import compile_design
from polyhedral.codegen.generate import loop_tree
from qor_gnn.design.from_module import kernel_of_module
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.design.region import Kernel, Statement, walk
from qor_gnn.tools.personality import available, personality
from weft import f32, i32, u8


@weft.kernel
def table(x: u8[64], t: f32[256], y: f32[64]):
    for i in range(64):
        y[i] = t[x[i]]


@weft.kernel
def chain(successor: u8[256], y: u8[100]):
    s: u8 = 7
    for i in range(100):
        s = successor[s]
        y[i] = s


@weft.kernel
def in_place(p: u8[64], a: i32[64]):
    for i in range(64):
        a[i] = a[p[i] & 63] + 1


@weft.kernel
def of_counters(t: f32[16], y: f32[16]):
    for k in range(16):
        for n in range(16):
            y[k] = t[(k * n) % 16]


@weft.kernel
def of_an_argument(n: u8, t: f32[256], x: f32[64], y: f32[64]):
    for i in range(64):
        y[i] = t[n] * x[i]


@weft.kernel
def counted(x: u8[64], h: i32[256]):
    for i in range(64):
        h[x[i]] += 1


@weft.kernel
def scattered(p: u8[64], a: f32[64], y: f32[256]):
    for i in range(64):
        y[p[i]] = a[i]


@weft.kernel
def parents(a: u8[64], b: u8[64], parent: u8[256]):
    for i in range(64):
        parent[parent[a[i]]] = b[i]


@weft.kernel
def at_itself(x: u8[64], y: u8[256]):
    for i in range(64):
        y[x[i] ^ 1] = x[i]


@weft.kernel
def at_an_argument(n: u8, x: f32[64], y: f32[256]):
    for i in range(64):
        y[n] += x[i]


def interval(kernel: weft.Kernel, *steps: Step) -> int:
    found = weft.estimate(kernel, Schedule(tuple(steps)))
    return min(row.ii for row in found.loops if row.ii is not None)


def regions(kernel: weft.Kernel, *steps: Step) -> Kernel:
    return kernel_of_module(compile_design(kernel.program, Schedule(tuple(steps))).module)


def test_both_readers_see_the_same() -> None:
    for kernel in (table, chain, in_place, of_counters, counted, parents, at_itself):
        design = compile_design(
            kernel.program, Schedule((Pipeline("S0.i"),) if kernel is table else ())
        )
        assert kernel_of_module(design.module) == kernel_of_tree(loop_tree(design.scheduled))


BANKS = [Partition("x", 0, "cyclic", 4), Partition("y", 0, "cyclic", 4)]


@pytest.mark.parametrize(
    ("split", "expected"),
    [
        ([], 2),  # two ports
        ([Partition("t", 0, "cyclic", 4)], 2),  # each look-up takes a port of each bank
        ([Partition("t", 0, "block", 8)], 2),
        ([Partition("t", 0, "complete", 0)], 1),
    ],
)
def test_banks_do_not_help_but_registers_do(split: list[Step], expected: int) -> None:
    assert interval(table, *BANKS, *split, Unroll("i", 4), Pipeline("i")) == expected


def test_recurrences_pass_through_addresses() -> None:
    assert interval(table, Pipeline("i")) == 1
    assert interval(chain, Pipeline("i")) == 2  # a state to ask, and one to answer
    assert interval(in_place, Pipeline("i")) > 1  # any element may be the one stored before


def test_what_is_computed_of_counters_is_loaded_in_every_iteration() -> None:
    moving = weft.estimate(of_counters, Schedule((Pipeline("n"), Unroll("k", 16))))
    assert moving.latency.maximum > 16
    still = weft.estimate(of_an_argument, Schedule((Pipeline("i"),)))
    assert interval(of_an_argument, Pipeline("i")) == 1
    assert still.latency.maximum < 64 + 20


@pytest.mark.parametrize("tool", ["vitis-2022.1", "vitis-2023.2", "vitis-2025.1"])
def test_an_update_waits_for_the_one_before(tool: str) -> None:
    """It is read, changed and written: `tests.qor.test_kept_updates` has what is kept of it."""
    for kernel, least in ((counted, 1), (parents, 2), (at_an_argument, 2), (scattered, 1)):
        found = weft.estimate(kernel, Schedule((Pipeline("i"),)), tool=tool)
        (row,) = found.loops
        assert row.ii is not None
        assert row.ii >= least, kernel.name
        assert row.ii == 1 or kernel is not scattered


@pytest.mark.parametrize("split", [[], [Partition("h", 0, "cyclic", 4)]])
def test_updates_of_copies_follow_one_another(split: list[Step]) -> None:
    one = interval(counted, Pipeline("i"))
    banks = [*split, Partition("x", 0, "cyclic", 4)]
    assert interval(counted, *banks, Unroll("i", 4), Pipeline("i")) >= 4 * one - 4


def test_look_ups_prove_no_work() -> None:
    """All may be of one element, and what is computed of it of one value."""
    assert work_of(table.program, personality(available()[0])).reads.get("t", 0) <= 1
    assert work_of(scattered.program, personality(available()[0])).writes.get("y", 0) <= 1


def test_copies_are_of_different_elements_to_the_search() -> None:
    (statement,) = [n for n in walk(regions(table).functions[0].body) if isinstance(n, Statement)]
    look_up = next(a for a in accesses_in(statement) if a.memory == "t")
    assert look_up.indices[0].variables() == {"i"}
    assert not look_up.indices[0].is_linear


def test_copies_ask_for_registers_of_a_small_table_and_for_no_banks() -> None:
    index = anywhere({"i"}, 0)
    assert is_anywhere(index)
    assert not is_anywhere((Affine.of("i") * 3 + 1) // 2)
    uses = [Use("t", (index,), False, (extent,), (1, 1, 1)) for extent in (16, 64)]
    assert [widest_of(use, 0, {"i": 4}, set()) for use in uses] == [16, 1]
    assert widest_of(uses[0], 0, {"i": 1}, set()) == 1
    cubes = [Use("t", (index, index, index), False, (n, n, n), (1, 1, 1)) for n in (6, 9)]
    wanted = [[widest_of(use, d, {"i": 4}, set()) for d in range(3)] for use in cubes]
    assert wanted == [[6, 6, 6], [1, 1, 1]]  # 216 and 729 elements
