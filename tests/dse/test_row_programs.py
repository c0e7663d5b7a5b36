"""Dynamic programs in one row, and searches for an index, running sums: structures that make their iterations independent."""

from __future__ import annotations

import weft
from backends.verify import verify_many
from dse.space.memory.registers import in_registers
from dse.space.space import Space, space_of
from dse.space.start import start_of
from dse.strategies.solve import solve
from dsl.kernels.kernel import Kernel
from dsl.schedules.recurrence_steps import Carry, Locate, Scan, Versions
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Interface, Partition, Skew, Step
from mlir_passes.pipeline import compile_design
from polyhedral.schedule import apply
from qor_gnn.tools.personality import personality
from weft import i16, i32, u8, u16

TOOL = personality("vitis-2022.1-zu9eg-10ns")


@weft.kernel
def coins(ways: i32[24]):
    for coin in range(1, 5):
        for c in range(coin, 24):
            ways[c] += ways[c - coin]


@weft.kernel
def knapsack(value: i32[5], row: i32[24]):
    for i in range(5):
        for c in range(23, i, -1):
            row[c] = max(row[c], row[c - i - 1] + value[i])


@weft.kernel
def neighbours(row: i32[24]):
    for t in range(4):
        for c in range(1, 24):
            row[c] += row[c - 1]


@weft.kernel
def nearest(x: i32[48], at: i32[1]):
    best: i32 = 1000000
    for i in range(48):
        if x[i] < best:
            best = x[i]
            at[0] = i


@weft.kernel
def first(x: i32[48], key: i32[1], at: i32[1]):
    for i in range(48):
        if x[i] == key[0]:
            at[0] = i
            break


@weft.kernel
def swapped(x: u8[48], deck: u8[32]):
    for i in range(32):
        t = deck[i]
        deck[i] = deck[x[i] & 31]
        deck[x[i] & 31] = t


@weft.kernel
def counted(x: u8[48], n: u8[32]):
    for i in range(48):
        n[x[i] & 31] += 1


def named(space: Space, text: str) -> list[int]:
    return [n for n, variant in enumerate(space.variants) if text in variant.name]


@weft.kernel
def prefix(x: i32[96], y: i32[96], total: i32[1]):
    run: i32 = 0
    for i in range(96):
        run += x[i]
        y[i] = run
        total[0] += x[i]


@weft.kernel
def best_part(x: i16[96], out: i32[1]):
    here: i32 = 0
    best: i32 = -32768
    for i in range(96):
        here = max(here + x[i], x[i])
        best = max(best, here)
    out[0] = best


@weft.kernel
def curves(a: u8[384], b: u8[384], curve: u8[256], y: u16[384]):
    for i in range(384):
        y[i] = curve[a[i]] + curve[b[i]]


def schedules(kernel: Kernel, text: str) -> list[Schedule]:
    """The best that is planned of each structure of such a name."""
    space = space_of(kernel.program, TOOL)
    found = [space.schedule(s.point) for n in named(space, text) for s in solve(space, n, 40)[:1]]
    return [schedule for schedule in found if schedule is not None]


def test_the_inner_loop_runs_behind_as_far_as_distances_reach() -> None:
    space = space_of(coins.program, TOOL)
    skews = [
        s
        for n in named(space, "far behind")
        for s in space.variants[n].steps
        if isinstance(s, Skew)
    ]
    assert {s.factor for s in skews} == {3}  # the coin of 4 has none behind it
    assert named(space_of(neighbours.program, TOOL), "far behind") == []


def test_small_tables_are_in_registers_where_distances_vary() -> None:
    space = space_of(knapsack.program, TOOL)
    made = {step for n in named(space, "in registers") for step in space.variants[n].made}
    assert made == {Partition("row", 0, "complete")}
    assert named(space_of(neighbours.program, TOOL), "in registers") == []
    cases: list[tuple[Step, list[str]]] = [
        (Partition("row", 0, "cyclic", 4), ["partition"]),
        (Interface("row", "m_axi"), []),
    ]
    for step, fix in cases:
        start = start_of(knapsack.program, Schedule((step,)), fix)
        assert named(space_of(knapsack.program, TOOL, start=start), "in registers") == []


