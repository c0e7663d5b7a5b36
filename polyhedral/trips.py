"""Trip counts of loops whose bounds depend on outer loops: least, greatest, average."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import islpy as isl

from polyhedral.isl_text import affine_text, conjunction, positional
from polyhedral.looptree import TreeLoop, TripCount

# Beyond this many executions of the loop the average is taken over evenly spaced ones.
_EXECUTIONS = 128


def trip_count(loop: TreeLoop, around: tuple[TreeLoop, ...]) -> TripCount:
    """Over all executions of the loop, guards left out of account.

    Least and greatest are exact. So is the average where the bounds are affine in one outer loop,
    or where the outer loops that matter run at most 128 times together; else it is taken from
    about that many evenly spaced executions.
    """
    needed = _needed(loop, around)
    extremes = _extremes(loop, needed)
    if extremes is None:
        return TripCount(0, 0, 0.0)
    low, high = extremes
    counts = [_trips(loop, env) for env in _executions(needed, {})]
    average = sum(counts) / len(counts) if counts else 0.0
    return TripCount(low, high, min(max(average, low), high))


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


def _extremes(loop: TreeLoop, needed: Sequence[TreeLoop]) -> tuple[int, int] | None:
    """Exact least and greatest trip count by isl; None if the loop is never reached."""
    names = positional([outer.iv for outer in needed])
    where: list[str] = []
    for outer in needed:
        var = names[outer.iv]
        where += [f"{var} >= {affine_text(b, names)}" for b in outer.lowers]
        where += [f"{var} < {affine_text(b, names)}" for b in outer.uppers]
        if outer.step > 1:
            origin = affine_text(outer.lowers[0], names)
            where.append(f"({var} - ({origin})) mod {outer.step} = 0")
    extents = [
        f"floor(({affine_text(u - low + (loop.step - 1), names)})/{loop.step})"
        for u in loop.uppers
        for low in loop.lowers
    ]
    trips = extents[0] if len(extents) == 1 else f"min({', '.join(extents)})"
    space = ", ".join([*names.values(), "n"])
    counts = isl.Set(f"{{ [{space}] : {conjunction(where)} and n = max(0, {trips}) }}")
    if counts.is_empty():
        return None
    last = len(names)
    return counts.dim_min_val(last).to_python(), counts.dim_max_val(last).to_python()


def _range(loop: TreeLoop, env: Mapping[str, int]) -> range:
    low = max(b.evaluate(env) for b in loop.lowers)
    return range(low, min(b.evaluate(env) for b in loop.uppers), loop.step)


def _trips(loop: TreeLoop, env: Mapping[str, int]) -> int:
    return len(_range(loop, env))


def _executions(loops: list[TreeLoop], env: dict[str, int]) -> Iterator[dict[str, int]]:
    """Values of the outer loops: all, or evenly spaced ones with the first and the last."""
    if not loops:
        yield env
        return
    every = _range(loops[0], env)
    budget = max(2, round(_EXECUTIONS ** (1 / len(loops))))
    chosen: Sequence[int] = every
    if len(every) > budget:
        # Symmetric about the middle, so that an affine trip count has its exact average.
        chosen = [every[round(k * (len(every) - 1) / (budget - 1))] for k in range(budget)]
    for value in chosen:
        yield from _executions(loops[1:], {**env, loops[0].iv: value})
