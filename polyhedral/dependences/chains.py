"""How many iterations must run one after the other: lengths of chains of dependences."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from math import prod

import islpy as isl
import networkx as nx

from dsl.expressions.absorption import is_element
from dsl.expressions.expr import Access
from polyhedral.dependences.direct import Dependence
from polyhedral.dependences.values import Values
from polyhedral.isl.text import dims, map_of
from polyhedral.scop.scop import Scop, Statement

_CHOICES = 12  # ways through the statements of a cycle, by the accesses that they read by
_CYCLE = 4  # statements on a cycle of dependences that are looked at
_TURNS = 3  # of these that take turns
_PARTS = 16  # convex parts of a relation that are looked at


@dataclass(frozen=True, slots=True)
class Chain:
    """A cycle of flow dependences and how often it can be run through.

    ``statements[k]`` reads, through ``arrays[k]``, what the one before it (cyclically) wrote: by one
    of ``accesses[k]``.
    ``repeats`` is the number of times that the chain comes back to its first statement: at least so
    many. ``reduction`` says that it
    only orders the accumulation of one reduction.
    """

    statements: tuple[str, ...]
    arrays: tuple[str, ...]
    accesses: tuple[tuple[Access, ...], ...]
    repeats: int
    reduction: bool


@dataclass(frozen=True, slots=True)
class _Link:
    """A flow dependence through some of the accesses that its sink reads the array by."""

    dep: Dependence
    accesses: tuple[Access, ...]


Kind = Callable[[Statement, Access], Hashable]
"""What a statement computes from what it reads by an access: those of one kind stay together."""


def chains(
    values: Values, counts: Mapping[str, int | None], kind: Kind = lambda s, a: a.array
) -> tuple[Chain, ...]:
    """The cycles of flow dependences among at most four statements, longest first.

    Args:
        values: what the program needs.
        counts: how often each statement runs, from `polyhedral.looptree.counts.instance_counts`; 0
            where not every value of it is needed.
        kind: tells accesses apart, that chains through them are chains of their own.
    """
    between: dict[tuple[str, str], list[_Link]] = {}
    for dep in values.live:
        for link in _links(values.scop, _computed(values.scop, dep), kind):
            between.setdefault((dep.source.name, dep.sink.name), []).append(link)
    found: list[Chain] = []
    for cycle in nx.simple_cycles(nx.DiGraph(list(between)), length_bound=_CYCLE):
        edges = list(zip(cycle, [*cycle[1:], cycle[0]], strict=True))
        for links in _choices(_few([between[edge] for edge in edges])):
            # Where it begins decides whether the last repeat is a whole one, and networkx begins
            # somewhere: all of it is tried.
            begun = [(*links[k:], *links[:k]) for k in range(len(links))]
            repeats, links = max(((_repeats(d), d) for d in begun), key=_first_of_most)
            deps = [link.dep for link in links]
            alone = len(deps) == 1 and deps[0].reduction
            if alone:
                repeats = max(repeats, _accumulations(deps[0], counts[deps[0].sink.name] or 0))
            if repeats:
                sinks = tuple(d.sink.name for d in deps)
                arrays = tuple(d.array for d in deps)
                found.append(Chain(sinks, arrays, tuple(k.accesses for k in links), repeats, alone))
    return tuple(sorted(found, key=lambda c: (-c.repeats, c.statements, c.arrays)))


def _computed(scop: Scop, dep: Dependence) -> Dependence:
    """Without values that their statement is known to store to an element that has them: nothing computes these."""
    s, pairs = dep.source, dep.pairs
    target = s.stmt.target
    for access in s.reads:
        own = {access, target}
        if access.array != target.array or access == target:
            continue
        if any(e.is_data for a in own for e in a.indices):
            continue
        if is_element(s.stmt.value, own.__contains__):
            same = scop.access_map(s, target).intersect(scop.access_map(s, access))
            pairs = pairs.subtract_domain(same.domain())
    return dep if pairs is dep.pairs else replace(dep, pairs=pairs.coalesce())


def _links(scop: Scop, dep: Dependence, kind: Kind) -> list[_Link]:
    """A dependence by what its sink computes from the element that is read."""
    kinds: dict[Hashable, list[Access]] = {}
    for access in dict.fromkeys(a for a in dep.sink.reads if a.array == dep.array):
        kinds.setdefault(kind(dep.sink, access), []).append(access)
    if len(kinds) == 1:
        (accesses,) = kinds.values()
        return [] if dep.pairs.is_empty() else [_Link(dep, tuple(accesses))]
    found = []
    written = scop.access_map(dep.source, dep.source.stmt.target)
    for accesses in kinds.values():
        pairs: isl.Map | None = None
        for access in accesses:
            same = written.apply_range(scop.access_map(dep.sink, access).reverse())
            pairs = same if pairs is None else pairs.union(same)
        pairs = dep.pairs.intersect(pairs).coalesce()
        if not pairs.is_empty():
            found.append(_Link(replace(dep, pairs=pairs), tuple(accesses)))
    return found


def _few(options: list[list[_Link]]) -> list[list[_Link]]:
    """The links of each step of a cycle, those through one array joined where there are too many."""
    if prod(len(links) for links in options) <= _CHOICES:
        return options
    joined = []
    for links in options:
        by_array: dict[str, _Link] = {}
        for link in links:
            held = by_array.get(link.dep.array)
            if held is not None:
                dep = replace(held.dep, pairs=held.dep.pairs.union(link.dep.pairs).coalesce())
                link = _Link(dep, (*held.accesses, *link.accesses))
            by_array[link.dep.array] = link
        joined.append([*by_array.values()])
    return joined


def _first_of_most(found: tuple[int, Sequence[_Link]]) -> tuple[int, list[int]]:
    """Most repeats, then the statement that comes first."""
    repeats, links = found
    return repeats, [-link.dep.sink.index for link in links]


def _choices(options: Sequence[list[_Link]]) -> Iterator[tuple[_Link, ...]]:
    if not options:
        yield ()
        return
    for first in options[0]:
        for rest in _choices(options[1:]):
            yield (first, *rest)


def _repeats(links: Sequence[_Link]) -> int:
    """The longest chain of equal steps in one convex part of each dependence.

    Of a statement's dependence on itself two parts may also take turns: the value of a row that is
    read was written in this round or, further on, in the one before (Floyd and Warshall).
    """
    relations = _parts(links[0].dep.pairs)
    if len(links) == 1:
        turns = [p.apply_range(q) for p, q in permutations(relations[:_TURNS], 2)]
        return max(_longest(relations), 2 * _longest(turns))
    for link in links[1:]:
        parts = _parts(link.dep.pairs)
        relations = [r.apply_range(part) for r in relations[:_PARTS] for part in parts]
    return _longest(relations)


def _longest(relations: Iterable[isl.Map]) -> int:
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
    least one: of all steps, and of those after which there is another one.
    """
    if relation.is_empty():
        return 0
    tried = dict.fromkeys(_distances(relation.deltas()))
    inside = relation.intersect_range(relation.domain())
    if not inside.is_empty():
        tried.update(dict.fromkeys(_distances(inside.deltas())))
    return max((_steps(relation, d) for d in tried), default=0)


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
