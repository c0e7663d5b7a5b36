"""How many iterations of a nest lie at least between the store of a value and a load that gets it.

Other than `polyhedral.dependences.least_distance`, which asks of two accesses whether they touch
one element, this is dataflow: of all stores to an element only the last one in front of a load
gives its value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import lcm

import islpy as isl

from dsl.expressions.affine import Affine, Constraint
from polyhedral.dependences.direct import last_writes
from polyhedral.dependences.least_distance import Axis, domain_text
from polyhedral.isl.effort import TooMuchWork, limited
from polyhedral.isl.text import affine_text, conjunction, constraint_text, dims

OPERATIONS = 2_000_000
"""Of isl, for one memory of one nest: less than half a second."""


@dataclass(frozen=True, slots=True)
class Touch:
    """An access that an iteration makes where its guard holds."""

    indices: tuple[Affine, ...]
    guard: tuple[Constraint, ...]
    stores: bool


@lru_cache(maxsize=4096)
def value_distances(
    outer: tuple[Axis, ...], axes: tuple[Axis, ...], touches: tuple[Touch, ...]
) -> Mapping[tuple[int, int], int] | None:
    """From each store to each load that gets its value in some iteration: the least distance.

    Exact: see `polyhedral.dependences.direct.last_writes`. The distance is 0 inside of one
    iteration.

    Args:
        outer: loops around the nest, which stand still while it runs.
        axes: loops that run as one, outermost first; all but the first have constant trip counts.
        touches: all accesses of one memory in an iteration, in program order.

    Returns:
        Distances by the positions of the store and the load; None where that is too much work.
    """
    try:
        return _distances(outer, axes, touches)
    except TooMuchWork:
        return None


def _distances(
    outer: tuple[Axis, ...], axes: tuple[Axis, ...], touches: tuple[Touch, ...]
) -> Mapping[tuple[int, int], int]:
    around = dims(len(outer), "o")
    counters = dims(len(axes), "x")
    names = dict(zip((x.iv for x in (*outer, *axes)), (*around, *counters), strict=True))
    domain = [*domain_text((*outer, *axes), names)]
    parts = {True: list[str](), False: list[str]()}
    order = []
    for n, touch in enumerate(touches):
        at = f"T{n}[{', '.join((*around, *counters))}]"
        element = ", ".join((*around, *(affine_text(i, names) for i in touch.indices)))
        guard = conjunction([*domain, *(constraint_text(c, names) for c in touch.guard)])
        parts[touch.stores].append(f"{at} -> M[{element}] : {guard}")
        order.append(f"{at} -> [{', '.join((*around, *counters, str(n)))}]")
    if not parts[True] or not parts[False]:
        return {}
    with limited(OPERATIONS):
        flow = last_writes(_union(parts[True]), _union(parts[False]), _union(order))
        return dict(_least(flow, len(outer), axes))


def _union(parts: Sequence[str]) -> isl.UnionMap:
    return isl.UnionMap(f"{{ {'; '.join(parts)} }}")


def _least(
    flow: isl.UnionMap, around: int, axes: tuple[Axis, ...]
) -> Iterator[tuple[tuple[int, int], int]]:
    """The least distance of each pair of a store and a load."""
    strides = [1]
    for axis in reversed(axes[1:]):
        assert axis.trips is not None, "only the outermost trip count may vary"
        strides.append(axis.trips * strides[-1])
    strides.reverse()
    # All iterations of one run of a loop are a multiple of its step away from each other.
    scale = lcm(*(axis.step for axis in axes))
    total = " + ".join(
        f"{scale // axis.step * stride} x{k}"
        for k, (axis, stride) in enumerate(zip(axes, strides, strict=True))
    )
    space = ", ".join((*dims(around, "o"), *dims(len(axes), "x")))
    length = isl.Map(f"{{ [{space}] -> [d] : {scale} d = {total} }}")
    maps: list[isl.Map] = []
    flow.foreach_map(maps.append)
    for pairs in maps:
        store, load = (
            int(pairs.get_tuple_name(side)[1:]) for side in (isl.dim_type.in_, isl.dim_type.out)
        )
        plain = pairs.reset_tuple_id(isl.dim_type.in_).reset_tuple_id(isl.dim_type.out)
        least = plain.deltas().apply(length).dim_min_val(0)
        if least.is_int():
            yield (store, load), int(least.to_python())
