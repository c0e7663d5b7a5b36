"""Trip counts of loops whose bounds depend on outer loops: least, greatest, average."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dsl.affine import Affine
from polyhedral.looptree import TreeLoop, TripCount

# Beyond this many executions of the loop the average is taken over evenly spaced ones.
_EXECUTIONS = 4096


def trip_count(loop: TreeLoop, around: tuple[TreeLoop, ...]) -> TripCount:
    """Over all executions of the loop, guards left out of account.

    Exact where the loops that matter run at most 4096 times together, else from that many evenly
    spaced executions.
    """
    needed = _needed(loop, around)
    counts = [_trips(loop, env) for env in _executions(needed, {})]
    if not counts:
        return TripCount(0, 0, 0.0)
    return TripCount(min(counts), max(counts), sum(counts) / len(counts))


def _needed(loop: TreeLoop, around: tuple[TreeLoop, ...]) -> list[TreeLoop]:
    """The outer loops that the bounds depend on, directly or through other loops' bounds."""
    wanted = _variables(loop)
    found: list[TreeLoop] = []
    for outer in reversed(around):
        if outer.iv in wanted:
            wanted |= _variables(outer)
            found.append(outer)
    return found[::-1]


def _variables(loop: TreeLoop) -> set[str]:
    return {v for bound in (*loop.lowers, *loop.uppers) for v in bound.variables()}


def _range(loop: TreeLoop, env: Mapping[str, int]) -> range:
    def values(bounds: tuple[Affine, ...]) -> list[int]:
        return [b.evaluate(env) for b in bounds]

    return range(max(values(loop.lowers)), min(values(loop.uppers)), loop.step)


def _trips(loop: TreeLoop, env: Mapping[str, int]) -> int:
    return len(_range(loop, env))


def _executions(loops: list[TreeLoop], env: dict[str, int]) -> Iterator[dict[str, int]]:
    if not loops:
        yield env
        return
    every = _range(loops[0], env)
    budget = max(2, round(_EXECUTIONS ** (1 / len(loops))))
    stride = max(1, -(-len(every) // budget))
    chosen = every[::stride]
    if every and chosen[-1] != every[-1]:
        chosen = (*chosen, every[-1])  # type: ignore[assignment]
    for value in chosen:
        yield from _executions(loops[1:], {**env, loops[0].iv: value})
