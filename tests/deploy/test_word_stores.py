"""What is written across the rows of what is read, stored in words without a copy of the tile."""

from __future__ import annotations

import weft
from backends.deploy import rooms
from backends.deploy.boards import board
from backends.deploy.outside import outside
from backends.deploy.tiles import Allowance
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Buffer
from weft import f32


@weft.kernel
def turned(A: f32[24, 40], B: f32[40, 24], s: f32[40]):
    for i, j in weft.grid(24, 40):
        B[j, i] = A[i, j] * s[j]


@weft.kernel
def cut(A: f32[24, 30], B: f32[30, 22]):
    """Words of B begin and end inside of what is written."""
    for i, j in weft.grid(20, 30):
        B[j, i + 1] = A[i, j]


@weft.kernel
def along(A: f32[24, 40], B: f32[24, 40]):
    for i, j in weft.grid(24, 40):
        B[i, j] = A[i, j] + 1.0


def planned(kernel, monkeypatch) -> tuple[Schedule, Schedule]:
    """For a chip that has room for a part of the arrays: with copies of all tiles, and without."""
    monkeypatch.setattr(rooms, "_ROOM", 0.002)
    place = board("zcu104")
    both = (Allowance(place.device.dsp, room=0.5, words=words) for words in (False, True))
    plain, words = (outside(kernel.program, Schedule(), place, one) for one in both)
    return plain, words


def test_a_transposition_stores_words_from_registers(monkeypatch):
    plain, words = planned(turned, monkeypatch)
    assert words != plain
    (store,) = (step for step in words if isinstance(step, Buffer) and step.array == "B")
    assert store.at == "S0.i_1_0"  # a word
    assert weft.verify(turned, words).ok
    assert weft.equivalence(turned, words).verdict == "proven"


def test_other_stores_keep_their_tiles(monkeypatch):
    for kernel in (cut, along):
        plain, words = planned(kernel, monkeypatch)
        assert words == plain
