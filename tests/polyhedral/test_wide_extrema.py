"""Extrema of terms that their element does not hold: reductions where what is kept is never cut."""

from __future__ import annotations

import pytest

import weft
from dsl.errors.errors import ScheduleError
from dsl.kernels.kernel import Kernel
from dsl.schedules.schedule import ScheduleBuilder
from polyhedral.equivalence.rewritings import check_rewriting, rewritings
from polyhedral.schedule import apply
from tests.support.levels import Case, check_levels
from weft import i8, i16, u4, u8


@weft.kernel
def unsigned(a: u8[6, 5], b: u8[5], y: u8[6], z: u8[6]):
    # A sum of 9 bits that is less than one of 8 fits; the largest of 8 bits is another thing.
    for i in range(6):
        low: u8 = 255
        for k in range(5):
            if a[i, k] + b[k] < low:
                low = a[i, k] + b[k]
        y[i] = low
        high: u8 = 0
        for k in range(5):
            high = max(high, a[i, k] + k)
        z[i] = high


@weft.kernel
def signed(a: i8[6, 5], b: i8[5], w: u4[5], y: i8[6]):
    for i in range(6):
        low: i8 = 127
        for k in range(5):
            low = min(low, a[i, k] + b[k])
        near: i8 = 100
        for k in range(5):
            near = min(near, w[k] * 40 - w[4 - k] * 20)
        y[i] = low + near


@weft.kernel
def own(w: u4[8], cost: i16[8, 8]):
    # What is read of the argument is 0 to 30,000 at all times.
    for i in range(8):
        cost[i, i] = 0
    for length in range(1, 8):
        for i in range(8 - length):
            best: i16 = 30000
            for k in range(length):
                best = min(best, cost[i, i + k] + cost[i + k + 1, i + length] + w[i])
            cost[i, i + length] = best


@weft.kernel
def anothers(w: u4[8], cost: i16[8, 8]):
    for length in range(1, 8):
        for i in range(8 - length):
            best: i16 = 30000
            for k in range(length):
                best = min(best, cost[i, i + k] + cost[i + k + 1, i + length] + w[i])
            cost[i, i + length] = best


def steps() -> ScheduleBuilder:
    return ScheduleBuilder()


def reduction(kernel: Kernel, array: str) -> str:
    return [s.name for s in kernel.program.statements() if s.target.array == array][-1]


@pytest.mark.parametrize(
    ("kernel", "array"), [(unsigned, "high"), (signed, "low"), (signed, "near"), (anothers, "best")]
)
def test_an_extremum_that_may_be_cut_has_an_order(kernel: Kernel, array: str) -> None:
    with pytest.raises(ScheduleError) as refused:
        apply(kernel.program, steps().reassociate(reduction(kernel, array)).build())
    assert refused.value.code == "W209"


def test_others_are_trees_and_partial_sums() -> None:
    low, best = reduction(unsigned, "low"), reduction(own, "best")
    cases = [
        Case("tree", unsigned.program, steps().tree(low, f"{low}.k").build()),
        Case("parts", unsigned.program, steps().partial_sums(low, f"{low}.k", 2).build()),
        Case("own", own.program, steps().partial_sums(best, "k", 2).build()),
    ]
    nodes = apply(cases[0].program, cases[0].schedule).scop.program.array("low_tree")
    assert (
        str(nodes.dtype) == "u9"
    )  # the terms; of 8 bits they would be cut before they are compared
    for case in cases:
        for rewriting in rewritings(case.program, case.schedule):
            assert check_rewriting(rewriting) is None
    assert check_levels(cases, cxx=False) == []
