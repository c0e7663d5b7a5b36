"""Nests of the same elements in the same loops; few sums side by side; conditions that take nests apart."""

from __future__ import annotations

from functools import cache
from math import prod

import pytest

import weft
from backends.devices import device
from backends.verify import verify_many
from dse.evaluators.base import Request, Result, Status, device_limits
from dse.evaluators.model import ModelEvaluator, personality_for
from dse.space.costs.cost import cost
from dse.space.nests.nest import Nest
from dse.space.space import Choice, Point, Space, space_of
from dse.space.sums.gathered import gathered
from dse.space.variant import Variant
from dse.strategies.estimates import Estimates
from dse.strategies.fabric import fabric_budget
from dse.strategies.solve import solve
from dsl.kernels.kernel import Kernel
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Reassociate
from mlir_passes.pipeline import compile_design
from polyhedral.schedule import apply
from weft import f32, i16, i32, u8

CHIP, CLOCK = device("xc7z020"), 10.0
LIMITS = device_limits(CHIP, 0.8)
ROWS, COLS = 32, 24


@weft.kernel
def by_row(A: f32[ROWS, COLS], out: f32[COLS]):
    for j in range(COLS):
        out[j] = 0.0
    for i in range(ROWS):
        for j in range(COLS):
            out[j] += A[i, j]


@weft.kernel
def products_first(A: f32[ROWS, COLS], x: f32[COLS], y: f32[ROWS]):
    product: f32[ROWS, COLS]
    for i, j in weft.grid(ROWS, COLS):
        product[i, j] = A[i, j] * x[j]
    for i in range(ROWS):
        y[i] = 0.0
    for i, j in weft.grid(ROWS, COLS):
        y[i] += product[i, j]


@weft.kernel
def scaled_afterwards(A: f32[ROWS, COLS], y: f32[COLS]):
    # The sums are used by rows before they are complete: nothing can be gathered over the rows.
    for i in range(ROWS):
        for j in range(COLS):
            y[j] += A[i, j]
        for j in range(COLS):
            y[j] = y[j] * 0.5


@weft.kernel
def few_sums(x: f32[64, 3], label: u8[64], sums: f32[4, 3]):
    for k, d in weft.grid(4, 3):
        sums[k, d] = 0.0
    for n in range(64):
        for k in range(4):
            for d in range(3):
                sums[k, d] += x[n, d] if label[n] % 4 == k else 0.0


@weft.kernel
def lags(x: f32[136], r: f32[8]):
    for lag in range(8):
        total: f32 = 0.0
        for n in range(128 - lag):
            total += x[n] * x[n + lag]
        r[lag] = total


@weft.kernel
def centre_apart(x: f32[16, 16], y: f32[16, 16]):
    for i, j in weft.grid(range(1, 15), range(1, 15)):
        total: f32 = 0.0
        for u, v in weft.grid(3, 3):
            if u == 1 and v == 1:
                total -= 8.0 * x[i, j]
            else:
                total += x[i + u - 1, j + v - 1]
        y[i, j] = total


@weft.kernel
def padded(x: i16[12, 12], y: i32[12, 12]):
    for i, j in weft.grid(12, 12):
        total: i32 = 0
        for u, v in weft.grid(3, 3):
            if i + u >= 1 and i + u <= 12 and j + v >= 1 and j + v <= 12:
                total += x[i + u - 1, j + v - 1]
        y[i, j] = total


@weft.kernel
def pixel_sum(x: f32[18, 18], g: f32[18, 18], out: f32[1]):
    total: f32 = 0.0
    for i, j in weft.grid(range(1, 17), range(1, 17)):
        g[i, j] = x[i, j + 1] - x[i - 1, j]
        total += g[i, j]
    out[0] = total


@cache
def space(kernel: Kernel) -> Space:
    """Of a kernel, with sums of floats in any order."""
    return space_of(kernel.program, personality_for(CHIP, CLOCK), reassociate=True)


def named(found: Space, word: str) -> list[int]:
    """The numbers of the structures with a word in their names."""
    return [n for n, variant in enumerate(found.variants) if word in variant.name]


