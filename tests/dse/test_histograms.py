"""Updates of elements that are data, in parts that need not divide the loop."""

from __future__ import annotations

import pytest

import weft
from backends.verify import verify_many
from dse.space.sums.histograms import in_turn
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import PartialSums, Reassociate, Split
from mlir_passes.pipeline import compile_design
from polyhedral.schedule import apply
from weft import u8, u16

UNEVEN = 51


@weft.kernel
def counted(x: u8[UNEVEN], h: u16[16]):
    for i in range(UNEVEN):
        b: u8 = x[i] & 15
        h[b] += 1


@weft.kernel
def of_rows(x: u8[9, 8], h: u16[16]):
    for i in range(9):
        for j in range(8):
            h[x[i, j] & 15] += 1


def parted(kernel: weft.Kernel, update: str, parts: int) -> Schedule:
    """The steps of the structure with so many parts."""
    before = (Reassociate(update),)
    (_, _, steps), *_ = in_turn(apply(kernel.program, Schedule(before)), before, parts)
    return Schedule(steps)


@pytest.mark.parametrize(("parts", "tail"), [(2, "guard"), (16, "guard"), (17, "remainder")])
def test_a_block_that_is_left_over_is_under_a_guard(parts: int, tail: str):
    schedule = parted(counted, "S1", parts)
    (split,) = (step for step in schedule if isinstance(step, Split))
    assert (split.factor, split.tail) == (parts, tail)
    design = compile_design(counted.program, schedule)
    (result,) = verify_many([design], cxx=False, make_inputs=[counted.make_inputs])
    assert result.ok


def test_a_loop_that_the_parts_divide_comes_first():
    schedule = parted(of_rows, "S0", 4)
    (step,) = (step for step in schedule if isinstance(step, PartialSums))
    assert step.loop == "S0.j"
