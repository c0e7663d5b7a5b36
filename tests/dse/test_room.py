"""Plans of a board are made with less room where what they copy does not fit as the tool stores it."""

from __future__ import annotations

import pytest

import weft
from backends.deploy import rooms
from backends.deploy.boards import board
from backends.deploy.outside import outside
from backends.deploy.tiles import Allowance
from dse.accelerator import room
from dse.accelerator.room import fitting
from dse.estimates.estimation import Estimation, setting
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Buffer
from polyhedral.scop.scheduled import ScheduledScop
from weft import f32


@weft.kernel
def solved(L: f32[300, 300], B: f32[300, 16], X: f32[300, 16]):
    for i in range(300):
        for c in range(16):
            X[i, c] = B[i, c]
        for j in range(i):
            for c in range(16):
                X[i, c] -= L[i, j] * X[j, c]
        for c in range(16):
            X[i, c] /= L[i, i]


@pytest.mark.parametrize(("most", "whole"), [(60, True), (30, False)])
def test_the_first_plan_stays_where_it_fits(most, whole, monkeypatch):
    monkeypatch.setattr(rooms, "_ROOM", 0.04)
    onto = board("pynq-z2")
    first = Allowance(onto.device.dsp)

    def planned(allowed: Allowance) -> Schedule:
        return outside(solved.program, Schedule(), onto, allowed)

    plan, allowed = fitting(solved.program, setting(None, onto.device, 10.0), most, first, planned)
    assert any(isinstance(s, Buffer) and s.array == "X" and not s.at for s in plan) == whole
    assert (allowed == first) == whole


@weft.kernel
def normed(x: f32[6, 40, 40], y: f32[6, 40, 40]):
    for c in range(6):
        m: f32 = 0.0
        for i in range(40):
            for j in range(40):
                m += x[c, i, j]
        for i in range(40):
            for j in range(40):
                y[c, i, j] = x[c, i, j] - m


def test_loops_around_others_are_not_pipelined_for_that(monkeypatch):
    """What stands alone in a loop around nests would have all 3,200 iterations of these as one body."""
    asked: list[ScheduledScop] = []
    known = room.ranked

    def ranked(state: ScheduledScop, *rest: object) -> Estimation:
        asked.append(state)
        return known(state, *rest)

    monkeypatch.setattr(room, "ranked", ranked)
    onto = board("pynq-z2")
    first = Allowance(onto.device.dsp)
    tiled = Schedule((Buffer("x", "S0.c", "x_chip"), Buffer("y", "S0.c", "y_chip")))
    fitting(normed.program, setting(None, onto.device, 10.0), 200, first, lambda _: tiled)
    (state,) = asked
    pipelined = {d.name for p in state.pieces for d in p.dims if d.pipeline_ii is not None}
    assert pipelined
    assert "c" not in pipelined
