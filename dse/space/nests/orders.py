"""Nests of a scheduled program, and the legal orders of each: found by trying, pruned of equals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, prod

from dse.space.nests.arrangements import orders_of
from dse.space.nests.cases import cases_of, inside_of
from dse.space.nests.contents import (
    Delays,
    carry_of,
    delays_of,
    fabric_of,
    lowered,
    operations_of,
    uses_of,
)
from dse.space.nests.context import Context
from dse.space.nests.groups import Group, groups, iterations, own_level
from dse.space.nests.look_ups import tells_part
from dse.space.nests.nest import Carry, Nest, NestLoop, Operation, Order, Use
from dse.space.nests.skews import skews_of
from dse.space.nests.triangles import is_short, only_copies
from dsl.schedules.loop_requests import NO_REQUESTS
from dsl.schedules.steps import Reorder, Step, Tail, Unroll
from polyhedral.dependences.carried import Carried, carried
from polyhedral.schedule import tried
from polyhedral.scop.ranges import Interval, common_interval
from polyhedral.scop.scheduled import LoopId, Piece, ScheduledScop

_AROUND = 5  # about the states of an iteration besides its operators: loads and a store
_IN_TURN = 16  # copies of a loop that update, one after the other, what values tell


def nests(state: ScheduledScop, context: Context, most: int = 0) -> tuple[Nest, ...]:
    """The nests of a program, in execution order.

    Args:
        state: the program.
        context: what they are judged with.
        most: an imperfect nest of at most so many operations inside the loops that all its
            statements share is one nest, its inner loops unrolled; see `dse.space.nests.groups`.
    """
    found: list[Nest] = []
    seen: set[str] = set()
    for group in groups(state, most):
        if seen.issuperset(group.names):
            continue  # what a block leaves: steps on its loops are of these copies, too
        seen.update(group.names)
        level = own_level(state, group)
        leader = group.pieces[0]
        asked = state.pipeline is not None or _asked(group.pieces)
        if asked or context.as_written:
            now = _order(state, group.names, (level, group.end), (), context)
            orders: tuple[Order, ...] = (_given(now, group) if asked else now,)
        else:
            key = _content(state, group, level, context)
            orders = context.known.get(key) or _legal(state, group, level, context)
            context.known[key] = orders
        if not orders[0].given and _reaches(orders[0], context):
            # What makes a word beside asks for the banks that it takes it from.
            words = all(any(dim.lane for dim in piece.dims) for piece in group.pieces)
            orders = tuple(
                replace(o, loops=tuple(map(_whole, o.loops)), words=words) for o in orders
            )
        runs = _runs(leader, level, context)
        around = leader.names[:level]
        names = tuple(p.name for p in group.pieces)
        found.append(Nest(leader.name, names, runs, around, orders))
    return tuple(found)


def _content(state: ScheduledScop, group: Group, level: int, context: Context) -> object:
    """Equal for nests of which all that orders are judged by is the same."""
    pieces = tuple(p for name in group.names for p in state.of_statement(name))
    asked = state.reassociated.intersection(group.names), state.operators, state.partitions
    judged = context.logic, context.outside, context.uneven, context.placed, context.free
    return pieces, group.end, level, asked, judged


def _legal(state: ScheduledScop, group: Group, level: int, context: Context) -> tuple[Order, ...]:
    """The orders of a nest of which no schedule says anything, the present one first."""
    legal = _orders(state, group, level, context)
    first = next(legal)
    # Copies go along the rows: no burst is in another order.
    along = only_copies(group.pieces) and _reaches(first, context)
    return (first,) if along else (first, *legal)


def _reaches(order: Order, context: Context) -> bool:
    """Whether the nest accesses arrays that are outside."""
    return any(use.array in context.outside for use in order.uses)


def present(state: ScheduledScop, context: Context, most: int) -> Iterator[tuple[Group, Order]]:
    """The nests, as `nests` has them, each with the order that it has now."""
    for group in groups(state, most):
        band = (own_level(state, group), group.end)
        yield group, _order(state, group.names, band, (), context)


def _asked(pieces: Sequence[Piece]) -> bool:
    """Whether a schedule says already what becomes of the loops."""
    dims = (d for p in pieces for d in p.dims if not (d.lane or d.held or d.requests.spread))
    return any(
        (dim.pipeline_ii, dim.unroll, dim.flatten, dim.sequential) != (None, None, None, False)
        or dim.requests != NO_REQUESTS
        for dim in dims
    )


def _given(order: Order, group: Group) -> Order:
    """The order as all that there is, with the copies that are asked for."""
    copies = {d.name: d.unroll for p in group.pieces for d in p.dims if d.unroll is not None}
    loops = []
    for loop in order.loops:
        if loop.name in copies:
            count = copies[loop.name] or loop.extent or round(loop.average)
            loops.append(replace(loop, extent=count, inner=True))
        else:
            loops.append(replace(loop, inner=False, unrolls=False))
    return replace(order, loops=tuple(loops), given=True)


def _whole(loop: NestLoop) -> NestLoop:
    """The loop without copies."""
    return loop if loop.inner else replace(loop, unrolls=False)


def _runs(piece: Piece, level: int, context: Context) -> float:
    """How often the loops outside of ``level`` run, on average trip counts."""
    runs = 1.0
    for k in range(level):
        runs *= _average(piece, k)
    return runs


def _average(piece: Piece, level: int) -> float:
    interval = common_interval([(piece, level)])
    if interval is not None:
        return float(interval.extent)
    low, high = piece.domain.dim_min_val(level), piece.domain.dim_max_val(level)
    # Bounds that vary: half of the whole range, as in a triangle.
    extent: int = high.to_python() - low.to_python() + 1
    return max(1.0, extent / 2)


# ------------------------------------------------------------------------------------------ orders


def _orders(state: ScheduledScop, group: Group, level: int, context: Context) -> Iterator[Order]:
    """The legal orders; with skews where without them no innermost loop is free."""
    band = (level, group.end)
    plain = list(_permuted(state, group.names, band, (), context))
    yield from plain
    if any(order.free for order in plain) or group.end - level < 2:
        return
    for skews in skews_of(group.pieces[0], band):
        skewed = tried(state, *skews)
        if skewed is None:
            continue
        found = [o for o in _permuted(skewed, group.names, band, skews, context) if o.free]
        yield from found
        if found:
            return


def _permuted(
    state: ScheduledScop,
    names: Sequence[str],
    levels: tuple[int, int],
    before: tuple[Step, ...],
    context: Context,
) -> Iterator[Order]:
    """Every legal order of the loops of a band of levels, equivalent ones once."""
    leader = names[0]
    band = state.of_statement(leader)[0].names[slice(*levels)]
    if not band:
        yield _order(state, names, levels, before, context)
        return
    written = _order(state, names, levels, before, context)
    loops = [loop for loop in written.loops if loop.name in band]
    choices = orders_of(loops)
    seen: set[tuple[object, ...]] = set()
    for chosen in choices:
        moving: tuple[Step, ...] = ()
        if chosen != band:
            moving = (Reorder(tuple(f"{leader}.{name}" for name in chosen)),)
        moved = tried(state, *moving)
        if moved is None:
            continue
        order = _order(moved, names, levels, (*before, *moving), context)
        key = _shape(order)
        if key not in seen:
            seen.add(key)
            yield order
            if order.waits_for_rows:
                yield replace(order, apart=True)
            pieces = [p for p in moved.pieces if p.name in names]
            uneven = order.loops[-1].extent is None and is_short(pieces, levels[1] - 1)
            if uneven and (context.uneven or only_copies(pieces)):
                around = (levels[0], levels[1] - 1)
                yield _order(moved, names, around, order.steps, context)


def _shape(order: Order) -> tuple[object, ...]:
    """Equal for orders that differ in neighbours only which both carry nothing: as one pipeline
    they visit the same iterations, and unrolled they are the same copies.
    """
    parts: list[object] = []
    run: list[tuple[str, int | None]] = []
    for loop in order.loops:
        if loop.carries or loop.extent is None:
            parts += [tuple(sorted(run)), loop.name]
            run = []
        else:
            run.append((loop.name, loop.extent))
    return (*parts, tuple(sorted(run)))


def _order(
    state: ScheduledScop,
    names: Sequence[str],
    levels: tuple[int, int],
    steps: tuple[Step, ...],
    context: Context,
) -> Order:
    group = [p for p in state.pieces if p.name in names]
    level, end = levels
    statements = [lowered(state, p, bool(context.placed)) for p in group]
    program = state.scop.program
    registers = frozenset(a.name for a in program.locals if not a.shape)
    arrays = frozenset(a.name for a in program.locals if a.shape)
    delays = {s.name: delays_of(s, context.tool, registers, arrays) for s in statements}
    # A pipeline that windows were made for carries sums at the most (`dse.space.tables.windows`).
    sums_only = bool(context.placed) and _asked(group)
    watched = state.reassociated.intersection(names) if sums_only else frozenset(names)
    dependences = carried(state, watched) if watched and not context.free else ()
    sums = context.tool.sums
    band = _Band(state, group, levels, delays, sums.reassociates, sums.order == "leaf")
    loops = tuple(band.loop(k, dependences) for k in range(level, end))
    loops += tuple(band.inner(dependences))
    uses = uses_of(state, list(zip(group, statements, strict=True)), context.tool, context.placed)
    inside = inside_of(group, end)
    around = [frozenset(piece.names) for piece in group]
    operations = tuple(operations_of(statements, context.tool, around, inside, context.logic))
    wholes = [d.whole for d in delays.values()]
    told_apart = not _asked(group) and any(
        x.guarded and x.extent is not None for x in loops[: end - level]
    )
    depth = ceil((max if band.perfect else sum)(wholes or [0])) + _AROUND
    return Order(
        steps,
        loops,
        uses,
        operations,
        depth,
        guards=not band.private,
        inside=_inside(loops, uses, operations),
        fabric=tuple(fabric_of(statements, context.tool, around, inside)),
        cases=cases_of(state, names, levels) if told_apart else (),
    )


def _inside(loops: Sequence[NestLoop], uses: Sequence[Use], ops: Sequence[Operation]) -> int:
    """The most copies of a statement that the loops inside of a band make."""
    inner = {loop.name: loop.extent or 1 for loop in loops if loop.inner}
    moving = [{v for i in use.indices for v in i.variables()} for use in uses]
    moving += [set(op.loops) for op in ops]
    return max((prod(inner[v] for v in one & inner.keys()) for one in moving), default=1)


@dataclass(frozen=True, slots=True)
class _Band:
    """The loops of a band of levels, which all pieces of a group share, and those inside it."""

    state: ScheduledScop
    group: Sequence[Piece]
    levels: tuple[int, int]
    delays: Mapping[str, Delays]
    trees: bool  # the tool makes trees of sums
    leaves: bool  # in which the old sum is a leaf, if it is in a register

    @property
    def private(self) -> bool:
        """A local belongs to one iteration of loops of the band."""
        touched = {
            a.array for p in self.group for a in (p.statement.stmt.target, *p.statement.reads)
        }
        locals_ = self.state.scop.program.locals
        return any(a.name in touched and a.scope_depth > self.levels[0] for a in locals_)

    @property
    def perfect(self) -> bool:
        """Nothing has loops inside the band."""
        return all(len(p.dims) == self.levels[1] for p in self.group)

    def inner(self, dependences: Sequence[Carried]) -> Iterator[NestLoop]:
        """The loops inside the band, each once: all of their iterations are copies.

        Loops of one name are taken to be as long as the longest of them: a nest knows loops by name.
        """
        seen: set[LoopId] = set()
        longest: dict[str, int] = {}
        for piece in self.group:
            for level in range(self.levels[1], len(piece.dims)):
                name = piece.names[level]
                longest[name] = max(longest.get(name, 0), iterations(piece, level))
        for piece in self.group:
            for level in range(self.levels[1], len(piece.dims)):
                dim = piece.dims[level]
                if dim.uid in seen:
                    continue
                seen.add(dim.uid)
                extent = longest[dim.name]
                yield NestLoop(
                    f"{piece.name}.{dim.name}",
                    dim.name,
                    extent,
                    float(extent),
                    unrolls=True,
                    inner=True,
                    varies=common_interval([(piece, level)]) is None,
                    carries=self._carries(dim.uid, dependences),
                )

    def _carries(self, loop: LoopId, dependences: Sequence[Carried]) -> tuple[Carry, ...]:
        """What a loop hands on, the nearest first."""
        mine = (c for c in dependences if c.loop == loop)
        found = {carry_of(c, self.delays, self.trees, self.leaves) for c in mine}
        return tuple(sorted(found, key=lambda c: (c.distance, c.delay)))

    def _most(self, level: int, dependences: Sequence[Carried]) -> int:
        """The most copies worth making; 0 for any. Where values tell what is updated they take turns, whichever loop they
        are of: those of the loops inside are enough, and each loop is innermost in an order where that is legal. So are
        those of a loop inside that take none, as each is of a part of its own.
        """
        first, *inner = (self._takes_turns(k, dependences) for k in range(level, self.levels[1]))
        inside = enumerate(inner, level + 1)
        found = (self.interval(k) for k, turns in inside if turns or tells_part(self.group, k))
        return max(1, _IN_TURN // prod(i.extent for i in found if i is not None)) if first else 0

    def _takes_turns(self, level: int, dependences: Sequence[Carried]) -> bool:
        loop = self.group[0].dims[level].uid
        return any(c.loop == loop and self.delays[c.sink].through_memory for c in dependences)

    def interval(self, level: int) -> Interval | None:
        """The range of a loop where it is always the same, the program's conditions left out."""
        whole = common_interval([(p, level) for p in self.group])
        return whole or common_interval([(_unconditional(p), level) for p in self.group])

    def loop(self, level: int, dependences: Sequence[Carried]) -> NestLoop:
        """One loop and what it carries."""
        piece = self.group[0]
        interval = self.interval(level)
        several = interval is not None and interval.extent > 1
        plain = several and self._unrolls(level)
        jams = several and not plain and self._unrolls(level, "guard")
        unrolls = plain or jams
        separates = not unrolls or self._separates(level)
        guarded = common_interval([(p, level) for p in self.group]) is None
        constant = all(self.interval(k) for k in range(*self.levels))
        return NestLoop(
            f"{piece.name}.{piece.names[level]}",
            piece.names[level],
            None if interval is None else interval.extent,
            _average(piece, level) if interval is None else float(interval.extent),
            unrolls,
            separates,
            (guarded and self.private) or (not separates and (self.private or not constant)),
            guarded=guarded,
            jams=jams,
            most=self._most(level, dependences),
            carries=self._carries(piece.dims[level].uid, dependences),
        )

    def _unrolls(self, level: int, tail: Tail = "remainder") -> bool:
        """Whether the loop may run inside all loops further in, over the same range each time, or under guards.

        Then so may any block of its iterations.
        """
        piece = self.group[0]
        inner = [f"{piece.name}.{n}" for n in piece.names[level + 1 : self.levels[1]]]
        ref = f"{piece.name}.{piece.names[level]}"
        moving = (Reorder((*inner, ref)),) if inner else ()
        return tried(self.state, *moving, Unroll(ref, 0, tail)) is not None

    def _separates(self, level: int) -> bool:
        """Whether the loop may be the outermost: then its last iterations may run last."""
        piece = self.group[0]
        outer = [f"{piece.name}.{n}" for n in piece.names[self.levels[0] : level]]
        ref = f"{piece.name}.{piece.names[level]}"
        moving = (Reorder((ref, *outer)),) if outer else ()
        return tried(self.state, *moving) is not None


def _unconditional(piece: Piece) -> Piece:
    """The piece as if it ran wherever the loops around it do."""
    return piece if piece.frame is piece.hull else replace(piece, hull=piece.frame)
