"""The period that a schedule keeps: the one asked for, or what its longest operator needs."""

import pytest

import weft
from dse.estimates.estimation import estimated, setting
from dsl.schedules.schedule import Schedule
from weft import i8, i32, i1000


@weft.kernel
def narrow(A: i32[8], B: i32[8], C: i32[8]):
    for i in range(8):
        C[i] = ((A[i] + B[i]) + (A[i] - B[i])) + ((A[i] + 7) + (B[i] + 5))


@weft.kernel
def wide(A: i1000[8], B: i8[8]):
    for i in range(8):
        A[i] = A[i] + B[i]


def period(kernel, **where):
    answer = estimated(kernel.program, Schedule(), setting(**where)).answer
    return answer.period_ns, answer.clock_ns


def test_chains_are_cut_so_that_they_fit():
    for device in ("xczu9eg", "xcu280"):
        needed, asked = period(narrow, device=device)
        assert needed == asked


def test_an_operator_that_is_too_long_lengthens_the_period():
    needed, asked = period(wide)
    tool = setting().tool
    # The sum is stored in 1,000 bits: the tool adds no more of them.
    delay = tool.operator("add", "int", 1000).delay
    assert needed == pytest.approx(delay + asked * tool.uncertainty)
    assert needed > asked
