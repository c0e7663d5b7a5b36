"""Nests of a scheduled program, and the legal orders of each: found by trying, pruned of equals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil, prod

from dse.space.nests.arrangements import orders_of
from dse.space.nests.band import Band, average
from dse.space.nests.cases import cases_of, inside_of
from dse.space.nests.contents import (
    delays_of,
    fabric_of,
    lowered,
    operations_of,
    uses_of,
)
from dse.space.nests.context import Context
from dse.space.nests.groups import Group, groups, own_level
from dse.space.nests.nest import Nest, NestLoop, Operation, Order, Use
from dse.space.nests.skews import skews_of
from dse.space.nests.triangles import is_short, only_copies
from dsl.schedules.loop_requests import NO_REQUESTS
from dsl.schedules.steps import Reorder, Step
from polyhedral.dependences.carried import carried
from polyhedral.schedule import tried
from polyhedral.scop.scheduled import Piece, ScheduledScop

_AROUND = 5  # about the states of an iteration besides its operators: loads and a store


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
        runs *= average(piece, k)
    return runs


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
    registers = frozenset(a.name for a in program.locals if not a.shape) | _chosen_from(
        group, context
    )
    arrays = frozenset(a.name for a in program.locals if a.shape)
    delays = {s.name: delays_of(s, context.tool, registers, arrays) for s in statements}
    # A pipeline that windows were made for carries sums at the most (`dse.space.tables.windows`).
    sums_only = bool(context.placed) and _asked(group)
    watched = state.reassociated.intersection(names) if sums_only else frozenset(names)
    dependences = carried(state, watched) if watched and not context.free else ()
    sums = context.tool.sums
    band = Band(state, group, levels, delays, sums.reassociates, sums.order == "leaf")
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


def _chosen_from(group: Sequence[Piece], context: Context) -> frozenset[str]:
    """The arrays with a register for each element that are accessed at data (`dse.space.memory.registers`)."""
    accesses = (a for p in group for a in (p.statement.stmt.target, *p.statement.reads))
    at_data = frozenset(a.array for a in accesses if any(i.is_data for i in a.indices))
    return at_data & context.placed


def _inside(loops: Sequence[NestLoop], uses: Sequence[Use], ops: Sequence[Operation]) -> int:
    """The most copies of a statement that the loops inside of a band make."""
    inner = {loop.name: loop.extent or 1 for loop in loops if loop.inner}
    moving = [{v for i in use.indices for v in i.variables()} for use in uses]
    moving += [set(op.loops) for op in ops]
    return max((prod(inner[v] for v in one & inner.keys()) for one in moving), default=1)
