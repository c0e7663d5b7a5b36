"""How many iterations must run one after the other: lengths of chains of dependences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import islpy as isl
import networkx as nx

from polyhedral.dependences.direct import Dependence
from polyhedral.dependences.values import Values
from polyhedral.isl.text import dims, map_of

_CYCLE = 4  # statements on a cycle of dependences that are looked at
_PARTS = 16  # convex parts of a relation that are looked at


@dataclass(frozen=True, slots=True)
class Chain:
    """A cycle of flow dependences and how often it can be run through.

    ``statements[k]`` reads, through ``arrays[k]``, what the one before it (cyclically) wrote.
    ``repeats`` is the number of times that the chain comes back to its first statement: at least so
    many. ``reduction`` says that it
    only orders the accumulation of one reduction.
    """

    statements: tuple[str, ...]
    arrays: tuple[str, ...]
    repeats: int
    reduction: bool


def chains(values: Values, counts: Mapping[str, int | None]) -> tuple[Chain, ...]:
    """The cycles of flow dependences among at most four statements, longest first.

    Args:
        values: what the program needs.
        counts: how often each statement runs, from `polyhedral.looptree.counts.instance_counts`.
    """
    between: dict[tuple[str, str], list[Dependence]] = {}
    for dep in values.flow:
        between.setdefault((dep.source.name, dep.sink.name), []).append(dep)
    found: list[Chain] = []
    for cycle in nx.simple_cycles(nx.DiGraph(list(between)), length_bound=_CYCLE):
        edges = list(zip(cycle, [*cycle[1:], cycle[0]], strict=True))
        for deps in _choices([between[edge] for edge in edges]):
            # Where it begins decides whether the last repeat is a whole one, and networkx begins
            # somewhere: all of it is tried.
            begun = [(*deps[k:], *deps[:k]) for k in range(len(deps))]
            repeats, deps = max(((_repeats(d), d) for d in begun), key=_first_of_most)
            alone = len(deps) == 1 and deps[0].reduction
            if alone:
                repeats = max(repeats, _accumulations(deps[0], counts[deps[0].sink.name] or 0))
            if repeats:
                sinks = tuple(d.sink.name for d in deps)
                found.append(Chain(sinks, tuple(d.array for d in deps), repeats, alone))
    return tuple(sorted(found, key=lambda c: (-c.repeats, c.statements, c.arrays)))


def _first_of_most(found: tuple[int, Sequence[Dependence]]) -> tuple[int, list[int]]:
    """Most repeats, then the statement that comes first."""
    repeats, deps = found
    return repeats, [-dep.sink.index for dep in deps]


def _choices(options: Sequence[list[Dependence]]) -> Iterator[tuple[Dependence, ...]]:
    if not options:
        yield ()
        return
    for first in options[0]:
        for rest in _choices(options[1:]):
            yield (first, *rest)


def _repeats(deps: Sequence[Dependence]) -> int:
    """The longest chain of equal steps in one convex part of each dependence."""
    relations = _parts(deps[0].pairs)
    for dep in deps[1:]:
        relations = [r.apply_range(part) for r in relations[:_PARTS] for part in _parts(dep.pairs)]
    return max((chain_length(r) for r in relations), default=0)


def _accumulations(dep: Dependence, count: int) -> int:
    """Links of the longest accumulation: of so many iterations, few have none before them.

    An accumulation begins where no earlier iteration reaches; each iteration is in one.
    """
    starts = dep.sink.domain.subtract(dep.pairs.range())
    box = prod(
        starts.dim_max_val(k).to_python() - starts.dim_min_val(k).to_python() + 1
        for k in range(starts.dim(isl.dim_type.set))
    )
    links: int = -(-count // box) - 1
    return max(0, links)


def _parts(relation: isl.Map) -> list[isl.Map]:
    maps = relation.coalesce().get_basic_map_list()
    count = min(maps.n_basic_map(), _PARTS)
    return [isl.Map.from_basic_map(maps.get_at(k)) for k in range(count)]


def chain_length(relation: isl.Map) -> int:
    """How many steps of one constant distance ``relation`` allows one after the other.

    The distances tried are the shortest one along each dimension alone, and the lexicographically
    least one.
    """
    if relation.is_empty():
        return 0
    deltas = relation.deltas()
    return max((_steps(relation, d) for d in _distances(deltas)), default=0)


def _distances(deltas: isl.Set) -> Iterator[tuple[int, ...]]:
    count = deltas.dim(isl.dim_type.set)
    for k in range(count):
        alone = deltas
        for other in range(count):
            if other != k:
                alone = alone.fix_val(isl.dim_type.set, other, isl.Val(0))
        positive = alone.lower_bound_val(isl.dim_type.set, k, isl.Val(1))
        if not positive.is_empty() and (low := positive.dim_min_val(k)).is_int():
            yield tuple(low.to_python() if k == other else 0 for other in range(count))
    point = deltas.sample_point()
    values = [point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(count)]
    if any(values):
        yield tuple(values)


def _steps(relation: isl.Map, distance: tuple[int, ...]) -> int:
    """The most steps of one distance along a convex part of where it can be taken."""
    moved = relation.intersect(_translation(relation, distance))
    longest = 0
    starts = moved.domain().coalesce().get_basic_set_list()
    for n in range(min(starts.n_basic_set(), _PARTS)):
        # In a convex set without strides all points between two on a line are in it too.
        part = isl.Set.from_basic_set(starts.get_at(n).remove_divs())
        if not part.is_subset(moved.domain()):
            continue
        low, high = 0, 1
        while _far(part, distance, high):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if _far(part, distance, middle) else (low, middle)
        longest = max(longest, low + 1)
    return longest


def _far(part: isl.Set, distance: tuple[int, ...], times: int) -> bool:
    """Whether a point and the one so many distances on are both in the set."""
    vector = tuple(times * d for d in distance)
    return not part.apply(_translation(part.identity(), vector)).intersect(part).is_empty()


def _translation(like: isl.Map, vector: tuple[int, ...]) -> isl.Map:
    names = dims(len(vector), "x")
    moved = ", ".join(f"{name} + {d}" for name, d in zip(names, vector, strict=True))
    tuple_name = like.get_tuple_name(isl.dim_type.in_) or ""
    return map_of(f"{{ {tuple_name}[{', '.join(names)}] -> {tuple_name}[{moved}] }}")
