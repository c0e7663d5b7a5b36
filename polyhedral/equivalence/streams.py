"""Is a local that level 3 calls a stream read in the order in which it is written?

Each element is written once and read once, and the elements of one memory come out in the order in
which they went in.
"""

from __future__ import annotations

import islpy as isl

from dsl.expressions.expr import loads
from polyhedral.banks.pairs import same_bank
from polyhedral.banks.splits import splits_of
from polyhedral.equivalence.raised import RaisedArray
from polyhedral.equivalence.refutation import Refutation
from polyhedral.equivalence.relations import Run, instance_text
from polyhedral.isl.text import coordinates
from polyhedral.scop.scop import Scop, union_of


def check_stream(scop: Scop, raised: RaisedArray, own: list[Run]) -> Refutation | None:
    """Check one stream, given the stores that write or read it."""
    length = max((len(run.store.loops) for run in own), default=0)
    written = union_of(
        scop.access_map(run.statement, run.statement.stmt.target)
        .reverse()
        .apply_range(run.instants(length, 0))
        for run in own
        if run.statement.stmt.target.array == raised.name
    )
    read = union_of(
        scop.access_map(run.statement, access).reverse().apply_range(run.instants(length, n))
        for run in own
        for n, access in enumerate(loads(run.statement.stmt.value))
        if access.array == raised.name
    )
    for times, what in ((written, "written"), (read, "read")):
        if not times.is_single_valued():
            return _refused(scop, raised, _several(times), f"{what} more than once")
    for points, what in (
        (written.domain().subtract(read.domain()), "written but never read"),
        (read.domain().subtract(written.domain()), "read but not written"),
    ):
        if not points.is_empty():
            return _refused(scop, raised, isl.Set.from_union_set(points), what)
    if written.is_empty():
        return None
    before, later = isl.Map.from_union_map(written), isl.Map.from_union_map(read)
    # Nothing says which of its reads a statement does first: its last entry does not count.
    at = later.project_out(isl.dim_type.out, 2 * length + 1, 1)
    swapped = before.lex_lt_map(before).intersect(at.lex_ge_map(at))
    swapped = swapped.intersect(_same_memory(scop, raised))
    if swapped.is_empty():
        return None
    return _refused(scop, raised, swapped.domain(), "written before another one, but read after it")


def _several(times: isl.UnionMap) -> isl.Set:
    one = isl.Map.from_union_map(times)
    space = one.get_space().domain().map_from_set()
    return one.lex_lt_map(one).intersect(isl.Map.identity(space)).domain()


def _same_memory(scop: Scop, raised: RaisedArray) -> isl.Map:
    """Pairs of elements that lie in one memory."""
    splits = splits_of(raised.shape, ((dim, kind, f) for kind, f, dim in raised.banks))
    depth = scop.program.array(raised.name).scope_depth
    return same_bank(f"a{scop.array_index[raised.name]}", depth, raised.shape, splits)


def _refused(scop: Scop, raised: RaisedArray, points: isl.Set, what: str) -> Refutation:
    depth = scop.program.array(raised.name).scope_depth
    at = coordinates(points.sample_point(), depth + len(raised.shape))[depth:]
    element = instance_text(raised.name, at) if at else raised.name
    text = f"'{raised.name}' is a stream, but {element} is {what}"
    return Refutation("W338", text, scop.program.array(raised.name).span)
