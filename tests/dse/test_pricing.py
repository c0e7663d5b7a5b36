"""What pricing keeps of an order gives what its rules say of each vector."""

from __future__ import annotations

import random
from dataclasses import replace
from math import ceil, prod

import pytest

import weft
from dse.space.costs.cost import cost, dsp_of, sharing_interval
from dse.space.memory.banks import port_interval
from dse.space.nests.nest import Nest, Order, Vector
from dse.space.space import space_of
from dse.strategies.ladder import vectors
from dse.strategies.options import Options
from qor_gnn.tools.personality import personality
from weft import f32

TOOL = personality("vitis-2023.2-u280-3.33ns")


@weft.kernel
def product(A: f32[12, 9], B: f32[9, 10], C: f32[12, 10]):
    for i, j, k in weft.grid(12, 10, 9):
        C[i, j] += A[i, k] * B[k, j]


@weft.kernel
def triangle(A: f32[12, 12], x: f32[12], y: f32[12]):
    for i in range(12):
        for j in range(i + 1):
            y[i] += A[i, j] * x[j]


@weft.kernel
def skewed(w: f32[32], T: f32[32, 64]):
    for p in range(32):
        for q in range(32):
            T[q, q + p] = w[q]


SPACES = {k.program.name: space_of(k.program, TOOL, reassociate=True) for k in (product, triangle)}


def orders(name: str) -> list[tuple[Nest, Order]]:
    found = [(n, o) for v in SPACES[name].variants for n in v.nests for o in n.orders]
    return random.Random(1).sample(found, min(12, len(found)))


def counted(nest: Nest, order: Order, vector: Vector, interval: int) -> dict[str, int]:
    """Units by the definition: operations of a core in a body over the interval, each unit shared or not."""
    loops = dict(zip((x.name for x in order.loops), vector, strict=True))
    moving: set[str] = set()
    for loop, u in reversed(list(zip(order.loops, vector, strict=True))):
        if u != loop.extent:
            moving.add(loop.name)
        if loop.extent is None or (order.drains and moving):
            break
    totals: dict[tuple[str, bool], float] = {}
    for o in order.operations:
        if not moving or moving & o.loops:
            key = (o.core, interval >= o.shared_from)
            copies = prod(u for name, u in loops.items() if name in o.loops)
            totals[key] = totals.get(key, 0) + copies * o.share
    return {
        core if shared else f"{core} of {nest.leader}": ceil(n / interval) if shared else ceil(n)
        for (core, shared), n in totals.items()
    }


@pytest.mark.parametrize("name", SPACES)
def test_units_are_the_operations_of_a_body_over_the_interval(name: str) -> None:
    for nest, order in orders(name):
        for vector in random.Random(2).sample(
            every := list(vectors(order, 64)), min(8, len(every))
        ):
            for asked in (1, 3):
                found = cost(nest, order, vector, asked=asked)
                assert {c: n for c, _, n in found.units} == counted(
                    nest, order, vector, found.interval
                )
                assert found.interval >= max(asked, port_interval(order, vector))


@pytest.mark.parametrize("name", SPACES)
def test_units_fit_a_budget_at_the_sharing_interval_and_not_before(name: str) -> None:
    shared = 0
    for nest, order in orders(name):
        each = {o.core: o.dsp for o in order.operations}
        for vector in list(vectors(order, 16))[-4:]:
            for budget in (5, 11, 40):
                found = sharing_interval(nest, order, vector, 1, budget)
                if found is None:
                    continue

                def dsp(interval: int, nest=nest, order=order, vector=vector, each=each) -> float:
                    units = counted(nest, order, vector, interval)
                    return sum(n * each[core.partition(" of ")[0]] for core, n in units.items())

                assert dsp(found) <= budget
                # No interval is tried in which the budget's slices could not do all operations.
                first = max(1, ceil(dsp(1) / budget))
                assert found == first or dsp(found - 1) > budget
                shared += found > 1
    assert shared


def test_loops_of_one_name_count_once() -> None:
    """Inside of a band several statements may have loops of the same name: each runs its own statement."""
    nest, order = next(
        (n, o) for n, o in orders("product") if len(o.loops) == 3 and o.operations and not o.skewed
    )
    inner = replace(order.loops[-1], inner=True)
    twice = replace(order, loops=(*order.loops[:-1], inner, inner))
    once = replace(order, loops=(*order.loops[:-1], inner))
    u = inner.extent or 1
    assert cost(nest, twice, (1, 1, u, u)).units == cost(nest, once, (1, 1, u)).units


@pytest.mark.parametrize("budget", [8, 60, 300])
def test_options_are_the_fastest_of_all_orders_in_turn(budget: int) -> None:
    for variant in SPACES["product"].variants[:6]:
        for n, nest in enumerate(variant.nests):
            of = Options(variant, n, range(len(nest.orders)), budget, None, None, 4)
            keys = [option.rung.key for option in of]
            assert keys == sorted(keys)
            apart = [
                [o.rung.key for o in Options(variant, n, (k,), budget, None, None, 4)]
                for k in range(len(nest.orders))
            ]
            assert keys[:1] == sorted(first for own in apart for first in own[:1])[:1]
            least = [
                dsp_of([Options(variant, n, (k,), budget, None, None, 4).least()])
                for k, own in enumerate(apart)
                if own
            ]
            assert not keys or dsp_of([of.least()]) == min(least)


def test_which_loop_of_a_subscript_is_looked_at_first_does_not_matter() -> None:
    # With more copies than are looked at one by one; sets of names are in another order in each process.
    order = space_of(skewed.program, TOOL).variants[0].nests[0].orders[0]
    assert port_interval(order, (32, 8)) == port_interval(order, (8, 32)) > 1
