"""Tables that are updated at subscripts which are data, in parts, in tiles of a board."""

from __future__ import annotations

import pytest

import weft
from backends.deploy import rooms
from backends.deploy.boards import board
from backends.deploy.outside import outside
from backends.deploy.tiles import Allowance
from dse.space.nests.nest import Carry
from dse.space.sums.updates_in_tiles import in_parts_of_tables
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Buffer, PartialSums, Split
from weft import f32, i32, u8, u16, u32


@weft.kernel
def image(x: u8[48, 64], h: u32[16]):
    for i in range(48):
        for j in range(64):
            h[x[i, j] & 15] += 1


@weft.kernel
def weighted(key: u16[4096], w: f32[4096], total: f32[8]):
    for i in range(4096):
        total[key[i] & 7] += w[i]


@weft.kernel
def channels(x: u8[3, 8, 48], h: u32[3, 8]):
    for c in range(3):
        for i in range(8):
            for j in range(48):
                h[c, x[c, i, j] & 7] += 1


@weft.kernel
def least(key: u8[4096], v: i32[4096], m: i32[16]):
    for i in range(4096):
        m[key[i] & 15] = min(m[key[i] & 15], v[i])


@weft.kernel
def extremes(x: u8[48, 64], low: u8[1], high: u8[1]):
    lo: u8 = 255
    hi: u8 = 0
    for i in range(48):
        for j in range(64):
            lo = min(lo, x[i, j])
            hi = max(hi, x[i, j])
    low[0] = lo
    high[0] = hi


@weft.kernel
def peak(x: f32[64, 64], high: f32[1]):
    hi: f32 = 0.0
    for i in range(64):
        for j in range(64):
            hi = max(hi, x[i, j])
    high[0] = hi


@weft.kernel
def plain(x: f32[4096], y: f32[4096]):
    for i in range(4096):
        y[i] = x[i] * 2.0


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chip with hardly any memory, so that small kernels need tiles."""
    monkeypatch.setattr(rooms, "_ROOM", 0.004)


def parts_of(kernel: weft.Kernel, trees: bool = False) -> Schedule | None:
    onto, allowed = board("pynq-z2"), Allowance(220, trees)
    return in_parts_of_tables(
        kernel.program, outside(kernel.program, Schedule(), onto, allowed), onto, allowed
    )


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("kernel", "around", "trees"),
    [
        (image, "S0.i", False),
        (channels, "S0.i", False),  # the element moves with c
        (least, "S0.i", False),
        (weighted, "S0.i", True),
    ],
)
def test_parts_are_added_up_behind_all_tiles(kernel: weft.Kernel, around: str, trees: bool) -> None:
    found = parts_of(kernel, trees)
    assert found is not None
    (parts,) = (step for step in found if isinstance(step, PartialSums))
    assert parts.around == around
    assert any(isinstance(step, Buffer) and step.at for step in found)
    assert [s.factor for s in found if isinstance(s, Split)] == [parts.count]


@pytest.mark.usefixtures("small")
def test_tiles_with_parts_compute_the_same() -> None:
    found = parts_of(channels)
    assert found is not None
    assert weft.verify(channels, found).ok


@pytest.mark.usefixtures("small")
def test_extremes_of_all_elements_are_of_parts() -> None:
    found = parts_of(extremes)
    assert found is not None
    parts = [step for step in found if isinstance(step, PartialSums)]
    # Eight bytes in a word of 64 bits: none waits for another one.
    assert [(step.count, step.around) for step in parts] == [(32, "S2.i"), (32, "S3.i")]
    assert weft.verify(extremes, found).ok


@pytest.mark.usefixtures("small")
def test_floats_in_order_and_other_kernels_have_none() -> None:
    assert parts_of(weighted) is None
    assert parts_of(peak) is None
    assert parts_of(peak, trees=True) is not None
    assert parts_of(plain, trees=True) is None


def test_what_fits_as_a_whole_has_no_tiles_for_that() -> None:
    assert parts_of(image) is None


def test_an_element_that_values_tell_may_be_that_of_the_next_iteration() -> None:
    sides = [(4.0, 1), (8.0, 2)]
    assert Carry(1, 3.0, 3.0).around(sides) == 8
    assert Carry(1, 3.0, 3.0, anywhere=True).around(sides) == 1
