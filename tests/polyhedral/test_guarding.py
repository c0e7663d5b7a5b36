"""Conditions and tails as guards: where bounds of unrolled loops would vary, and where asked for."""

from __future__ import annotations

import pytest

import weft
from dsl.errors.errors import ScheduleError
from dsl.kernels.kernel import Kernel
from dsl.schedules.schedule import ScheduleBuilder
from polyhedral.schedule import apply
from polyhedral.scop.scheduled import build
from tests.support.amount import sample
from tests.support.levels import Case, check_levels
from tests.support.random_conditions import random_conditions, random_unrolling
from weft import i32


@weft.kernel
def padded(A: i32[16], w: i32[3], B: i32[16]):
    for i in range(16):
        s: i32 = 0
        for r in range(3):
            if 0 <= i + r - 1 < 16:
                s += A[i + r - 1] * w[r]
        B[i] = s


@weft.kernel
def padded_2d(A: i32[6, 8], w: i32[3, 3], B: i32[6, 8]):
    for i in range(6):
        for j in range(8):
            B[i, j] = 0
            for r in range(3):
                for q in range(3):
                    if 0 <= i + r - 1 < 6 and 0 <= j + q - 1 < 8:
                        B[i, j] += A[i + r - 1, j + q - 1] * w[r, q]


@weft.kernel
def border(A: i32[12], B: i32[12]):
    """A stencil with another rule at the border."""
    for i in range(12):
        for k in range(4):
            if 2 <= i + k < 12:
                B[i] += A[i + k - 2]
            else:
                B[i] = 3 * B[i] + k


@weft.kernel
def strided(A: i32[16], B: i32[16]):
    for i in range(16):
        for k in range(4):
            if (i + k) % 2 == 0 and i + k < 15:
                B[i] = 3 * B[i] + A[i + k]


@weft.kernel
def lower(A: i32[10, 10]):
    for i in range(10):
        for j in range(i + 1):
            A[i, j] = 3 * A[i, j] + j


@weft.kernel
def upper(A: i32[10, 10]):
    for i in range(10):
        for j in range(i, 10):
            A[i, j] = 3 * A[i, j] + j


@weft.kernel
def below(A: i32[8, 8]):
    for i in range(8):
        for j in range(8):
            if j < i:
                A[i, j] = 3 * A[i, j] + j


@weft.kernel
def holes(A: i32[10, 7]):
    for i in range(10):
        for j in range(7):
            if j != 3:
                A[i, j] = 3 * A[i, j] + j


@weft.kernel
def framed(A: i32[10, 7], B: i32[10, 7]):
    for i in range(10):
        for j in range(7):
            if 1 <= i < 9 and 1 <= j < 6:
                B[i, j] = A[i - 1, j] + A[i + 1, j]
            else:
                B[i, j] = 3 * A[i, j]


def framed_tiles() -> ScheduleBuilder:
    """Tiles of whole rows, the frame in loops of its own."""
    return steps().tile(["i", "j"], [4, 7], tail="guard").buffer("B", "i_0").distribute(["S1"], 2)


def steps() -> ScheduleBuilder:
    return ScheduleBuilder()


def cpp(kernel: Kernel, builder: ScheduleBuilder) -> str:
    return weft.compile(kernel, builder.build()).hls_cpp.partition('extern "C"')[2]


RIGHT = [
    (padded, steps().pipeline("i")),
    (padded, steps().unroll("r")),
    (padded, steps().split("i", 4).pipeline("i_0")),
    (padded, steps().split("i", 5, tail="guard").pipeline("i_1")),
    (padded, steps().split("r", 2, tail="guard").pipeline("i")),
    (padded_2d, steps().pipeline("j")),
    (padded_2d, steps().pipeline("i")),
    (
        padded_2d,
        steps()
        .distribute(["S1"])
        .reassociate("S1")
        .reorder(["r", "q", "S1.i", "S1.j"])
        .pipeline("S1.i"),
    ),
    (
        padded_2d,
        steps().reassociate("S1").tile(["r", "q"], [2, 2], tail="guard").pipeline("r_0"),
    ),
    (border, steps().pipeline("i")),
    (border, steps().unroll("k").pipeline("i")),
    (border, steps().split("i", 5, tail="guard").unroll("k")),
    (strided, steps().pipeline("i")),
    (strided, steps().unroll("k")),
    (lower, steps().split("j", 4, tail="guard").pipeline("j_0")),
    (lower, steps().split("i", 4, tail="guard")),
    (lower, steps().tile(["i", "j"], [4, 3], tail="guard").pipeline("j_0")),
    (lower, steps().tile(["i", "j"], [4, 3], tail="guard").unroll("i_1").unroll("j_1")),
    (lower, steps().split("j", 4).split("j_1", 3, tail="guard")),
    (upper, steps().tile(["i", "j"], [4, 4], tail="guard").pipeline("j_0")),
    (upper, steps().split("j", 3, tail="guard").interchange("i", "j_0")),
    (upper, steps().skew("i", "j", 1).tile(["i", "j"], [4, 4], tail="guard")),
    (below, steps().pipeline("i")),
    (below, steps().unroll("j")),
    (below, steps().tile(["i", "j"], [3, 3], tail="guard").pipeline("j_0")),
    (holes, steps().tile(["i", "j"], [4, 4], tail="guard").pipeline("j_0")),
    (holes, steps().pipeline("i")),
    (framed, framed_tiles().distribute(["S1_2"], 2).pipeline("S1.j_1").unroll("S1_2.j_1")),
    (framed, framed_tiles().distribute(["S1_3"], 2).unroll("S1_3.i_1").pipeline("S1_2.j_1")),
]


