"""Combinational operators on recurrences: a chain takes the states that its delays need."""

from __future__ import annotations

import pytest

import weft
from weft import f32, i16, i32, u8

TOOLS = ("vitis-2022.1-zu9eg-10ns", "vitis-2023.2-u280-3.33ns", "open-ecp5-10ns")
COPIES = (1, 4, 16, 64)


@weft.kernel
def mixed(x: i32[256], y: i32[256]):
    s: i32 = 0
    for i in range(256):
        s = (s ^ x[i]) + (s >> 1)
        y[i] = s


@weft.kernel
def clipped(x: i16[256], y: i16[256]):
    last: i32 = 1024
    for i in range(256):
        last = (min(max(last + x[i], 0), 2047) + x[i]) >> 1
        y[i] = last


@weft.kernel
def stored(x: i32[256], y: i32[257]):
    for i in range(256):
        y[i + 1] = (y[i] ^ x[i]) + (y[i] >> 1)


@weft.kernel
def summed(x: i32[256], y: i32[1]):
    s: i32 = 0
    for i in range(256):
        s += x[i]
    y[0] = s


@weft.kernel
def beside(a: f32[64], x: i32[64], s: f32[1], z: i32[64]):
    for i in range(64):
        s[0] += a[i]
        z[i] = x[i] * 5 + x[i]


@weft.kernel
def crossed(x: i32[257], a: i32[257], b: i32[257]):
    for i in range(1, 256):
        a[i] = (b[i - 1] ^ x[i]) + x[i + 1]
        b[i] = (a[i - 1] ^ x[i + 1]) + x[i]


@weft.kernel
def begun(x: i32[257], y: i32[257]):
    for i in range(255):
        if i == 0:
            y[i] = 0
        elif i == 1:
            y[i] = x[1] - x[0]
        else:
            y[i] = min(y[i - 1] + x[i], y[i - 2] + 3 * x[i])


@weft.kernel
def matched(x: u8[64], n: i32[1]):
    table: u8[64]
    for k in range(64):
        table[k] = x[k]
    run: i32 = 1
    for _ in range(60):
        run += 1 if table[run & 63] == table[(run + 2) & 63] else 2
    n[0] = run


def interval(kernel: weft.Kernel, copies: int, tool: str) -> int:
    @kernel.schedule
    def unrolled(s: weft.ScheduleBuilder) -> None:
        if copies > 1:
            s.split("i", copies).unroll("i_1")
        s.pipeline("i_0" if copies > 1 else "i")
        for array in kernel.program.arrays:
            if array.shape and array.shape[0] >= copies > 1:
                s.partition(array.name, 0, "cyclic", copies)

    return max(loop.ii for loop in weft.estimate(kernel, unrolled, tool=tool).loops)


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("kernel", [mixed, clipped, stored], ids=lambda k: k.name)
def test_more_copies_take_longer(kernel: weft.Kernel, tool: str) -> None:
    """Each copy has at least two operators of 0.3 ns: 64 of them do not fit one period."""
    found = [interval(kernel, copies, tool) for copies in COPIES]
    assert found == sorted(found)
    assert found[-1] >= 4
    assert found[-1] > found[1]


@pytest.mark.parametrize("tool", TOOLS[:2])
def test_sums_of_integers_are_trees(tool: str) -> None:
    assert [interval(summed, copies, tool) for copies in COPIES[:3]] == [1, 1, 1]


def test_what_is_chained_beside_a_sum_of_floats_takes_no_state_of_it() -> None:
    """Rule I3: of an addition of four states the last is saved, whatever else the iteration does."""
    assert interval(beside, 1, TOOLS[0]) == 3


@pytest.mark.parametrize("kernel", [crossed, begun], ids=lambda k: k.name)
def test_chains_through_several_stores(kernel: weft.Kernel) -> None:
    """With an odd number of copies the cycle of `crossed` goes twice around; what `begun` stores in its first copies is
    loaded again. The open backend schedules its RTL on its own, and starts a state or so earlier or later.
    """
    found = interval(kernel, 15, "open-ecp5-10ns")
    (built,) = weft.estimate(kernel, "unrolled", device="ecp5-85k").loops
    assert abs(found - built.ii) <= 1
    assert interval(kernel, 15, TOOLS[0]) > interval(kernel, 5, TOOLS[0]) > 2


def test_what_follows_a_look_up_ends_with_its_state() -> None:
    """A sum, a look-up in registers, a comparison, a selection and a sum: the open backend takes as many states."""

    @matched.schedule
    def registers(s: weft.ScheduleBuilder) -> None:
        s.partition("table", 0, "complete")
        s.partition("x", 0, "complete")
        s.pipeline("S2._")

    found = [weft.estimate(matched, registers, tool=tool).loops[-1].ii for tool in TOOLS]
    built = weft.estimate(matched, registers, device="ecp5-85k").loops[-1].ii
    assert abs(found[-1] - built) <= 1
    assert min(found) >= 2
