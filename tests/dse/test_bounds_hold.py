"""Lower bounds after all that a tool does by itself: merging, folding, leaving out, reordering."""

from __future__ import annotations

import random
from collections.abc import Iterator
from math import log2, prod

import pytest

import weft
from dse.bounds.bounds import bounds, work_of
from dse.estimates.estimation import setting
from dse.space.space import Choice, Point, Space, space_of
from dse.strategies.ladder import vectors
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Pipeline
from polyhedral.codegen.generate import loop_tree
from polyhedral.schedule import apply
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.estimate import estimate
from qor_gnn.tools.personality import allowed, personality
from tests.support.qor_checks import VITIS, bound_faults
from tests.support.random_recurrences import random_directives, random_recurrence
from weft import f32, i32

ZU9EG = personality("vitis-2022.1-zu9eg-10ns")
U200 = personality("vitis-2025.1-u200-4ns")


@weft.kernel
def coupled(x: f32[40], w: f32[9], y: f32[9, 32]):
    for i in range(32):
        for k in range(9):
            y[k, i] = x[i + k] * x[i + k]


@weft.kernel
def shifted(x: f32[40], y: f32[32]):
    for i in range(32):
        y[i] = (x[i] * x[i]) + (x[i + 1] * x[i + 1])


@weft.kernel
def apart(x: f32[40, 40], y: f32[32], z: f32[32]):
    for i in range(32):
        y[i] = x[i, 0] * x[i, 1]
        z[i] = x[i, 0] * x[i + 1, 0]


@weft.kernel
def overwritten(a: f32[32], b: f32[32], y: f32[1]):
    for i in range(32):
        y[0] = a[i] * b[i]


@weft.kernel
def unused(a: f32[32], y: f32[32]):
    t: f32[32]
    for i in range(32):
        t[i] = a[i] * a[31 - i]
        y[i] = a[i]


@weft.kernel
def folded(a: f32[32], y: f32[32]):
    for i in range(32):
        y[i] = a[i] * 1.0 + 2.0 * 3.0


@weft.kernel
def chained(a: f32[8, 8], b: f32[8, 8], c: f32[8, 8], d: f32[8, 8]):
    t: f32[8, 8]
    for i, j in weft.grid(8, 8):
        t[i, j] = 0.0
        for k in range(8):
            t[i, j] += a[i, k] * b[k, j]
    for i, j, k in weft.grid(8, 8, 8):
        d[i, j] += t[i, k] * c[k, j]


@weft.kernel
def same(a: f32[8], z: f32[1], y: f32[8]):
    t: f32[8]
    for i in range(8):
        t[i] = z[0] * z[0]
    for i in range(8):
        y[i] = a[i] + t[i] * z[0]


@weft.kernel
def sweeps(A: f32[12], B: f32[12]):
    for _t in range(5):
        for i in range(1, 11):
            B[i] = A[i] * A[i + 1]
        for i in range(1, 11):
            A[i] = B[i] * B[i - 1]


def operations(kernel, core: str, tool=ZU9EG) -> int:
    found = work_of(kernel.program, tool).operations.get(core)
    return 0 if found is None else found.times


def test_what_unrolling_makes_the_same_counts_once() -> None:
    assert operations(coupled, "fmul") == 40  # not 9 * 32
    assert operations(shifted, "fmul") == 33  # not 64
    assert operations(same, "fmul") == 2


def test_what_reads_other_elements_counts_each_time() -> None:
    assert operations(apart, "fmul") == 64
    assert operations(chained, "fmul") == 2 * 8**3
    assert operations(chained, "fadd") == 2 * 8**3
    assert operations(sweeps, "fmul") == 5 * 2 * 10


def test_what_nobody_needs_does_not_count() -> None:
    assert operations(overwritten, "fmul") == 1
    assert operations(unused, "fmul") == 0
    assert operations(folded, "fmul") == 0


@weft.kernel
def window(x: f32[5000], w: f32[100], y: f32[4900]):
    for i in range(4900):
        for k in range(100):
            y[i] += x[i + k] * w[k]


@weft.kernel
def between(x: f32[2000], y: f32[2000]):
    t: f32[2000]
    for i in range(2000):
        t[i] = x[i]
    for i in range(2000):
        y[i] = t[i]


def test_an_element_passes_a_port_once_however_often_it_is_read() -> None:
    work = work_of(window.program, ZU9EG)
    assert work.reads["x"] == 4900  # not 490,000
    assert work.writes["y"] == 4900


def test_a_local_array_may_never_be_in_a_memory() -> None:
    work = work_of(between.program, ZU9EG)
    assert (dict(work.reads), dict(work.writes)) == ({"x": 2000}, {"y": 2000})


@weft.kernel
def products(x: f32[24], y: f32[1]):
    for i in range(24):
        y[0] = y[0] * x[i] * x[23 - i]


