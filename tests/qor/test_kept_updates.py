"""Histograms: what public reports of Vitis HLS say of updates in place at elements that data tell."""

from __future__ import annotations

import pytest

import weft
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Pipeline, Unroll
from weft import f32, f64, i32, u8, u16


@weft.kernel
def counted(x: u8[1024], h: i32[256]):
    for i in range(1024):
        h[x[i]] += 1


@weft.kernel
def counted_in_logic(x: u8[64], h: i32[16]):
    own: i32[16] = 0
    for i in range(64):
        own[x[i] & 15] += 1
    for j in range(16):
        h[j] = own[j]


@weft.kernel
def weighed(x: u8[1024], w: f32[1024], h: f32[256]):
    for i in range(1024):
        h[x[i]] += w[i]


@weft.kernel
def weighed_under_a_condition(f: u16[1000], w: f64[1000], h: f64[1000], y: f64[1000]):
    for i in range(1000):
        y[i] = w[i]
        if i >= 8:
            h[min(f[i], 999)] += w[i]


@weft.kernel
def read_elsewhere(x: u8[64], h: i32[256], y: i32[64]):
    for i in range(64):
        h[x[i]] += 1
        y[i] = h[i]


@weft.kernel
def moved(x: u8[64], h: i32[256]):
    for i in range(64):
        h[x[i]] = h[x[i] ^ 1] + 1


@weft.kernel
def replaced(x: u8[64], t: u8[256], h: u8[256]):
    for i in range(64):
        h[x[i]] = t[h[x[i]]]


@pytest.mark.parametrize("tool", ["vitis-2022.1", "vitis-2023.2", "vitis-2025.1"])
def test_an_element_of_a_table_takes_the_place_of_what_says_which(tool: str) -> None:
    # Two loads one behind the other before the element is there for the next iteration, no operator.
    assert interval(replaced, tool, "xc7z020", None) >= 2


def interval(kernel: weft.Kernel, tool: str, device: str | None, clock: float | None) -> int:
    found = weft.estimate(kernel, Schedule((Pipeline("i"),)), tool=tool, device=device, clock=clock)
    return max(row.ii for row in found.loops if row.ii is not None)


@pytest.mark.parametrize(
    ("tool", "device", "clock", "reported"),
    [
        ("vitis-2021.2", "xc7z010", 10.0, 2),  # 3.25 + 2.55 + 3.25 ns do not fit one state of 7.3
        ("vitis-2022.2", "xcu55c", 5.0, 1),  # 1.19 + 0.88 + 1.19 ns fit 3.65
        ("vitis-2023.2", "xcu280", 3.33, 2),  # and do not fit 2.43
    ],
)
def test_a_histogram_waits_for_its_last_value_only(
    tool: str, device: str, clock: float, reported: int
) -> None:
    assert interval(counted, tool, device, clock) == reported


def test_an_update_under_a_condition_keeps_nothing() -> None:
    """Vitis HLS 2023.2, xcvu35p of grade 1, 5 ns, an addition of latency 4: interval 8."""
    found = interval(weighed_under_a_condition, "vitis-2023.2", "xcvu9p-1", 5.0)
    assert found == 2 + 5 + 1


@pytest.mark.parametrize("tool", ["vitis-2022.1", "vitis-2023.2", "vitis-2025.1"])
def test_a_sum_of_floats_takes_its_additions(tool: str) -> None:
    own = interval(weighed, tool, None, None)
    adder = weft.estimate(weighed, Schedule((Pipeline("i"),)), tool=tool)
    assert 3 <= own < adder.loops[0].depth
    assert interval(weighed, tool, None, None) >= interval(counted, tool, None, None)


def test_nothing_is_kept_where_other_places_are_accessed() -> None:
    slow = interval(counted, "vitis-2023.2", "xcu280", 3.33)
    for kernel in (read_elsewhere, moved):
        assert interval(kernel, "vitis-2023.2", "xcu280", 3.33) > slow, kernel.name


def test_copies_follow_one_another() -> None:
    """One element is kept, not one for each copy."""
    steps = (Unroll("i", 4), Pipeline("i"))
    found = weft.estimate(counted, Schedule(steps), tool="vitis-2023.2")
    assert max(row.ii or 0 for row in found.loops) >= 4


@pytest.mark.parametrize("kernel", [counted, weighed], ids=lambda k: k.name)
def test_a_shorter_clock_is_no_fewer_states(kernel: weft.Kernel) -> None:
    clocks = (20.0, 10.0, 8.0, 5.0, 4.0, 3.33, 2.5)
    for device in ("xc7z020", "xczu9eg", "xcu280", "xcku060"):
        found = [interval(kernel, "vitis-2022.1", device, clock) for clock in clocks]
        assert found == sorted(found), device
