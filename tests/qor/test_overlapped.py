"""Loops whose iterations overlap, in time and in area: by csynth's reports of such loops."""

from __future__ import annotations

import pytest

import weft
from qor_gnn.design.region import Access, Loop, Statement, Trips
from qor_gnn.schedule.overlapped import overlapped, process_of
from weft import f32


def _loop(trips: int) -> Loop:
    body = tuple(Statement(name, (), Access(name.lower(), ())) for name in ("P", "Q"))
    processes = (("P",), ("Q",))
    return Loop("i", "i", (), (), 1, Trips(trips, trips, trips), body, processes=processes)


@pytest.mark.parametrize(
    ("region", "slowest", "trips", "reported"),
    [(836, 643, 180, 116_113), (803, 580, 180, 104_803)],
)
def test_csynths_formula(region, slowest, trips, reported):
    """Two dataflow loops of Allo's 2mm on a U55C, at 4.00 ns: their regions take 836 and 803 cycles, with
    intervals of 644 and 581.
    """
    # Two processes that share nothing: the region ends a cycle after the longer one.
    found = overlapped(
        _loop(trips), [process_of((), region - 1), process_of((), slowest)], trips, 0
    )
    found.interval = slowest + 1  # of the report: there processes hand words on before they end
    assert found.depth == region + 2
    assert found.iterations_latency == reported


@weft.kernel
def scale(A: f32[64, 32], B: f32[64, 32]):
    for i in range(64):
        for j in range(32):
            B[i, j] = 2.0 * A[i, j] + 1.0


def tiles(s, rows=8):
    s.interface("A", "m_axi", "g0")
    s.interface("B", "m_axi", "g1")
    s.split("i", rows)
    s.buffer("B", "i_0")
    s.buffer("A", "i_0")


@scale.schedule
def in_turn(s):
    tiles(s)


@scale.schedule
def at_once(s):
    tiles(s)
    s.dataflow(at="i_0")


@scale.schedule
def joined(s):
    tiles(s)
    s.dataflow(processes=[["load_A", "S0"]], at="i_0")


@scale.schedule
def large(s):
    tiles(s, 32)


@scale.schedule
def large_at_once(s):
    tiles(s, 32)
    s.dataflow(at="i_0")


@pytest.mark.parametrize("tool", ["vitis-2022.1", "vitis-2023.2", "vitis-2025.1"])
def test_the_loop_takes_as_long_as_its_slowest_process(tool):
    plain = weft.estimate(scale, "in_turn", device="xcu280", tool=tool)
    found = weft.estimate(scale, "at_once", device="xcu280", tool=tool)
    both = weft.estimate(scale, "joined", device="xcu280", tool=tool)
    assert found.latency.average < both.latency.average < plain.latency.average
    (loop,) = [row for row in found.loops if row.slowest]
    assert loop.overlaps
    assert loop.kind == "nest"
    assert loop.latency.average == loop.depth + 7 * loop.ii - 1
    others = [row for row in found.loops if row.level == 1]
    assert loop.ii > max(row.latency.average for row in others)


def test_units_are_not_shared_between_processes_and_what_they_share_is_there_twice():
    plain = weft.estimate(scale, "large", device="xcu280")
    found = weft.estimate(scale, "large_at_once", device="xcu280")
    assert found.dsp == plain.dsp
    assert found.bram18 > plain.bram18


def test_the_open_backend_runs_processes_in_order():
    plain = weft.estimate(scale, "in_turn", device="ecp5-85k")
    found = weft.estimate(scale, "at_once", device="ecp5-85k")
    assert found.latency.average == plain.latency.average
