"""Which statements share loops: the program as written, distributed as far as is legal, merged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from functools import partial

from dse.bounds.two_passes import two_passes
from dse.space.loops.alignment import turned, waiting_turned
from dse.space.loops.blocks import blocks_outermost, in_blocks
from dse.space.loops.divisions import without_dividers
from dse.space.loops.reciprocals import reciprocals
from dse.space.loops.rectangles import in_rectangles, short_chains
from dse.space.loops.regrouped import critical_last, distributed, has_chains, reassociated
from dse.space.loops.told_apart import first_apart, turns_written_out
from dse.space.loops.trimmed import trimmed
from dse.space.loops.united import united
from dse.space.loops.wide_skews import widely_skewed
from dse.space.made import both, unrolled, variant_of
from dse.space.memory.kept import kept
from dse.space.memory.registers import at_data, in_registers
from dse.space.nests.context import Context
from dse.space.nests.groups import volumes
from dse.space.nests.orders import nests
from dse.space.start import START, Start
from dse.space.structures import (
    Move,
    Shape,
    Structure,
    after,
    aligned_structures,
    overlapping,
    shape_of,
    structures_of,
    with_chains,
    with_locals_expanded,
    with_rows,
    with_windows,
)
from dse.space.sums.accumulated import accumulated, beside, together
from dse.space.sums.chains import in_parts
from dse.space.sums.cut import cut
from dse.space.sums.gathered import gathered
from dse.space.sums.histograms import PARTS, in_turn
from dse.space.sums.located import located
from dse.space.sums.own_memory import apart
from dse.space.sums.partial_sums import WANTED, partial_sums
from dse.space.sums.scanned import FACTORS, scanned
from dse.space.sums.side_by_side import side_by_side
from dse.space.sums.sums_in_logic import sums_in_logic
from dse.space.tables.carried import carried_on, lane_sums, waits_for_nothing, wavefronts
from dse.space.tables.chosen import chosen
from dse.space.tables.columns import columns, single
from dse.space.tables.mirrored import mirrored
from dse.space.tables.pivoted import pivoted
from dse.space.tables.replicas import TURNS, replicated, served_at_once
from dse.space.variant import Variant, any_interval, once
from dsl.schedules.steps import Step
from polyhedral.deadline import enough
from polyhedral.schedule import apply_step
from polyhedral.scop.scheduled import ScheduledScop
from qor_gnn.tools.operators.multipliers import FABRIC


def variants(
    state: ScheduledScop,
    context: Context,
    reassociate: bool = False,
    start: Start = START,
) -> tuple[Variant, ...]:
    """The structures of a program, each once; the distributed one first.

    Where sums wait for themselves whatever the order, they are there in partial sums too. Where the
    tool can build sums without DSP slices, each structure is there once more with all sums so. A ``start``
    that says how statements share loops is the only structure. Where time is short the last ones are left out.
    """
    steps = start.steps
    if not start.structured:
        state, steps = united(*trimmed(state, steps))
        state, steps = two_passes(state, steps, floats=reassociate)
    divided = state, steps
    if not start.structured and not context.tool.is_open:  # its backend has no dividers by numbers
        state, steps = without_dividers(state, steps)
    state, last = critical_last(state, floats=reassociate and not start.structured)
    state, free = reassociated(state, floats=reassociate)
    free = (*steps, *last, *free)
    found = _variants(state, free, context, reassociate, start)
    with enough(found):
        for how, move in _REWRITTEN if not start.structured else ():
            moved, longer = move(state, free)
            if longer != free:
                more = _variants(moved, longer, context, reassociate, start)
                found += [replace(v, name=f"{v.name}, {how}") for v in more]
        if reassociate and not start.structured:
            found += _with_one_division(state, free, context)
        for factor in FACTORS if not start.structured else ():
            name = f"running sums in blocks of {factor}"
            blocks, longer = scanned(state, free, factor, reassociate)
            if longer != free:
                found += unrolled(name, blocks, longer, context)
            whole, guards = scanned(state, free, factor, reassociate, "guard")
            if guards != longer:
                found += unrolled(f"{name}, the last one guarded", whole, guards, context)
        found += _replicated(state, free, context, start) if not start.structured else []
        for parts in PARTS if not start.structured else ():
            for structure in in_turn(state, free, parts):
                found += both(*structure, context)
        if steps != divided[1]:
            found += _with_dividers(*divided, context, reassociate)
    return tuple(once(found))


def _with_dividers(
    state: ScheduledScop, steps: tuple[Step, ...], context: Context, reassociate: bool
) -> Iterator[Variant]:
    """The program with its dividers, which take no DSP slices, where it is distributed and where it is not."""
    state, free = reassociated(state, floats=reassociate)
    for name, at, longer in structures_of(state, (*steps, *free)):
        yield variant_of(f"{name}, dividers", at, longer, context)


def _variants(
    state: ScheduledScop,
    free: tuple[Step, ...],
    context: Context,
    reassociate: bool,
    start: Start,
) -> list[Variant]:
    """The structures of a program whose statements are what they are, as many as there is time for."""
    plain: list[Variant] = []
    outer: list[Sequence[Variant]] = []
    bound: list[Variant] = []
    with enough(plain):
        outer += _found(state, free, context, reassociate, start, plain, bound)
    return [*plain, *(variant for some in outer for variant in some), *bound]


def _found(
    state: ScheduledScop,
    free: tuple[Step, ...],
    context: Context,
    reassociate: bool,
    start: Start,
    plain: list[Variant],
    bound: list[Variant],
) -> Iterator[Sequence[Variant]]:
    """The structures: ``plain`` ones come first and those with sums off the DSP slices, ``bound``, last in the space."""
    structures = structures_of(state, free) if not start.structured else [("as given", state, free)]
    # The open backend runs processes in order.
    twins = [] if context.tool.is_open else [t for one in structures for t in overlapping(*one)]
    plain += (variant_of(*structure, context) for structure in (*structures, *twins))
    others = aligned_structures(structures) if not start.structured else []
    yield from _unrolled_inside([*structures, *twins], context)
    triangles = replace(context, uneven=True)
    yield from ([variant_of(*one, triangles)] for one in with_rows(others or structures))
    several = not start.structured and (reassociate or has_chains(state))
    chained: list[Structure] = []
    rectangles = partial(in_rectangles, counts=context.counts)
    spread = [partial_sums(state, plain[0].nests, n) for n in WANTED if several]
    for sums in dict.fromkeys(sums for sums in spread if sums):
        one_pass = beside(state, free, sums) if len(sums) == 1 else None
        structures.append(one_pass or accumulated(state, free, sums))
        plain.append(variant_of(*structures[-1], context))
        if len(sums) > 1:
            structures.append(together(*structures[-1]))
            plain.append(variant_of(*structures[-1], context))
    if several:
        yield from _side_by_side(state, free, rectangles, context)
        chained += with_chains(state, free, context)
        yield from (_in_registers(*one, context)[-1:] for one in chained)
        mirrored_sums = (unrolled(*one, context) for one in apart(state, free, rectangles))
        yield from ([replace(v, certain=True) for v in some] for some in mirrored_sums)
        yield from _gathered(state, free, {shape_of(at) for _, at, _ in structures}, context)
    yield from ([variant_of(*structure, context)] for structure in others)
    boxes = after((*structures, *twins, *others), "in rectangles", rectangles)
    yield from ([*map(_with_short_chains, both(*one, context))] for one in boxes)
    wide = after(after(structures, "far behind", widely_skewed), "in rectangles", rectangles)
    yield from ([_with_short_chains(variant_of(*one, context))] for one in wide)
    yield from (_registers(*one, context) for one in boxes or structures)
    if not start.structured:
        yield from _mirrored(structures, context)
        lanes = after([("as written", state, free)], "a sum for each lane", lane_sums)
        yield from _carried([*structures, *others, *lanes, *chained], rectangles, context)
    yield from _unrolled_inside([*others, *after(others, "turned", turned)], context)
    yield from (_pushed(*one, context) for one in after(structures[:1], "turned", waiting_turned))
    windows = with_windows(structures, context, start)
    yield from ([_filter(*structure, context, start)] for structure in windows)
    bound += (v for one in (*structures, *twins) for v in _bound(*one, context))
    if start.overlapping:
        bound += (_with_short_chains(v) for one in boxes for v in _bound(*one, context))
        blocks = after(twins, "in blocks", in_blocks)
        yield from ([_of_blocks(variant_of(*one, context))] for one in blocks)
        bound += (_of_blocks(v) for one in blocks for v in _bound(*one, context))


def _with_one_division(
    state: ScheduledScop, free: tuple[Step, ...], context: Context
) -> Iterator[Variant]:
    """The program with reciprocals of what loops keep, in those structures in which many elements are divided at once."""
    moved, steps = reciprocals(state, free)
    if steps == free:
        return
    structures = structures_of(moved, steps)
    others = aligned_structures(structures)
    some = others or structures
    triangles = replace(context, uneven=True)
    rectangles = partial(in_rectangles, counts=context.counts)
    made = [[variant_of(*one, context)] for one in some]
    made += [[variant_of(*one, triangles)] for one in with_rows(some)]
    made += _unrolled_inside([*some, *after(others, "turned", turned)], context)
    boxes = after(some, "in rectangles", rectangles)
    made += [[*map(_with_short_chains, both(*one, context))] for one in boxes]
    for variant in (v for variants in made for v in variants):
        yield replace(variant, name=f"{variant.name}, one division", like=variant.name)


def _replicated(
    state: ScheduledScop, free: tuple[Step, ...], context: Context, start: Start
) -> list[Variant]:
    """The program with copies of what it looks up: for innermost loops in blocks, and for all reads of an iteration around."""
    found: list[Variant] = []
    for turns in TURNS:
        copies, longer = replicated(state, free, turns)
        if longer != free:
            structure = f"distributed, copies for the reads of {turns} iterations", copies, longer
            found += both(*structure, context)
    for depth, words in enumerate(_AT_ONCE):
        copies, longer = served_at_once(state, free, depth)
        if longer != free:
            structure = f"distributed, copies for all reads of {words}", copies, longer
            found += both(*structure, context)
            windows = with_windows([structure], context, start)
            found += [_filter(*one, context, start) for one in windows]
    return found


def _bound(
    name: str, state: ScheduledScop, steps: tuple[Step, ...], context: Context
) -> Iterator[Variant]:
    """The structure with the sums of all statements off the DSP slices, where the tool can, and the same with loops
    around short loops pipelined.
    """
    binds = sums_in_logic(state, context)
    for bind in binds:
        state = apply_step(state, bind)
    if binds:
        yield from both(f"{name}, sums in {FABRIC}", state, (*steps, *binds), context)


def _unrolled_inside(structures: Sequence[Structure], context: Context) -> list[list[Variant]]:
    """The structures with loops around short loops pipelined, and with elements and rows in registers."""
    found = [unrolled(*structure, context) for structure in structures]
    return found + [
        _kept(*structure, context) for structure in (*structures, *with_rows(structures))
    ]


def _mirrored(structures: Sequence[Structure], context: Context) -> Iterator[list[Variant]]:
    """The structures with second arrays for tables that are read by rows and by columns, and with short chains as well."""
    found = after(structures, "mirrored", mirrored)
    for name, state, steps in tuple(found):
        found += [
            (f"{name}, {how}", at, longer) for how, at, longer in with_chains(state, steps, context)
        ]
    yield from (unrolled(*one, context) for one in found)


def _of_blocks(variant: Variant) -> Variant:
    """The structure with loops over blocks outermost: anywhere else a pipeline drains for each of them."""
    return replace(variant, nests=tuple(map(blocks_outermost, variant.nests)))


def _with_short_chains(variant: Variant) -> Variant:
    return replace(variant, nests=short_chains(variant.nests))


def _registers(
    name: str, state: ScheduledScop, steps: tuple[Step, ...], context: Context
) -> list[Variant]:
    """The structure with small tables in registers, where banks do not tell their elements apart."""
    moved, made = in_registers(state, context.outside) if not context.placed else (state, ())
    if not made:
        return []
    own = replace(context, placed=frozenset(p.array for p in made))
    found = replace(
        variant_of(f"{name}, tables in registers", moved, (*steps, *made), own), made=made
    )
    if at_data(state, own.placed):
        # Each copy chooses among the registers that the one before has written: a longer chain, and no faster one.
        return [replace(found, nests=short_chains(found.nests, 1), certain=True)]
    return [_with_short_chains(found)]


def _carried(
    structures: Sequence[Structure], rectangles: Move, context: Context
) -> list[list[Variant]]:
    """The structures with what loops hand on in shift registers, diagonals outermost where both loops of a nest do."""
    diagonals = after(structures, "diagonals", wavefronts)
    by_columns = after(structures, "columns", columns)
    diagonals += by_columns
    certain = {f"{name}, carried" for name, _, _ in by_columns}
    free = {f"{name}, carried" for name, state, _ in diagonals if waits_for_nothing(state)}
    found = []
    for name, state, steps in after((*structures, *diagonals), "carried", carried_on):
        # What registers begin with is brought in by the first iterations: the others choose nothing then.
        state, steps = rectangles(*first_apart(state, steps))
        own = replace(context, free=name in free)
        variants = [*map(_with_short_chains, _in_registers(name, state, steps, own))]
        if name in certain:
            variants += [replace(v, nests=single(v.nests), certain=True) for v in variants[1:]]
        found.append(variants)
    return found


def _in_registers(
    name: str, state: ScheduledScop, steps: tuple[Step, ...], context: Context
) -> list[Variant]:
    """A structure whose steps bring registers with them, and the same with loops around short loops pipelined."""
    made = state.partitions
    own = replace(context, placed=context.placed | {p.array for p in made})
    return [replace(v, made=made) for v in both(name, state, steps, own)]


def _filter(
    name: str, state: ScheduledScop, steps: tuple[Step, ...], context: Context, start: Start
) -> Variant:
    """A structure whose steps bring the banks of line buffers and windows with them, and pipelines of any interval."""
    made = state.partitions
    placed = replace(context, placed=frozenset(p.array for p in made))
    found = any_interval(variant_of(name, state, steps, placed), start.steps)
    return replace(found, made=made, beside=state.dataflow is not None)


_AT_ONCE = ("an iteration", "an inner iteration")
"""Loops around look-ups, outermost first, for all reads of whose iterations there are copies of the table."""

_REWRITTEN: tuple[tuple[str, Move], ...] = (
    ("choices searched", located),
    ("turns written out", turns_written_out),
    ("pivots copied", pivoted),
    ("sums cut", cut),
    ("conditions chosen", chosen),
)


def _side_by_side(
    state: ScheduledScop, free: tuple[Step, ...], rectangles: Move, context: Context
) -> Iterator[list[Variant]]:
    """The program, and with its locals expanded, with several accumulators of few sums."""
    for name, at, steps in (("distributed", state, free), *with_locals_expanded(state, free)):
        found = side_by_side(name, at, steps, nests(distributed(at)[0], context))
        if found is not None:
            boxes = after([found], "in rectangles", rectangles)
            yield [_with_short_chains(variant_of(*one, context)) for one in boxes or [found]]


def _gathered(
    state: ScheduledScop, free: tuple[Step, ...], known: Set[Shape], context: Context
) -> Iterator[list[Variant]]:
    """The program with nests of the same elements in the same loops, and with its sums in parts, if that is new."""
    found = gathered(state)
    if found is None or shape_of(found[0]) in known:
        return
    gathered_state, steps = found[0], (*free, *found[1])
    yield unrolled("gathered", gathered_state, steps, context)
    for most in volumes(gathered_state)[-1:]:
        at, parts = in_parts(gathered_state, context, most)
        if parts:
            yield _in_registers("gathered, sums in parts", at, (*steps, *parts), context)[-1:]


def _pushed(
    name: str, state: ScheduledScop, steps: tuple[Step, ...], context: Context
) -> list[Variant]:
    """A structure whose loops are turned, with elements in registers: what an iteration has made goes to all that need it.
    Of the loop that makes them there is one copy: which element the next one begins with is known when all have it.
    """
    found = _kept(name, state, steps, context)
    return [replace(v, nests=short_chains(v.nests, 1), certain=True) for v in found]


def _kept(
    name: str, state: ScheduledScop, steps: tuple[Step, ...], context: Context
) -> list[Variant]:
    """The structure with elements in registers that a tool would not keep there."""
    found: dict[tuple[Step, ...], list[Variant]] = {}
    for most in (0, *volumes(state)[-1:]):
        at, copies = kept(state, most)
        if copies and copies not in found:
            made = (f"{name}, elements kept", at, (*steps, *copies))
            found[copies] = [variant_of(*made, context), *unrolled(*made, context)]
    return [variant for some in found.values() for variant in some]
