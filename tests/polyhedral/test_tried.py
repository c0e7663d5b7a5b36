"""Steps that are only tried: what isl finds no end of is left out, and nothing is lost by it."""

from __future__ import annotations

import islpy as isl
import pytest

import polyhedral.schedule
from dsl.schedules.steps import Reorder, Skew
from polyhedral.isl.effort import TooMuchWork, limited
from polyhedral.schedule import tried
from polyhedral.scop.scheduled import build
from weft import f32, kernel

WORK = (
    "{ [a, b] : exists c, d: a = 7 c + 5 d and b = 3 c - 11 d and 0 <= c < 999 and 0 <= d < 777 }"
)


@kernel
def waves(A: f32[9, 9]):
    for i in range(1, 9):
        for j in range(1, 9):
            A[i, j] = A[i - 1, j] + A[i, j - 1]


STEPS = (Skew("i", "j", 1), Reorder(("j", "i")))


def test_what_takes_too_long_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polyhedral.schedule, "TRIED", 10)
    assert tried(build(waves.program), *STEPS) is None
    monkeypatch.undo()
    found = tried(build(waves.program), *STEPS)
    assert found is not None
    assert found.pieces[0].names == ("j", "i")


def work_within(operations: int) -> None:
    with limited(operations):
        with limited(10_000_000):
            isl.Set("{ : }")
        isl.Set(WORK).project_out(isl.dim_type.set, 0, 1).coalesce().lexmin()


def test_a_limit_inside_of_another_does_not_end_it() -> None:
    with pytest.raises(TooMuchWork):
        work_within(10)
    assert not isl.Set(WORK).is_empty()
    assert isl.DEFAULT_CONTEXT.get_max_operations() == 0
