"""What `carry` leaves of the accesses of an array in memory: the fewest that tell what it holds before and behind the loop.

Of a sweep in place whose iterations hand on in registers what they assign, along wavefronts::

    for t in range(1, 17):
      for s in range(4):
        if 1 <= t - 2*s < 9: A[t - 2*s] = ...

only the last sweep, of ``s = 3``, has to store its elements, and what all sweeps read at the border are two elements.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from dsl.expressions.affine import Affine
from dsl.programs.program import Storage
from polyhedral.dependences.direct import writes_seen
from polyhedral.dependences.memory_order import program_order
from polyhedral.isl.text import affine_text, dims, map_of, set_of
from polyhedral.scop.scop import Scop, Statement, same_run
from polyhedral.transforms.carried.ages import Ages, union
from polyhedral.transforms.carried.cells import Element

_BORDER = 4
"""Elements of a border that are read each by a statement of its own, at most."""


def border_of(ages: Ages, points: isl.Set) -> Iterator[tuple[Element | None, isl.Set]]:
    """Points whose elements are brought in from memory; apart those that are of a few elements again and again.

    Args:
        ages: what the loop hands on.
        points: loops around, loop and cell.

    Yields:
        The element of such points, and the points; None for points of many elements.
    """
    depth = ages.level + 1
    count = depth + ages.cells.count
    names = dims(count)
    element = ages.cells.element([Affine.of(n) for n in names]) if ages.cells.lanes else None
    rest = points
    if element is not None:
        assigned = ages.written.project_out(isl.dim_type.set, 0, depth)
        border = points.intersect(assigned.insert_dims(isl.dim_type.set, 0, depth))
        texts = [affine_text(e, {n: n for n in names}) for e in element]
        where = map_of(f"{{ [{', '.join(names)}] -> [{', '.join(texts)}] }}")
        for at in _few(border.apply(where)):
            own = border.intersect(where.intersect_range(_single(at)).domain())
            yield tuple(Affine.of(k) for k in at), _plain(own)
            rest = rest.subtract(own)
    if not rest.is_empty():
        yield None, _plain(rest) if element is not None else rest.coalesce()


def _plain(points: isl.Set) -> isl.Set:
    """The points as one polyhedron where they are one: how isl came to them does not show then."""
    hull = isl.Set.from_basic_set(points.polyhedral_hull())
    return hull if hull.is_equal(points) else points.coalesce()


def _few(elements: isl.Set) -> list[tuple[int, ...]]:
    """The elements, in order, if there are few."""
    if elements.is_empty() or elements.count_val().gt(_BORDER):
        return []
    points: list[isl.Point] = []
    elements.foreach_point(points.append)  # in any order
    count = elements.dim(isl.dim_type.set)
    return sorted(
        tuple(p.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(count))
        for p in points
    )


def _single(at: tuple[int, ...]) -> isl.Set:
    return set_of(f"{{ [{', '.join(map(str, at))}] }}")


def last_stores(scop: Scop, ages: Ages) -> dict[str, isl.Set]:
    """For each statement that assigns, the iterations whose value memory has to have: the last of an element in a run
    of the loop, and what reads of the array find that stay.

    Args:
        scop: the program.
        ages: what the loop hands on.
    """
    return {s.name: _needed(scop, ages, s) for s in ages.writers}


def _needed(scop: Scop, ages: Ages, writer: Statement) -> isl.Set:
    found = [] if _ends_here(ages) else [_last(scop, ages, writer)]
    handed = {(read.reader.name, read.access) for read in ages.reads}
    for s in scop.statements:
        for access in s.reads:
            if access.array != ages.array.name or (s.name, access) in handed:
                continue
            found += [
                pairs.domain() for source, pairs in writes_seen(scop, s, access) if source is writer
            ]
    return union([writer.domain.subtract(writer.domain), *found]).reset_tuple_id()


def _ends_here(ages: Ages) -> bool:
    """Whether nothing but reads that stay finds what a run of the loop leaves in memory. Asked only where ages vary, of versions
    of a row, all but the last of which nothing reads.
    """
    is_own = ages.array.storage is Storage.LOCAL and ages.array.scope_depth == ages.level
    return ages.vary and is_own


def _last(scop: Scop, ages: Ages, writer: Statement) -> isl.Set:
    """The last assignments of elements in a run of the loop."""
    mine = scop.access_map(writer, writer.stmt.target)
    last = writer.domain
    for other in ages.writers:
        order = program_order(writer, other)
        if order is None:
            continue
        same = mine.apply_range(scop.access_map(other, other.stmt.target).reverse())
        again = same.intersect(order).intersect(same_run(writer, other, ages.level))
        last = last.subtract(again.domain())
    return last
