"""Loops that may end early, and whether a design asks for it.

A loop that ends as data say is no part of a flattened nest: it fills and drains its pipeline each time. That is worth it
where more iterations that do nothing are expected than that takes (`dse.space.nests.ended`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil

from dse.space.nests.ended import is_worth_it
from dse.space.nests.nest import Nest, NestLoop
from dsl.errors.errors import ScheduleError
from dsl.expressions.expr import Load, Select, walk
from dsl.expressions.types import IntType
from dsl.programs.program import Program
from dsl.schedules.loop_requests import Leaving
from dsl.schedules.pragma_steps import Leave
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Split, Step, Unroll
from polyhedral.codegen.exits import leaving_of
from polyhedral.codegen.generate import loop_tree
from polyhedral.looptree.tree import LoopTree, TreeLoop, TreeNode, statements_in
from polyhedral.schedule import apply
from polyhedral.scop.scheduled import ScheduledScop


@dataclass(frozen=True, slots=True)
class EarlyExit:
    """A loop that may end early.

    Attributes:
        ref: addresses it before it is split.
        most: trips that it has at most.
        trips: that are expected.
    """

    ref: str
    most: int
    trips: int


def exits_as_written(state: ScheduledScop, said: Sequence[Leave]) -> tuple[EarlyExit, ...]:
    """Those of a kernel, with the trips that somebody said."""
    found = early_exits(state, ())
    named = {step.loop: step.trips for step in said if step.trips}
    return tuple(
        replace(one, trips=min(one.most, named.get(one.ref, named.get(_last(one.ref), one.trips))))
        for one in found
    )


def early_exits(state: ScheduledScop, written: Sequence[EarlyExit]) -> tuple[EarlyExit, ...]:
    """Those of a structure.

    Args:
        state: the structure, nothing unrolled.
        written: those of the kernel as it is written, of which a loop of blocks has its share of the trips.
    """
    if not _chooses_by_scalars(state.scop.program):
        return ()
    tree = loop_tree(state)
    names = frozenset(state.loop_names())
    return tuple(_found(tree, tree.body, (), names, written))


def _chooses_by_scalars(program: Program) -> bool:
    """Whether a value is chosen by an integer that is no element of an array: without that no loop ends early."""
    return any(
        isinstance(part, Load) and not part.access.indices and isinstance(part.dtype, IntType)
        for stmt in program.statements()
        for choice in walk(stmt.value)
        if isinstance(choice, Select)
        for part in walk(choice.cond)
    )


def _found(
    tree: LoopTree,
    nodes: Iterable[TreeNode],
    around: tuple[TreeLoop, ...],
    names: frozenset[str],
    written: Sequence[EarlyExit],
) -> Iterator[EarlyExit]:
    for node in nodes:
        if not isinstance(node, TreeLoop):
            continue
        most = node.constant_trip
        first = next(statements_in(node), None)
        if most and first is not None and node.requests.leaving is None:
            leaving = leaving_of(tree, node, around)
            if leaving is not None:
                ref = node.name if node.name in names else f"{first.name}.{node.name}"
                yield EarlyExit(ref, most, _expected(ref, most, leaving, written))
        yield from _found(tree, node.body, (*around, node), names, written)


def _expected(ref: str, most: int, leaving: Leaving, written: Sequence[EarlyExit]) -> int:
    """The share of the trips that the loop as it is written is expected to have."""
    name = _last(ref)
    while name:
        for one in written:
            if _last(one.ref) == name:
                return min(most, -(-one.trips * most // one.most))
        name = name[:-2] if name.endswith("_0") else ""
    return leaving.expected(most)


def _last(ref: str) -> str:
    return ref.rpartition(".")[2]


def _is_same(ref: str, loop: str) -> bool:
    """Whether two references name one loop: one of them may say of which statement it is."""
    return ref == loop or (
        _last(ref) == _last(loop) and "." in ref + loop and not ("." in ref and "." in loop)
    )


def ending_early(nest: Nest, exits: Sequence[EarlyExit]) -> Nest:
    """The nest with the trips that are expected of its loops."""

    def known(loop: NestLoop) -> NestLoop:
        trips = next((one.trips for one in exits if _is_same(one.ref, loop.ref)), 0)
        return replace(loop, trips=trips) if trips and not loop.inner else loop

    orders = (replace(o, loops=tuple(map(known, o.loops))) for o in nest.orders)
    return replace(nest, orders=tuple(orders))


@lru_cache(maxsize=4096)
def ends_as_asked(program: Program, schedule: Schedule) -> bool:
    """Whether all loops of a design end early that are asked to: in another order of its loops one may not."""
    try:
        loop_tree(apply(program, schedule))
    except ScheduleError:
        return False
    return True


def leaves(exits: Sequence[EarlyExit], steps: Sequence[Step]) -> list[Leave]:
    """What to ask of the loops under the steps of a design: to end early where `dse.space.nests.ended` counts on it.

    Args:
        exits: of its structure.
        steps: of the design.
    """
    found: list[Leave] = []
    for each in exits:
        loop, copies, gone = each.ref, 1, False
        for step in steps:
            match step:
                case Split(loop=ref, factor=factor) if _is_same(ref, loop):
                    loop, copies = step.outer or f"{_last(ref)}_0", copies * factor
                    loop = f"{ref.rpartition('.')[0]}.{loop}" if "." in ref else loop
                case Unroll(loop=ref) if _is_same(ref, loop):
                    gone = True
                case _:
                    pass
        if not gone and is_worth_it(each.most, each.trips, copies):
            found.append(Leave(loop, ceil(each.trips / copies)))
    return found
