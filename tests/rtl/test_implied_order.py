"""Order that other order implies is left out, and schedules keep it all the same."""

import random
from functools import partial

import pytest

from backends.rtl.front.lower import graph_of
from backends.rtl.graph import Loop, Pipeline
from backends.rtl.operators.library import spec
from backends.rtl.schedule.edge import Edge
from backends.rtl.schedule.implied import necessary
from backends.rtl.schedule.normal import normalise
from backends.rtl.schedule.problem import order
from backends.rtl.schedule.regions import Target, pipeline
from backends.rtl.schedule.timing import Fabric
from mlir_passes.pipeline import compile_design
from tests.support.random_recurrences import random_directives, random_recurrence


def random_order(seed: int) -> tuple[int, list[tuple[int, int, int]], list[Edge]]:
    """Operations in a line, what they use, and far more order than there need be."""
    rng = random.Random(seed)
    size = rng.randint(3, 14)
    pairs = [(a, b) for a in range(size) for b in range(a + 1, size)]
    uses = [(a, b, rng.randint(0, 3)) for a, b in rng.sample(pairs, len(pairs) // 4)]
    edges = {}
    while len(edges) <= 4 * size:
        distance = rng.choice((0, 0, 1, 1, 2))
        a, b = rng.choice(pairs) if distance == 0 else (rng.randrange(size), rng.randrange(size))
        edges[a, b, distance] = Edge(a, b, rng.randint(0, 2), distance)
    return size, uses, list(edges.values())


def earliest(
    size: int, uses: list[tuple[int, int, int]], edges: list[Edge], release: list[int], ii: int
) -> list[int] | None:
    """The least starts, by relaxation until nothing changes; none where they grow for ever."""
    start = list(release)
    steps = [*uses, *((e.src, e.dst, e.latency - ii * e.distance) for e in edges)]
    for _ in range(size + 1):
        changed = False
        for a, b, cycles in steps:
            if start[a] + cycles > start[b]:
                start[b], changed = start[a] + cycles, True
        if not changed:
            return start
    return None


def test_starts_are_the_same_without_what_is_implied():
    left_out = bounded = 0
    for seed in range(400):
        size, uses, edges = random_order(seed)
        kept = necessary(size, uses, edges)
        assert set(kept) <= set(edges)
        left_out += len(edges) - len(kept)
        rng = random.Random(seed)
        for ii in (1, 2, 3, 5, 9, 20):
            release = [rng.choice((0, 0, 0, 4, 11)) for _ in range(size)]
            least = earliest(size, uses, edges, release, ii)
            assert earliest(size, uses, kept, release, ii) == least, (seed, ii)
            bounded += least is not None
    assert left_out > 5_000
    assert bounded > 1_000


def test_of_two_edges_that_imply_each_other_at_one_interval_none_is_left_out():
    uses = [(0, 1, 0), (1, 2, 0)]
    round_trip = [Edge(2, 0, 2, 1), Edge(2, 1, 2, 1), Edge(2, 2, 2, 1)]
    many = [Edge(a, b, 0, d) for a in range(3) for b in range(3) for d in (2, 3)]
    kept = necessary(3, uses, [*round_trip, *many])
    assert [e for e in kept if e.distance == 1] == [Edge(2, 0, 2, 1)]


def pipelines(region) -> list[Pipeline]:
    if isinstance(region, Loop):
        return [p for r in region.body for p in pipelines(r)]
    return [region] if isinstance(region, Pipeline) else []


@pytest.mark.parametrize("seed", [1002672, 1005424, 5004592, 5006160, 5006320])
def test_iterations_that_wait_for_each_other_in_many_ways(seed):
    """Starts crept up for minutes where an interval had no schedule, and order was thousands."""
    program = random_recurrence(seed)
    schedule, _ = random_directives(random.Random(seed), program)
    graph = normalise(graph_of(compile_design(program, schedule).module))
    given = Target(10.0, Fabric(), partial(spec, period_ns=10.0))
    found = [p for region in graph.body for p in pipelines(region)]
    assert found
    for region in found:
        result = pipeline(graph, region.block, region.ii, given)
        for edge in order(graph, region.block, {}, carried=True):
            begin = result.start[edge.src] + edge.latency - result.ii * edge.distance
            assert begin <= result.start[edge.dst]
