"""Schedules keep what they must: operands, ports and units, in every state and every interval."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from dsl.builder import ProgramBuilder
from dsl.schedule import ScheduleBuilder
from dsl.types import f32
from qor_gnn.compose import function_latency
from qor_gnn.loops import Scope
from qor_gnn.personality import personality
from qor_gnn.region import Kernel
from qor_gnn.regions import Region
from tests.qor.designs import column_sums, matrix_vector, prefix, region_tree, scale

BUILDERS = (matrix_vector, column_sums, scale)
TOOLS = ("vitis-2022.1-zu9eg-10ns", "vitis-2023.2-u280-3.33ns")


def random_design(rng: random.Random) -> Kernel:
    p = rng.choice(BUILDERS)(32)
    s = ScheduleBuilder()
    loop = rng.choice(["i", "j", "j"])
    if rng.random() < 0.7:
        s.pipeline(loop, rng.choice([1, 1, 2, 5]))
    s.unroll("j", rng.choice([2, 4, 8]))
    if rng.random() < 0.5 and loop == "j":
        s.unroll("i", 2)
    for array in (a for a in p.build().arrays if a.shape):
        for dim in range(len(array.shape)):
            s.partition(array.name, dim, rng.choice(["cyclic", "block"]), rng.choice([1, 2, 4, 8]))
    return region_tree(p, s)


def scheduled(kernel: Kernel, tool: str) -> list[Region]:
    pending = []
    for function in kernel.functions:
        pending += function_latency(Scope(kernel, personality(tool)), function)[1]
    found = []
    while pending:
        region = pending.pop()
        pending += region.children
        if region.body is not None:
            found.append(region)
    return found


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("seed", range(40))
def test_constraints_hold(seed: int, tool: str) -> None:
    for region in scheduled(random_design(random.Random(seed)), tool):
        body, times = region.body, region.times
        assert body is not None
        assert times is not None
        assert set(times.start) == set(body.nodes)
        interval = region.pipeline.interval if region.pipeline else times.states
        taken: Counter[tuple[int, int]] = Counter()
        capacity = {}
        units: Counter[tuple[str, int]] = Counter()
        for n in body.nodes:
            for before, states in body.preds[n]:
                assert times.start[n] >= times.start[before] + states
            for resource, limit in body.ports.get(n, ()):
                taken[resource, times.start[n] % interval] += 1
                capacity[resource] = limit
            operator = body.graph.operator[n]
            if operator is not None and region.pipeline is not None:
                units[operator.core, times.start[n] % interval] += 1
            assert times.start[n] + body.last(n) <= times.states
        assert all(count <= capacity[resource] for (resource, _), count in taken.items())
        if region.pipeline is not None:
            assert all(n <= region.pipeline.units[core] for (core, _), n in units.items())


@pytest.mark.parametrize("seed", range(20))
def test_no_interval_is_below_what_ports_allow(seed: int) -> None:
    for region in scheduled(random_design(random.Random(100 + seed)), TOOLS[0]):
        if region.pipeline is None:
            continue
        assert region.body is not None
        uses: Counter[int] = Counter()
        for taken in region.body.ports.values():
            uses.update(resource for resource, _ in taken)
        assert region.pipeline.interval >= max(uses.values(), default=1)
        assert region.pipeline.interval == region.pipeline.limits[0].interval


def test_a_value_that_a_later_iteration_loads_is_stored_in_time() -> None:
    s = ScheduleBuilder()
    s.pipeline("i")
    (region,) = scheduled(region_tree(prefix(2), s), TOOLS[0])
    assert region.body is not None
    assert region.times is not None
    assert region.pipeline is not None
    (store,) = region.body.store_value.values()
    load = next(n for n in region.body.nodes if region.body.graph.kind[n] == "load")
    start = region.times.start
    assert start[store] + 1 <= start[load] + 2 * region.pipeline.interval


def test_an_old_value_is_read_before_it_is_overwritten() -> None:
    p = ProgramBuilder("shift")
    (i,) = p.loops(i=8)
    a, b, c = (p.placeholder(name, f32, (8,)) for name in "abc")
    p.compute("S", (i,), c[i], a[i])
    p.compute("T", (i,), a[i], 1.0, after=("S", i))
    p.compute("U", (i,), b[i], c[i] * 2.0, after=("T", i))
    (region,) = scheduled(region_tree(p), TOOLS[0])
    assert region.body is not None
    assert region.times is not None
    graph, start = region.body.graph, region.times.start
    loads = {graph.address[n]: n for n in region.body.nodes if graph.kind[n] == "load"}
    both = [(loads[x], s) for x, s in region.body.store_value.items() if x in loads]
    assert len(both) == 1
    assert all(start[load] <= start[store] for load, store in both)
