"""When each instance runs under a schedule, as an explicit vector, and what the steps do to it.

The vectors are read off the pieces of a `ScheduledScop`, point by point. What a step should do to
the order is written down here once more, on plain integers, independently of
`polyhedral.transforms`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import islpy as isl

from dsl.expressions.affine_text import read_affine
from dsl.schedules.steps import (
    Align,
    Distribute,
    Fuse,
    Interchange,
    Reorder,
    Reverse,
    Shift,
    Skew,
    Step,
    Tile,
)
from polyhedral.scop.lookup import find_loop
from polyhedral.scop.scheduled import LoopId, Piece, ScheduledScop
from tests.support.enumeration import Key

Position = tuple[int, ...]
Time = tuple[Position, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One instance: the loops it runs in with their values, and the positions between them."""

    loops: tuple[LoopId, ...]
    values: tuple[int, ...]
    place: tuple[Position, ...]

    @property
    def time(self) -> Time:
        """Positions and values in turn: instances run in lexicographic order of it."""
        pairs = zip(self.place, self.values, strict=False)
        inner = (x for position, value in pairs for x in (position, (value,)))
        return (*inner, self.place[-1])

    def moved(self, loop: LoopId, value: int) -> Row:
        """Another iteration of one loop."""
        level = self.loops.index(loop)
        return replace(self, values=(*self.values[:level], value, *self.values[level + 1 :]))

    def value(self, loop: LoopId) -> int:
        """The iteration of one of its loops."""
        return self.values[self.loops.index(loop)]


Rows = dict[Key, Row]


class TwiceError(Exception):
    """Two pieces hold the same instance."""


def rows_of(state: ScheduledScop) -> Rows:
    """The vector of every instance.

    Raises:
        TwiceError: an instance is in two pieces.
    """
    rows: Rows = {}
    for piece in state.pieces:
        uids = tuple(d.uid for d in piece.dims)
        place = tuple((p,) for p in piece.place)
        for values in _points(piece):
            env = dict(zip(piece.names, values, strict=True))
            key = piece.name, tuple(e.evaluate(env) for _, e in piece.bindings)
            if key in rows:
                raise TwiceError(f"{key} is in two pieces")
            rows[key] = Row(uids, values, place)
    return rows


def _points(piece: Piece) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = []
    size = len(piece.dims)

    def note(point: isl.Point) -> None:
        values = (point.get_coordinate_val(isl.dim_type.set, k) for k in range(size))
        found.append(tuple(v.to_python() for v in values))

    piece.domain.foreach_point(note)
    return found


def times_of(rows: Rows) -> dict[Key, Time]:
    """When each instance runs."""
    return {key: row.time for key, row in rows.items()}


def order_of(times: Mapping[Key, Time]) -> list[Key]:
    """The instances in the order in which they run."""
    return sorted(times, key=lambda key: times[key])


def meaning_faults(before: ScheduledScop, after: ScheduledScop, step: Step) -> Iterator[str]:
    """Where a step, legal or not, did to the order something else than it says."""
    rows, new = rows_of(before), rows_of(after)
    if rows.keys() != new.keys():
        yield f"{len(rows)} instances became {len(new)}"
        return
    match step:
        case Fuse():
            yield from _fuse_faults(rows, new, step)
        case Distribute():
            yield from _distribute_faults(before, rows, new, step)
        case Align():
            yield from _align_faults(before, rows, new, step)
        case Tile():
            pass  # it is made of split and reorder, and compared with them in a test of its own
        case _:
            expected = times_of(_expected(before, rows, step))
            for a, b in zip(order_of(expected), order_of(times_of(new)), strict=True):
                if a != b:
                    yield f"{a} should run where {b} does"
                    return


def _expected(state: ScheduledScop, rows: Rows, step: Step) -> Rows:
    match step:
        case Interchange(a=a, b=b):
            first, second = find_loop(state, a, step), find_loop(state, b, step)
            return {key: _swapped(row, first, second) for key, row in rows.items()}
        case Reorder(loops=refs):
            uids = [find_loop(state, ref, step) for ref in refs]
            return {key: _permuted(row, uids) for key, row in rows.items()}
        case Reverse(loop=ref):
            uid = find_loop(state, ref, step)
            return {
                key: row.moved(uid, -row.value(uid)) if uid in row.loops else row
                for key, row in rows.items()
            }
        case Skew(outer=outer, inner=inner, factor=factor):
            o, i = find_loop(state, outer, step), find_loop(state, inner, step)
            return {
                key: row.moved(i, row.value(i) + factor * row.value(o)) if i in row.loops else row
                for key, row in rows.items()
            }
        case Shift(stmt=stmt, loop=ref, amount=amount):
            uid = find_loop(state, ref if "." in ref else f"{stmt}.{ref}", step)
            return {
                key: row.moved(uid, row.value(uid) + amount)
                if key[0] == stmt and uid in row.loops
                else row
                for key, row in rows.items()
            }
        case _:
            return rows


