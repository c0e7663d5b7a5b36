"""What ranks points knows how soon an iteration of a flattened nest waits for an earlier row."""

from __future__ import annotations

import itertools
import random

import pytest

from backends.devices import device
from dse.evaluators.model import personality_for
from dse.space.costs.cost import cost
from dse.space.nests.nest import Carry
from dse.space.space import space_of
from dsl.builder.program import ProgramBuilder
from dsl.expressions.types import f32
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Pipeline
from polyhedral.codegen.generate import loop_tree
from polyhedral.dependences.carried import carried
from polyhedral.schedule import apply
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.estimate import estimate

TOOL = personality_for(device("xczu9eg"), 10.0)
ROWS, COLUMNS = 12, 8


def rows(scale: int, shift: int) -> Program:
    """Each element is made of one of the row before: column ``scale * c + shift``."""
    p = ProgramBuilder("rows")
    a, w = p.placeholder("L", f32, (ROWS, 64)), p.placeholder("w", f32, (COLUMNS,))
    t, c = p.loops(t=range(1, ROWS), c=COLUMNS)
    p.compute("S", (t, c), a[t, c + 16], a[t - 1, scale * c + shift + 16] * w[c])
    return p.build()


def least(scale: int, shift: int) -> int | None:
    """The fewest iterations between a column and one of the next row that reads it."""
    ahead = [
        COLUMNS + later - first
        for first, later in itertools.product(range(COLUMNS), repeat=2)
        if scale * later + shift == first
    ]
    return min(ahead, default=None)


@pytest.mark.parametrize("seed", range(25))
def test_flow_distances_and_intervals_are_those_of_the_iterations(seed: int) -> None:
    rng = random.Random(seed)
    scale, shift = rng.choice((-1, 0, 1, 2)), rng.randint(0, 7)
    program = rows(scale, shift)
    state = apply(program, Schedule())
    found = [c.flow for c in carried(state, frozenset({"S"})) if c.flow]
    exact = least(scale, shift)
    if exact is None:
        assert found == []
        return
    assert [COLUMNS * t + c for t, c in found] == [exact]
    assert Carry(1, 6, 3, flow=found[0]).around(((ROWS, 1), (COLUMNS, 1))) == min(exact, COLUMNS)
    # About the interval that the model gives, of which ranking knows no ports and no registers.
    (nest,) = space_of(program, TOOL).variants[0].nests
    order = next(o for o in nest.orders if not o.steps)
    one = estimate(kernel_of_tree(loop_tree(apply(program, Schedule((Pipeline("c"),))))), TOOL)
    ranked = cost(nest, order, (1, 1)).interval
    assert abs(ranked - one.loops[-1].ii) <= 2
    assert ranked >= -(-3 // exact)  # a product takes three cycles


def test_accumulators_in_copies_of_one_body_are_wanted_again_in_the_next() -> None:
    turns = Carry(4, 8, 7)
    assert [turns.around(((16, u),)) for u in (1, 2, 4, 8)] == [4, 2, 1, 1]
