"""Rooflines of DSP slices and LUTs: never above what an assignment of units reaches, and near it."""

from __future__ import annotations

import random
from collections.abc import Mapping
from math import ceil

import pytest

import weft
from backends.devices import device
from dse.bounds.bounds import bounds, work_of
from dse.bounds.roofline import Operations, in_logic, in_slices
from dse.evaluators.model import personality_for
from dsl.expressions.types import DType
from dsl.programs.program import Program
from weft import f32, i8, i16, i32

N = 32


def least(kinds: Mapping[str, Operations], dsp: int, lut: int) -> int:
    """The least cycles with whole units, each built in one way, by trying all mixes."""
    for cycles in range(1, max(k.times for k in kinds.values()) + 1):
        reached = {(0, 0)}
        for kind in kinds.values():
            units = ceil(kind.times / cycles)
            (a, b), (c, d) = kind.ways[0], kind.ways[-1]
            mixes = [(n * a + (units - n) * c, n * b + (units - n) * d) for n in range(units + 1)]
            reached = {
                (s + x, t + y)
                for s, t in reached
                for x, y in mixes
                if s + x <= dsp and t + y <= lut
            }
        if reached:
            return cycles
    return 0


@pytest.mark.parametrize("seed", range(40))
def test_no_mix_of_units_is_faster_and_some_mix_is_hardly_slower(seed: int) -> None:
    rng = random.Random(seed)
    kinds: dict[str, Operations] = {}
    for name in "ab"[: rng.randint(1, 2)]:
        dsp, lut = rng.randint(1, 3), rng.randint(10, 60)
        ways = ((dsp, rng.randint(0, 20)), (0, 20 + lut))
        kinds[name] = Operations(rng.randint(20, 60), ways, logic=True)
    dsp, lut = rng.randint(0, 30), rng.randint(100, 900)
    found, why = in_logic(kinds, dsp, lut)
    exact = least(kinds, dsp, lut)
    if exact:
        assert found <= exact
        assert ceil(found * 1.5) + 1 >= exact
    assert "LUT" in why or not found


@pytest.mark.parametrize("seed", range(40))
def test_slices_that_do_sums_too(seed: int) -> None:
    rng = random.Random(seed)
    products, sums, dsp, lut = (rng.randint(*r) for r in ((9, 60), (9, 60), (0, 9), (60, 900)))
    product, total = rng.randint(20, 60), rng.randint(5, 60)
    kinds = {
        "mul": Operations(products, ((0, product), (1, 0)), logic=True, with_sum=True),
        "add": Operations(sums, ((0, total),), logic=True, is_sum=True),
    }
    found, _ = in_logic(kinds, dsp, lut)

    def fits(cycles: int, slices: int) -> bool:
        others = max(0, ceil(products / cycles) - slices)
        alone = max(0, sums - min(slices * cycles, products))
        return others * product + ceil(alone / cycles) * total <= lut

    longest = max(products, sums)
    every = range(1, longest + 1)
    exact = next((c for c in every if any(fits(c, s) for s in range(dsp + 1))), longest)
    assert found <= exact <= ceil(found * 1.5) + 1


def test_slices_alone_leave_out_what_may_be_logic() -> None:
    kinds = {
        "fmul": Operations(100, ((3, 80),)),
        "mul": Operations(900, ((1, 0), (0, 40)), logic=True),
    }
    assert in_slices(kinds, 30) == (10, "100 fmul")
    assert in_logic(kinds, 30, 10**9)[0] == 1


def gemm(of: DType, kept: DType) -> Program:
    """A product of matrices, and the type of its sums."""

    @weft.kernel
    def product(A: of[N, N], B: of[N, N], C: kept[N, N]):
        for i in range(N):
            for j in range(N):
                for k in range(N):
                    C[i, j] += A[i, k] * B[k, j]

    return product.program


@weft.kernel
def scaled(A: i16[N], B: i32[N]):
    for i in range(N):
        B[i] = A[i] * 4 + i * 3


def test_products_of_integers_take_slices_or_luts() -> None:
    tool = personality_for(device("xc7z020"), 10.0)
    # 40 LUTs and half of an adder of three operands, or a slice that does both; of 16 bits a slice, or many LUTs.
    short = bounds(work_of(gemm(i8, i32), tool), tool, 220, 53_200)
    assert short.lut is not None
    added = tool.operator("ternary", "int", 32).lut
    assert short.lut.cycles == ceil(N**3 / (220 + 53_200 / (40 + added)))
    assert bounds(work_of(gemm(i8, i32), tool), tool, 220).lut is None
    long = bounds(work_of(gemm(i16, i32), tool), tool, 220, 53_200)
    assert long.lut is not None
    assert long.lut.cycles >= short.lut.cycles


def test_products_by_numbers_and_of_indices_are_not_counted() -> None:
    tool = personality_for(device("xc7z020"), 10.0)
    assert bounds(work_of(scaled.program, tool), tool, 220, 53_200).lut is None


def test_floats_are_bound_by_their_luts() -> None:
    tool = personality_for(device("xc7z020"), 10.0)
    found = bounds(work_of(gemm(f32, f32), tool, True), tool, 10**6, 53_200)
    assert found.lut is not None
    luts = sum(tool.operator(kind, "f32", 32).lut for kind in ("add", "mul"))
    assert found.lut.cycles >= N**3 // (53_200 // luts + 1)
