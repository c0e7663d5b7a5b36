"""Plans of a board are made with less room where what they copy does not fit as the tool stores it."""

from __future__ import annotations

import pytest

import weft
from backends.deploy import rooms
from backends.deploy.boards import board
from backends.deploy.outside import outside
from backends.deploy.tiles import Allowance
from dse.accelerator.room import fitting
from dse.estimates.estimation import setting
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Buffer
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
