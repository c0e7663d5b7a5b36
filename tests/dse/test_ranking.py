"""What ranks the points of a search says what the exact model says, from few of its schedules."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import weft
from benchmarks.ranking import drawn
from dse.estimates.estimation import ranked, setting
from dse.ranking.composed import Composed
from dse.ranking.memories import Memories
from dse.ranking.places import plan_of
from dse.ranking.structures import structure
from dse.ranking.templates import Template
from dse.ranking.unrolled import asked_of, band_of, sides_of, unrolled
from dse.space.costs.cost import cost
from dse.space.space import space_of
from dse.strategies.estimates import Estimates
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import BindOp, Buffer, Distribute, Reorder, Split
from polyhedral.codegen.generate import loop_tree
from polyhedral.looptree.tree import LoopTree
from polyhedral.schedule import apply, completed
from qor_gnn.design.from_tree import kernel_of_tree
from tests.support.amount import sample

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
TOOLS = ("vitis-2022.1-zu9eg-10ns", "vitis-2023.2-u280-3.33ns", "vitis-2025.1-u200-4ns")
KERNELS = {
    "gemm": ("polybench/gemm.py", "mini"),
    "atax": ("polybench/atax.py", "mini"),
    "jacobi_2d": ("polybench/jacobi_2d.py", "mini"),
    "trmm": ("polybench/trmm.py", "mini"),
}
COPIES = 12
POINTS = 5
TRIES = 1000  # points drawn, of which those with a schedule count


def program_of(name: str) -> Program:
    path, size = KERNELS[name]
    return weft.load(f"{EXAMPLES / path}:{name}").at(size).program


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("name", sample([*KERNELS], 2))
def test_random_points_take_what_the_model_says(name: str, tool: str) -> None:
    """Cycles within 1% and DSP within 5% on nearly all points; none far away."""
    where = setting(tool, None, None)
    space = space_of(program_of(name), where.tool, reassociate=True)
    estimates = Estimates(space)
    near, total = 0, 0
    for point in drawn(space, random.Random(name), TRIES, COPIES):
        schedule = space.schedule(point)
        if schedule is None:
            continue
        exact = ranked(apply(space.program, schedule), schedule, where).answer
        found = estimates.figures(point)
        cycles = found.cycles / exact.latency.average
        dsp = max(1.0, found.dsp) / max(1, exact.dsp)
        assert 0.6 < cycles < 1.7, (point, found, exact.latency.average)
        near += abs(cycles - 1) < 0.01 and abs(dsp - 1) < 0.05
        total += 1
        if total == POINTS:
            break
    assert near >= POINTS - 1, f"{near} of {total}"


@pytest.mark.parametrize("name", ["gemm"])
def test_nests_without_isl_are_those_that_the_steps_make(name: str) -> None:
    """Blocks, copies, remainders and guards: the region tree is equal to that of isl's loops."""
    where = setting(TOOLS[1], None, None)
    space = space_of(program_of(name), where.tool, reassociate=True)
    rng = random.Random(name)
    kinds: set[str] = set()
    compared = 0
    for point in drawn(space, rng, TRIES, COPIES):
        variant = space.variants[point.variant]
        schedule = space.schedule(point)
        if schedule is None or any(not n.orders[0].band or n.around for n in variant.nests):
            continue
        if any(loop.inner for nest in variant.nests for loop in nest.orders[0].loops):
            continue  # of these a template has the copies of inner loops already
        exact = loop_tree(apply(space.program, schedule))
        nodes = []
        for n, (nest, picked) in enumerate(zip(variant.nests, point.choices, strict=True)):
            order = nest.orders[picked.order]
            state = apply(space.program, Schedule((*variant.steps, *order.steps)))
            tree = loop_tree(state)
            plan = plan_of(tree.body, variant.nests)
            assert plan is not None
            names = [loop.name for loop in order.band]
            band = band_of(tree.body[plan.index(n)], names)
            assert band is not None
            tail = cost(nest, order, picked.vector).tail
            asked = asked_of(order, picked.vector, tail, picked.ii)
            sides = sides_of(order, picked.vector, tail)
            kinds |= {tail} if len(sides) > 1 or any(s.guarded for s in sides[0]) else {"even"}
            nodes += [node for each in sides for node in unrolled(band, each, asked)]
        own = LoopTree(exact.program, tuple(nodes), exact.partitions, operators=exact.operators)
        assert kernel_of_tree(own) == kernel_of_tree(exact), point
        compared += 1
        if compared == 15:
            break
    assert kinds == {"even", "remainder", "guard"}