def solved(found: Space, variant: int) -> Point:
    """What is planned for the whole chip."""
    plan = fabric_budget(Estimates(found), LIMITS).plan(variant)
    return solve(found, variant, LIMITS.resources["dsp"], fabric=plan)[0].point


def evaluated(found: Space, point: Point) -> Result:
    """What the model makes of a point."""
    schedule = found.schedule(point)
    assert schedule is not None
    return ModelEvaluator().evaluate(Request(found.program, schedule, CHIP, CLOCK))


@pytest.mark.parametrize(
    ("kernel", "word"),
    [
        (by_row, "gathered, sums in parts"),
        (products_first, "gathered, sums in parts"),
        (few_sums, "sums side by side"),
        (lags, "sums side by side, in rectangles"),
    ],
    ids=["by_row", "products_first", "few_sums", "lags"],
)
def test_designs_compute_the_same_and_are_faster(kernel: Kernel, word: str) -> None:
    """At least twice as fast as what the distributed program is planned to take."""
    found = space(kernel)
    number = named(found, word)[-1]
    point = solved(found, number)
    schedule = found.schedule(point)
    assert schedule is not None
    (result,) = verify_many([compile_design(found.program, schedule)], cxx=False)
    assert result.ok, result
    fast, plain = evaluated(found, point), evaluated(found, solved(found, 0))
    assert fast.status is Status.OK
    assert fast.latency is not None
    assert plain.latency is not None
    assert 1.5 * fast.latency < plain.latency


def test_what_is_used_in_between_is_not_gathered() -> None:
    state = apply(scaled_afterwards.program, Schedule((Reassociate("S0"),)))
    assert gathered(state) is None


def test_sums_of_many_elements_have_no_accumulators_side_by_side() -> None:
    assert not named(space(products_first), "distributed, sums side by side")


def in_loops(variant: Variant) -> tuple[Nest, int]:
    """The nest of the conditional statements, and its order with the conditional loops outermost."""
    nest = next(n for n in variant.nests if any(order.cases for order in n.orders))
    number = next(k for k, o in enumerate(nest.orders) if o.cases and o.band[0].name == "u")
    return nest, number


@pytest.mark.parametrize("kernel", [centre_apart, padded], ids=["centre_apart", "padded"])
def test_conditions_on_loops_that_are_kept_are_counted(kernel: Kernel) -> None:
    """Each case of the conditions is a nest of its own: within a factor of the model's cycles, which one nest is not."""
    found = space(kernel)
    number = next(
        n
        for n in named(found, "expanded")
        if any(o.cases for m in found.variants[n].nests for o in m.orders)
    )
    variant = found.variants[number]
    nest, order = in_loops(variant)
    choices = [Choice(0, n.orders[0].plain) for n in variant.nests]
    choices[variant.nests.index(nest)] = Choice(order, nest.orders[order].plain)
    exact = evaluated(found, Point(number, tuple(choices))).latency
    assert exact is not None
    costs = [
        cost(n, n.orders[c.order], c.vector) for n, c in zip(variant.nests, choices, strict=True)
    ]
    assert 0.4 < sum(c.cycles for c in costs) / exact < 2.5


def test_a_copy_whose_condition_never_holds_has_no_units() -> None:
    """Of nine copies of either statement one and eight run: eight additions and a product, and one more sum."""
    found = space(centre_apart)
    number = next(n for n in named(found, "unrolled") if "windows" not in found.variants[n].name)
    (nest,) = found.variants[number].nests
    order = nest.orders[0]
    terms = {o.core: 0.0 for o in order.operations}
    for o in order.operations:
        inner = [x.extent or 1 for x in order.loops if x.inner and x.name in o.loops]
        terms[o.core] += o.share * prod(inner)
    assert sorted(terms.values()) == [1.0, 9.0]


def test_a_sum_over_all_points_keeps_windows_waiting() -> None:
    """What the windows hand a point to waits for the sum of the one before: several points at once wait longer."""
    found = space(pixel_sum)
    numbers = named(found, "windows")
    assert numbers
    estimates = Estimates(found)
    for number in numbers[:2]:
        point = found.plain(number)
        exact = evaluated(found, point).latency
        assert exact is not None
        assert 0.5 < estimates.figures(point).cycles / exact < 1.5
