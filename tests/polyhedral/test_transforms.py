"""What each step makes of a nest."""

from __future__ import annotations

import pytest

import weft
from dsl.errors.errors import ScheduleError
from dsl.schedules.schedule import ScheduleBuilder
from dsl.schedules.steps import STEPS
from polyhedral.transforms.registry import TRANSFORMS
from tests.polyhedral.show import nest
from weft import f32


@weft.kernel
def copy2(A: f32[8, 10], B: f32[8, 10]):
    for i, j in weft.grid(8, 10):
        B[i, j] = A[i, j]


@weft.kernel
def gemm(A: f32[8, 6], B: f32[6, 10], C: f32[8, 10]):
    for i, j in weft.grid(8, 10):
        C[i, j] = 0.0
    for i, j, k in weft.grid(8, 10, 6):
        C[i, j] += A[i, k] * B[k, j]


@weft.kernel
def triangular(A: f32[8, 8], B: f32[8, 8]):
    for i in range(8):
        for j in range(i + 1):
            B[i, j] = A[i, j]


def steps() -> ScheduleBuilder:
    return ScheduleBuilder()


def test_every_step_has_a_transform_and_names_of_its_own() -> None:
    assert set(TRANSFORMS) == set(STEPS.values())
    names = [name for step in STEPS.values() for name in (step.kind, *step.other_names)]
    assert len(names) == len(set(names))


def test_unscheduled() -> None:
    assert nest(copy2.program) == "i: 0 .. 8\n  j: 0 .. 10\n    S0(i, j)"


def test_interchange() -> None:
    assert nest(copy2.program, steps().interchange("i", "j")) == (
        "j: 0 .. 10\n  i: 0 .. 8\n    S0(i, j)"
    )


def test_reorder_takes_the_places_of_the_named_loops() -> None:
    text = nest(gemm.program, steps().reorder(["k", "S1.i"]))
    assert text.endswith("k: 0 .. 6\n  j.2: 0 .. 10\n    i.2: 0 .. 8\n      S1(i.2, j.2, k)")


def test_split_that_divides() -> None:
    assert nest(copy2.program, steps().split("i", 4)) == (
        "i_0: 0 .. 2\n  i_1: 0 .. 4\n    j: 0 .. 10\n      S0(4*i_0 + i_1, j)"
    )


def test_split_with_remainder_nest() -> None:
    assert nest(copy2.program, steps().split("j", 4, "jo", "ji")) == (
        "i: 0 .. 8\n"
        "  jo: 0 .. 2\n    ji: 0 .. 4\n      S0(i, ji + 4*jo)\n"
        "  ji.2: 0 .. 2\n    S0(i, ji.2 + 8)"
    )


def test_split_with_guard() -> None:
    assert nest(copy2.program, steps().split("j", 4, tail="guard")) == (
        "i: 0 .. 8\n  j_0: 0 .. 3\n    j_1: 0 .. 4\n"
        "      if -4*j_0 - j_1 + 9 >= 0\n        S0(i, 4*j_0 + j_1)"
    )


def test_split_beyond_the_extent_is_one_block() -> None:
    assert nest(copy2.program, steps().split("i", 32)) == (
        "i_1: 0 .. 8\n  j: 0 .. 10\n    S0(i_1, j)"
    )


def test_split_of_a_triangular_loop_follows_its_bounds() -> None:
    text = nest(triangular.program, steps().split("j", 4))
    assert text == (
        "i: 0 .. 8\n  j_0: 0 .. ((i) // 4) + 1\n    j_1: 0 .. min(4, i - 4*j_0 + 1)\n"
        "      S0(i, 4*j_0 + j_1)"
    )


