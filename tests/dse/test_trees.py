"""Sums that may be reassociated are trees where the tool builds them; nests of variable extent."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.devices import device
from backends.verify import verify_many
from dse.bounds.bounds import bounds, work_of
from dse.evaluators.base import Limits, Request, Result, Status, device_limits, judged
from dse.evaluators.model import ModelEvaluator, personality_for
from dse.space.costs.cost import cost
from dse.space.nests.nest import Carry
from dse.space.space import Point, space_of
from dse.strategies.auto import solved
from dse.strategies.search import evaluated
from dse.strategies.solve import solve
from dsl.kernels.loader import load_kernels
from dsl.programs.program import Program
from dsl.schedules.steps import Buffer, Reassociate
from mlir_passes.pipeline import compile_design
from tests.support.amount import sample

EXAMPLES = Path(__file__).resolve().parents[2] / "examples/polybench"
BOARD, CLOCK = device("xcu280"), 3.33
TOOL = personality_for(BOARD, CLOCK)


def program(name: str, size: str = "medium") -> Program:
    return load_kernels(EXAMPLES / f"{name}.py")[name].at(size).program


def fastest(name: str, budget: int, reassociate: bool) -> Result:
    kernel = program(name)
    space = space_of(kernel, TOOL, reassociate)
    limits = Limits({"dsp": budget})

    def evaluate(point: Point) -> Result:
        schedule = space.schedule(point)
        assert schedule is not None
        request = Request(kernel, schedule, BOARD, CLOCK)
        return judged(ModelEvaluator().evaluate(request), limits)

    trials = evaluated(solved(space, budget, limits, 1, {}), evaluate)
    fits = [t.result for t in trials if t.result.status is Status.OK]
    return min(fits, key=lambda r: r.latency or 0.0)


def test_more_terms_of_a_tree_cost_a_level_and_of_a_chain_an_addition_each():
    tree, chain = Carry(1, 8, 7, tree=True), Carry(1, 8, 7)
    assert [tree.links(n) for n in (1, 2, 3, 4, 7, 8)] == [0, 7, 7, 14, 14, 21]
    assert [chain.links(n) for n in (1, 2, 4)] == [0, 7, 21]
    assert tree.links(4, guarded=True) == chain.links(4)
    assert Carry(4, 8, 7, tree=True).links(8) == 7  # two turns of the copies


@pytest.mark.parametrize("name", ["atax", "gesummv"])
def test_with_reassociation_small_products_use_a_large_budget(name):
    strict, free = (fastest(name, 2560, r).latency for r in (False, True))
    assert strict is not None
    assert free is not None
    assert free < 0.7 * strict


def test_no_sum_is_a_tree_unless_the_schedule_allows_it():
    kernel = program("atax", "mini")
    strict, free = space_of(kernel, TOOL), space_of(kernel, TOOL, reassociate=True)
    assert not any(isinstance(step, Reassociate) for step in strict.variants[0].steps)
    assert any(isinstance(step, Reassociate) for step in free.variants[0].steps)
    for space, trees in ((strict, False), (free, True)):
        orders = [o for nest in space.variants[0].nests for o in nest.orders]
        carries = [c for o in orders for loop in o.loops for c in loop.carries]
        assert carries
        assert all(c.tree == trees for c in carries)


def test_what_the_pipeline_does_not_move_needs_no_units_of_its_own():
    # alpha * A[i, k] is the same along j, the innermost loop of variable extent.
    space = space_of(program("syrk"), TOOL, reassociate=True)
    nest = space.variants[0].nests[1]
    order = next(o for o in nest.orders if [loop.name for loop in o.loops] == ["i", "k", "j"])
    found = cost(nest, order, (1, 8, 1))
    assert {core: n for core, _, n in found.units} == {"fadd": 8, "fmul": 8}


# trmm (492,613) is a row of `benchmarks.dse_quality`: one of its designs has thousands of statements, and takes a minute.
@pytest.mark.parametrize(("name", "allo"), [("syrk", 293_543)])
def test_triangles_are_filled_and_drained_seldom(name, allo):
    found = fastest(name, 220, reassociate=True)
    assert found.latency is not None
    assert found.latency <= allo
    limit = bounds(work_of(program(name), TOOL, reassociate=True), TOOL, 220)
    assert limit.cycles <= found.latency
    assert not device_limits(BOARD).excess(found)


@pytest.mark.parametrize("name", sample(["gemm", "trmm", "mvt", "gesummv", "syr2k", "bicg"], 2))
def test_designs_with_trees_and_sums_in_logic_compute_what_the_program_does(name):
    kernel = program(name, "mini")
    space = space_of(kernel, TOOL, reassociate=True)
    designs, plain = [], 0
    for number, variant in enumerate(space.variants):
        found = solve(space, number, 150, width=2)
        schedule = space.schedule(found[0].point) if found else None
        if schedule is not None and variant.name.startswith("distributed"):
            designs.append(schedule)
            changed = any(isinstance(s, Buffer) for s in schedule) or "rectangles" in variant.name
            plain += not changed
    # Sums in DSP slices, and in logic; some kernels have elements kept in registers or rectangles besides.
    assert plain == 2
    for result in verify_many([compile_design(kernel, schedule) for schedule in designs]):
        assert result.ok, result
        assert (result.jit.status, result.cxx.status) == ("ok", "ok")
