"""Locals that belong to one iteration share one storage: their lifetimes must not overlap.

A local declared inside loops is private to an iteration of them (its scope). Dependences therefore
do not order different scopes against each other; instead, no other scope may write the storage
between a write and its reads.
"""

from __future__ import annotations

import islpy as isl

from dsl.errors import ScheduleError
from dsl.expr import Access
from dsl.program import Array
from dsl.steps import Step
from polyhedral.dependences import DepKind, array_dependences
from polyhedral.isl_text import affine_text, dims, positional
from polyhedral.legality import shared_levels
from polyhedral.scheduled import Piece, ScheduledScop
from polyhedral.scop import Scop, Statement


def check_lifetimes(state: ScheduledScop, step: Step) -> None:
    """W211 if two scopes of a local would use its storage at the same time."""
    for array in state.scop.program.locals:
        if array.scope_depth == 0:
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
    return [
        p
        for p in state.pieces
        if p.statement.stmt.target.array == array
        or any(a.array == array for a in p.statement.reads)
    ]


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
    times = isl.UnionMap("{ }")
    length = max(len(p.dims) for p in pieces)
    for piece in pieces:
        times = times.union(isl.UnionMap.from_map(piece.instants(length)))
    return overwritten(state.scop, array, times, length)


def overwritten(scop: Scop, array: Array, times: isl.UnionMap, length: int) -> bool:
    """Whether another scope writes an element of a local between a write and a read of its value.

    Args:
        scop: the program.
        array: the local.
        times: from the iterations that access it to ``[place0, loop0, place1, …]``.
        length: loops in these.
    """
    flow = isl.UnionMap("{ }")
    for dep in array_dependences(scop, array.name):
        if dep.kind is DepKind.FLOW:
            flow = flow.union(isl.UnionMap.from_map(dep.pairs))
    others = _writes_of_other_scopes(scop, array)
    before = isl.Map.lex_lt(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, 2 * length + 1))
    later = _in_time(others, times).intersect(before.to_union_map())
    follows = later.reverse().apply_range(_in_time(flow, times))
    return not follows.intersect(before.to_union_map()).is_empty()


def _in_time(pairs: isl.UnionMap, times: isl.UnionMap) -> isl.UnionMap:
    return pairs.apply_domain(times).apply_range(times)


def _writes_of_other_scopes(scop: Scop, array: Array) -> isl.UnionMap:
    """Pairs of writes to one element from different scopes."""
    found = isl.UnionMap("{ }")
    writers = [s for s in scop.statements if s.stmt.target.array == array.name]
    depth = array.scope_depth
    for s in writers:
        for t in writers:
            same = _element(s, s.stmt.target).apply_range(_element(t, t.stmt.target).reverse())
            differ = isl.Map(
                f"{{ {_space(s, 'x')} -> {_space(t, 'y')} : "
                + " or ".join(f"x{k} != y{k}" for k in range(depth))
                + " }"
            )
            found = found.union(isl.UnionMap.from_map(same.intersect(differ)))
    return found


def _space(s: Statement, prefix: str) -> str:
    return f"s{s.index}[{', '.join(dims(len(s.loops), prefix))}]"


def _element(s: Statement, access: Access) -> isl.Map:
    """Iteration to element, without the scope."""
    names = positional(s.variables)
    subscripts = ", ".join(affine_text(e, names) for e in access.indices)
    return isl.Map(f"{{ {s.space} -> [{subscripts}] }}").intersect_domain(s.domain)