def test_tile_makes_a_nest_of_each_remainder() -> None:
    text = nest(copy2.program, steps().tile(["i", "j"], [4, 4]))
    assert text == (
        "i_0: 0 .. 2\n  j_0: 0 .. 2\n    i_1: 0 .. 4\n      j_1: 0 .. 4\n"
        "        S0(4*i_0 + i_1, 4*j_0 + j_1)\n"
        "i_0.2: 0 .. 2\n  i_1.2: 0 .. 4\n    j_1.2: 0 .. 2\n"
        "      S0(4*i_0.2 + i_1.2, j_1.2 + 8)"
    )


def test_reverse_keeps_the_range() -> None:
    assert nest(copy2.program, steps().reverse("i")) == (
        "i: 0 .. 8\n  j: 0 .. 10\n    S0(-i + 7, j)"
    )


def test_skew() -> None:
    assert nest(copy2.program, steps().skew("i", "j", 2)) == (
        "i: 0 .. 8\n  j: 2*i .. 2*i + 10\n    S0(i, -2*i + j)"
    )


def test_unroll_and_pipeline_annotate() -> None:
    text = nest(copy2.program, steps().pipeline("i", 2).unroll("j"))
    assert text == "i: 0 .. 8 II=2\n  j: 0 .. 10 unroll=full\n    S0(i, j)"


def test_unroll_that_does_not_divide_gets_a_remainder_nest() -> None:
    assert nest(copy2.program, steps().unroll("j", 4)) == (
        "i: 0 .. 8\n  j: 0 .. 8 unroll=4\n    S0(i, j)\n  j.2: 8 .. 10 unroll=full\n    S0(i, j.2)"
    )


def test_fuse_and_distribute_undo_each_other() -> None:
    fused = nest(gemm.program, steps().fuse(["S0", "S1"], 2))
    assert fused == ("i: 0 .. 8\n  j: 0 .. 10\n    S0(i, j)\n    k: 0 .. 6\n      S1(i, j, k)")
    apart = nest(gemm.program, steps().fuse(["S0", "S1"], 2).distribute(["S1"]))
    assert apart == nest(gemm.program)


def test_fuse_where_the_last_one_stands() -> None:
    @weft.kernel
    def sum_of_products(x: f32[8], t: f32[8], y: f32[1]):
        for i in range(8):
            t[i] = x[i] * x[i]
        y[0] = 0.0
        for j in range(8):
            y[0] += t[j]

    text = nest(sum_of_products.program, steps().fuse(["S0", "S2"], 1, last=True))
    assert text == "S1()\nj: 0 .. 8\n  S0(j)\n  S2(j)"
    with pytest.raises(ScheduleError, match="S1 -> S2 through y"):
        nest(sum_of_products.program, steps().fuse(["S0", "S2"], 1))


def test_distribute_keeps_outer_loops_shared() -> None:
    text = nest(gemm.program, steps().fuse(["S0", "S1"], 2).distribute(["S0"], depth=1))
    assert text == (
        "i: 0 .. 8\n  j: 0 .. 10\n    S0(i, j)\n  j.2: 0 .. 10\n    k: 0 .. 6\n      S1(i, j.2, k)"
    )


def test_shift_in_a_fused_nest() -> None:
    @weft.kernel
    def two(A: f32[8], B: f32[8], C: f32[8]):
        for i in range(8):
            B[i] = A[i]
            C[i] = A[i]

    assert nest(two.program, steps().shift("S1", "i", 2)) == (
        "i: 0 .. 10\n  if -i + 7 >= 0\n    S0(i)\n  if i - 2 >= 0\n    S1(i - 2)"
    )


def test_steps_address_every_copy_of_a_loop() -> None:
    text = nest(copy2.program, steps().split("j", 4).unroll("j_1"))
    assert text.count("unroll=full") == 2


def test_downward_and_strided_loops_count_up_by_one() -> None:
    @weft.kernel
    def back(A: f32[10], B: f32[10]):
        for i in range(9, 0, -2):
            B[i] = A[i]

    assert nest(back.program) == "i: 0 .. 5\n  S0(-2*i + 9)"
