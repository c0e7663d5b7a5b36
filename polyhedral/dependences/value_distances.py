"""How many iterations of a nest lie at least between the store of a value and a load that gets it.

Other than `polyhedral.dependences.least_distance`, which asks of two accesses whether they touch
one element, this is dataflow: of all stores to an element only the last one in front of a load
gives its value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import islpy as isl

from polyhedral.dependences.axes import Axis
from polyhedral.dependences.direct import last_writes
from polyhedral.dependences.enumerated_distances import enumerated
from polyhedral.dependences.least_distance import domain_text, turn
from polyhedral.dependences.touches import Touch
from polyhedral.isl.effort import TooMuchWork, limited
from polyhedral.isl.text import conjunction, constraint_text, dims, subscript_texts

OPERATIONS = 2_000_000
"""Of isl, for one memory of one nest: less than half a second."""

ACCESSES = 500_000
"""In all iterations, up to which they are gone through one by one: a tenth of a second."""


@lru_cache(maxsize=4096)
def value_distances(
    outer: tuple[Axis, ...], axes: tuple[Axis, ...], touches: tuple[Touch, ...]
) -> Mapping[tuple[int, int], int] | None:
    """From each store to each load that gets its value in some iteration: the least distance.

    Exact: by going through the iterations where they are few (`enumerated_distances`), else by
    `polyhedral.dependences.direct.last_writes`. The distance is 0 inside of one iteration.

    Args:
        outer: loops around the nest, which stand still while it runs.
        axes: loops that run as one, outermost first; all but the first have constant trip counts.
        touches: all accesses of one memory in an iteration, in program order.

    Returns:
        Distances by the positions of the store and the load; None where that is too much work.
    """
    if len({touch.stores for touch in touches}) < 2:
        return {}
    found = enumerated(outer, axes, touches, ACCESSES)
    if found is not None:
        return found
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
        # What is loaded at a subscript that is data may be any element.
        element = ", ".join((*around, *subscript_texts(touch.indices, names, ())[0]))
        guard = conjunction([*domain, *(constraint_text(c, names) for c in touch.guard)])
        parts[touch.stores].append(f"{at} -> M[{element}] : {guard}")
        order.append(f"{at} -> [{', '.join((*around, *counters, str(n)))}]")
    with limited(OPERATIONS):
        flow = last_writes(_union(parts[True]), _union(parts[False]), _union(order))
        return dict(_least(flow, outer, axes))


def _union(parts: Sequence[str]) -> isl.UnionMap:
    return isl.UnionMap(f"{{ {'; '.join(parts)} }}")


def _least(
    flow: isl.UnionMap, outer: tuple[Axis, ...], axes: tuple[Axis, ...]
) -> Iterator[tuple[tuple[int, int], int]]:
    """The least distance of each pair of a store and a load."""
    number = _number(outer, axes)
    maps: list[isl.Map] = []
    flow.foreach_map(maps.append)
    for pairs in maps:
        store, load = (
            int(pairs.get_tuple_name(side)[1:]) for side in (isl.dim_type.in_, isl.dim_type.out)
        )
        plain = pairs.reset_tuple_id(isl.dim_type.in_).reset_tuple_id(isl.dim_type.out)
        between = plain.apply_domain(number).apply_range(number).deltas()
        least = between.dim_min_val(0)
        if least.is_int():
            yield (store, load), int(least.to_python())


def _number(outer: tuple[Axis, ...], axes: tuple[Axis, ...]) -> isl.Map:
    """The number of an iteration of a nest, but for what is the same in all of one run."""
    around, counters = dims(len(outer), "o"), dims(len(axes), "x")
    names = dict(zip((x.iv for x in (*outer, *axes)), (*around, *counters), strict=True))
    terms, stride = [], 1
    for k, axis in reversed(list(enumerate(axes))):
        terms.append(f"{stride} * {turn(axis, names)}")
        if k:
            assert axis.trips is not None, "only the outermost trip count may vary"
            stride *= axis.trips
    return isl.Map(f"{{ [{', '.join((*around, *counters))}] -> [{' + '.join(terms)}] }}")