def test_every_level_agrees() -> None:
    cases = [Case(n, kernel.program, builder.build()) for n, (kernel, builder) in enumerate(RIGHT)]
    assert check_levels(cases) == []


def test_a_padded_convolution_is_pipelined_with_its_guard() -> None:
    text = cpp(padded, steps().pipeline("i"))
    assert "for (int r = 0; r < 3; ++r) {\n      if (i + r >= 1 && i + r < 17) {" in text
    assert "tripcount" not in text
    plain = cpp(padded, steps())  # bounds, where nothing is unrolled
    assert "for (int r = std::max(0, 1 - i); r < std::min(3, 17 - i); ++r) {" in plain


def test_only_the_loops_that_are_unrolled_lose_their_bounds() -> None:
    text = cpp(padded_2d, steps().pipeline("r"))
    assert "for (int r = std::max(0, 1 - i); r < std::min(3, 7 - i); ++r) {" in text
    assert "for (int q = 0; q < 3; ++q) {" in text
    assert "if (j + q >= 1 && j + q < 9) {" in text


def test_both_branches_are_guarded() -> None:
    text = cpp(border, steps().pipeline("i"))
    assert text.count("for (int k = 0; k < 4; ++k) {") == 1
    assert "tripcount" not in text


def test_a_guarded_tile_of_a_triangle_is_whole() -> None:
    text = cpp(lower, steps().tile(["i", "j"], [4, 4], tail="guard"))
    assert "for (int j_0 = 0; j_0 <= i_0; ++j_0) {" in text
    assert "for (int i_1 = 0; i_1 < 4; ++i_1) {" in text
    assert "for (int j_1 = 0; j_1 < 4; ++j_1) {" in text
    assert "if (4 * i_0 + i_1 < 10 && 4 * i_0 + i_1 >= 4 * j_0 + j_1) {" in text


def test_a_statement_in_loops_of_its_own_runs_over_the_range_that_it_has() -> None:
    builder = framed_tiles()
    for name in ("S1_2", "S1_3"):
        builder = builder.distribute([name], 2)
    text = cpp(framed, builder)
    assert "for (int j_1 = 1; j_1 < 6; ++j_1) {" in text
    assert text.count("for (int j_1 = 0; j_1 < 7; ++j_1) {") == 2  # the first row and the last one
    assert "B_buf[i_1][0] = 3 * A" in text
    assert "B_buf[i_1][6] = 3 * A" in text


def test_a_loop_with_variable_bounds_is_refused_and_told_what_to_write() -> None:
    with pytest.raises(ScheduleError) as caught:
        apply(lower.program, steps().pipeline("i").build())
    text = caught.value.render()
    assert "error[W212]: 'j', inside the pipelined loop 'i', has a variable trip count" in text
    assert "pipeline 'j' instead, or let it run to a constant, its bounds in an 'if'" in text
    with pytest.raises(ScheduleError) as caught:
        apply(lower.program, steps().unroll("j").build())
    assert "unroll it by a factor, or let it run to a constant" in caught.value.render()


@pytest.mark.parametrize("first", sample(range(0, 60, 20), 3))
def test_random_conditions_are_guarded_right(first: int) -> None:
    """A condition on a box is never in the way of unrolling, and the result is the same."""
    cases = []
    for seed in range(first, first + 20):
        program = random_conditions(seed)
        schedule = random_unrolling(seed)
        if not build(program).pieces:  # no iteration meets its conditions
            continue
        cases.append(Case(seed, program, schedule))
    assert len(cases) > 10
    assert check_levels(cases) == []
