"""The iterations of loops that are given as axes, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from polyhedral.dependences.axes import Axis


def points(axes: Sequence[Axis], env: Mapping[str, int]) -> Iterator[Mapping[str, int]]:
    """The values of the variables in each iteration, with those of ``env``."""
    if not axes:
        yield env
        return
    axis = axes[0]
    low = max(e.evaluate(env) for e in axis.lowers)
    high = min(e.evaluate(env) for e in axis.uppers)
    for value in range(low, high, axis.step):
        yield from points(axes[1:], {**env, axis.iv: value})
