"""Masks and tests of single bits are wires."""

from __future__ import annotations

import pytest

import weft
from dse.estimates.estimation import estimated, setting
from dsl.kernels.kernel import Kernel
from qor_gnn.result.qor_estimate import QorEstimate
from weft import u8, u32


@weft.kernel
def copied(x: u32[64], y: u32[64]):
    for i in range(64):
        y[i] = x[i]


@weft.kernel
def masked(x: u32[64], y: u32[64]):
    for i in range(64):
        y[i] = x[i] & 0x00FF00F0


@weft.kernel
def by_value(x: u32[64], m: u32[64], y: u32[64]):
    for i in range(64):
        y[i] = x[i] & m[i]


@weft.kernel
def one_bit(x: u32[64], a: u8[64], b: u8[64], y: u8[64]):
    for i in range(64):
        y[i] = a[i] if x[i] & 4 else b[i]


@weft.kernel
def one_bit_as_equal(x: u32[64], a: u8[64], b: u8[64], y: u8[64]):
    for i in range(64):
        y[i] = a[i] if x[i] & 4 == 4 else b[i]


@weft.kernel
def one_bit_as_zero(x: u32[64], a: u8[64], b: u8[64], y: u8[64]):
    for i in range(64):
        y[i] = b[i] if x[i] & 4 == 0 else a[i]


@weft.kernel
def compared(x: u32[64], a: u8[64], b: u8[64], y: u8[64]):
    for i in range(64):
        y[i] = a[i] if x[i] & 6 == 4 else b[i]


@weft.kernel
def crc32(x: u8[64], y: u32[64]):
    crc: u32 = 0xFFFFFFFF
    for i in range(64):
        crc ^= x[i]
        for _b in range(8):
            crc = (crc >> 1) ^ (0xEDB88320 if crc & 1 else 0)
        y[i] = crc


def _piped(kernel: Kernel, clock: float = 10.0) -> QorEstimate:
    @kernel.schedule
    def piped(s):
        s.pipeline("i")

    return estimated(kernel.program, piped, setting(None, "xc7z020", clock)).answer


def test_a_mask_takes_nothing_and_a_value_does() -> None:
    assert _piped(masked).lut == _piped(copied).lut
    assert _piped(by_value).lut >= _piped(copied).lut + 32


@pytest.mark.parametrize("kernel", [one_bit_as_equal, one_bit_as_zero])
def test_a_bit_is_tested_in_any_words(kernel: Kernel) -> None:
    bit, other = _piped(one_bit), _piped(kernel)
    assert other.latency == bit.latency
    assert bit.lut <= other.lut <= bit.lut + 2  # an inverse


def test_more_bits_are_compared() -> None:
    assert _piped(compared).lut > _piped(one_bit).lut


def test_eight_steps_of_a_checksum_are_as_long_as_what_they_choose_and_add() -> None:
    found = next(loop for loop in _piped(crc32).loops if loop.kind == "pipeline")
    tool = setting(None, "xc7z020", 10.0).tool
    step = sum(tool.operator(kind, "int", 32).delay for kind in ("xor", "select"))
    assert found.ii <= 9 * step / tool.usable_ns + 2
