"""Buffers of one access of an array, of which other elements are used in place."""

from __future__ import annotations

import pytest

import weft
from dsl.errors.errors import ScheduleError
from polyhedral.schedule import apply
from tests.polyhedral.test_buffer import Build, lu, refused, schedule, shapes, text
from tests.support.levels import Case, check_levels
from weft import f32, i32


@weft.kernel
def right_looking(A: f32[8, 8]):
    for k in range(8):
        inverse: f32 = 1.0 / (A[k, k] + 9.0)
        for i in range(k + 1, 8):
            A[i, k] *= inverse
            for j in range(k + 1, 8):
                A[i, j] -= A[i, k] * A[k, j]


@weft.kernel
def shortest(d: i32[6, 6]):
    for k in range(6):
        for i in range(6):
            for j in range(6):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])


@weft.kernel
def scaled_rows(A: i32[6, 9], B: i32[9]):
    for i in range(6):
        for j in range(9):
            A[i, j] = A[i, j] * A[i, 3] + B[j]


CASES: list[tuple[str, weft.Kernel, Build]] = [
    ("one access, written", right_looking, lambda s: s.buffer("A", "i", access="A[i, k]")),
    ("one access, read", right_looking, lambda s: s.buffer("A", "k", access="A[k][j]")),
    (
        "several accesses, one after the other",
        right_looking,
        lambda s: (
            s.buffer("A", "k", "row", access="A[k, j]")
            .buffer("A", "i", "factor", access="A[i,k]")
            .unroll("j", tail="guard")
            .pipeline("i")
            .partition("row", 1, "complete")
        ),
    ),
    ("an access that others meet", scaled_rows, lambda s: s.buffer("A", "i", access="A[i, 3]")),
    (
        "one access, in a remainder",
        lu,
        lambda s: s.split("k", 3).buffer("A", "i", access="A[i, 3*k_0 + k_1]"),
    ),
]


@pytest.mark.parametrize(("kernel", "build"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_it_is_proven_and_computes_the_same(kernel: weft.Kernel, build: Build) -> None:
    case = Case(0, kernel.program, schedule(build))
    apply(case.program, case.schedule)  # not refused
    failures = check_levels([case])
    assert not failures, failures[0].report()


def test_one_access_is_copied_alone():
    found = text(right_looking, lambda s: s.buffer("A", "i", "factor", access="A[i, k]"))
    assert [line.strip() for line in found if "factor" in line and "=" in line] == [
        "factor[0, 0] = A[i, k]",
        "factor[0, 0] *= inverse",
        "A[i, j] -= factor[0, 0] * A[k, j]",
        "A[i, k] = factor[0, 0]",
    ]


def test_what_an_access_may_meet_is_copied_with_it():
    # A[i, 3] is A[i, j] in one iteration of j, which assigns it: the row is one copy.
    assert shapes(scaled_rows, lambda s: s.buffer("A", "i", access="A[i, 3]")) == {"A_buf": (1, 9)}
    # Here rows meet, which are as good as all of the array.
    assert "d[0, 0] would be in two copies" in refused(
        shortest, lambda s: s.buffer("d", "i", access="d[i, k]")
    )


def test_an_access_that_is_not_there_is_answered_with_those_that_are():
    with pytest.raises(ScheduleError) as error:
        apply(lu.program, schedule(lambda s: s.buffer("A", "i", access="A[k, i]")))
    assert error.value.code == "W229"
    assert "'A[k, i]'" in error.value.message
    assert error.value.help is not None
    assert "A[i, k]" in error.value.help
    assert "A[k, j]" in error.value.help
