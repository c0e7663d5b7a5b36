"""Trip counts of loops whose bounds depend on outer loops: least, greatest, average."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from polyhedral.isl.text import affine_text, conjunction, positional
from polyhedral.looptree.tree import TreeLoop, TripCount

# Beyond this many executions of the loop the average is taken over evenly spaced ones.
_EXECUTIONS = 128


def trip_count(loop: TreeLoop, around: tuple[TreeLoop, ...]) -> TripCount:
    """Over all executions of the loop, guards left out of account.

    Least and greatest are exact. So is the average where the bounds are affine in one outer loop,
    or where the outer loops that matter run at most 128 times together; else outer loops are
    taken at evenly spaced iterations, each standing for its neighbours.
    """
    needed = _needed(loop, around)
    extremes = _extremes(loop, needed)
    if extremes is None:
        return TripCount(0, 0, 0.0)
    low, high = extremes
    budget = max(2, round(_EXECUTIONS ** (1 / max(1, len(needed) - 1))))
    executions, trips = _totals(loop, needed, {}, budget)
    average = trips / executions if executions else 0.0
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


def _totals(
    loop: TreeLoop, outer: Sequence[TreeLoop], env: dict[str, int], budget: int
) -> tuple[float, float]:
    """How often the loop is entered, and its trips in total, for all iterations of ``outer``."""
    if not outer:
        return 1.0, float(_trips(loop, env))
    every = _range(outer[0], env)
    if not every:
        return 0.0, 0.0
    iv, inner = outer[0].iv, outer[1:]
    ends = [_totals(loop, inner, {**env, iv: value}, budget) for value in (every[0], every[-1])]
    if not inner and _affine_in(loop, iv, env, every):
        return float(len(every)), len(every) * (ends[0][1] + ends[1][1]) / 2
    chosen: Sequence[int] = every
    if len(every) > budget:
        # Symmetric about the middle, so that an affine count keeps its exact average.
        chosen = [every[round(k * (len(every) - 1) / (budget - 1))] for k in range(budget)]
    parts = [_totals(loop, inner, {**env, iv: value}, budget) for value in chosen]
    scale = len(every) / len(chosen)
    return scale * sum(n for n, _ in parts), scale * sum(t for _, t in parts)


def _affine_in(loop: TreeLoop, iv: str, env: Mapping[str, int], values: range) -> bool:
    """Whether the trip count is affine in an outer loop over its values, nowhere cut off at 0."""
    if not len(loop.lowers) == len(loop.uppers) == loop.step == 1:
        return False
    extent = loop.uppers[0] - loop.lowers[0]
    if not extent.is_linear and iv in extent.variables():
        return False
    return all(extent.evaluate({**env, iv: value}) >= 0 for value in (values[0], values[-1]))
