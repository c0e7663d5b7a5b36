"""What plans count of a nest: banks of what is told apart by constants, units of what is there once, intervals of what
waits anyway."""

from __future__ import annotations

import weft
from backends.devices import device
from dse.evaluators.base import Request
from dse.evaluators.model import ModelEvaluator, personality_for
from dse.space.memory.banks import demand, port_interval
from dse.space.nests.nest import Order
from dse.space.space import Space, space_of
from dse.strategies.ladder import Rung, ladder
from dse.strategies.sampled import has_point, parameters, sampled_point
from dse.strategies.solve import solve
from dsl.kernels.kernel import Kernel
from dsl.schedules.steps import Fuse
from weft import f32, i16, u8

CHIP, CLOCK = device("xc7z020"), 10.0
TOOL = personality_for(CHIP, CLOCK)  # makes chains of sums


@weft.kernel
def luma(rgb: u8[64, 3], y: u8[64]):
    for i in range(64):
        y[i] = (77 * rgb[i, 0] + 150 * rgb[i, 1] + 29 * rgb[i, 2]) >> 8


@weft.kernel
def interleaved(z: f32[128], y: f32[64]):
    for i in range(64):
        y[i] = z[2 * i] * z[2 * i] + z[2 * i + 1] * z[2 * i + 1]


@weft.kernel
def rows(x: i16[40, 8], y: i16[40, 8]):
    for i, j in weft.grid(range(1, 39), 8):
        y[i, j] = x[i - 1, j] + x[i, j] + x[i + 1, j]


@weft.kernel
def squares(x: f32[64], y: f32[64]):
    for i in range(64):
        big = x[i] * x[i] > 4.0
        y[i] = x[i] * x[i] if big else x[i] * x[i] + 1.0


@weft.kernel
def array_first(x: f32[1024], y: f32[1024], out: f32[1]):
    terms: f32[1024]
    for i in range(1024):
        terms[i] = x[i] * y[i]
    total: f32 = 0.0
    for i in range(1024):
        total += terms[i]
    out[0] = total


@weft.kernel
def butterflies(x: f32[2, 512], w: f32[2, 256], y: f32[2, 512]):
    for i in range(256):
        re = x[0, i + 256] * w[0, i] - x[1, i + 256] * w[1, i]
        im = x[0, i + 256] * w[1, i] + x[1, i + 256] * w[0, i]
        y[0, i] = x[0, i] + re
        y[1, i] = x[1, i] + im
        y[0, i + 256] = x[0, i] - re
        y[1, i + 256] = x[1, i] - im


def first(kernel: Kernel) -> Order:
    return space_of(kernel.program, TOOL).variants[0].nests[0].orders[0]


def test_channels_and_parts_have_banks_of_their_own():
    assert demand(first(luma), (1,)) == {("rgb", 1): 3}
    assert demand(first(luma), (16,)) == {("rgb", 0): 16, ("rgb", 1): 3, ("y", 0): 16}
    assert demand(first(interleaved), (1,)) == {}  # both ports of one bank
    assert demand(first(interleaved), (2,)) == {("z", 0): 4, ("y", 0): 2}
    assert port_interval(first(luma), (16,)) == port_interval(first(interleaved), (1,)) == 1


def test_of_rows_that_move_no_bank_is_known():
    assert ("x", 0) not in demand(first(rows), (1, 8))


def test_what_is_computed_again_is_no_unit_more():
    found = [o.core for s in ("fmul", "fadd") for o in first(squares).operations if s in o.core]
    assert len(found) == 2, found  # one product, one sum


def shared(space: Space, budget: int) -> tuple[int, int, Rung]:
    """Of a sum in 64 accumulators, all of them in an iteration: variant, nest, and rung."""
    for number, variant in enumerate(space.variants):
        for n, nest in enumerate(variant.nests):
            for rung in ladder(nest, 0, budget):
                if variant.name.startswith("64 partial") and rung.vector == (1, 64):
                    return number, n, rung
    raise AssertionError("there is none")


def test_copies_that_wait_anyway_wait_until_their_units_fit():
    space = space_of(array_first.program, TOOL, reassociate=True)
    plenty, scarce = shared(space, 400)[2], shared(space, 75)[2]
    assert scarce.asked > plenty.cost.interval > 1
    assert scarce.cost.dsp <= 75 < plenty.cost.dsp
    number, n, _ = shared(space, 75)
    point = next(s.point for s in solve(space, number, 75, width=24) if s.point.choices[n].ii > 1)
    assert has_point(space, point)

    class Told:
        def suggest_int(self, name: str, low: int, high: int, *, log: bool = False) -> int:
            assert low <= told[name] <= high
            return told[name]

    told = parameters(point, space)
    assert sampled_point(Told(), space, shared=True) == point


def test_a_product_in_an_array_joins_its_sum_over_what_sets_that_to_zero():
    space = space_of(array_first.program, TOOL, reassociate=True)
    merged = next(v for v in space.variants if v.name == "64 partial sums, merged")
    assert any(isinstance(s, Fuse) and s.last for s in merged.steps)
    best = solve(space, space.variants.index(merged), 100)[0]
    schedule = space.schedule(best.point)
    assert schedule is not None
    result = ModelEvaluator().evaluate(Request(array_first.program, schedule, CHIP, CLOCK))
    assert result.latency is not None
    assert result.latency < 200, "two passes take 260"


def test_copies_that_ports_make_wait_share_units_over_intervals_of_whole_units():
    """Two reads and two writes of a bank take two cycles, in which 14 copies are too many for the units; 32 in five
    cycles, a third of whose iterations there are, are not.
    """
    space = space_of(butterflies.program, TOOL)
    (variant,) = space.variants  # no element is read twice, so that there are no windows
    (nest,) = variant.nests
    rungs = ladder(nest, 0, 176)
    assert rungs[0].vector == (32,)
    assert rungs[0].asked == 5
    assert rungs[0].cost.dsp <= 176
    point = solve(space, 0, 176)[0].point
    schedule = space.schedule(point)
    assert schedule is not None
    found = ModelEvaluator().evaluate(Request(butterflies.program, schedule, CHIP, CLOCK))
    assert found.latency is not None
    assert found.latency < 62, "64 copies in 11 cycles take 62"
