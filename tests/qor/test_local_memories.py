"""Local arrays in estimates: which ports of their banks are used, and what that says of block RAM, FF and the clock."""

from __future__ import annotations

import json

import pytest

import weft
from dse.estimates.estimation import Estimation, estimated, setting
from dse.estimates.routed import routed_of
from dse.views.estimate import Style, view
from dse.views.estimate_data import as_data
from dsl.kernels.kernel import Kernel
from dsl.schedules.schedule import Schedule
from weft import f32, i16


@weft.kernel
def moved(A: f32[400], B: f32[400]):
    t: f32[400]
    for i in range(400):
        t[i] = A[i]
    for j in range(400):
        B[j] = t[399 - j]


@weft.kernel
def neighbours(A: f32[400], B: f32[400]):
    t: f32[400]
    for i in range(400):
        t[i] = A[i]
    for j in range(1, 399):
        B[j] = t[j - 1] + t[j + 1]


@weft.kernel
def few(B: i16[16]):
    t: i16[16]
    for i in range(16):
        t[i] = i
    for j in range(1, 15):
        B[j] = t[j - 1] ^ t[j + 1]


def on(kernel: Kernel, device: str, tool: str = "vitis-2023.2") -> Estimation:
    return estimated(kernel.program, Schedule(), setting(tool, device, 10.0))


@pytest.mark.parametrize(("device", "most"), [("xc7z020", 2), ("xczu3eg", 2), ("xcu280", 1)])
def test_two_reads_in_a_state_make_block_rams_narrower(device: str, most: int) -> None:
    one, both = on(moved, device).answer, on(neighbours, device).answer
    assert (one.both_ports, one.bram18) == ((), 1)
    assert (both.both_ports, both.bram18) == (("t",), most)
    assert one.bram18_range == both.bram18_range == ((1, 2) if most > 1 else None)


def test_tables_and_data_say_the_range() -> None:
    found = on(moved, "xc7z020")
    assert "BRAM18 is 1 to 2 by the ports that the tool gives each array" in view(
        "", found, Style()
    )
    assert json.loads(json.dumps(as_data(found, {})))["bram18_range"] == [1, 2]
    assert "by the ports" not in view("", on(moved, "xcu280"), Style())


def test_the_interval_after_routing_holds_the_range() -> None:
    found = on(moved, "xc7z020")
    known, wide = found.answer, routed_of(found.answer, found.setting.device)
    both = routed_of(on(neighbours, "xc7z020").answer, found.setting.device)
    assert known.bram18_range == (1, 2)
    assert wide is not None
    assert both is not None
    assert (
        wide.figures["bram18"].high >= both.figures["bram18"].value > wide.figures["bram18"].value
    )
    assert wide.figures["bram18"].high == both.figures["bram18"].high


@pytest.mark.parametrize(("kernel", "chain"), [(few, "LUTRAM"), (moved, "memory")])
def test_the_clock_goes_by_what_a_local_array_is_made_of(kernel: Kernel, chain: str) -> None:
    clock = on(kernel, "xc7z020", "vitis-2022.1").answer.clock  # which pipelines nothing by itself
    assert clock is not None
    assert clock.chain is not None
    assert [link.what for link in clock.chain.links] == [chain]