def test_tables_that_are_swapped_at_data_are_in_registers() -> None:
    """Where an iteration waits for what the one before has written; not where each updates an element by itself."""
    assert in_registers(apply(swapped.program, Schedule()))[1] == (
        Partition("deck", 0, "complete"),
    )
    assert in_registers(apply(counted.program, Schedule()))[1] == ()


STRUCTURES = [
    (coins, "far behind"),
    (coins, "in registers"),
    (knapsack, "far behind"),
    (knapsack, "in registers"),
    (coins, "columns, carried, up to"),
    (knapsack, "columns, carried, up to"),
    (prefix, "sums in blocks of 8"),
    (best_part, "sums in blocks of 8"),
    (curves, "copies for the reads of 4"),
    (nearest, "searched"),
    (first, "searched"),
]


def test_what_is_planned_computes_the_same() -> None:
    designs = [
        (kernel, compile_design(kernel.program, schedule))
        for kernel, text in STRUCTURES
        for schedule in schedules(kernel, text)[:1]
    ]
    assert len(designs) == len(STRUCTURES)
    found = verify_many(
        [d for _, d in designs], cxx=False, make_inputs=[k.make_inputs for k, _ in designs]
    )
    assert [result.ok for result in found] == [True] * len(designs)


def test_a_loop_that_runs_behind_is_faster() -> None:
    designs = (*schedules(coins, "distributed")[:1], *schedules(coins, "far behind"))
    before, *after = (weft.estimate(coins, schedule).latency.average for schedule in designs)
    assert min(after) * 2 < before


def test_columns_are_outermost_where_rows_need_others_of_varying_distance() -> None:
    space = space_of(knapsack.program, TOOL)
    steps = space.variants[named(space, "columns")[0]].steps
    assert [s.kind for s in steps if isinstance(s, Versions | Carry)] == ["versions", "carry"]
    assert [space.variants[n].certain for n in named(space, "columns")] == [False, False, True]
    assert named(space_of(neighbours.program, TOOL), "columns") == []
    designs = (*schedules(knapsack, "in registers")[:1], *schedules(knapsack, "columns")[-1:])
    before, after = (weft.estimate(knapsack, schedule).latency.average for schedule in designs)
    assert 2 * after < before
    assert after < 2 * 24  # a column a cycle


def test_running_sums_are_in_blocks_where_they_are_used() -> None:
    space = space_of(prefix.program, TOOL)
    for factor in (4, 8):
        (n,) = named(space, f"sums in blocks of {factor}")
        scans = [s for s in space.variants[n].steps if isinstance(s, Scan)]
        assert scans == [Scan("S1", "S1.i", factor)]  # nothing reads the total in between
    assert named(space_of(coins.program, TOOL), "sums in blocks") == []
    designs = (*schedules(prefix, "distributed")[:1], *schedules(prefix, "sums in blocks of 8"))
    before, *after = (weft.estimate(prefix, schedule).latency.average for schedule in designs)
    assert min(after) * 2 < before


def test_an_extremum_beside_a_recurrence_in_blocks_is_in_blocks_too() -> None:
    space = space_of(best_part.program, TOOL)
    (n, *_) = named(space, "sums in blocks of 8")
    scans = [s for s in space.variants[n].steps if isinstance(s, Scan)]
    assert scans == [Scan("S2", "S2.i", 8), Scan("S3", "S3.i_1", 8)]
    designs = (*schedules(best_part, "distributed")[:1], *schedules(best_part, "blocks of 8"))
    before, *after = (weft.estimate(best_part, schedule).latency.average for schedule in designs)
    assert min(after) * 3 < before


def test_copies_of_tables_are_faster() -> None:
    designs = (*schedules(curves, "distributed")[:1], *schedules(curves, "copies for the reads"))
    before, *after = (weft.estimate(curves, schedule).latency.average for schedule in designs)
    assert min(after) * 2 < before


def test_searches_are_steps_of_the_space() -> None:
    space = space_of(nearest.program, TOOL)
    steps = [s for n in named(space, "searched") for s in space.variants[n].steps]
    assert Locate("S3", "S3.i") in steps
    assert not any(isinstance(s, Locate) for n in range(1) for s in space.variants[n].steps)
