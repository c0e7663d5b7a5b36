"""Recurrences whose values go to all iterations behind, and running sums whose blocks do not divide the loop."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft
from backends.devices import device
from dse.evaluators.base import Request, device_limits, judged
from dse.evaluators.model import ModelEvaluator, personality_for
from dse.space.space import Space, space_of
from dse.strategies.certain import certain
from dse.strategies.estimates import Estimates
from dse.strategies.fabric import fabric_budget
from dsl.schedules.recurrence_steps import Scan
from dsl.schedules.steps import Buffer, Reorder
from weft import i16, i32, u8

CHIP = "xc7z020"


@weft.kernel
def rising(x: i16[24], length: u8[24]):
    for i in range(24):
        length[i] = 1
        for j in range(i):
            length[i] = max(length[i], length[j] + 1 if x[j] < x[i] else 1)


@weft.kernel
def running(x: i32[75], y: i32[75]):
    y[0] = x[0]
    for i in range(1, 75):
        y[i] = y[i - 1] + x[i]


def space(kernel: weft.Kernel) -> Space:
    return space_of(kernel.program, personality_for(device(CHIP), 10.0), reassociate=True)


def test_what_is_known_goes_to_all_that_come_after() -> None:
    found = [v for v in space(rising).variants if v.certain]
    assert found
    for variant in found:
        steps = {type(step): step for step in variant.steps}
        assert steps[Reorder] == Reorder(("S1.j", "S1.i"))
        assert isinstance(steps[Buffer], Buffer)
        assert (steps[Buffer].at, steps[Buffer].access) == ("S1.j", "length[j]")
        # Which element the next iteration of j begins with is known when all have it.
        bands = [x for n in variant.nests for o in n.orders for x in o.loops if x.name == "j"]
        assert all(loop.most == 1 for loop in bands if loop.carries)


def test_such_a_structure_has_a_trial() -> None:
    own = space(rising)
    limits = device_limits(device(CHIP), 0.8)
    search = certain(own, limits.resources["dsp"], fabric_budget(Estimates(own), limits))
    (point,) = next(search)
    assert own.variants[point.variant].certain
    schedule = own.schedule(point)
    assert schedule is not None
    found = ModelEvaluator().evaluate(Request(rising.program, schedule, device(CHIP), 10.0))
    with pytest.raises(StopIteration):
        search.send((judged(found, limits),))
    plain = space(running)
    assert not any(v.certain for v in plain.variants)
    assert not list(certain(plain, 100, fabric_budget(Estimates(plain), limits)))


def test_a_short_search_finds_it(tmp_path: Path) -> None:
    result = weft.explore(
        rising, device=CHIP, share=0.8, trials=3, evaluator="model", out=tmp_path / "run"
    )
    # Two cycles an iteration of j, and what clears the lengths: with i outermost each row waits for all above it (742).
    assert result.best().latency < 3 * 24


def test_blocks_that_do_not_divide_have_both_forms() -> None:
    tails = {
        (step.factor, step.tail)
        for v in space(running).variants
        for step in v.steps
        if isinstance(step, Scan)
    }
    both = {(n, tail) for n in (4, 8, 16, 32) for tail in ("remainder", "guard")}
    assert tails == both  # 74 iterations
