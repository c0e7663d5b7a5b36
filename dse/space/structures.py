"""Structures of a program: its nests apart, merged, aligned, overlapped, or with line buffers, and the steps that make them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from dse.space.loops.alignment import aligned
from dse.space.loops.expansion import expanded
from dse.space.loops.overlaps import overlapped
from dse.space.loops.processes import handed_on
from dse.space.loops.regrouped import distributed, merged
from dse.space.memory.kept import rows_kept
from dse.space.nests.context import Context
from dse.space.nests.groups import MOST, groups, volumes
from dse.space.start import Start
from dse.space.sums.chains import in_parts
from dse.space.tables.windows import windowed
from dsl.schedules.steps import Step
from polyhedral.scop.scheduled import ScheduledScop

Structure = tuple[str, ScheduledScop, tuple[Step, ...]]
"""Its name, the program as it is then, and the steps that make it so."""

Move = Callable[[ScheduledScop, tuple[Step, ...]], tuple[ScheduledScop, tuple[Step, ...]]]
"""Adds steps to a state and those that led to it: the same ones where there is nothing to do."""

Shape = tuple[tuple[str, ...], ...]
"""The nests, and where each stands."""


def structures_of(state: ScheduledScop, free: tuple[Step, ...]) -> list[Structure]:
    """Distributed, merged, as written, and with arrays expanded, each once."""
    whole, apart = distributed(state)
    joined, fused = merged(whole)
    states = (
        ("distributed", whole, (*free, *apart)),
        ("merged", joined, (*free, *apart, *fused)),
        ("as written", state, free),
    )
    found: dict[Shape, Structure] = {}
    for structure in states:
        found.setdefault(shape_of(structure[1]), structure)
    for wide, steps in expanded(state, free):
        at, apart = distributed(wide)
        found.setdefault(shape_of(at), ("expanded", at, (*steps, *apart)))
    return list(found.values())


def aligned_structures(structures: Iterable[Structure]) -> list[Structure]:
    """The structures that cannot be distributed any more with other loops outermost, each once."""
    found: dict[Shape, Structure] = {}
    for name, state, steps in structures:
        moved, longer = (state, steps) if distributed(state)[1] else aligned(state, steps)
        if longer != steps:
            found.setdefault(shape_of(moved), (f"{name}, aligned", moved, longer))
    return list(found.values())


def overlapping(name: str, state: ScheduledScop, steps: tuple[Step, ...]) -> Iterator[Structure]:
    """The structure with loops whose iterations overlap, if there can be any: the innermost ones; and all."""
    at, regions = overlapped(state)
    if regions:
        yield f"{name}, iterations overlapped", at, (*steps, *regions)
        at, more = overlapped(state, nested=True)
        if len(more) > len(regions):
            yield f"{name}, iterations overlapped at each level", at, (*steps, *more)


def after(structures: Iterable[Structure], how: str, move: Move) -> list[Structure]:
    """The structures after a `move`, those that it adds steps to; ``how`` is said in their names."""
    found = []
    for name, state, steps in structures:
        moved, longer = move(state, steps)
        if longer != steps:
            found.append((f"{name}, {how}", moved, longer))
    return found


def with_rows(structures: Iterable[Structure]) -> Iterator[Structure]:
    """Structures with rows in registers that a tool would read again in each iteration."""
    for name, state, steps in structures:
        moved, copies = rows_kept(state)
        if copies:
            yield f"{name}, rows kept", moved, (*steps, *copies)


def with_windows(
    structures: Sequence[Structure], context: Context, start: Start
) -> Iterator[Structure]:
    """The structures with line buffers and windows, each once; where iterations of loops around can overlap, they do."""
    seen: set[tuple[Step, ...]] = set()
    count = {id(one): len(groups(one[1], MOST)) for one in structures}
    fewest = min(count.values())
    # Of tiles no more is worked on in a cycle than is copied in one.
    words = start.words(structures[0][1].scop.program) if start.structured else {}
    most = max(words.values(), default=0)
    for structure in structures:
        # Of the same data in several passes each would have windows of its own.
        one_pass = count[id(structure)] == fewest
        if not one_pass and (context.tool.is_open or not handed_on(structure[1])):
            continue
        for name, state, steps in windowed(*structure, not context.tool.is_open, most):
            if (state.dataflow is None and not one_pass) or steps in seen:
                continue
            seen.add(steps)
            at_once = [] if context.tool.is_open else [*overlapping(name, state, steps)]
            yield from at_once or [(name, state, steps)]


def shape_of(state: ScheduledScop) -> Shape:
    """The nests, and where each stands."""
    return tuple((*g.names, str(g.pieces[0].place)) for g in groups(state))


def with_chains(
    state: ScheduledScop, steps: tuple[Step, ...], context: Context
) -> Iterator[Structure]:
    """The program as written with the sums that are inside of pipelines as trees, or in parts."""
    for most in volumes(state)[-1:]:
        at, parts = in_parts(state, context, most)
        if parts:
            yield "sums in parts", at, (*steps, *parts)


def with_locals_expanded(state: ScheduledScop, free: tuple[Step, ...]) -> Iterator[Structure]:
    """The program with its locals expanded as far out as memory allows."""
    for wide, steps in list(expanded(state, free))[:1]:
        yield "expanded", wide, steps
