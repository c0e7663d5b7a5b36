"""Trip counts of loops with variable bounds, against counting."""

from __future__ import annotations

import pytest

from dsl.expressions.affine import Affine
from polyhedral.looptree.tree import TreeLoop
from polyhedral.looptree.trips import trip_count

VI, VJ = (Affine.of(v) for v in "ij")


def loop(iv: str, lowers: list[Affine], uppers: list[Affine], step: int = 1) -> TreeLoop:
    return TreeLoop(iv, iv, tuple(lowers), tuple(uppers), step, ())


def zero() -> Affine:
    return Affine.of(0)


def counted(nest: list[TreeLoop]) -> list[int]:
    """The trips of the innermost loop, each time that it is entered."""
    envs: list[dict[str, int]] = [{}]
    for outer in nest[:-1]:
        envs = [{**env, outer.iv: v} for env in envs for v in values(outer, env)]
    return [len(values(nest[-1], env)) for env in envs]


def values(at: TreeLoop, env: dict[str, int]) -> range:
    low = max(b.evaluate(env) for b in at.lowers)
    return range(low, min(b.evaluate(env) for b in at.uppers), at.step)


NESTS = {
    "triangle": [loop("i", [zero()], [Affine.of(40)]), loop("j", [zero()], [VI + 1])],
    "cut triangle": [loop("i", [zero()], [Affine.of(30)]), loop("j", [Affine.of(10)], [VI])],
    "pyramid": [
        loop("i", [zero()], [Affine.of(12)]),
        loop("j", [zero()], [VI]),
        loop("k", [zero()], [VJ]),
    ],
    "band": [
        loop("i", [zero()], [Affine.of(25)]),
        loop("j", [zero(), VI - 3], [Affine.of(25), VI + 4]),
    ],
    "steps": [loop("i", [zero()], [Affine.of(20)], 3), loop("j", [VI // 2], [VI + 7], 2)],
}


@pytest.mark.parametrize("name", NESTS)
def test_small_nests_are_counted_exactly(name: str) -> None:
    nest = NESTS[name]
    counts = counted(nest)
    found = trip_count(nest[-1], tuple(nest[:-1]))
    assert (found.minimum, found.maximum) == (min(counts), max(counts))
    assert found.average == pytest.approx(sum(counts) / len(counts))


def test_large_triangles_are_exact_and_large_pyramids_near() -> None:
    triangle = [loop("i", [zero()], [Affine.of(4096)]), loop("j", [zero()], [VI])]
    assert trip_count(triangle[1], (triangle[0],)).average == pytest.approx(4095 / 2)
    pyramid = [
        loop("i", [zero()], [Affine.of(400)]),
        loop("j", [zero()], [VI]),
        loop("k", [zero()], [VJ]),
    ]
    exact = sum(i * (i - 1) // 2 for i in range(400)) / sum(range(400))
    assert trip_count(pyramid[2], tuple(pyramid[:2])).average == pytest.approx(exact, rel=0.01)


def test_a_loop_that_is_never_reached() -> None:
    nest = [loop("i", [zero()], [zero()]), loop("j", [zero()], [VI])]
    found = trip_count(nest[1], (nest[0],))
    assert (found.minimum, found.maximum, found.average) == (0, 0, 0.0)
