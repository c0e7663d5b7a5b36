"""When the elements of an array are written and read, and which of its memories they lie in.

What passes through a FIFO is checked on these relations: arrays between two processes in
`polyhedral.dataflow.streams`, arguments in `polyhedral.dataflow.ports`.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from dsl.expressions.expr import Access, Binary, BinaryOp, Expr, Gather, Select, children, loads
from dsl.expressions.types import boolean
from dsl.programs.program import Array
from polyhedral.banks.pairs import same_bank
from polyhedral.banks.splits import splits_in, words_a_bank
from polyhedral.scop.scheduled import Piece, ScheduledScop

Element = tuple[int, ...]


def words_a_memory(state: ScheduledScop, array: Array) -> int:
    """The elements of the largest memory of an array under the partitions of the state."""
    return words_a_bank(array.shape, splits_in(array.name, array.shape, state.partitions))


def write_times(state: ScheduledScop, pieces: list[Piece]) -> isl.Map:
    """Element to the times at which it is written."""
    length = max(len(p.dims) for p in pieces)
    maps = (
        state.scop.access_map(p.statement, p.statement.stmt.target)
        .reverse()
        .apply_range(p.instants(length))
        for p in pieces
    )
    return _union(list(maps))


def read_times(state: ScheduledScop, pieces: list[Piece], array: str) -> isl.Map:
    """Element to the times at which it is read; what one statement reads has one time but for the
    last entry, because nothing says which of its reads is first.
    """
    length = max(len(p.dims) for p in pieces)
    maps = (
        state.scop.access_map(p.statement, access).reverse().apply_range(p.instants(length, n))
        for p in pieces
        for n, access in enumerate(loads(p.statement.stmt.value))
        if access.array == array
    )
    return _union(list(maps))


def _union(maps: list[isl.Map]) -> isl.Map:
    found = maps[0]
    for m in maps[1:]:
        found = found.union(m)
    return found.coalesce() if len(maps) > 1 else found


def same_memory(state: ScheduledScop, array: Array) -> isl.Map:
    """Pairs of elements that lie in one memory."""
    splits = splits_in(array.name, array.shape, state.partitions)
    name = f"a{state.scop.array_index[array.name]}"
    return same_bank(name, array.scope_depth, array.shape, splits)


def sample_element(points: isl.Set, array: Array) -> Element:
    """Some element of a set of them, which is not empty."""
    point = points.sample_point()
    return tuple(
        point.get_coordinate_val(isl.dim_type.set, array.scope_depth + k).to_python()
        for k in range(len(array.shape))
    )


def conditional_loads(value: Expr) -> Iterator[Access]:
    """The reads that the C++ of a value skips where a condition does not hold: those of the sides
    of a conditional expression, and of the right of ``and`` and ``or``.

    An array gives its element whether it is asked or not. A FIFO keeps what is not taken.
    """
    match value:
        case Gather(access, data):  # of all that it may be it takes one
            yield access
            for child in data:
                yield from conditional_loads(child)
            skipped: tuple[Expr, ...] = ()
        case Select(cond, then, orelse):
            yield from conditional_loads(cond)
            skipped = (then, orelse)
        case Binary(BinaryOp.AND | BinaryOp.OR, left, right, dtype) if dtype == boolean:
            yield from conditional_loads(left)
            skipped = (right,)
        case _:
            skipped = ()
            for child in children(value):
                yield from conditional_loads(child)
    for expr in skipped:
        yield from loads(expr)


def gatherers(pieces: list[Piece], array: str) -> list[str]:
    """The statements that read an array at a subscript that is data: in no known order."""
    return [
        p.name
        for p in pieces
        if any(a.array == array and any(e.is_data for e in a.indices) for a in p.statement.reads)
    ]


def iterations_at(
    state: ScheduledScop, array: Array, element: Element, write: bool
) -> list[tuple[str, tuple[int, ...]]]:
    """Up to two accesses of an element: the statement and its iteration.

    An iteration that reads it twice is there twice.
    """
    found: list[tuple[str, tuple[int, ...]]] = []
    for piece in state.pieces:
        stmt = piece.statement.stmt
        for access in (stmt.target,) if write else loads(stmt.value):
            if access.array != array.name:
                continue
            touched = state.scop.access_map(piece.statement, access)
            for k, x in enumerate(element, array.scope_depth):
                touched = touched.fix_val(isl.dim_type.out, k, isl.Val(x))
            points = touched.domain().intersect(piece.times.domain())
            while len(found) < 2 and not points.is_empty():
                point = points.lexmin()
                found.append((piece.name, coordinates(point)))
                points = points.subtract(point)
    return found


def coordinates(points: isl.Set) -> tuple[int, ...]:
    """Some point of a set, which is not empty."""
    point = points.sample_point()
    count = points.dim(isl.dim_type.set)
    return tuple(point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(count))
