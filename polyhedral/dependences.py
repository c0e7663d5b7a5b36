"""Exact dependences by isl's array dataflow analysis.

Flow: the last write before each read. Anti: the reads since the last write,
before the next write (where the reading statement writes the element itself, its write counts).
Output: a write and the next write. Every other dependence follows from these by transitivity, so a
schedule that keeps them keeps them all. (Feautrier, Dataflow analysis of array and scalar
references, 1991; Verdoolaege, isl.)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import islpy as isl

from dsl.expr import Access, Binary, BinaryOp, Load, loads
from polyhedral.scop import Scop, Statement


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


def common_loops(a: Statement, b: Statement) -> int:
    """How many loops two statements share in the program."""
    n = 0
    while n < min(len(a.loops), len(b.loops)) and a.loop_ids[n] == b.loop_ids[n]:
        n += 1
    return n


_ASSOCIATIVE = (
    BinaryOp.ADD,
    BinaryOp.MUL,
    BinaryOp.MIN,
    BinaryOp.MAX,
    BinaryOp.AND,
    BinaryOp.OR,
    BinaryOp.XOR,
)


def reduction_access(s: Statement) -> Access | None:
    """The access that ``s`` accumulates into, if it is a reduction.

    A reduction is ``X[f] = X[f] op e`` (or ``e op X[f]``) with an associative and commutative
    ``op`` and no other access of X in ``e``.
    """
    target, value = s.stmt.target, s.stmt.value
    if not isinstance(value, Binary) or value.op not in (*_ASSOCIATIVE, BinaryOp.SUB):
        return None
    sides = [(value.lhs, value.rhs)]
    if value.op is not BinaryOp.SUB:  # x - e accumulates, e - x does not
        sides.append((value.rhs, value.lhs))
    for acc, other in sides:
        if isinstance(acc, Load) and acc.access == target:
            clean = all(a.array != target.array for a in loads(other))
            return target if clean else None
    return None


@dataclass(frozen=True, slots=True)
class _Relations:
    """Accesses of one array as union maps."""

    reads: isl.UnionMap
    writes: isl.UnionMap
    may_writes: isl.UnionMap


def dependences(scop: Scop, reassociated: frozenset[str] = frozenset()) -> tuple[Dependence, ...]:
    """All flow, anti and output dependences.

    The writes of a reassociated reduction do not hide each other: everything before or after the
    reduction depends on each of its iterations, and the pairs among them are dropped.
    """
    found: list[Dependence] = []
    for array in scop.program.arrays:
        writers = [s for s in scop.statements if s.stmt.target.array == array.name]
        if not writers:
            continue
        readers = [s for s in scop.statements if any(a.array == array.name for a in s.reads)]
        relations = _accesses(scop, array.name, writers, readers, reassociated)
        involved = [s for s in scop.statements if s in writers or s in readers]
        schedule = union_of(scop.original_schedules(involved))
        for kind, pairs in _analyse(relations, schedule):
            found += _by_statements(scop, kind, array.name, pairs, reassociated)
    return tuple(found)


def _accesses(
    scop: Scop,
    array: str,
    writers: list[Statement],
    readers: list[Statement],
    reassociated: frozenset[str],
) -> _Relations:
    loose = [s for s in writers if s.name in reassociated]
    return _Relations(
        union_of(scop.access_map(s, a) for s in readers for a in s.reads if a.array == array),
        union_of(scop.access_map(s, s.stmt.target) for s in writers if s not in loose),
        union_of(scop.access_map(s, s.stmt.target) for s in loose),
    )


def _analyse(
    relations: _Relations, schedule: isl.UnionMap
) -> Iterable[tuple[DepKind, isl.UnionMap]]:
    """The three kinds of one array. May-writes are sources that hide nothing."""

    def run(sink: isl.UnionMap, may: isl.UnionMap) -> isl.UnionFlow:
        info = isl.UnionAccessInfo.from_sink(sink).set_must_source(relations.writes)
        return info.set_may_source(may).set_schedule_map(schedule).compute_flow()

    all_writes = relations.writes.union(relations.may_writes)
    if not relations.reads.is_empty():
        yield DepKind.FLOW, run(relations.reads, relations.may_writes).get_may_dependence()
    # A read is a source as well: the next write hides it just as it hides a write.
    before = run(all_writes, relations.reads.union(relations.may_writes)).get_may_dependence()
    output = before.intersect(all_writes.apply_range(all_writes.reverse()))
    yield DepKind.OUTPUT, output
    yield DepKind.ANTI, before.subtract(output)


def _by_statements(
    scop: Scop, kind: DepKind, array: str, pairs: isl.UnionMap, reassociated: frozenset[str]
) -> Iterable[Dependence]:
    maps: list[isl.Map] = []
    pairs.foreach_map(maps.append)
    split = []
    for m in maps:
        source = scop.statements[int(m.get_tuple_name(isl.dim_type.in_)[1:])]
        sink = scop.statements[int(m.get_tuple_name(isl.dim_type.out)[1:])]
        split.append((source.index, sink.index, source, sink, m))
    for _, _, source, sink, m in sorted(split, key=lambda t: t[:2]):
        reduction = source is sink and reduction_access(sink) is not None
        reduction = reduction and sink.stmt.target.array == array
        if not (reduction and sink.name in reassociated):
            yield Dependence(kind, array, source, sink, m.coalesce(), reduction)


def union_of(maps: Iterable[isl.Map]) -> isl.UnionMap:
    """The maps as one union map."""
    result: isl.UnionMap | None = None
    for m in maps:
        result = isl.UnionMap.from_map(m) if result is None else result.add_map(m)
    return isl.UnionMap("{ }") if result is None else result
