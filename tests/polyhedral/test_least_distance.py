"""The least distance of two accesses in a flattened nest, against all pairs of iterations."""

import itertools
import random

import pytest

from dsl.expressions.affine import Affine, Constraint
from polyhedral.dependences.axes import Axis, Spot
from polyhedral.dependences.least_distance import least_distance, meets
from tests.support.axes import points


def _touches(spot, env):
    return all(c.holds(env) for c in spot.guard)


def _element(spot, env):
    return tuple(i.evaluate(env) for i in spot.indices)


def _brute(outer, axes, a, b):
    best, meet = None, False
    for still in points(outer, {}):
        every = list(points(axes, still))
        for n, x in enumerate(every):
            meet |= _touches(a, x) and _touches(b, x) and _element(a, x) == _element(b, x)
        for (n, x), (m, y) in itertools.combinations(enumerate(every), 2):
            if _touches(a, x) and _touches(b, y) and _element(a, x) == _element(b, y):
                best = m - n if best is None else min(best, m - n)
    return best, meet


def _expr(rng, names):
    total = Affine.of(rng.randint(-2, 2))
    for name in names:
        total = total + Affine.of(name) * rng.choice((0, 0, 1, 1, 2, -1))
    if rng.random() < 0.25:
        total = total // rng.choice((2, 3)) if rng.random() < 0.5 else total % rng.choice((2, 4))
    return total


def _case(rng, triangular):
    outer, axes, names = [], [], []
    for k in range(rng.randint(1, 4)):
        low, step = Affine.of(rng.choice((0, 0, 1, -1))), rng.choice((1, 1, 1, 2))
        extent = Affine.of(rng.randint(1, 5))
        if triangular and names and rng.random() < 0.7:
            extent = extent + Affine.of(names[-1])
        axis = Axis(f"v{k}", (low,), (low + extent,), step)
        (outer if not axes and k == 0 and rng.random() < 0.3 else axes).append(axis)
        names.append(axis.iv)
    rank = rng.randint(1, 2)
    spots = []
    for _ in range(2):
        guard = ()
        if rng.random() < 0.3:
            guard = (Constraint(_expr(rng, names[:2]), rng.choice((">=", "=="))),)
        spots.append(Spot(tuple(_expr(rng, names) for _ in range(rank)), guard))
    if rng.random() < 0.5:  # the same but for a constant, as most are
        shifted = tuple(i + rng.randint(-2, 2) for i in spots[0].indices)
        spots[1] = Spot(shifted, spots[1].guard)
    return outer, axes, *spots


@pytest.fixture
def by_isl(seed, monkeypatch):
    """Every second case is asked of isl: so few iterations are gone through otherwise."""
    if seed % 2:
        monkeypatch.setattr("polyhedral.dependences.least_distance.ITERATIONS", 0)


@pytest.mark.usefixtures("by_isl")
@pytest.mark.parametrize("seed", range(120))
def test_nests_of_constant_extent_are_exact(seed):
    outer, axes, a, b = _case(random.Random(seed), triangular=False)
    if not axes:
        return
    expected, meet = _brute(outer, axes, a, b)
    assert least_distance(outer, axes, a, b) == expected
    assert meets((*outer, *axes), a, b) == meet


@pytest.mark.usefixtures("by_isl")
@pytest.mark.parametrize("seed", range(120))
def test_other_nests_are_never_said_to_be_further_apart(seed):
    outer, axes, a, b = _case(random.Random(seed), triangular=True)
    if not axes:
        return
    expected, meet = _brute(outer, axes, a, b)
    found = least_distance(outer, axes, a, b)
    assert (found is None) == (expected is None)
    if expected is not None:
        assert 1 <= found <= expected
    assert meets((*outer, *axes), a, b) == meet


def test_loops_around_may_be_named_in_any_order_and_others_are_unknown():
    i, j, k = (Affine.of(v) for v in "ijk")
    zero = Affine.of(0)
    around = [Axis("j", (zero,), (i + 1,)), Axis("i", (zero,), (zero + 5,))]
    nest = [Axis("k", (zero,), (zero + 8,))]
    assert least_distance(around, nest, Spot((j + k,)), Spot((j + k - 2,))) == 2
    # n is an argument: the second access may be of any element.
    around.append(Axis("n", (), ()))
    assert least_distance(around, nest, Spot((j + k,)), Spot((Affine.of("n"),))) == 1
    assert (
        least_distance(around, [Axis("k", (zero,), (Affine.of("n"),))], Spot((k,)), Spot((k - 3,)))
        == 3
    )