def _swapped(row: Row, a: LoopId, b: LoopId) -> Row:
    if a not in row.loops or b not in row.loops:
        return row
    first, last = sorted((row.loops.index(a), row.loops.index(b)))
    between = row.loops[first + 1 : last]
    return _permuted(row, [row.loops[last], *between, row.loops[first]])


def _permuted(row: Row, uids: list[LoopId]) -> Row:
    """The loops in a new order; the copies of remainder nests become nests of their own."""
    if not all(uid in row.loops for uid in uids):
        return row
    levels = sorted(row.loops.index(uid) for uid in uids)
    loops, values = list(row.loops), list(row.values)
    for level, uid in zip(levels, uids, strict=True):
        loops[level], values[level] = uid, row.value(uid)
    outer, inner = levels[0], levels[-1]
    together = tuple(p for position in row.place[outer : inner + 1] for p in position)
    none = ((0,),) * (inner - outer)
    place = (*row.place[:outer], together, *none, *row.place[inner + 1 :])
    return Row(tuple(loops), tuple(values), place)


def _fuse_faults(rows: Rows, new: Rows, step: Fuse) -> Iterator[str]:
    """Fused statements run by the shared loops first, then in the order named."""
    rank = {stmt: n for n, stmt in enumerate(step.stmts)}
    moved = {key: row for key, row in rows.items() if key[0] in rank}
    already = _share(rows, step)
    expected = {
        key: (row.values[: step.depth], rank[key[0]], row.time) for key, row in moved.items()
    }
    if already:
        return  # what is together already keeps its inner order
    wanted = sorted(expected, key=lambda key: expected[key])
    for a, b in zip(wanted, sorted(moved, key=lambda key: new[key].time), strict=True):
        if a != b:
            yield f"{a} should run where {b} does"
            return


def _align_faults(before: ScheduledScop, rows: Rows, new: Rows, step: Align) -> Iterator[str]:
    """Below the loops that stay, aligned statements run by their times, then in the order named, then
    by the rest of their loops: all but the innermost one that is in the time without a factor.
    """
    depth, rank = step.depth, {stmt: n for n, stmt in enumerate(step.stmts)}
    names = {(p.name, tuple(d.uid for d in p.dims)): p.names for p in before.pieces}
    at = min(before.of_statement(step.stmts[0]), key=lambda p: p.place).place[depth]
    expected: dict[Key, Time] = {}
    for key, row in rows.items():
        if key[0] not in rank:
            expected[key] = row.time
            continue
        time = read_affine(step.times[rank[key[0]]])
        own_names = names[key[0], row.loops]
        t = time.evaluate(dict(zip(own_names, row.values, strict=True)))
        gone = max(
            (k for k, n in enumerate(own_names) if abs(time.coefficient(n)) == 1), default=-1
        )
        place = tuple(p for position in row.place[:-1] for p in position)
        own = (at,), (t,), (rank[key[0]], *place)
        inner = ((v,) for k, v in enumerate(row.values) if k >= depth and k != gone)
        expected[key] = (*row.time[: 2 * depth], *own, *inner, row.place[-1])
    for a, b in zip(order_of(expected), order_of(times_of(new)), strict=True):
        if a != b:
            yield f"{a} should run where {b} does"
            return


def _share(rows: Rows, step: Fuse) -> bool:
    """Whether some of the statements share all the loops in question before the step."""
    outer = [
        {row.loops[: step.depth] for key, row in rows.items() if key[0] == stmt}
        for stmt in step.stmts
    ]
    return any(a & b for n, a in enumerate(outer) for b in outer[:n])


def _distribute_faults(
    before: ScheduledScop, rows: Rows, new: Rows, step: Distribute
) -> Iterator[str]:
    """Above the cut nothing changes; below, the groups run one after the other: what stood before
    the first of the statements, the statements, the rest.
    """
    depth = step.depth
    nests: dict[tuple[int, ...], list[Piece]] = {}
    for piece in before.pieces:
        nests.setdefault(piece.place[: depth + 1], []).append(piece)
    group: dict[tuple[str, tuple[int, ...]], int] = {}
    for nest in nests.values():
        listed = [n for n, p in enumerate(nest) if p.name in step.stmts and len(p.dims) > depth]
        for n, piece in enumerate(nest):
            mine = piece.name in step.stmts
            after = bool(listed) and n > listed[0]
            group[piece.name, piece.place] = (1 if mine else 2 if after else 0) if listed else 0
    cut = 2 * depth + 1
    expected = {}
    for key, row in rows.items():
        place = tuple(p for position in row.place for p in position)
        expected[key] = (*row.time[:cut], (group[key[0], place],), *row.time[cut:])
    for a, b in zip(order_of(expected), order_of(times_of(new)), strict=True):
        if a != b:
            yield f"{a} should run where {b} does"
            return
