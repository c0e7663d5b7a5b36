"""Steps that rewrite the program, behind steps that moved or cut its loops: these become the program's first."""

from __future__ import annotations

import pytest

import weft
from dsl.errors.errors import ScheduleError
from dsl.schedules.schedule import ScheduleBuilder
from polyhedral.equivalence.rewritings import check_rewriting, rewritings
from polyhedral.schedule import apply, apply_step
from polyhedral.scop.scheduled import build
from polyhedral.transforms.registry import rewrites
from tests.support.rewritten import rewriting_faults
from weft import i32, u16

steps = ScheduleBuilder


@weft.kernel
def columns(A: i32[6, 10], out: i32[10]):
    for j in range(10):
        out[j] = 0
    for i in range(6):
        for j in range(10):
            out[j] += A[i, j]


@weft.kernel
def mixed(x: u16[12], t: i32[12], y: u16[12], n: i32[1]):
    spare: u16[12]
    n[0] = 0
    for i in range(12):
        spare[i] = x[i] + 1
        y[i] = x[i] // 7
    for k in range(12):
        n[0] += t[k]


ROWS_FIRST = steps().interchange("S1.i", "S1.j")
CASES = [
    (columns, ROWS_FIRST.tree("S1", "S1.i").pipeline("S1.j")),
    (columns, steps().interchange("S1.i", "S1.j").fuse(["S0", "S1"], 1).tree("S1", "S1.i")),
    (columns, steps().split("S1.j", 4).partial_sums("S1", "S1.i", 3).split("S1.i", 3)),
    (mixed, steps().split("i", 5).strength_reduce("S2").trim("S1")),
    (mixed, steps().split("k", 4, tail="guard").partial_sums("S3", "k_1", 2)),
    (mixed, steps().shift("S2", "i", 1).trim("S1").reassociate("S3").tree("S3", "k")),
]


@pytest.mark.parametrize(("kernel", "schedule"), CASES)
def test_what_they_make_is_proven_and_computes_the_same(kernel, schedule) -> None:
    before = build(kernel.program)
    for step in schedule.build():
        after = apply_step(before, step)
        if rewrites(step):
            assert rewriting_faults(before, after) == []
        before = after
    found = rewritings(kernel.program, schedule.build())
    assert any(r.only_loops for r in found)
    assert [check_rewriting(r) for r in found] == [None] * len(found)


def test_what_is_asked_of_loops_has_no_place_in_a_program() -> None:
    for asking in (steps().pipeline("S1.j"), steps().unroll("S1.j", 2)):
        with pytest.raises(ScheduleError, match="comes after steps that ask something of loops"):
            apply(columns.program, asking.tree("S1", "S1.i").build())
