"""Bodies are made once for all trip counts, and asked the same of as when each is made anew."""

from __future__ import annotations

import random

import pytest

import weft
from dsl.expressions.affine import Affine, Constraint
from dsl.schedules.schedule import ScheduleBuilder
from polyhedral.codegen.generate import loop_tree
from polyhedral.schedule import apply
from qor_gnn.body.guarded_values import undecided
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.design.region import Guard, Mode
from qor_gnn.estimate import estimate
from qor_gnn.schedule.automatic_directives import automatic
from qor_gnn.schedule.compose import function_latency
from qor_gnn.schedule.loops import Scope
from qor_gnn.tools.personality import Personality, available, personality
from weft import f32

N = 24
HLS = [personality(name) for name in available() if not personality(name).is_open]
MODES: tuple[Mode, ...] = ("average", "minimum", "maximum")


@weft.kernel
def triangle(A: f32[N, N], B: f32[N, N], x: f32[N]):
    for i in range(N):
        x[i] = 2.0 * A[i, i]
        for j in range(i + 1):
            B[i, j] = A[i, j] * x[i]
            for k in range(j + 1):
                B[i, j] += A[i, k] * A[j, k]
        x[i] = x[i] + B[i, i]


STEPS = {
    "as written": ScheduleBuilder().build(),
    "copies": ScheduleBuilder().pipeline("k").unroll("k", 3).build(),
    "no pipeline": ScheduleBuilder().sequential("k").build(),
}


def regions(steps: str):
    return kernel_of_tree(loop_tree(apply(triangle.program, STEPS[steps])))


@pytest.mark.parametrize("tool", HLS, ids=lambda tool: tool.version)
@pytest.mark.parametrize("steps", STEPS)
def test_a_design_takes_what_it_takes_with_bodies_of_each_trip_count_by_itself(
    steps: str, tool: Personality
) -> None:
    found = estimate(regions(steps), tool).latency
    alone = automatic(regions(steps), tool)
    (function,) = alone.functions
    average, least, most = (
        function_latency(Scope(alone, tool, mode), function)[0] for mode in MODES
    )
    assert (found.average, found.minimum, found.maximum) == (average - 1, least - 1, most - 1)
    assert least < average < most


def test_guards_are_decided_as_by_replacing_one_after_the_other() -> None:
    rng = random.Random(0)
    decided = 0
    for _ in range(300):
        env = {"i": _affine(rng, "p", "q", "@c"), "j": _affine(rng, "p", "@d")}
        copies = {"@c": rng.randrange(4), "@d": rng.randrange(4)}
        expr = _affine(rng, *"ijp")
        if rng.random() < 0.3:
            expr = expr + _affine(rng, *"ij") // 3
        one = Constraint(expr, rng.choice((">=", "==")))
        placed = expr.substitute(env).substitute({v: Affine.of(n) for v, n in copies.items()})
        found = undecided(Guard((one,), ()), env, copies, set())
        if placed.is_const:
            decided += 1
            assert found == (
                [] if (one.kind == ">=" and placed.const >= 0) or not placed.const else None
            )
        else:
            assert found == [placed]
    assert decided > 20


def _affine(rng: random.Random, *names: str) -> Affine:
    found = Affine.of(rng.randrange(-3, 4))
    for name in names:
        if rng.random() < 0.6:
            found = found + Affine.of(name) * rng.randrange(-2, 3)
    return found
