"""Which vectors of factors of a nest are priced."""

from __future__ import annotations

from functools import cache

import pytest

import weft
from dse.space.costs.cost import cost
from dse.space.nests.nest import Nest
from dse.space.space import space_of
from dse.strategies.fewest import _magnitudes, fewest
from dse.strategies.ladder import ladder, vectors
from qor_gnn.tools.personality import personality
from weft import f32, i16


@weft.kernel
def product(A: f32[48, 36], B: f32[36, 40], C: f32[48, 40]):
    for i, j, k in weft.grid(48, 40, 36):
        C[i, j] += A[i, k] * B[k, j]


@weft.kernel
def triangle(A: f32[24, 24], x: f32[24], y: f32[24]):
    for i in range(24):
        for j in range(i + 1):
            y[i] += A[i, j] * x[j]


@cache
def nests_of(kernel: weft.Kernel) -> list[Nest]:
    space = space_of(kernel.program, personality("vitis-2023.2-u280-3.33ns"), True)
    return [nest for variant in space.variants for nest in variant.nests]


@pytest.mark.parametrize("kernel", [product, triangle], ids=lambda k: k.program.name)
@pytest.mark.parametrize("copies", [1, 7, 64])
def test_only_vectors_of_the_order_are_priced_and_all_of_a_few(kernel, copies):
    for nest in nests_of(kernel):
        for number, order in enumerate(nest.orders):
            every = list(vectors(order, copies))
            chosen = list(fewest(nest, number, copies))
            assert set(chosen) <= set(every)
            assert len(set(chosen)) == len(chosen)
            assert bool(chosen) == bool(every)
            if len(every) <= 30:
                assert set(chosen) == set(every)


@pytest.mark.parametrize("copies", [48, 90])
def test_the_fastest_that_divides_is_priced(copies):
    """Of more vectors than are priced, none that leaves no rest is faster by its full cost."""
    nest = nests_of(product)[0]
    for number, order in enumerate(nest.orders):
        every = list(vectors(order, copies))
        chosen = list(fewest(nest, number, copies))
        assert len(chosen) < len(every)
        sides = [loop.extent for loop in order.loops]
        even = [v for v in every if all(n % u == 0 for n, u in zip(sides, v, strict=True))]
        best = min(cost(nest, order, v).cycles for v in chosen)
        assert best <= min(cost(nest, order, v).cycles for v in even)


def test_what_is_known_of_many_copies_serves_fewer():
    nest = nests_of(product)[0]
    _magnitudes.cache_clear()
    few = list(fewest(nest, 0, 20))
    _magnitudes.cache_clear()
    list(fewest(nest, 0, 90))
    assert list(fewest(nest, 0, 20)) == few


@weft.kernel
def limited(x: i16[24], y: i16[24]):
    for i in range(24):
        y[i] = max(x[i], 0)


def test_a_small_nest_may_be_unrolled_completely() -> None:
    (nest,) = nests_of(limited)
    assert (24,) in [rung.vector for rung in ladder(nest, 0, 220)]
    assert all(rung.vector != (48, 40, 36) for rung in ladder(nests_of(product)[0], 0, 220))