@weft.kernel
def integers(x: i32[24], y: i32[1]):
    for i in range(24):
        y[0] = y[0] * x[i]


@weft.kernel
def twice(x: f32[16], y: f32[1]):
    for i in range(16):
        y[0] = y[0] + x[i]
        y[0] = y[0] + x[15 - i]


@weft.kernel
def once(a: f32[18], x: f32[18], y: f32[16]):
    for i in range(1):
        for j in range(16):
            y[j] = a[17 - j] + (x[0] - x[j + 2])


@pytest.mark.parametrize("name", VITIS)
def test_what_runs_in_front_of_a_loop_has_the_units_that_it_needs(name: str) -> None:
    # The loop moves none of its 32 additions: all of them are done before it.
    schedule = Schedule((Pipeline("i", 2),))
    state = apply(once.program, schedule)
    assert [*bound_faults(once.program, schedule, state, (name,))] == []


def recurrence(kernel, tool, reassociate: bool = False) -> int:
    return bounds(work_of(kernel.program, tool, reassociate), tool, 10_000).recurrence.cycles


def test_products_on_a_recurrence_are_as_short_as_the_tool_makes_them() -> None:
    product = U200.operator("mul", "f32", 32).distance - U200.sums.saved
    assert recurrence(products, U200) == 24 * 2 * product


def test_integers_are_done_in_any_order() -> None:
    delay = ZU9EG.operator("mul", "int", 32).delay
    assert recurrence(integers, ZU9EG) == int(log2(25) * delay / ZU9EG.usable_ns)


def test_a_sum_of_two_statements_is_one_sum_where_its_order_is_free() -> None:
    add = ZU9EG.operator("add", "f32", 32).distance
    assert recurrence(twice, ZU9EG) == 15 * 2 * add
    assert recurrence(twice, ZU9EG, reassociate=True) <= 5 * add


KERNELS = (coupled, shifted, apart, overwritten, chained, same, sweeps, products, integers, twice)


def some_points(space: Space, copies: int, count: int) -> Iterator[Point]:
    """So many of `all_points` at random, of which there may be millions; all where there are no more."""
    rng, found = random.Random(0), set[Point]()
    options = [
        [
            [Choice(k, v) for k, order in enumerate(nest.orders) for v in vectors(order, copies)]
            for nest in variant.nests
        ]
        for variant in space.variants
    ]
    sizes = [prod(map(len, choices)) for choices in options]
    while len(found) < min(count, sum(sizes)):
        (number,) = rng.choices(range(len(options)), sizes)
        point = Point(number, tuple(map(rng.choice, options[number])))
        if point not in found:
            found.add(point)
            yield point


@pytest.mark.parametrize("name", VITIS)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_no_point_of_a_small_space_is_under_the_bounds(kernel, name: str) -> None:
    tool = personality(name)
    for reassociate in (False, True):
        work = work_of(kernel.program, tool, reassociate)
        space = space_of(kernel.program, tool, reassociate)
        for point in some_points(space, 16, 8):
            schedule = space.schedule(point)
            if schedule is None:
                continue
            state = apply(kernel.program, schedule)
            design = kernel_of_tree(loop_tree(state))
            answer = estimate(design, allowed(tool, bool(state.reassociated)))
            found = bounds(work, tool, answer.dsp, answer.lut)
            assert found.cycles <= answer.latency.average, (schedule.to_python(), found.tightest)


@pytest.mark.parametrize("first", range(0, 20, 10))
def test_no_random_design_is_under_the_bounds(first: int) -> None:
    for seed in range(first, first + 10):
        program = random_recurrence(seed)
        schedule, state = random_directives(random.Random(seed), program)
        assert [*bound_faults(program, schedule, state)] == [], seed


@weft.kernel
def multiplied(x: f32[20], y: f32[1]):
    p: f32 = 1.0
    for i in range(20):
        p *= x[i]
    y[0] = p


@weft.kernel
def limited(x: i32[20], y: i32[1]):
    p: i32 = 1
    for i in range(20):
        p = max(p, x[i]) * x[i]
    y[0] = p


@pytest.mark.parametrize(
    ("kernel", "place"),
    [
        (multiplied, ("vitis-2023.2", "xczu9eg", 8.0)),  # the product closes a state early
        (limited, ("vitis-2023.2", "xcvc1902", 4.0)),  # the limit is in the product's first state
    ],
    ids=["multiplied", "limited"],
)
def test_bounds_hold_at_other_clocks(kernel, place) -> None:
    tool = setting(*place).tool
    program, schedule = kernel.program, Schedule((Pipeline("i", 1),))
    answer = estimate(kernel_of_tree(loop_tree(apply(program, schedule))), tool)
    found = bounds(work_of(program, tool), tool, answer.dsp, answer.lut)
    assert 0.5 * answer.latency.average < found.cycles <= answer.latency.average
