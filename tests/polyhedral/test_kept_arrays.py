"""What is asked of an array that a later step replaces is refused, where that step stands."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import weft
from dsl.errors.errors import ScheduleError
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from polyhedral.schedule import apply
from weft import i16


@weft.kernel
def sums(x: i16[4], y: i16[4]):
    for r in range(4):
        t: i16[3] = 0
        for i in range(3):
            t[i] = x[r] + i
        y[r] = t[0] + t[1] + t[2]


ASKED: dict[str, Callable[[ScheduleBuilder], object]] = {
    "partition": lambda s: s.partition("t", 0, "cyclic", 3),
    "auto_partition": lambda s: s.auto_partition("t"),
    "bind_storage": lambda s: s.bind_storage("t", "ram_2p", "lutram"),
    "reshape": lambda s: s.reshape("t", 0, "cyclic", 3),
}


@pytest.mark.parametrize(("kind", "ask"), ASKED.items())
def test_requests_come_behind_what_replaces_an_array(
    kind: str, ask: Callable[[ScheduleBuilder], object]
) -> None:
    builder = ScheduleBuilder()
    ask(builder)
    builder.expand("t", "r")
    steps = builder.build().steps
    with pytest.raises(ScheduleError) as caught:
        apply(sums.program, Schedule(steps))
    text = caught.value.render()
    assert f"error[W223]: {kind} is asked of 't', which expand replaces" in text
    assert f"help: put {kind} behind expand, and ask it of 't_x'" in text
    assert apply(sums.program, Schedule(steps[1:])).scop.program.array("t_x").shape == (4, 3)
