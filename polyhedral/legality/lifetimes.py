"""Locals that belong to one iteration share one storage: their lifetimes must not overlap.

A local declared inside loops is private to an iteration of them (its scope). Dependences therefore
do not order different scopes against each other; instead, no other scope may write the storage
between a write and its reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, reduce

import islpy as isl

from dsl.errors.errors import ScheduleError
from dsl.expressions.expr import Access
from dsl.programs.program import Array
from dsl.schedules.steps import Step
from polyhedral.dependences.direct import Dependence, array_flows
from polyhedral.isl.text import dims
from polyhedral.scop.execution_order import shared_levels
from polyhedral.scop.scheduled import Piece, ScheduledScop
from polyhedral.scop.scop import Scop, Statement

_FIRST = 4
"""So many flow dependences are held against the writes of their own statement before all are."""


def check_lifetimes(before: ScheduledScop, state: ScheduledScop, step: Step) -> None:
    """W211 if two scopes of a local would use its storage at the same time.

    Args:
        before: the state that the step was applied to: lifetimes in pieces that are the same are, too.
        state: the new one.
        step: what is refused.
    """
    known = {id(p) for p in before.pieces}
    changed = [p for p in state.pieces if id(p) not in known]
    for array in state.scop.program.locals:
        if array.scope_depth == 0 or not any(p.statement.touches(array.name) for p in changed):
            continue
        if components(state, array) is None and _overlap(state, array):
            raise ScheduleError(
                "W211",
                f"{step.kind} makes lifetimes of '{array.name}' overlap: it belongs to one "
                f"iteration of the {array.scope_depth} loops around its declaration",
                span=step.span,
                help=f"declare '{array.name}' outside of the loops, with one element an iteration",
            )


def accessing(state: ScheduledScop, array: str) -> list[Piece]:
    """The pieces that read or write an array."""
    return [p for p in state.pieces if p.statement.touches(array)]


def components(state: ScheduledScop, array: Array) -> list[tuple[list[Piece], int]] | None:
    """Groups of pieces, each with how many loops it shares, such that every scope lies in one
    iteration of the shared loops of one group. None where the loops do not show that at once.
    """
    return _components(accessing(state, array.name), array.scope_depth)


def _components(pieces: list[Piece], depth: int) -> list[tuple[list[Piece], int]] | None:
    if not pieces:
        return []
    shared = min((shared_levels(pieces[0], p) for p in pieces[1:]), default=len(pieces[0].dims))
    for level in range(shared, -1, -1):
        if _scope_is_fixed(pieces, level, depth):
            return [(pieces, level)]
    groups: dict[int, list[Piece]] = {}
    for piece in pieces:
        if len(piece.place) <= shared:
            return None
        groups.setdefault(piece.place[shared], []).append(piece)
    if len(groups) < 2 or not _disjoint([_scopes(g, depth) for g in groups.values()]):
        return None
    found: list[tuple[list[Piece], int]] = []
    for group in groups.values():
        inner = _components(group, depth)
        if inner is None:
            return None
        found += inner
    return found


def _scope_is_fixed(pieces: list[Piece], shared: int, depth: int) -> bool:
    """Whether iterations of the outermost ``shared`` loops and scopes belong together one to one."""
    scopes = {tuple(e for _, e in p.bindings[:depth]) for p in pieces}
    names = set(pieces[0].names[:shared])
    if len(scopes) > 1 or not all(e.variables() <= names for e in next(iter(scopes))):
        return False
    iterations: isl.Map | None = None
    for p in pieces:
        own = p.times.project_out(isl.dim_type.out, shared, len(p.dims) - shared)
        own = own.reset_tuple_id(isl.dim_type.in_)
        own = own.project_out(isl.dim_type.in_, depth, len(p.bindings) - depth)
        iterations = own if iterations is None else iterations.union(own)
    return iterations is None or bool(iterations.is_single_valued())


def _scopes(pieces: list[Piece], depth: int) -> isl.Set:
    """The scopes (values of the outermost original loops) that the pieces touch."""
    union: isl.Set | None = None
    for p in pieces:
        original = p.times.domain().reset_tuple_id()
        own = original.project_out(isl.dim_type.set, depth, len(p.bindings) - depth)
        union = own if union is None else union.union(own)
    assert union is not None
    return union


def _disjoint(sets: list[isl.Set]) -> bool:
    return all(a.is_disjoint(b) for n, a in enumerate(sets) for b in sets[:n])


def _overlap(state: ScheduledScop, array: Array) -> bool:
    """Exactly: is there a write of another scope between a write and a read of its value?"""
    pieces = accessing(state, array.name)
    times, length = _times(pieces)
    starts = [
        _keys(state.scop, p.statement, p.statement.stmt.target, times[id(p)])
        for p in _outermost(pieces, array.name, starts=True)
    ]
    ends = [
        _keys(state.scop, p.statement, access, times[id(p)])
        for p in _outermost(pieces, array.name, starts=False)
        for access in (p.statement.stmt.target, *p.statement.reads)
        if access.array == array.name
    ]
    writes = reduce(isl.Map.union, starts)
    if not _meets(writes.range_product(reduce(isl.Map.union, ends)), writes, array, length):
        return False  # nothing of another scope is between the first write and the last access
    parts: dict[int, list[Piece]] = {}
    for piece in pieces:
        parts.setdefault(piece.statement.index, []).append(piece)

    def instants(s: Statement) -> isl.Map | None:
        own = [times[id(p)] for p in parts.get(s.index, ())]
        return reduce(isl.Map.union, own) if own else None

    def together(flow: Dependence) -> int:
        """Loops that the write and the read share: a step that is refused has pulled them apart."""
        sources, sinks = (parts.get(s.index, ()) for s in (flow.source, flow.sink))
        return min((shared_levels(p, q) for p in sources for q in sinks), default=0)

    flows = array_flows(state.scop, array.name)
    return overwritten(state.scop, array, instants, length, sorted(flows, key=together))


def _times(pieces: list[Piece]) -> tuple[dict[int, isl.Map], int]:
    """The iterations of each piece, by its identity, to the times at which they run, and the entries of
    a time: of ``[place0, loop0, place1, …]`` those that are not the same number in all pieces.
    """
    length = max(len(p.dims) for p in pieces)
    times = {id(p): p.instants(length) for p in pieces}
    out = isl.dim_type.out
    left = 2 * length + 1
    for k in reversed(range(left)):
        fixed = [t.plain_get_val_if_fixed(out, k) for t in times.values()]
        if all(v.is_int() and v.eq(fixed[0]) for v in fixed):
            times = {p: t.project_out(out, k, 1) for p, t in times.items()}
            left -= 1
    return times, left


def _outermost(pieces: list[Piece], array: str, *, starts: bool) -> list[Piece]:
    """Of pieces that run one behind the other in the same iterations and access the same elements,
    the first that writes, or the last.
    """
    found: dict[object, Piece] = {}
    for p in pieces:
        s = p.statement
        written = s.stmt.target.indices if s.stmt.target.array == array else None
        if starts and written is None:
            continue
        read = () if starts else tuple(a.indices for a in s.reads if a.array == array)
        # isl's sets have no hash: equal ones are written alike, nearly always.
        run = p.place[:-1], p.bindings, str(p.domain), len(p.dims), written, read
        other = found.get(run)
        if other is None or (p.place[-1] < other.place[-1]) == starts:
            found[run] = p
    return [*found.values()]


def overwritten(
    scop: Scop,
    array: Array,
    instants: Callable[[Statement], isl.Map | None],
    length: int,
    flows: Sequence[Dependence],
) -> bool:
    """Whether another scope writes an element of a local between a write and a read of its value.

    Args:
        scop: the program.
        array: the local.
        instants: the iterations of a statement to the times at which they run; None if it has none.
        length: entries of a time.
        flows: its flow dependences, those that are most likely to be interrupted first.
    """
    known: dict[int, isl.Map | None] = {}

    def run(s: Statement) -> isl.Map | None:
        if s.index not in known:
            known[s.index] = instants(s)
        return known[s.index]

    def lives(flow: Dependence) -> isl.Map | None:
        written, read = run(flow.source), run(flow.sink)
        if written is None or read is None:
            return None
        both = written.range_product(flow.pairs.apply_range(read))
        return _keys(scop, flow.source, flow.source.stmt.target, both)

    def writes(s: Statement) -> isl.Map | None:
        times = run(s)
        return None if times is None else _keys(scop, s, s.stmt.target, times)

    # Where a step has pulled a write and its read apart, the same statement comes between.
    for flow in flows[:_FIRST]:
        life, own = lives(flow), writes(flow.source)
        if life is not None and own is not None and _meets(life, own, array, length):
            return True
    every = [writes(s) for s in scop.statements if s.stmt.target.array == array.name]
    present = [w for w in every if w is not None]
    if not present:
        return False
    union = reduce(isl.Map.union, present)
    found = (lives(flow) for flow in flows)
    return any(life is not None and _meets(life, union, array, length) for life in found)


def _meets(lives: isl.Map, writes: isl.Map, array: Array, length: int) -> bool:
    """Whether another scope writes an element while it lives.

    Args:
        lives: from ``[scope, element]`` to ``[from -> to]``, two times.
        writes: from ``[scope, element]`` to times.
        array: the local.
        length: entries of a time.
    """
    depth, rank = array.scope_depth, len(array.type.shape)
    others, within = _other_scopes(depth, rank), _between(length)
    # One scope mostly shows it, in a fraction of the time that all take.
    one = isl.Set.from_point(lives.domain().sample_point())
    return any(
        not part.reverse().apply_range(others.apply_range(writes)).is_disjoint(within)
        for part in (lives.intersect_domain(one), lives)
    )


@lru_cache(maxsize=64)
def _other_scopes(depth: int, rank: int) -> isl.Map:
    """Pairs of ``[scope, element]``: the same element of another scope."""
    a, b, element = dims(depth, "a"), dims(depth, "b"), dims(rank, "e")
    differ = " or ".join(f"{x} != {y}" for x, y in zip(a, b, strict=True)) or "false"
    return isl.Map(f"{{ [{', '.join(a + element)}] -> [{', '.join(b + element)}] : {differ} }}")


@lru_cache(maxsize=64)
def _between(size: int) -> isl.Map:
    """``[from -> to]`` to each time between, all vectors of so many entries."""
    space = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, size)
    before, every = isl.Map.lex_lt(space), isl.Map.universe(space.map_from_set())
    begun = every.domain_map().apply_range(before)
    return begun.intersect(every.range_map().apply_range(before.reverse()))


def _keys(scop: Scop, s: Statement, access: Access, values: isl.Map) -> isl.Map:
    """From ``[scope, element]`` to what ``values`` gives for the iterations that access it."""
    return scop.access_map(s, access).reset_tuple_id(isl.dim_type.out).reverse().apply_range(values)
