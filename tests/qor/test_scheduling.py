"""The list scheduler does what trying every ready operation in every state would do, and soon."""

from __future__ import annotations

import heapq
import random
import time

import pytest

from dse.estimates import estimation
from dse.estimates.estimation import estimated, setting
from dsl.errors.errors import WeftError
from dsl.kernels.loader import load
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from qor_gnn.schedule import list_schedule as scheduling
from qor_gnn.schedule.list_schedule import Times, priorities
from tests.examples.discovery import ROOT
from tests.support.random_programs import random_program
from tests.support.random_schedules import random_walk

TOOLS = ("vitis-2022.1-zu9eg-10ns", "vitis-2023.2-u280-3.33ns", "vitis-2025.1-u200-4ns")


class Everything(scheduling._ListScheduler):
    """In each state every operation that is ready is tried, as often as it takes."""

    def run(self) -> Times | None:
        body, height = self.body, priorities(self.body)
        waiting = {n: len(body.preds[n]) for n in body.nodes}
        earliest = dict.fromkeys(body.nodes, 0) | body.ready
        at, states, left = 0, 0, set(body.nodes)
        while left:
            ready = [(-height[n], n) for n in left if not waiting[n] and earliest[n] <= at]
            heapq.heapify(ready)
            while ready:
                n = heapq.heappop(ready)[1]
                if not self._take(n, at):
                    if self.interval is not None and at - earliest[n] >= self.interval:
                        return None
                    continue
                self.start[n] = at
                left.discard(n)
                states = max(states, at + body.lengths[n])
                for after, distance in body.succs[n]:
                    earliest[after] = max(earliest[after], at + distance)
                    waiting[after] -= 1
                    if not waiting[after] and earliest[after] <= at:
                        heapq.heappush(ready, (-height[after], after))
            at += 1
        return Times(self.start, states, self.offset)


@pytest.fixture
def compared(monkeypatch):
    """How often both schedulers were asked, and how often nothing fits."""
    seen = {"bodies": 0, "none": 0}
    quick = scheduling._ListScheduler.run

    def run(self):
        slow = Everything(self.body, self.interval, self.units).run()
        found = quick(self)
        assert found == slow
        seen["bodies"] += 1
        seen["none"] += found is None
        return found

    monkeypatch.setattr(scheduling._ListScheduler, "run", run)
    estimation._estimate.cache_clear()  # other tests have estimated some of the designs
    return seen


def test_as_if_everything_were_tried(compared):
    for seed in range(30):
        program = random_program(seed)
        schedule = random_walk(random.Random(seed), program, 3, 6).schedule
        try:
            estimated(program, schedule, setting(TOOLS[seed % 3], None, None))
        except WeftError:
            continue
    for name in ("gemm", "heat_3d", "covariance"):
        kernel = load(f"{ROOT}/examples/polybench/{name}.py:{name}").at("mini")
        for schedule in (Schedule(), *kernel.schedules.values()):
            for tool in TOOLS:
                estimated(kernel.program, schedule, setting(tool, None, None))
    assert compared["bodies"] > 150


@pytest.mark.parametrize("tool", TOOLS)
def test_many_accesses_that_wait_for_one_memory_take_no_time(tool):
    kernel = load(f"{ROOT}/examples/polybench/covariance.py:covariance").at("small")
    s = ScheduleBuilder()
    for loop in ("S0.j", "S1.j", "S1.i", "S2.j"):  # 8,000 accesses, two a cycle
        s.unroll(loop)
    begun = time.process_time()
    found = estimated(kernel.program, s.build(), setting(tool, None, None))
    assert time.process_time() - begun < 10  # seconds; trying all in each state takes minutes
    assert found.answer.latency.average > 4000
