"""Exact, direct dependences: what the graph shows and lifetimes ask for.

Flow: the last write before each read. Output: the last write before each write. Anti: each read
and the next write after it, where the reading statement does not write the element itself.
(Feautrier, Dataflow analysis of array and scalar references, 1991.) The last and the next are the
candidates with no write between. isl's own dataflow analysis is many times faster where many
statements access an array, but built on parametric integer programming: it loses pairs or fails on
some domains with strides. So it is asked only where there are neither strides nor divisions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, lru_cache, partial

import islpy as isl

from dsl.expressions.expr import Access
from polyhedral.dependences.hidden_writes import FEW, Batch, batches
from polyhedral.isl.text import dims
from polyhedral.scop.scop import Scop, Statement, common_loops, reduction_access, union_of


class DepKind(Enum):
    """Which access comes first: flow write → read, anti read → write, output write → write."""

    FLOW = "flow"
    ANTI = "anti"
    OUTPUT = "output"


@dataclass(frozen=True, eq=False)
class Dependence:
    """All pairs (iteration of ``source``, later iteration of ``sink``) of one kind through one
    array that must stay in this order. ``pairs`` maps source to sink iterations.

    ``reduction``: source and sink are one reduction statement and the pairs only order its
    accumulation; `reassociate` drops them.
    """

    kind: DepKind
    array: str
    source: Statement
    sink: Statement
    pairs: isl.Map
    reduction: bool = False

    @cached_property
    def distance(self) -> tuple[int | None, ...]:
        """Per loop that both share in the program: the constant distance, or None."""
        return tuple(low if low == high else None for low, high in self.ranges)

    @cached_property
    def ranges(self) -> tuple[tuple[int | None, int | None], ...]:
        """Per shared loop: the least and the greatest distance; None where unbounded."""
        shared = common_loops(self.source, self.sink)
        trimmed = self.pairs
        for kind, own in ((isl.dim_type.in_, self.source), (isl.dim_type.out, self.sink)):
            trimmed = trimmed.project_out(kind, shared, len(own.loops) - shared)
            trimmed = trimmed.reset_tuple_id(kind)
        deltas = trimmed.deltas()
        return tuple(
            (_bound(deltas.dim_min_val(k)), _bound(deltas.dim_max_val(k))) for k in range(shared)
        )


def _bound(value: isl.Val) -> int | None:
    return value.to_python() if value.is_int() else None


@lru_cache(maxsize=64)
def dependences(scop: Scop) -> tuple[Dependence, ...]:
    """All direct flow, anti and output dependences, in a fixed order; computed once a scop."""
    found: list[Dependence] = []
    for array in scop.program.arrays:
        found += array_dependences(scop, array.name)
    return tuple(found)


@lru_cache(maxsize=256)
def array_dependences(scop: Scop, array: str) -> tuple[Dependence, ...]:
    """Those through one array; computed once a scop."""
    return (*array_flows(scop, array), *_of_array(scop, array))


@lru_cache(maxsize=256)
def array_flows(scop: Scop, array: str) -> tuple[Dependence, ...]:
    """The flow dependences through one array; computed once a scop."""
    return tuple(_flows(scop, array, *_users(scop, array)))


def flows_within(scop: Scop, some: Sequence[Statement]) -> Iterator[Dependence]:
    """The flow dependences between statements from the first to the last nest of some of them, through arrays that
    these access.

    What writes between two of them stands between them as well, so that the rest of the program is not asked: of
    dozens of nests one behind the other all pairs are far more than those inside of each.
    """
    places = [s.place[0] for s in some]
    inside = [s for s in scop.statements if min(places) <= s.place[0] <= max(places)]
    for array in scop.program.arrays:
        if any(s.touches(array.name) for s in some):
            if len(inside) == len(scop.statements):
                yield from array_flows(scop, array.name)
            else:
                yield from _flows(scop, array.name, *_users(scop, array.name, inside))


def _flows(
    scop: Scop, array: str, writers: Sequence[Statement], readers: Sequence[Statement]
) -> Iterable[Dependence]:
    flow = isl.UnionMap("{ }")
    for batch in batches(scop, writers, readers, following=False) if writers else ():
        flow = flow.union(_nearest(scop, batch, partial(_reads, scop, array), last_writes))
    return _by_statements(scop, DepKind.FLOW, array, flow)


def _of_array(scop: Scop, array: str) -> Iterator[Dependence]:
    """The output and anti dependences through one array."""
    writers, readers = _users(scop, array)
    if not writers:
        return
    output, anti = (isl.UnionMap("{ }") for _ in range(2))
    for batch in batches(scop, writers, writers, following=False):
        output = output.union(_nearest(scop, batch, partial(_writes, scop), last_writes))
    yield from _by_statements(scop, DepKind.OUTPUT, array, output)
    for batch in batches(scop, writers, readers, following=True):
        anti = anti.union(_nearest(scop, batch, partial(_only_read, scop, array), _following))
    yield from _by_statements(scop, DepKind.ANTI, array, anti)


def _nearest(
    scop: Scop,
    batch: Batch,
    accesses: Callable[[Sequence[Statement]], isl.UnionMap],
    nearest: Callable[[isl.UnionMap, isl.UnionMap, isl.UnionMap], isl.UnionMap],
) -> isl.UnionMap:
    """The writes that are nearest to what sinks access, by `last_writes` or `_following`.

    Of writers in many nests one behind the other those of one nest are asked at a time, the nearest first, until
    all elements are found: most are never asked.
    """
    places = sorted({s.place[0] for s in batch.writers})
    writes = _writes(scop, batch.writers)
    if len(places) <= FEW or not writes.is_single_valued():
        return nearest(writes, accesses(batch.sinks), _times(scop, (*batch.sinks, *batch.writers)))
    found = isl.UnionMap("{ }")
    for own in sorted({s.place[0] for s in batch.sinks}):
        sinks = [s for s in batch.sinks if s.place[0] == own]
        left = accesses(sinks)
        before = [p for p in reversed(places) if p <= own]
        for place in before if nearest is last_writes else [p for p in places if p >= own]:
            if left.is_empty():
                break
            writers = [s for s in batch.writers if s.place[0] == place]
            writes = _writes(scop, writers)
            pairs = nearest(writes, left, _times(scop, (*sinks, *writers)))
            found = found.union(pairs)
            ways = pairs.reverse() if nearest is last_writes else pairs
            left = left.subtract(ways.apply_range(writes)).coalesce()
    return found


def _times(scop: Scop, statements: Sequence[Statement]) -> isl.UnionMap:
    """The order of some statements."""
    indices = sorted({s.index for s in statements})
    return union_of(scop.original_schedules([scop.statements[n] for n in indices]))


def _writes(scop: Scop, statements: Sequence[Statement]) -> isl.UnionMap:
    """What statements write."""
    return union_of(scop.access_map(s, s.stmt.target) for s in statements)


def _reads(scop: Scop, array: str, statements: Sequence[Statement]) -> isl.UnionMap:
    """What statements read of an array."""
    return union_of(scop.access_map(s, a) for s in statements for a in s.reads if a.array == array)


def _only_read(scop: Scop, array: str, statements: Sequence[Statement]) -> isl.UnionMap:
    """The same without what they write themselves: by that write they are ordered already."""
    own = _writes(scop, [s for s in statements if s.stmt.target.array == array])
    return _reads(scop, array, statements).subtract(own)


def writes_seen(scop: Scop, s: Statement, access: Access) -> Iterator[tuple[Statement, isl.Map]]:
    """The writes that a read sees, as pairs of iterations, by statement."""
    read = scop.access_map(s, access)
    for dependence in array_flows(scop, access.array):
        if dependence.sink is s:
            target = scop.access_map(dependence.source, dependence.source.stmt.target)
            pairs = dependence.pairs.intersect(target.apply_range(read.reverse()))
            if not pairs.is_empty():
                yield dependence.source, pairs


def unwritten_reads(scop: Scop, array: str) -> isl.UnionMap:
    """The reads (iteration to element) of an array that no earlier write reaches."""
    touching = _touching(scop, array)
    if touching is None:
        return union_of(
            scop.access_map(s, a) for s in scop.statements for a in s.reads if a.array == array
        )
    times, reads, writes = touching
    reached = _earlier(writes, reads, times).range().unwrap()
    return reads.subtract(reached)


def _touching(scop: Scop, array: str) -> tuple[isl.UnionMap, isl.UnionMap, isl.UnionMap] | None:
    """Times of the statements that access an array, its reads and its writes; None if unwritten."""
    writers, readers = _users(scop, array)
    if not writers:
        return None
    involved = [s for s in scop.statements if s in writers or s in readers]
    return (
        union_of(scop.original_schedules(involved)),
        union_of(scop.access_map(s, a) for s in readers for a in s.reads if a.array == array),
        union_of(scop.access_map(s, s.stmt.target) for s in writers),
    )


def _users(
    scop: Scop, array: str, inside: Sequence[Statement] | None = None
) -> tuple[list[Statement], list[Statement]]:
    """The statements (of some, or of all) that write an array, and those that read it."""
    asked = scop.statements if inside is None else inside
    return (
        [s for s in asked if s.stmt.target.array == array],
        [s for s in asked if any(a.array == array for a in s.reads)],
    )


def _earlier(writes: isl.UnionMap, accesses: isl.UnionMap, times: isl.UnionMap) -> isl.UnionMap:
    """Each write with the later accesses ``[iteration -> element]`` of what it wrote."""
    same = writes.apply_range(accesses.range_map().reverse())
    # Conditions with ``or`` and ``!=`` make many cases of a domain, their squares of every pair.
    same = same.coalesce()
    before = times.lex_lt_union_map(accesses.domain_map().apply_range(times))
    return same.intersect(before).coalesce()


def last_writes(writes: isl.UnionMap, accesses: isl.UnionMap, times: isl.UnionMap) -> isl.UnionMap:
    """The last write before each access, as pairs of iterations: no write comes between.

    Args:
        writes: iteration to element.
        accesses: iteration to element, of what gets the values.
        times: iteration to a vector, in the order of which all run.
    """
    if _without_strides(writes) and _without_strides(accesses):
        return _dataflow(writes, accesses, times)
    earlier = _earlier(writes, accesses, times)
    hidden = _rewrites(writes, times).apply_range(earlier)
    return earlier.subtract(hidden).apply_range(accesses.domain_map())


def _following(writes: isl.UnionMap, accesses: isl.UnionMap, times: isl.UnionMap) -> isl.UnionMap:
    """`next_writes`, its arguments as those of `last_writes`."""
    return next_writes(accesses, writes, times)


def next_writes(accesses: isl.UnionMap, writes: isl.UnionMap, times: isl.UnionMap) -> isl.UnionMap:
    """The next write after each access, as pairs of iterations: no write comes between."""
    if _without_strides(writes) and _without_strides(accesses):
        return _dataflow(writes, accesses, _backwards(times)).reverse()
    same = accesses.range_map().apply_range(writes.reverse()).coalesce()
    own_times = accesses.domain_map().apply_range(times)
    later = same.intersect(own_times.lex_lt_union_map(times)).coalesce()
    hidden = later.apply_range(_rewrites(writes, times))
    return later.subtract(hidden).apply_domain(accesses.domain_map())


def _dataflow(writes: isl.UnionMap, accesses: isl.UnionMap, times: isl.UnionMap) -> isl.UnionMap:
    times, has_moved = _alike_in_time(writes, accesses, times)
    info = isl.UnionAccessInfo.from_sink(accesses).set_must_source(writes)
    flow = info.set_schedule_map(times).compute_flow().get_must_dependence()
    return flow.project_out(isl.dim_type.param, 0, 1) if has_moved else flow


def _alike_in_time(
    writes: isl.UnionMap, accesses: isl.UnionMap, times: isl.UnionMap
) -> tuple[isl.UnionMap, bool]:
    """The times, such that no entry is a constant for some statements and not for others.

    isl's analysis orders statements by entries that are constants for both, before it looks at the
    loops around: of ``T[x]`` under ``x == 0`` and ``S[x]`` under none the later write is not found. An
    entry that is a constant for some is moved for all by a parameter, which changes no order.

    Returns:
        The times; whether the parameter is in them.
    """
    maps: list[isl.Map] = []
    asked = writes.domain().union(accesses.domain())
    times.intersect_domain(asked).foreach_map(maps.append)
    if not maps:
        return times, False
    names = dims(maps[0].dim(isl.dim_type.out))
    moved = []
    for k, name in enumerate(names):
        constants = {m.plain_get_val_if_fixed(isl.dim_type.out, k).is_int() for m in maps}
        moved.append(f"{name} + shift" if len(constants) == 2 else name)
    if moved == names:
        return times, False
    text = f"[shift] -> {{ [{', '.join(names)}] -> [{', '.join(moved)}] }}"
    return times.apply_range(isl.UnionMap(text)), True


def _without_strides(accesses: isl.UnionMap) -> bool:
    """Nothing is a multiple: no variable besides iterations and elements is needed to say the
    accesses, nor to say which iterations of two of them meet (as for ``A[2 * i]``, ``A[i + 3]``).
    """
    parts: list[isl.BasicMap] = []
    accesses.foreach_map(lambda m: m.foreach_basic_map(parts.append))
    return all(_of_units(part) for part in parts)


def _of_units(part: isl.BasicMap) -> bool:
    """No divisions, and all coefficients are 1, 0 or -1."""
    if part.dim(isl.dim_type.div):
        return False
    kinds = (isl.dim_type.in_, isl.dim_type.out, isl.dim_type.param)
    order = (*kinds, isl.dim_type.div, isl.dim_type.cst)
    variables = sum(map(part.dim, kinds))
    return all(
        matrix.get_element_val(row, column).abs().le(1)
        for matrix in (part.equalities_matrix(*order), part.inequalities_matrix(*order))
        for row in range(matrix.rows())
        for column in range(variables)
    )


def _backwards(times: isl.UnionMap) -> isl.UnionMap:
    """The times of a run from the end."""
    maps: list[isl.Map] = []
    times.foreach_map(maps.append)
    names = dims(maps[0].dim(isl.dim_type.out)) if maps else []
    negated = ", ".join(f"-{name}" for name in names)
    return times.apply_range(isl.UnionMap(f"{{ [{', '.join(names)}] -> [{negated}] }}"))


def _rewrites(writes: isl.UnionMap, times: isl.UnionMap) -> isl.UnionMap:
    """Each write with all later writes of the same element."""
    same = writes.apply_range(writes.reverse()).coalesce()
    return same.intersect(times.lex_lt_union_map(times)).coalesce()


def _by_statements(
    scop: Scop, kind: DepKind, array: str, pairs: isl.UnionMap
) -> Iterable[Dependence]:
    maps: list[isl.Map] = []
    pairs.foreach_map(maps.append)
    split = []
    for m in maps:
        source = scop.statements[int(m.get_tuple_name(isl.dim_type.in_)[1:])]
        sink = scop.statements[int(m.get_tuple_name(isl.dim_type.out)[1:])]
        split.append((source.index, sink.index, source, sink, m))
    for _, _, source, sink, m in sorted(split, key=lambda t: t[:2]):
        target = reduction_access(sink) if source is sink else None
        reduction = target is not None and target.array == array
        yield Dependence(kind, array, source, sink, m.coalesce(), reduction)
