"""Small programs of several nests as one block without loops."""

from __future__ import annotations

import pytest

import weft
from backends.devices import device
from dse.evaluators.base import Limits, Request, Result
from dse.evaluators.model import ModelEvaluator, personality_for
from dse.space.space import Point, space_of
from dse.strategies.estimates import Estimates
from dse.strategies.fabric import fabric_budget
from dse.strategies.one_block import one_block
from dse.strategies.search import evaluated
from weft import i32, u8

CHIP, CLOCK = device("xc7z020"), 10.0
TOOL = personality_for(CHIP, CLOCK)


@weft.kernel
def sums(x: i32[16], y: i32[16]):
    a: i32[16]
    for i in range(16):
        a[i] = x[i] + 1 if i < 1 else x[i] + x[i - 1]
    for i in range(16):
        y[i] = a[i] if i < 2 else a[i] + a[i - 2]


@weft.kernel
def substituted(state: u8[8], sbox: u8[64], out: u8[8]):
    t: u8[8]
    for i in range(8):
        t[i] = sbox[state[i] & 63]
    for i in range(8):
        out[i] = t[i] ^ t[(i + 1) % 8]


@weft.kernel
def single(x: i32[16], y: i32[16]):
    for i in range(16):
        y[i] = x[i] + 1


@weft.kernel
def large(x: i32[4096], y: i32[4096]):
    for i in range(4096):
        y[i] = x[i] + 1
    for i in range(4096):
        y[i] = y[i] * 3


def trials(kernel: weft.Kernel, lut: int = 40_000) -> list[tuple[Point, Result]]:
    space = space_of(kernel.program, TOOL)
    fabric = fabric_budget(Estimates(space), Limits({"dsp": 176, "lut": lut}))

    def evaluate(point: Point) -> Result:
        schedule = space.schedule(point)
        assert schedule is not None
        return ModelEvaluator().evaluate(Request(kernel.program, schedule, CHIP, CLOCK))

    found = evaluated(one_block(space, 176, fabric, {}), evaluate)
    return [(one.point, one.result) for one in found]


def test_nests_that_are_unrolled_completely_share_states():
    apart = weft.estimate(single, device="xc7z020").latency.average
    assert {result.latency for _, result in trials(sums)} == {1}
    assert apart > 1


def test_a_table_has_as_many_copies_as_the_block_reads():
    (_, result), *_ = trials(substituted)
    plain = space_of(substituted.program, TOOL).plain()
    schedule = space_of(substituted.program, TOOL).schedule(plain)
    assert schedule is not None
    one = ModelEvaluator().evaluate(Request(substituted.program, schedule, CHIP, CLOCK))
    assert result.latency == 3  # eight reads of one memory alone would take 4
    assert result.resources["lut"] > one.resources["lut"]


@pytest.mark.parametrize(("kernel", "lut"), [(single, 40_000), (large, 40_000), (sums, 100)])
def test_nothing_is_tried_of_one_nest_of_many_copies_or_without_logic_for_them(kernel, lut):
    assert trials(kernel, lut) == []
