"""How much less is planned with after a design that was over a limit."""

from __future__ import annotations

import pytest

from dse.evaluators.base import Limits, Result, Status
from dse.strategies.spend import on_line


def took(ff: int, lut: int = 0) -> Result:
    return Result(Status.OK, latency=1.0, resources={"ff": ff, "lut": lut, "dsp": 10})


@pytest.mark.parametrize(
    ("more", "fewer", "limit", "planned", "wanted"),
    [
        # Half of it is there whatever is planned with: 500 of each slice, 50,000 besides.
        ((100, took(100_000)), (80, took(90_000)), 80_000, (), 60),
        ((100, took(100_000)), (80, took(80_000)), 40_000, (), 40),  # all of it grows
        ((100, took(90_000)), (80, took(90_000)), 80_000, (), float("inf")),  # nothing is known
        ((100, took(100_000)), (100, took(90_000)), 80_000, (), float("inf")),
        ((100, took(100_000)), (80, took(70_000)), 80_000, (), float("inf")),  # it keeps to it
        ((100, took(100_000)), (80, took(90_000)), 80_000, ("ff",), float("inf")),  # planned with
    ],
)
def test_what_does_not_grow_with_the_plan_is_left_out(more, fewer, limit, planned, wanted):
    limits = Limits({"ff": limit, "lut": 1000, "dsp": 100})
    assert on_line(more, fewer, limits, planned) == pytest.approx(wanted)
