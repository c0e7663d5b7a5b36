"""Tiles whose rows take turns, as sums in scalars have an element for each row; and tiles that are passed once for all."""

from __future__ import annotations

import pytest

import weft
from backends.deploy import rooms
from backends.deploy.boards import board
from backends.deploy.outside import outside
from backends.deploy.rooms import bits_of, chip_room, most_room
from backends.deploy.tiles import Allowance
from dse.space.loops.tiles import in_one_pass, in_wider_tiles
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Buffer, Distribute, Expand, Fuse
from weft import f32


@weft.kernel
def normalized(x: f32[96, 40], y: f32[96, 40]):
    for r in range(96):
        total: f32 = 0.0
        for c in range(40):
            total += x[r, c]
        mean: f32 = total / 40.0
        for c in range(40):
            y[r, c] = x[r, c] - mean


@weft.kernel
def largest(x: f32[96, 40], y: f32[96]):
    for r in range(96):
        best: f32 = -1e30
        for c in range(40):
            best = max(best, x[r, c])
        y[r] = best


@weft.kernel
def turned(x: f32[96, 40], y: f32[96, 40]):
    """A temporary of one iteration: there is nothing to tell apart."""
    for r, c in weft.grid(96, 40):
        t = x[r, c] * 0.5
        y[r, c] = t + t * t


@weft.kernel
def ranked(x: f32[400, 100], y: f32[400]):
    """A row of weights is 40,000 elements for all iterations."""
    for r in range(400):
        w: f32[100] = 0.0
        total: f32 = 0.0
        for c in range(100):
            w[c] = x[r, c] * x[r, c]
            total += w[c]
        best: f32 = 0.0
        for c in range(100):
            best += w[c] / total
        y[r] = best


def wider(kernel: weft.Kernel) -> Schedule | None:
    onto = board("pynq-z2")
    plain = outside(kernel.program, Schedule(), onto)
    return in_wider_tiles(kernel.program, plain, onto, Allowance(220))


def test_what_fits_is_in_tiles_where_a_local_is_too_large_for_all_iterations():
    schedule = wider(ranked)
    assert schedule is not None
    assert {"w", "total"} <= {s.array for s in schedule if isinstance(s, Expand)}
    assert any(isinstance(s, Buffer) and s.at for s in schedule)
    assert weft.verify(ranked, schedule).ok


@pytest.mark.parametrize("kernel", [normalized, largest])
def test_rows_of_a_tile_have_sums_of_their_own(kernel, monkeypatch):
    monkeypatch.setattr(rooms, "_ROOM", 0.01)
    schedule = wider(kernel)
    assert schedule is not None
    assert any(isinstance(s, Expand) for s in schedule)
    assert any(isinstance(s, Buffer) and s.at for s in schedule)
    assert weft.verify(kernel, schedule).ok
    assert weft.equivalence(kernel, schedule).verdict == "proven"


def test_there_are_none_of_what_fits_and_where_nothing_is_told_apart(monkeypatch):
    assert wider(normalized) is None
    monkeypatch.setattr(rooms, "_ROOM", 0.01)
    assert wider(turned) is None


def test_a_search_in_tiles_lets_rows_take_turns(monkeypatch):
    monkeypatch.setattr(rooms, "_ROOM", 0.01)
    run = weft.explore(normalized, deploy="pynq-z2", trials=4, progress=False, evaluator="model")
    best = run.best()
    assert any(isinstance(s, Expand) for s in best.schedule)
    # In order a sum of 40 terms takes 4 cycles or more for each: 96 rows 15,360.
    assert best.latency < 12000
    assert weft.equivalence(normalized, best.schedule).verdict == "proven"


@weft.kernel
def extremes(x: f32[4000], out: f32[3]):
    low: f32 = 1e30
    high: f32 = -1e30
    total: f32 = 0.0
    for i in range(4000):
        low = min(low, x[i])
        high = max(high, x[i])
        total += x[i]
    out[0] = low
    out[1] = high
    out[2] = total


@weft.kernel
def in_turn(x: f32[4000], y: f32[4000]):
    """Two nests: the second one reads what the first one has written last."""
    for i in range(4000):
        y[i] = x[i] * 0.5
    for i in range(4000):
        y[i] = y[3999 - i] + 1.0


def test_statements_that_pass_a_tile_are_one_nest(monkeypatch):
    monkeypatch.setattr(rooms, "_ROOM", 0.01)
    plain = outside(extremes.program, Schedule(), board("pynq-z2"))
    assert not any(isinstance(s, Fuse) for s in plain)
    joined = in_one_pass(extremes.program, plain)
    assert joined is not None
    assert {name for s in joined if isinstance(s, Fuse) for name in s.stmts} == {"S3", "S4", "S5"}
    assert weft.verify(extremes, joined).ok
    assert weft.equivalence(extremes, joined).verdict == "proven"
    apart, once = (weft.estimate(extremes, one).latency.average for one in (plain, joined))
    assert once < 0.8 * apart


def test_no_nests_are_joined_that_may_not_be_and_none_that_copy(monkeypatch):
    assert (
        in_one_pass(extremes.program, outside(extremes.program, Schedule(), board("pynq-z2")))
        is None
    )
    monkeypatch.setattr(rooms, "_ROOM", 0.01)
    plain = outside(in_turn.program, Schedule(), board("pynq-z2"))
    joined = in_one_pass(in_turn.program, plain)
    assert joined is None


@weft.kernel
def channels(x: f32[32, 112, 112], w: f32[16, 32], y: f32[16, 112, 112]):
    for o in range(16):
        for r in range(112):
            for c in range(112):
                s: f32 = 0.0
                for i in range(32):
                    s += x[i, r, c] * w[o, i]
                y[o, r, c] = s


def test_statements_keep_the_loops_that_a_local_has_no_elements_for():
    by_rows = Expand("s", "S0.r")  # along o it would be too large
    found = outside(channels.program, Schedule(), board("pynq-z2"), Allowance(220), (by_rows,))
    apart = [s for s in found if isinstance(s, Distribute)]
    assert any(s.depth == 4 for s in apart)  # in the three tile loops and in o


def test_a_local_has_an_element_for_each_iteration_of_a_tile_that_has_room_for_it():
    found = wider(channels)
    assert found is not None
    (expand,) = [s for s in found if isinstance(s, Expand)]
    assert expand.loop == "S0.o_1"
    assert weft.equivalence(channels, found).verdict == "proven"
    assert wider(in_an_array) is None


@weft.kernel
def in_an_array(A: f32[700, 600], x: f32[600], y: f32[600]):
    """The local has an element for each row as it is written."""
    t: f32[700]
    for i in range(700):
        t[i] = 0.0
        for j in range(600):
            t[i] += A[i, j] * x[j]
        for j in range(600):
            y[j] += A[i, j] * t[i]


@weft.kernel
def nearest_rows(Q: f32[1400, 64], K: f32[1100, 64], best: f32[1400]):
    for i in range(1400):
        m: f32 = 1.0e30
        for j in range(1100):
            d: f32 = 0.0
            for k in range(64):
                d += (Q[i, k] - K[j, k]) * (Q[i, k] - K[j, k])
            m = min(m, d)
        best[i] = m


def test_where_nothing_fits_copies_may_take_more():
    place = board("pynq-z2")
    program = nearest_rows.program
    assert chip_room(place) < bits_of(program.array("K")) < most_room(place)
    found = outside(program, Schedule(), place)
    assert any(isinstance(s, Buffer) and s.array == "K" and not s.at for s in found)
    assert any(isinstance(s, Buffer) and s.array == "Q" and s.at for s in found)
