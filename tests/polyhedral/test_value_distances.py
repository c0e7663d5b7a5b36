"""Distances between the store of a value and the loads that get it, against the iterations one by one."""

import random

import pytest

import polyhedral.dependences.value_distances as module
from dsl.expressions.affine import Affine, Constraint
from polyhedral.dependences.axes import Axis
from polyhedral.dependences.touches import Touch
from polyhedral.dependences.value_distances import value_distances
from tests.support.axes import points


def _brute(outer, axes, touches):
    least = {}
    for around in points(outer, {}):
        last = {}
        for t, env in enumerate(points(axes, around)):
            for n, touch in enumerate(touches):
                if not all(c.holds(env) for c in touch.guard):
                    continue
                element = tuple(i.evaluate(env) for i in touch.indices)
                if touch.stores:
                    last[element] = t, n
                elif element in last:
                    before, store = last[element]
                    least[store, n] = min(least.get((store, n), t), t - before)
    return least


def _expr(rng, names):
    total = Affine.of(rng.randint(-2, 2))
    for name in names:
        total = total + Affine.of(name) * rng.choice((0, 0, 1, 1, 2, -1))
    if rng.random() < 0.2:
        total = total // rng.choice((2, 3)) if rng.random() < 0.5 else total % rng.choice((2, 4))
    return total


def _case(rng):
    """Loops of which only the first of the nest has bounds that vary, and a few accesses."""
    outer, axes, names = [], [], []
    if rng.random() < 0.5:
        outer.append(Axis("t", (Affine.of(rng.choice((0, 1))),), (Affine.of(rng.randint(2, 4)),)))
        names.append("t")
    for k in range(rng.randint(1, 3)):
        low, step = Affine.of(rng.choice((0, 0, 1, -1))), rng.choice((1, 1, 1, 2))
        if k == 0 and outer and rng.random() < 0.5:
            low = Affine.of("t")
        if k and rng.random() < 0.3:
            low = Affine.of(f"v{k - 1}") + 1
        axes.append(Axis(f"v{k}", (low,), (low + rng.randint(2, 5),), step))
        if k == 0 and outer and rng.random() < 0.5:
            axes[0] = Axis("v0", (low,), (Affine.of("t") + 3, Affine.of(4)), step)
        names.append(f"v{k}")
    rank = rng.randint(1, 2)
    touches = []
    for _ in range(rng.randint(2, 5)):
        guard = ()
        if rng.random() < 0.3:
            guard = (Constraint(_expr(rng, names), rng.choice((">=", "=="))),)
        indices = tuple(_expr(rng, names) for _ in range(rank))
        touches.append(Touch(indices, guard, rng.random() < 0.5))
    return tuple(outer), tuple(axes), tuple(touches)


def _by_isl(outer, axes, touches):
    """As where there are too many iterations to go through."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "ACCESSES", 0)
        value_distances.cache_clear()
        return value_distances(outer, axes, touches)


@pytest.mark.parametrize("first", range(0, 300, 50))
def test_random_accesses(first):
    several = 0
    for seed in range(first, first + 50):
        outer, axes, touches = _case(random.Random(seed))
        expected = _brute(outer, axes, touches)
        assert value_distances(outer, axes, touches) == expected, seed
        assert _by_isl(outer, axes, touches) == expected, seed
        several += len(expected) > 1
    assert several >= 5


def test_a_store_between_hides_the_one_before():
    i = Affine.of("i")
    loop = (Axis("i", (Affine(),), (Affine.of(8),)),)
    far, near, load = (Touch((i + k,), (), s) for k, s in ((2, True), (1, True), (0, False)))
    assert value_distances((), loop, (far, load)) == {(0, 1): 2}
    assert value_distances((), loop, (far, near, load)) == {(1, 2): 1}


def test_too_much_work_is_left_open(monkeypatch):
    monkeypatch.setattr(module, "OPERATIONS", 10)
    monkeypatch.setattr(module, "ACCESSES", 10)
    value_distances.cache_clear()
    i, j = Affine.of("i"), Affine.of("j")
    nest = tuple(Axis(v, (Affine(),), (Affine.of(1000),)) for v in ("i", "j"))
    touches = (Touch((i * 2 + j,), (), True), Touch((i + j % 3,), (), False))
    assert value_distances((), nest, touches) is None
