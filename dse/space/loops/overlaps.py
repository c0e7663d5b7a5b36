"""Loops whose iterations overlap: while one tile is worked on, the next is read and the last one written.

A loop can be so where its body is nests that hand each other only what belongs to one iteration
(`polyhedral.legality.loop_regions`). The innermost such loop of each nest is: there the least is kept twice; or all of
them, so that what is copied further out is copied beside the tiles inside.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from dse.space.nests.groups import groups, own_level
from dse.space.nests.nest import Nest
from dsl.errors.errors import ScheduleError
from dsl.schedules.steps import Dataflow
from polyhedral.codegen.generate import loop_tree
from polyhedral.legality.loop_regions import most_processes
from polyhedral.requests.packed import packed_lanes
from polyhedral.schedule import tried
from polyhedral.scop.ranges import whole_range
from polyhedral.scop.scheduled import LoopId, ScheduledScop


def overlapped(
    state: ScheduledScop, nested: bool = False
) -> tuple[ScheduledScop, tuple[Dataflow, ...]]:
    """The loops whose iterations can overlap made regions; no steps where there are none.

    Args:
        state: of a structure.
        nested: whether loops around others that overlap are as well.
    """
    steps: list[Dataflow] = []
    if state.dataflow is not None or state.streams:
        return state, ()
    word = _word(state)
    for ref, uid in list(_shared(state)):
        if not nested and _has_region(state, uid):
            continue
        names = most_processes(state, uid)
        if sum(_loops(state, uid, one, word) for one in names) < 2:
            continue  # the others take a few states: there is nothing to gain
        step = Dataflow(tuple(one for one in names if len(one) > 1), ref)
        moved = tried(state, step)
        if moved is not None and _comes_out(moved):
            state = moved
            steps.append(step)
    return state, tuple(steps)


def _has_region(state: ScheduledScop, uid: LoopId) -> bool:
    """Whether a loop inside overlaps."""
    levels = ((p, p.level(uid)) for p in state.pieces)
    return any(
        dim.region is not None
        for p, level in levels
        if level is not None
        for dim in p.dims[level + 1 :]
    )


def _word(state: ScheduledScop) -> int:
    """Elements of the widest word of an array outside; 0 where none is in words."""
    arrays = (state.scop.program.array(pack.array) for pack in state.packs)
    return max((packed_lanes(state.packs, array) for array in arrays), default=0)


def _loops(state: ScheduledScop, uid: LoopId, statements: tuple[str, ...], word: int) -> bool:
    """Whether a process of the loop has loops of its own, of more iterations than a word has elements."""
    for piece in (p for name in statements for p in state.of_statement(name)):
        level = piece.level(uid)
        if level is None or piece.depth <= level + 1:
            continue
        ranges = [whole_range([(piece, k)]) for k in range(level + 1, piece.depth)]
        if prod(word + 1 if r is None else r.extent for r in ranges) > word:
            return True
    return False


def _comes_out(state: ScheduledScop) -> bool:
    """Whether the code has these regions, too."""
    try:
        loop_tree(state)
    except ScheduleError:
        return False
    return True


def _shared(state: ScheduledScop) -> Iterator[tuple[str, LoopId]]:
    """The loops with several nests in them, the innermost first, as steps name them: not those that are
    searched as the loops of a nest.
    """
    found: dict[LoopId, tuple[int, str]] = {}
    nests: dict[LoopId, set[tuple[int, ...]]] = {}
    searched = {
        dim.uid
        for group in groups(state)
        for piece in group.pieces
        for dim in piece.dims[own_level(state, group) :]
    }
    for piece in state.pieces:
        for level, dim in enumerate(piece.dims):
            found.setdefault(dim.uid, (level, f"{piece.name}.{dim.name}"))
            nests.setdefault(dim.uid, set()).add(piece.place[: level + 2])
    for uid, (_, ref) in sorted(found.items(), key=lambda pair: -pair[1][0]):
        if len(nests[uid]) > 1 and uid not in searched:
            yield ref, uid


def leaves_regions(nests: Sequence[Nest], state: ScheduledScop) -> bool:
    """Whether no loop whose iterations overlap is to be pipelined or unrolled in some nests of a program."""
    regions = {f"{p.name}.{d.name}" for p in state.pieces for d in p.dims if d.region is not None}
    orders = (order for nest in nests for order in nest.orders)
    return not any(loop.ref in regions for order in orders for loop in order.loops)
