"""Blocks that run beside calls: a chain of them takes its time, and who reads its end waits."""

from __future__ import annotations

import pytest

import weft
from weft import f32, u32

TOOLS = ("vitis-2022.1-zu9eg-10ns", "vitis-2023.2-u280-3.33ns", "vitis-2025.1-u200-4ns")


@weft.kernel
def beside(A0: f32[1], A1: f32[4, 16], Y: f32[34]):
    s: f32 = 1.0
    for i in range(7):
        for j in range(2):
            A1[0, j] = 1.0
        s /= Y[i]
    A0[0] = s


@weft.kernel
def alone(A0: f32[1], Y: f32[34]):
    s: f32 = 1.0
    for i in range(7):
        s /= Y[i]
    A0[0] = s


@weft.kernel
def read_at_the_end(A0: f32[16], A1: f32[4, 16], Y: f32[34]):
    s: f32 = 1.0
    for i in range(7):
        for j in range(2):
            A1[0, j] = 1.0
        s /= Y[i]
    for k in range(16):
        A0[k] = Y[k] + s


@weft.kernel
def stored(A1: f32[4, 16]):
    for j in range(4):
        A1[0, j] = 1.0


ROUNDS = 8


@weft.kernel
def mixed(x: u32[16], y: u32[16]):
    t: u32[16]
    for i in range(16):
        t[i] = x[i]
    for r in range(ROUNDS):
        t[0] += t[4]
        t[12] ^= t[0]
        t[8] += t[12]
        t[4] ^= t[8]
    for i in range(16):
        y[i] = t[i]


@mixed.schedule
def in_registers(s):
    s.pipeline("S0.i").unroll("r").pipeline("S5.i").partition("t", 0, "complete")


@beside.schedule
def piped(s):
    s.pipeline("j").unroll("i")


@alone.schedule
def unrolled(s):
    s.unroll("i")


@read_at_the_end.schedule
def all_piped(s):
    s.pipeline("j").unroll("i").pipeline("k")


@stored.schedule
def stores(s):
    s.pipeline("j")


@pytest.mark.parametrize("tool", TOOLS)
def test_a_chain_takes_its_time_whatever_runs_beside(tool: str) -> None:
    chain = weft.estimate(alone, unrolled, tool=tool).latency.average
    assert weft.estimate(beside, piped, tool=tool).latency.average >= chain
    assert weft.estimate(read_at_the_end, all_piped, tool=tool).latency.average >= chain + 16


@pytest.mark.parametrize("tool", TOOLS)
def test_a_loop_that_only_stores_has_an_iteration_latency(tool: str) -> None:
    (loop,) = weft.estimate(stored, stores, tool=tool).loops
    assert loop.depth >= 1


@pytest.mark.parametrize("tool", TOOLS)
def test_a_chain_of_what_takes_no_state_begins_with_what_a_loop_stores(tool: str) -> None:
    few, many = (
        weft.estimate(mixed.at(ROUNDS=n), in_registers, tool=tool).latency.average for n in (8, 32)
    )
    # 48 sums more, of 0.9 ns or more each, one behind the other: a state has room for eight at most.
    assert few >= 32 + 8 * 2 / 8
    assert many >= few + 48 / 8
