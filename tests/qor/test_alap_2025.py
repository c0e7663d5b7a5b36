"""What Vitis HLS 2025.1 does late, or at once, in bodies that wait for a chain (xcu200 at 4 ns: an f64 product
takes 7 states and 8 slices, a sum 6 and 3, a division 29 and none).
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dsl.builder.program import ProgramBuilder
from dsl.expressions.types import f64
from dsl.schedules.steps import Partition, Step, Unroll
from qor_gnn.area.binding import units_of
from qor_gnn.area.control import states_of
from qor_gnn.area.resources import terms_of
from qor_gnn.body.body import Body
from qor_gnn.body.graph import LOAD, STORE
from qor_gnn.design.directives import with_directives
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.fit.labelled.u200_design import source_tree
from qor_gnn.schedule.alap import alap_times, waits_for_use
from qor_gnn.schedule.compose import function_latency
from qor_gnn.schedule.list_schedule import Times
from qor_gnn.schedule.loops import Scope
from qor_gnn.schedule.regions import Region
from qor_gnn.tools.personality import Personality, personality
from tests.support.tools import under

N = 40
TOOL = personality("vitis-2025.1-u200-4ns")


def regions_of(p: ProgramBuilder, tool: Personality, *steps: Step) -> list[Region]:
    kernel = with_directives(kernel_of_tree(source_tree(p.build(), {})), steps)
    return function_latency(Scope(kernel, tool), kernel.functions[0])[1]


def bodies(regions: list[Region], kind: str) -> Iterator[tuple[Body, Times]]:
    for region in regions:
        if region.kind == kind and region.body is not None and region.times is not None:
            yield region.body, region.times
        yield from bodies(region.children, kind)


def stencil() -> ProgramBuilder:
    """The mean of nine neighbours in place: seidel-2d."""
    p = ProgramBuilder("stencil")
    a = p.local("A", f64, (N, N))
    t, i, j = p.loops(t=4, i=range(1, N - 1), j=range(1, N - 1))
    places = [(y, x) for y in (-1, 0, 1) for x in (-1, 0, 1)]
    (y, x), *others = places
    total = a[i + y, j + x]
    for y, x in others:
        total = total + a[i + y, j + x]
    p.compute("S", (t, i, j), a[i, j], total / 9.0)
    return p


def chain() -> ProgramBuilder:
    """Rows of ``q``, whose terms wait for the element before, and a loop behind each: as in adi."""
    p = ProgramBuilder("chain")
    q, x, y = p.local("q", f64, (N, N)), p.local("x", f64, (N, N)), p.local("y", f64, (N, N))
    i, j = p.loops(i=N, j=range(1, N))
    value = x[i, j] * 0.5 + x[i, j - 1] * 0.75 + q[i, j - 1] * 0.25
    p.compute("S", (i, j), q[i, j], value / (q[i, j - 1] + 2.0))
    (k,) = p.loops(k=N)
    p.compute("T", (i, k), y[i, k], q[i, k] + 1.0, after=("S", i))
    return p


def test_a_recurrence_of_what_is_loaded_at_once_has_the_units_that_close_it() -> None:
    # seidel-2d: two adders at interval 46, though 8 sums fit one.
    banks = Partition("A", 0, factor=3), Partition("A", 1, factor=3)
    pipelines = [
        region.pipeline
        for tool in (TOOL, under(TOOL, "binding", loads_used_at_once=False))
        for nest in regions_of(stencil(), tool, *banks)
        for region in (nest, *nest.children)
        if region.pipeline is not None
    ]
    assert [p.units["dadd"] for p in pipelines] == [2, 1]
    assert pipelines[0].interval == pipelines[1].interval > 8


def test_what_waits_for_a_chain_is_done_when_it_is_wanted() -> None:
    ((body, times),) = bodies(regions_of(chain(), TOOL, Unroll("j", N)), "block")
    assert waits_for_use(body)
    found = alap_times(body, times)
    kinds = body.graph.kind
    assert found.states == times.states
    assert all(times.start[n] <= found.start[n] for n in body.nodes)
    assert all(found.start[n] == times.start[n] for n in body.nodes if kinds[n] == STORE)
    for n in body.nodes:
        assert all(found.start[m] + states <= found.start[n] for m, states in body.preds[n])
    used: dict[tuple[int, int], int] = {}
    for n, taken in body.ports.items():
        for port, capacity in taken if kinds[n] == LOAD else ():
            used[port, found.start[n]] = used.get((port, found.start[n]), 0) + 1
            assert used[port, found.start[n]] <= capacity
    # Two products of an element may start together, all of the row's may not.
    moved = [n for n in body.nodes if kinds[n] == "mul" and found.start[n] > times.start[n]]
    assert len(moved) > N


def test_a_block_that_waits_has_few_units_and_registers() -> None:
    amounts = []
    for tool in (TOOL, under(TOOL, "accesses", sequential="asap")):
        regions = regions_of(chain(), tool, Unroll("j", N))
        units = units_of(regions)
        ff = terms_of([regions], units).ff
        amounts.append((units["dmul"], units["dadd"], ff["results"] + ff["loaded"]))
    ours, theirs = amounts
    assert ours[0] <= theirs[0]
    assert ours[1] <= theirs[1]
    assert ours[2] < theirs[2] / 4


def test_a_body_with_accumulators_or_unknown_banks_does_not_wait() -> None:
    p = ProgramBuilder("sum")
    x, s = p.local("x", f64, (N,)), p.local("s", f64)
    (j,) = p.loops(j=N)
    p.compute("S", (j,), s, s + x[j])
    tool = under(TOOL, "directives", auto_pipeline=False)
    ((body, _),) = bodies(regions_of(p, tool), "sequential")
    assert not waits_for_use(body)
    ((plain, _),) = bodies(
        regions_of(chain(), under(TOOL, "accesses", sequential="asap"), Unroll("j", N)), "block"
    )
    assert not waits_for_use(plain)


@pytest.mark.parametrize("once", [True, False])
def test_the_states_of_a_block_in_front_of_a_loop(once: bool) -> None:
    tool = under(TOOL, "composition", blocks="overlapped" if once else "raised")
    (nest,) = regions_of(chain(), tool, Unroll("j", N))
    block, loop = nest.children
    assert (block.kind, loop.kind) == ("block", "pipeline")
    assert block.times is not None
    assert loop.prologue >= block.latency > N * 29
    both = nest.prologue + 1 + states_of(block) + states_of(loop)
    assert states_of(nest) == both - (block.times.states if once else 0)
