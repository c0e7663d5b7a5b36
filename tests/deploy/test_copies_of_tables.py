"""Copies of tables that are looked up at subscripts which are data, in tiles of a board."""

from __future__ import annotations

import pytest

import weft
from backends.deploy import rooms
from backends.deploy.boards import board
from backends.deploy.outside import outside
from backends.deploy.tiles import Allowance
from dse.space.tables.replicas_in_tiles import in_copies_of_tables
from dsl.schedules.port_steps import Replicate
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Buffer, Split
from polyhedral.schedule import apply
from weft import f32, u8


@weft.kernel
def curve(x: u8[48, 64], table: u8[256], y: u8[48, 64]):
    for i in range(48):
        for j in range(64):
            y[i, j] = table[x[i, j]]


@weft.kernel
def between(at: u8[4096], w: f32[4096], table: f32[65], y: f32[4096]):
    for n in range(4096):
        y[n] = table[at[n] & 63] * w[n] + table[(at[n] & 63) + 1] * (1.0 - w[n])


@weft.kernel
def updated(x: u8[4096], table: u8[256], y: u8[4096]):
    for n in range(4096):
        table[x[n]] = x[n]
        y[n] = table[x[n]]


@weft.kernel
def elementwise(x: f32[4096], y: f32[4096]):
    for n in range(4096):
        y[n] = 2.0 * x[n]


@pytest.mark.parametrize(
    ("kernel", "tiled", "asked"),
    [
        (curve, True, [Replicate("table", "S0.j", 8)]),  # eight bytes of a word
        (curve, False, [Replicate("table", "S0.j", 8)]),
        (between, True, [Replicate("table", "S0.n", 4)]),  # two floats of a word, two reads of each
        (updated, True, []),
        (elementwise, True, []),
    ],
)
def test_each_element_of_a_word_has_a_copy(kernel, tiled, asked, monkeypatch):
    if tiled:
        monkeypatch.setattr(rooms, "_ROOM", 0.008)  # so that small kernels need tiles
    onto, allowed = board("pynq-z2"), Allowance(220)
    plain = outside(kernel.program, Schedule(), onto, allowed)
    found = in_copies_of_tables(kernel.program, plain, onto, allowed)
    assert [s for s in found or () if isinstance(s, Replicate)] == asked
    if found is not None:
        cuts = [s.factor for s in found if isinstance(s, Split)]
        assert cuts == [step.count for step in asked]
        assert any(isinstance(s, Buffer) and s.at for s in found) == tiled
        apply(kernel.program, found)
