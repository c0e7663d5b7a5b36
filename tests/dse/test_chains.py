"""Sums that are unrolled inside a pipeline are spread over accumulators where the tool makes no trees."""

from __future__ import annotations

import pytest

import weft
from backends.devices import device
from dse.evaluators.base import Request, Status
from dse.evaluators.model import ModelEvaluator
from dse.space.nests.context import Context
from dse.space.space import Space, space_of
from dse.space.sums.chains import in_parts
from dse.space.tables.mirrored import mirrored
from dse.space.variant import Variant
from dsl.kernels.kernel import Kernel
from dsl.schedules.recurrence_steps import Tree
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import PartialSums, Reassociate, Skew
from polyhedral.codegen.generate import loop_tree
from polyhedral.looptree.counts import instance_counts
from polyhedral.schedule import apply
from qor_gnn.tools.personality import allowed, personality
from weft import f32, i32, u8

CHAINS = personality("vitis-2022.1-zu9eg-10ns")  # sums of floats are chains
TREES = personality("vitis-2025.1-u200-4ns")
CHIP, CLOCK = device("xczu9eg"), 10.0
N, T = 24, 32


@weft.kernel
def rows(A: f32[N, T], x: f32[T], y: f32[N]):
    for i in range(N):
        total: f32 = 0.0
        for j in range(T):
            total += A[i, j] * x[j]
        y[i] = total


@weft.kernel
def planes(A: f32[N, 6, 6], y: f32[N]):
    for i in range(N):
        total: f32 = 0.0
        for u, v in weft.grid(6, 6):
            total += A[i, u, v]
        y[i] = total


@weft.kernel
def extremes(A: f32[N, T], low: f32[N], high: f32[N]):
    # Two loops of one name, of which each has a statement of its own.
    for i in range(N):
        least: f32 = A[i, 0]
        for j in range(1, T):
            least = min(least, A[i, j])
        most: f32 = A[i, 0]
        for j in range(T):
            most = max(most, A[i, j])
        low[i] = least
        high[i] = most


@weft.kernel
def off_diagonal(A: f32[N, N], x: f32[N], y: f32[N]):
    for i in range(N):
        total: f32 = 0.0
        for j in range(N):
            if j != i:
                total += A[i, j] * x[j]
        y[i] = total


@weft.kernel
def integers(A: i32[N, T], y: i32[N]):
    for i in range(N):
        total: i32 = 0
        for j in range(T):
            total += A[i, j]
        y[i] = total


@weft.kernel
def least(A: u8[N, T], b: u8[T], y: u8[N]):
    for i in range(N):
        low: u8 = 255
        for j in range(T):
            low = min(low, A[i, j] + b[j])
        y[i] = low


@weft.kernel
def intervals(w: u8[N], cost: i32[N, N]):
    for i in range(N):
        cost[i, i] = 0
    for length in range(1, N):
        for i in range(N - length):
            cost[i, i + length] = 1000000
            for k in range(length):
                cost[i, i + length] = min(
                    cost[i, i + length], cost[i, i + k] + cost[i + k + 1, i + length] + w[i]
                )


@weft.kernel
def in_order(A: f32[N, T], y: f32[N]):
    # Nothing that may be summed in another order.
    for i in range(N):
        total: f32 = 0.0
        for j in range(T):
            total = 0.5 * total + A[i, j]
        y[i] = total


@weft.kernel
def blocks(x: f32[N * T], out: f32[1]):
    out[0] = 0.0
    for b in range(N):
        block: f32 = 0.0
        for i in range(T):
            block += x[T * b + i]
        out[0] += block


def parts(kernel: Kernel, tool=CHAINS) -> dict[str, tuple[str, int]]:
    """By statement the loop along which, and over how many accumulators, its sum is spread; none of a tree."""
    state = apply(kernel.program, Schedule())
    context = Context(allowed(tool, True), instance_counts(loop_tree(state)))
    _, steps = in_parts(state, context, 512)
    spread = {s.stmt: (s.loop, s.count) for s in steps if isinstance(s, PartialSums)}
    return spread | {s.stmt: (s.loop, 0) for s in steps if isinstance(s, Tree)}


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (rows, {"S1": ("S1.j", 0)}),
        (planes, {"S1": ("S1.u", 0)}),
        (extremes, {"S1": ("S1.j", 0), "S3": ("S3.j", 0)}),
        (off_diagonal, {"S1": ("S1.j", 4)}),  # 6 terms and 4 accumulators: 10 additions for 24
        (in_order, {}),
        # As many accumulators of the blocks as it takes cycles until one comes back.
        (blocks, {"S2": ("S2.i", 0), "S3": ("S3.b", 7)}),
    ],
    ids=lambda value: value.name if isinstance(value, Kernel) else "",
)
def test_sums_are_trees_where_they_are_alone_else_the_shortest_chains(kernel, expected) -> None:
    assert parts(kernel) == expected


@pytest.mark.parametrize("kernel", [rows, planes, integers], ids=lambda k: k.name)
def test_trees_are_left_alone(kernel: Kernel) -> None:
    assert parts(kernel, TREES) == {}


def spread(space: Space) -> list[Variant]:
    return [v for v in space.variants if v.name.startswith("sums in parts")]


@pytest.mark.parametrize("kernel", [rows, planes, blocks], ids=lambda k: k.name)
def test_its_pipelines_are_less_deep(kernel: Kernel) -> None:
    space = space_of(kernel.program, CHAINS, reassociate=True)
    (own,) = spread(space)
    number = space.variants.index(own)
    schedules = [space.schedule(space.plain(n)) for n in range(len(space.variants))]
    found = {}
    for n, schedule in enumerate(schedules):
        assert schedule is not None
        result = ModelEvaluator().evaluate(Request(kernel.program, schedule, CHIP, CLOCK))
        assert result.status is Status.OK
        found[n] = result.latency
    assert found[number] == min(found.values())


def test_nobody_who_asks_for_the_order_as_written_gets_them() -> None:
    assert spread(space_of(rows.program, CHAINS)) == []


def test_what_has_no_order_is_in_parts_without_being_asked() -> None:
    """Extrema and logic of integers, of which no tool makes trees as it does of sums."""
    assert len(spread(space_of(least.program, CHAINS))) == 1
    assert spread(space_of(integers.program, CHAINS)) == []


def test_what_is_accumulated_behind_mirrors_may_be_in_parts() -> None:
    """By the skewed loop, of which each copy knows its accumulator."""
    state, steps = mirrored(apply(intervals.program, Schedule()), ())
    assert [step.kind for step in steps] == ["buffer", "skew", "mirror"]
    (found,) = (s for s in steps if isinstance(s, Skew))
    stmt = found.outer.partition(".")[0]
    context = Context(allowed(CHAINS, False), instance_counts(loop_tree(state)))
    assert PartialSums(stmt, found.inner, 4) in in_parts(state, context, 512)[1]


def test_what_is_found_computes_the_same() -> None:
    space = space_of(blocks.program, CHAINS, reassociate=True)
    (own,) = spread(space)
    schedule = space.schedule(space.plain(space.variants.index(own)))
    assert schedule is not None
    assert any(isinstance(step, Reassociate) for step in schedule)
    assert weft.verify(blocks, schedule).ok
