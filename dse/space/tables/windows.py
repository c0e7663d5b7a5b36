"""Structures of filters: what iterations read again of an array is kept in line buffers and a window.

A filter that reads nine neighbours of each pixel asks one memory for nine elements. With `reuse` it asks for the
new one: the rest is in registers and in rows that are memories of their own, so that an iteration starts each cycle
whatever the number of taps. What becomes of the loops follows: the innermost one that moves the windows is the
pipeline, all inside of it is unrolled, and what is left to choose is how many points of a row an iteration has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from math import prod

from dse.space.loops.processes import handed_on, in_processes
from dse.space.nests.groups import MOST, iterations
from dse.space.nests.triangles import only_copies
from dse.space.tables.read_once import read_once
from dsl.expressions.expr import loads
from dsl.programs.program import Storage
from dsl.schedules.steps import Partition, Pipeline, Reorder, Reuse, Split, Step, Tail, Unroll
from polyhedral.dependences.carried import carried
from polyhedral.schedule import tried
from polyhedral.scop.execution_order import shared_loops
from polyhedral.scop.ranges import common_interval
from polyhedral.scop.scheduled import LoopId, Piece, ScheduledScop
from polyhedral.scop.scop import reduction_access
from polyhedral.transforms.materialise import placed_statement

LANES = (1, 2, 4, 8, 16, 32, 64)
"""Points of a row that an iteration has; and all of a row of few."""
_WHOLE = 4  # points of a row that an iteration may have all of: the channels of a pixel
_FEWEST = 3  # elements of a window: a memory hands over two in a cycle
_SMALL = 1 << 15  # elements of rows, or planes, that are kept without a thought of less
_DEEP = 2  # loops that windows may move with the outermost of

Structure = tuple[str, ScheduledScop, tuple[Step, ...]]


def windowed(
    name: str, state: ScheduledScop, steps: tuple[Step, ...], beside: bool = True, most: int = 0
) -> Iterator[Structure]:
    """A structure with windows in all nests that something is read again in; none where there are none.

    Args:
        name: of the structure.
        state: the program under its steps.
        steps: of the structure.
        beside: nests may run at the same time.
        most: points of an iteration, if that is not 0.

    Yields:
        The structure for each number of points of an iteration, with windows that move with the outermost loop
        that can move them, and with the next one.
    """
    if state.dataflow is not None or state.streams or state.overlaps:
        return
    yield from _each(name, state, steps, _Asked(_DEEP, beside, most))
    turned, order = _taps_outside(state)
    if order:
        yield from _each(f"{name}, taps outside", turned, (*steps, *order), _Asked(1, beside, most))


@dataclass(frozen=True, slots=True)
class _Asked:
    """How many ways of windows there may be, whether nests may run at the same time, and the most points of an
    iteration, if that is not 0.
    """

    deep: int
    beside: bool
    most: int


def _each(
    name: str, state: ScheduledScop, steps: tuple[Step, ...], asked: _Asked
) -> Iterator[Structure]:
    """The structures with loops in the order that they have."""
    found = list(_planned(state, state.pieces, asked.most or LANES[-1]))
    plans = [plan for _, plan in found if plan is not None]
    if not plans:
        return
    if asked.beside and handed_on(state):
        most = plans[0].most
        every = [plan or _pointwise(nest, most) for nest, plan in found]
        together = list(_beside(name, state, steps, every))
        yield from together
        if together:
            return
    for depth in range(min(asked.deep, max(len(plan.at) for plan in plans))):
        words = f"{name}, windows" if depth == 0 else f"{name}, inner windows"
        for number in range(max(len(plan.lanes) for plan in plans)):
            lanes = [plan.lanes[min(number, len(plan.lanes) - 1)] for plan in plans]
            made = _made(state, plans, depth, lanes)
            while made is None and any(plan.below(n) for plan, n in zip(plans, lanes, strict=True)):
                lanes = [plan.below(n) or n for plan, n in zip(plans, lanes, strict=True)]
                made = _made(state, plans, depth, lanes)
            if made is not None:
                yield f"{words}, {max(lanes)} at a time", made[0], (*steps, *made[1])


def _beside(
    name: str, state: ScheduledScop, steps: tuple[Step, ...], plans: Sequence[_Plan | None]
) -> Iterator[Structure]:
    """The structures with all nests at the same time, as many points in an iteration of each."""
    known = [plan for plan in plans if plan is not None]
    if len(known) < len(plans):
        return
    for lanes in sorted(set.intersection(*(set(plan.lanes) for plan in known))):
        made = _made(state, known, 0, [lanes] * len(known))
        beside = None if made is None else in_processes(made[0])
        if made is None or beside is None:
            return
        yield (
            f"{name}, filters in line, {lanes} at a time",
            beside[0],
            (*steps, *made[1], *beside[1]),
        )


# ------------------------------------------------------------------------------------------ what is read again


@dataclass(frozen=True, slots=True)
class _Plan:
    """Windows of the arrays of a nest.

    Attributes:
        leader: a statement in all loops that move them.
        at: for each way the loop of each array that moves its window outermost.
        row: the innermost loop that moves them, of which iterations have several points.
        extent: of it.
        conditional: some of its statements run in some of its iterations only.
        most: points of an iteration.
        sums: a local of one iteration is added to: a copy that does not run would hand on what the one before left.
    """

    leader: str
    at: tuple[Mapping[str, str], ...]
    row: str
    extent: int
    conditional: bool
    most: int
    sums: bool

    @property
    def lanes(self) -> tuple[int, ...]:
        """How many points an iteration may have."""
        several = [n for n in LANES if n <= self.most]
        whole = {self.extent} if self.extent <= _WHOLE else set()
        if self.sums:
            fitting = ([n for n in self._even if n <= most] for most in several)
            return tuple(sorted({max(some) for some in fitting if some} | whole))
        return tuple(sorted({n for n in several if n < self.extent} | whole))

    def below(self, lanes: int) -> int:
        """Where so many points are too many: the most that are still more than what `lanes` has next; 0 if none are."""
        less = max((n for n in self.lanes if n < lanes), default=0)
        return max((n for n in self._even if less < n < lanes), default=0) if self.sums else 0

    @property
    def _even(self) -> list[int]:
        """Points that divide the row."""
        tiled = self.most < LANES[-1]  # there banks have to go with words as well
        even = [n for n in range(1, min(self.most, LANES[-1]) + 1) if self.extent % n == 0]
        return [n for n in even if n < self.extent and (not tiled or n in LANES)]

    def cut(self, lanes: int) -> Split:
        """The row in blocks."""
        name = self.row.rpartition(".")[2]
        tail: Tail = "guard" if self.extent % lanes or self.conditional else "remainder"
        return Split(self.row, lanes, f"{name}_0", f"{name}_1", tail)


def _planned(
    state: ScheduledScop, pieces: Sequence[Piece], most: int, level: int = 0
) -> Iterator[tuple[Sequence[Piece], _Plan | None]]:
    """The nests of some loops, with their windows; where all that is in a loop has loops of its own, each of these by
    itself: a sweep over time, or tiles, hold several filters and copies.
    """
    for mine in _nests(pieces, level):
        plan = _plan(state, mine, most)
        end = min((shared_loops(mine[0].place, p.place) for p in mine[1:]), default=mine[0].depth)
        if plan is None and all(p.depth > end for p in mine):
            yield from _planned(state, mine, most, end)
        else:
            yield mine, plan


def _nests(pieces: Sequence[Piece], level: int = 0) -> list[list[Piece]]:
    """Those of each loop at a level."""
    found: dict[tuple[int, ...], list[Piece]] = {}
    for piece in pieces:
        if piece.depth > level:
            found.setdefault(piece.place[: level + 1], []).append(piece)
    return list(found.values())


def _plan(state: ScheduledScop, nest: Sequence[Piece], most: int) -> _Plan | None:
    """The windows of a nest, if it has any: those of all arrays move with the same innermost loop."""
    dims = [dim for piece in nest for dim in piece.dims]
    asked = any(d.lane or d.held or d.pipeline_ii or d.unroll is not None for d in dims)
    if asked or only_copies(nest):
        return None
    carrying = {c.loop for c in carried(state, frozenset(p.name for p in nest)) if not c.reduction}
    written = {piece.statement.stmt.target.array for piece in nest}
    places: dict[str, list[str]] = {}
    rows: dict[str, tuple[str, int]] = {}
    for array in dict.fromkeys(a.array for p in nest for a in loads(p.statement.stmt.value)):
        known = state.scop.program.array(array)
        if array in written or not known.shape or known.storage is Storage.TABLE:
            continue  # constants are split as they are read, or are none where copies know them
        readers = [p for p in nest if any(a.array == array for a in loads(p.statement.stmt.value))]
        if read_once(array, readers):
            continue
        found = list(_windows(state, array, readers, carrying))
        if found:
            places[array] = [at for at, _, _ in found[:_DEEP]]
            rows[array] = found[0][1:]
    if not rows:
        return None
    row = max(rows.values(), key=lambda r: list(rows.values()).count(r))
    places = {array: at for array, at in places.items() if rows[array] == row}
    ways = max(len(at) for at in places.values())
    chosen = [{a: at[min(k, len(at) - 1)] for a, at in places.items()} for k in range(ways)]
    conditional = any(piece.frame is not piece.hull for piece in nest)
    leader = row[0].partition(".")[0]
    return _Plan(leader, tuple(chosen), *row, conditional, most, _sums(state, nest))


def _pointwise(nest: Sequence[Piece], most: int) -> _Plan | None:
    """A nest that reads nothing again, its innermost loop as the row; None where statements share only some loops."""
    first, depth = nest[0], len(nest[0].dims)
    if any(len(p.dims) != depth or shared_loops(first.place, p.place) != depth for p in nest[1:]):
        return None
    interval = common_interval([(first, depth - 1)])
    if interval is None:
        return None
    row = f"{first.name}.{first.names[-1]}"
    conditional = any(piece.frame is not piece.hull for piece in nest)
    return _Plan(first.name, ({},), row, interval.extent, conditional, most, sums=False)


def _sums(state: ScheduledScop, nest: Sequence[Piece]) -> bool:
    """Whether something is added to in a local that belongs to an iteration."""
    private = {a.name for a in state.scop.program.locals if a.scope_depth}
    stmts = [piece.statement.stmt for piece in nest]
    return any(
        s.target.array in private and any(a.array == s.target.array for a in loads(s.value))
        for s in stmts
    )


def _windows(
    state: ScheduledScop, array: str, readers: Sequence[Piece], carrying: Set[LoopId]
) -> Iterator[tuple[str, str, int]]:
    """The loops that windows of an array may move with, outermost first, each with the innermost loop that moves
    them, and how often that one runs.
    """
    first = readers[0]
    shared = min(shared_loops(first.place, piece.place) for piece in readers)
    known = {a.name for a in state.scop.program.arrays}
    for level in range(shared):
        at = f"{first.name}.{first.names[level]}"
        moved = tried(state, Reuse(array, at))
        if moved is None:
            continue
        window, *rows = [a for a in moved.scop.program.arrays if a.name not in known]
        if prod(window.shape) < _FEWEST:
            continue
        load = next(
            p
            for p in moved.pieces
            if p.statement.stmt.target.array == window.name
            and any(a.array == array for a in loads(p.statement.stmt.value))
        )
        reading = moved.of_statement(first.name)
        innermost = max(shared_loops(load.place, p.place) for p in reading) - 1
        interval = common_interval([(first, innermost)])
        if interval is None or first.dims[innermost].uid in carrying:
            continue  # it waits for something else
        yield at, f"{first.name}.{first.names[innermost]}", interval.extent
        if sum(prod(a.shape) for a in rows) <= _SMALL:
            return


def _taps_outside(state: ScheduledScop) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """Loops of sums in the other order, where that is legal: a loop over channels that would move windows as well
    is behind those over taps then, and unrolled with them.
    """
    steps: list[Step] = []
    for nest in _nests(state.pieces):
        for piece in nest:
            inside = max(
                (shared_loops(piece.place, p.place) for p in nest if p is not piece), default=0
            )
            own = [f"{piece.name}.{name}" for name in piece.names[inside:]]
            if len(own) < 3 or reduction_access(piece.statement) is None:
                continue
            step = Reorder((*own[1:], own[0]))
            moved = tried(state, step)
            if moved is not None:
                state = moved
                steps.append(step)
    return state, tuple(steps)


# ------------------------------------------------------------------------------------------ what is made of it


def _made(
    state: ScheduledScop, plans: Sequence[_Plan], depth: int, lanes: Sequence[int]
) -> tuple[ScheduledScop, tuple[Step, ...]] | None:
    """The state with windows, and the steps that make them; None where a nest cannot have them."""
    steps: list[Step] = []
    for plan, count in zip(plans, lanes, strict=True):
        row = f"{plan.row}_0" if count > 1 else plan.row
        own: list[Step] = [plan.cut(count)] if count > 1 else []
        for array, at in plan.at[min(depth, len(plan.at) - 1)].items():
            own.append(Reuse(array, row if at == plan.row else at))
        moved = tried(state, *own)
        done = None if moved is None else _piped(moved, plan.leader, row.rpartition(".")[2])
        if done is None:
            return None
        state, more = done
        steps += [*own, *more]
    return state, tuple(steps)


def _piped(
    state: ScheduledScop, leader: str, row: str
) -> tuple[ScheduledScop, tuple[Step, ...]] | None:
    """The loop that moves the windows as a pipeline, all inside of it unrolled; None where that is too much."""
    reader = state.of_statement(leader)[0]
    level = reader.names.index(row)
    inside = [p for p in state.pieces if shared_loops(p.place, reader.place) > level]
    while level and all(iterations(p, level) == 1 for p in inside):
        level -= 1  # all channels of a pixel: the pixels are the pipeline
        inside = [p for p in state.pieces if shared_loops(p.place, reader.place) > level]
    own = [range(level + 1, piece.depth) for piece in inside]
    copies = [prod(iterations(p, k) for k in levels) for p, levels in zip(inside, own, strict=True)]
    if sum(copies) > MOST:
        return None
    steps: dict[object, Step] = {}
    apart: dict[tuple[str, int], Step] = {}
    for piece, levels in zip(inside, own, strict=True):
        for k in levels:
            varies = common_interval([(piece, k)]) is None
            unrolled = Unroll(
                f"{piece.name}.{piece.names[k]}", 0, "guard" if varies else "remainder"
            )
            steps.setdefault(piece.dims[k].uid, unrolled)
            apart.update(_apart(state, piece, piece.names[k]))
    done = (
        Pipeline(f"{inside[0].name}.{inside[0].names[level]}"),
        *steps.values(),
        *apart.values(),
    )
    moved = tried(state, *done)
    return None if moved is None else (moved, done)


def _apart(state: ScheduledScop, piece: Piece, loop: str) -> Iterator[tuple[tuple[str, int], Step]]:
    """A bank for each element of the dimensions of windows and rows that a copied loop goes over."""
    banked = {p.array for p in state.partitions}
    known = {(p.array, p.dim) for p in state.partitions}
    stmt = placed_statement(piece, piece.name)
    for access in (stmt.target, *loads(stmt.value)):
        for dim, index in enumerate(access.indices) if access.array in banked else ():
            if loop in index.variables() and (access.array, dim) not in known:
                yield (access.array, dim), Partition(access.array, dim, "complete")