def test_one_schedule_stands_for_all_factors_of_independent_loops() -> None:
    """Copies that do the same beside one another are not scheduled anew."""
    where = setting(TOOLS[0], None, None)
    space = space_of(program_of("gemm"), where.tool)
    nest = len(space.variants[0].nests) - 1
    order = next(o for o in space.variants[0].nests[nest].orders if not o.loops[-1].carries)
    number = space.variants[0].nests[nest].orders.index(order)
    composed = Composed(space.variants[0], space.program, space.tool)
    even = [u for u in order.loops[-1].factors if (order.loops[-1].extent or 0) % u == 0][:-1]
    states = []
    for u in even:
        vector = (*order.plain[:-1], u)
        piece = composed.nests.piece(nest, (number, vector, 1), Memories())
        assert piece is not None
        states.append(piece.states)
    assert states == sorted(states, reverse=True)
    template = composed.nests.template(nest, number)
    assert template is not None
    assert len(template.known) <= 3


@pytest.mark.parametrize("name", ["gemm", "atax"])
@pytest.mark.parametrize("tool", TOOLS[:2])
def test_banks_that_a_schedule_does_not_see_change_nothing_in_it(tool: str, name: str) -> None:
    """Relatives that share a schedule would have an equal one of their own; some do share one, and not all: none where
    neighbours in any number of banks are told apart.
    """
    space = space_of(program_of(name), setting(tool, None, None).tool, reassociate=True)
    composed = Composed(space.variants[0], space.program, space.tool)
    rng = random.Random(f"{tool} {name}")
    first: set[int] = set()
    shared = []
    for n, nest in enumerate(space.variants[0].nests):
        for number, order in enumerate(nest.orders[:2]):
            template = composed.nests.template(n, number)
            assert template is not None
            for _ in range(40):
                vector = tuple(rng.choice(loop.factors[:2]) for loop in order.loops)
                arrays = template.relatives.arrays
                places = [*zip(arrays.places, arrays.extents, strict=True)]
                few = rng.sample(places, min(2, len(places)))
                banks = {place: rng.choice((1, 2, 3, extent)) for place, extent in few}
                composed.nests.piece(n, (number, vector, 1), Memories.of(banks))
            for relative, found in template.known.items():
                if id(found) in first:
                    shared.append((template, relative))
                first.add(id(found))
    assert len(first) >= 10
    assert bool(shared) is not space.tool.banks.rotating
    for template, relative in rng.sample(shared, min(30, len(shared))):
        assert template._schedule(relative) == template.known[relative], relative


def test_variants_share_the_schedules_of_nests_that_they_have_in_common() -> None:
    """A nest of two variants, which differ elsewhere, is scheduled once."""
    space = space_of(program_of("gemm"), setting(TOOLS[1], None, None).tool, reassociate=True)
    shared: dict[object, Template] = {}
    composed = [Composed(v, space.program, space.tool, shared) for v in space.variants]
    bound = next(
        n for n, v in enumerate(space.variants) if any(isinstance(s, BindOp) for s in v.steps)
    )
    steps = [{type(step) for step in space.variants[n].steps} - {BindOp} for n in (0, bound)]
    assert steps[0] == steps[1]  # they differ in what sums are made of
    first, last = (composed[k].nests.template(0, 0) for k in (0, bound))
    assert first is last is not None
    first, last = (composed[k].nests.template(1, 0) for k in (0, bound))
    assert first is not last


def test_a_structure_that_is_gone_on_with_is_the_schedule_as_a_whole():
    program = program_of("gemm")
    start = (Buffer("A", name="A_chip"), Distribute(("S1",)), Split("S1.j", 4, tail="guard"))
    rest = (Reorder(("S1.j_0", "S1.k", "S1.j_1")),)
    for _again in range(2):  # the second time it is known
        found = completed(structure(program, start), rest)
        assert loop_tree(found) == loop_tree(apply(program, Schedule((*start, *rest))))
    other = completed(structure(program, start), ())
    assert loop_tree(other) == loop_tree(apply(program, Schedule(start)))
