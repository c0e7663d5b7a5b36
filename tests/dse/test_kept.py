"""Elements in registers that a tool would read or update in memory, because others may be the same."""

from __future__ import annotations

import pytest

import weft
from backends.devices import device
from benchmarks.corpus.kernels.dynamic_programs import floyd_warshall
from benchmarks.corpus.kernels.factorisations import lu_right_looking
from dse.evaluators.base import Request, Status
from dse.evaluators.model import ModelEvaluator, personality_for
from dse.space.memory.kept import kept
from dse.space.space import space_of
from dse.strategies.sampled import all_points
from dsl.kernels.kernel import Kernel
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Buffer
from polyhedral.schedule import apply
from weft import f32

CHIP, CLOCK = device("xc7z020"), 10.0
N = 24


@weft.kernel
def row_by_row(A: f32[N, N]):
    for i in range(N):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[k, j]
            A[i, j] = A[i, j] / A[j, j]


@weft.kernel
def product(A: f32[N, N], B: f32[N, N], C: f32[N, N]):
    for i in range(N):
        for j in range(N):
            for k in range(N):
                C[i, j] += A[i, k] * B[k, j]


def copies(kernel: Kernel, most: int) -> list[tuple[str, str]]:
    """What is kept, and in which loop."""
    _, steps = kept(apply(kernel.program, Schedule()), most)
    return [(s.access, s.at.rpartition(".")[2]) for s in steps if isinstance(s, Buffer)]


def test_what_is_proven_not_to_be_assigned_is_kept() -> None:
    assert copies(lu_right_looking, 512) == [("A[i, k]", "i")]


def test_a_sum_is_kept_beside_elements_of_its_array() -> None:
    assert ("A[i, j]", "j") in copies(row_by_row, 512)


@pytest.mark.parametrize("kernel", [floyd_warshall, product], ids=lambda k: k.name)
def test_nothing_is_kept_that_may_be_assigned_or_that_nothing_else_touches(kernel: Kernel) -> None:
    assert copies(kernel, 512) == []


def test_it_is_faster() -> None:
    kernel, tool = lu_right_looking, personality_for(CHIP, CLOCK)
    space = space_of(kernel.program, tool)
    best: dict[bool, float] = {}
    apart = [n for n, v in enumerate(space.variants) if "in rectangles" in v.name]
    for point in all_points(space, 64):
        if point.variant in apart:
            continue  # whatever is kept, these have many more points
        schedule = space.schedule(point)
        if schedule is None:
            continue
        found = ModelEvaluator().evaluate(Request(kernel.program, schedule, CHIP, CLOCK))
        if found.status is Status.OK and found.latency is not None:
            is_kept = any(isinstance(step, Buffer) for step in schedule)
            best[is_kept] = min(found.latency, best.get(is_kept, found.latency))
    assert best[True] < 0.75 * best[False]
